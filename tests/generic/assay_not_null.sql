{#- None of the named columns is null anywhere: one scan for all of them. Fails with a count for each that is. -#}
{% test assay_not_null(model, columns) %}

with

counted as (

    select
        {% for column in columns %}
        count(*) filter (where {{ column }} is null) as {{ column }}{{ ',' if not loop.last }}
        {% endfor %}
    from {{ model }}

)

select *
from counted
where
    {% for column in columns %}
    {{ 'or ' if not loop.first }}{{ column }} > 0
    {% endfor %}

{% endtest %}

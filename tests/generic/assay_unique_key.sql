{#- The named columns together make a row unique. Fails with the keys that stand more than once. -#}
{% test assay_unique_key(model, columns) %}

select
    {{ columns | join(', ') }},
    count(*) as n_rows
from {{ model }}
group by {{ columns | join(', ') }}
having count(*) > 1

{% endtest %}

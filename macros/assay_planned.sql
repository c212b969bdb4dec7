{#-
A column that a project's seed of planned comparisons may leave out: treatment came later, and an older seed is as good without it. Where nothing says
which columns there are (a unit test's rows), the column is taken to be there.
-#}
{% macro assay_planned_column(name) %}
    {%- set columns = adapter.get_columns_in_relation(ref('planned_comparisons')) | map(attribute='name') | map('lower') | list if execute else [] -%}
    {{ return(name if not columns or name in columns else 'cast(null as ' ~ dbt.type_string() ~ ')') }}
{% endmacro %}


{#- A planned row as one text: each value with its length, so that no two rows give the same; what is empty is left out. -#}
{% macro assay_planned_text() %}
    {%- set parts = [] -%}
    {%- for name in [
        'family', 'planned_on', 'split', 'recording_id', 'retriever', 'measure', 'k', 'baseline_recording_id', 'baseline_retriever', 'baseline_measure',
        'baseline_k', 'treatment',
    ] -%}
        {%- set text = 'cast(' ~ name ~ ' as ' ~ dbt.type_string() ~ ')' -%}
        {%- do parts.append("coalesce('" ~ name ~ "=' || cast(length(" ~ text ~ ") as " ~ dbt.type_string() ~ ") || ':' || " ~ text ~ ", '')") -%}
    {%- endfor -%}
    {{ return(parts | join(' || ')) }}
{% endmacro %}

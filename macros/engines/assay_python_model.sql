{#-
    The table that a dbt Python model makes. Where dbt can't run Python models they are switched off, a ref to one
    would not compile, and `python -m analyses compare` has written the table of the same name.
-#}
{% macro assay_python_model(name) %}
    {{- return(adapter.dispatch('assay_python_model', 'assay')(name)) -}}
{% endmacro %}

{% macro default__assay_python_model(name) %}
    {{- return(api.Relation.create(database=target.database, schema=target.schema, identifier=name)) -}}
{% endmacro %}

{% macro duckdb__assay_python_model(name) %}
    {{- return(ref(name)) -}}
{% endmacro %}

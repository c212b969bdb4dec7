{#-
The table that a dbt Python model makes, which stands beside the fact that it reads. Where dbt can't run Python models they are switched
off, a ref to one would not compile, and `python -m analyses compare` has written the table of the same name.
-#}
{% macro assay_python_model(name, reads) %}
    {{- return(adapter.dispatch('assay_python_model', 'assay')(name, reads)) -}}
{% endmacro %}

{% macro default__assay_python_model(name, reads) %}
    {{- return(api.Relation.create(schema=ref(reads).schema, identifier=name)) -}}
{% endmacro %}

{% macro duckdb__assay_python_model(name, reads) %}
    {{- return(ref(name)) -}}
{% endmacro %}

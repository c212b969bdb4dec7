{#-
precision_high@k: precision@k with the unjudged documents of the catalog counted as exact.

precision@k itself is the low end: what unjudged documents are worth lies between the two.
Hard cases: an unjudged document that the catalog lacks can't be exact; empty places stay empty.
-#}
{% macro measure_precision_high() %}
    {{ return(adapter.dispatch('measure_precision_high', 'assay')()) }}
{% endmacro %}

{% macro default__measure_precision_high() %}
    {{ return({
        'numerator': 'n_exact + n_unjudged_in_catalog',
        'denominator': 'k',
    }) }}
{% endmacro %}

{#-
id_precision: distinct exact documents of the whole list, divided by its distinct documents. No rank, no cutoff.

Source: Ragas, ID-based context precision.
Hard cases: undefined for an empty list; case 1 (D1, D1, D2, D3 with D1 and D4 exact) has 1/3.
-#}
{% macro measure_id_precision() %}
    {{ return(adapter.dispatch('measure_id_precision', 'assay')()) }}
{% endmacro %}

{% macro default__measure_id_precision() %}
    {{ return({
        'numerator': 'n_exact',
        'denominator': 'n_documents',
    }) }}
{% endmacro %}

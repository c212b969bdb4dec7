{#-
id_recall: distinct exact documents of the whole list, divided by the exact documents judged for the query. No rank, no cutoff.

Source: Ragas, ID-based context recall.
Hard cases: undefined where nothing is judged exact; a repeated document counts once.
-#}
{% macro measure_id_recall() %}
    {{ return(adapter.dispatch('measure_id_recall', 'assay')()) }}
{% endmacro %}

{% macro default__measure_id_recall() %}
    {{ return({
        'numerator': 'n_exact',
        'denominator': 'n_query_exact',
    }) }}
{% endmacro %}

{#-
recall@k: exact documents among the first k, divided by the exact documents judged for the query.

Source: trec_eval, m_recall.c; with judgments as the reference it is also Ragas's ID-based context recall, cut at k.
Hard cases: undefined where nothing is judged exact (trec_eval prints 0); a repeated document counts once, so it never exceeds 1; with
170 exact documents the highest recall@5 is 5/170.
-#}
{% macro measure_recall() %}
    {{ return(adapter.dispatch('measure_recall', 'assay')()) }}
{% endmacro %}

{% macro default__measure_recall() %}
    {{ return({
        'numerator': 'n_exact',
        'denominator': 'n_query_exact',
    }) }}
{% endmacro %}

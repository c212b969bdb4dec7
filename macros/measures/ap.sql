{#-
ap@k: the sum of precision@i over the places i among the first k that hold an exact document, divided by all exact documents.

Source: trec_eval, m_map_cut.c. The same sum as in context_precision, over another number.
Hard cases: undefined where nothing is judged exact (trec_eval prints 0).
-#}
{% macro measure_ap() %}
    {{ return(adapter.dispatch('measure_ap', 'assay')()) }}
{% endmacro %}

{% macro default__measure_ap() %}
    {{ return({
        'numerator': 'case when k <= 30 then precision_sum end',
        'denominator': 'case when k <= 30 then precision_unit * n_query_exact end',
        'value': 'cast(precision_sum as double) / nullif(cast(precision_unit as double) * n_query_exact, 0)',
    }) }}
{% endmacro %}

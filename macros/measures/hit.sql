{#-
hit@k: 1 where the first k hold an exact document, else 0.

Source: trec_eval, m_success.c.
Hard cases: undefined where nothing is judged exact (trec_eval prints 0).
-#}
{% macro measure_hit() %}
    {{ return(adapter.dispatch('measure_hit', 'assay')()) }}
{% endmacro %}

{% macro default__measure_hit() %}
    {{ return({
        'numerator': 'case when n_exact > 0 then 1 else 0 end',
        'denominator': 'case when n_query_exact > 0 then 1 end',
    }) }}
{% endmacro %}

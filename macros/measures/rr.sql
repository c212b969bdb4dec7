{#-
rr@k: one divided by the place of the first exact document.

Source: trec_eval, m_recip_rank.c, on the first k places.
Hard cases: 0 where the first exact document stands beyond k or nowhere; undefined where nothing is judged exact (trec_eval prints 0).
-#}
{% macro measure_rr() %}
    {{ return(adapter.dispatch('measure_rr', 'assay')()) }}
{% endmacro %}

{% macro default__measure_rr() %}
    {{ return({
        'numerator': 'case when n_exact > 0 then 1 else 0 end',
        'denominator': 'case when n_query_exact > 0 then coalesce(first_exact_rank, 1) end',
    }) }}
{% endmacro %}

{#-
precision@k: exact documents among the first k, divided by k.

Source: trec_eval, m_P.c. The chapter's precision@5.
Hard cases: a short list still divides by k; the later place of a repeated document stays taken and holds nothing, so case 1
(D1, D1, D2, D3 with D1 and D4 exact) has precision@5 1/5; unjudged documents count as not exact.
-#}
{% macro measure_precision() %}
    {{ return(adapter.dispatch('measure_precision', 'assay')()) }}
{% endmacro %}

{% macro default__measure_precision() %}
    {{ return({
        'numerator': 'n_exact',
        'denominator': 'k',
    }) }}
{% endmacro %}

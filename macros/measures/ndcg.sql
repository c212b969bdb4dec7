{#-
ndcg@k: DCG of the first k, divided by the DCG of the best order of all judged documents of the query.

Source: Jarvelin and Kekalainen 2002, with a linear gain (the grade) and the discount 1 / log2(rank + 1); trec_eval, m_ndcg_cut.c.
Hard cases: grades below 0 gain nothing; a repeated document gains at its first place only; undefined where no document has a grade above
0 (trec_eval prints 0). Both sums are exact sums of decimals, so there is no fraction of integers to show.
-#}
{% macro measure_ndcg() %}
    {{ return(adapter.dispatch('measure_ndcg', 'assay')()) }}
{% endmacro %}

{% macro default__measure_ndcg() %}
    {{ return({
        'value': 'dcg / nullif(ideal_dcg, 0)',
    }) }}
{% endmacro %}

{#-
recall_reachable@k: recall over the exact documents that the catalog holds.

Judgments may name documents that the catalog lacks; no retriever can return those.
Hard cases: a list may hold an exact document that the catalog lacks, which counts on neither side, so it never exceeds 1; undefined
where the catalog holds no exact document.
-#}
{% macro measure_recall_reachable() %}
    {{ return(adapter.dispatch('measure_recall_reachable', 'assay')()) }}
{% endmacro %}

{% macro default__measure_recall_reachable() %}
    {{ return({
        'numerator': 'n_exact_in_catalog',
        'denominator': 'n_query_exact_in_catalog',
    }) }}
{% endmacro %}

{#-
The precision of one search: exact documents among the first results_shown that it returned, divided by results_shown.

Source: Retrieval for LLM applications, the chapter's searches of an agent; precision@k with k what a search shows.
Hard cases: a short list still divides by all that could be shown; a refused search returned nothing and is 0; a later place of a repeated document
holds nothing. Undefined (null) where the results are unknown, where nobody judged the query, and without results_shown.
Read by fct_assay__searches. It has a row a search, not a row a task, and so isn't one of the registry's measures.
-#}
{% macro assay_search_precision() %}
    {{ return(adapter.dispatch('assay_search_precision', 'assay')()) }}
{% endmacro %}

{% macro default__assay_search_precision() %}
    {{ return('case when has_results and has_judgments then cast(n_exact_shown as double) / nullif(results_shown, 0) end') }}
{% endmacro %}

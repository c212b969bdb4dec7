{#-
first_search_precision: exact documents among the first n results of a task's first search, divided by n, the recording's
max_recommendations: what the tool's own order would have picked.

Source: Retrieval for LLM applications, "Compare the retrievers behind the agent's tool".
Hard cases: a refused first search returned nothing and scores 0, and so does a task that never searched or is missing; undefined where the
first search's results are unknown, and without max_recommendations.
-#}
{% macro measure_first_search_precision() %}
    {{ return(adapter.dispatch('measure_first_search_precision', 'assay')()) }}
{% endmacro %}

{% macro default__measure_first_search_precision() %}
    {{ return({
        'numerator': 'n_exact_first_search_at_k',
        'denominator': 'case when n_exact_first_search_at_k is not null then max_recommendations end',
    }) }}
{% endmacro %}

{#-
pick_precision: exact documents among the first n picks, divided by n, the recording's max_recommendations.

Source: Retrieval for LLM applications, "Compare the retrievers behind the agent's tool".
Hard cases: a missing pick is a miss, so is a malformed one; a document picked twice counts once, and its later place stays taken; an
unfinished or missing task scores 0; undefined without max_recommendations.
-#}
{% macro measure_pick_precision() %}
    {{ return(adapter.dispatch('measure_pick_precision', 'assay')()) }}
{% endmacro %}

{% macro default__measure_pick_precision() %}
    {{ return({
        'numerator': 'n_exact_picked_at_k',
        'denominator': 'max_recommendations',
    }) }}
{% endmacro %}

{#-
abstained: 1 where the list of citations is there and empty.

Source: Retrieval for LLM applications, "recommend nothing".
Hard cases: a list that is null or absent, an answer with an error and a missing answer are no abstentions (0); nor is a list of
nothing but malformed citations (0).
-#}
{% macro measure_abstained() %}
    {{ return(adapter.dispatch('measure_abstained', 'assay')()) }}
{% endmacro %}

{% macro default__measure_abstained() %}
    {{ return({
        'numerator': 'case when is_abstained then 1 else 0 end',
        'denominator': '1',
    }) }}
{% endmacro %}

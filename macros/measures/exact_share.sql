{#-
exact_share: cited documents that people judged exact, divided by the documents cited.

Source: Retrieval for LLM applications, "Score each answer by the products it cites".
Hard cases: 0 where nothing is cited, abstentions, broken answers and missing ones included; a document cited twice counts once;
malformed citations are no documents and stand on neither side; an unjudged document counts as not exact.
-#}
{% macro measure_exact_share() %}
    {{ return(adapter.dispatch('measure_exact_share', 'assay')()) }}
{% endmacro %}

{% macro default__measure_exact_share() %}
    {{ return({
        'numerator': 'n_exact_cited',
        'denominator': 'case when n_cited > 0 then n_cited else 1 end',
    }) }}
{% endmacro %}

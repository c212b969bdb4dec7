{#-
text_and_field_difference: 1 where the IDs of the context that the text names are not the cited IDs of the context.

Source: Retrieval for LLM applications, "Check every citation against the context".
Hard cases: both sides are sets; an ID from outside the context can't be found in a text; undefined where nobody asked that the text
name the IDs, where the citations were read off the text, and where the context or the text is unknown.
-#}
{% macro measure_text_and_field_difference() %}
    {{ return(adapter.dispatch('measure_text_and_field_difference', 'assay')()) }}
{% endmacro %}

{% macro default__measure_text_and_field_difference() %}
    {{ return({
        'numerator': 'case when has_text_and_field_difference then 1 else 0 end',
        'denominator': 'case when has_text_and_field_difference is not null then 1 end',
    }) }}
{% endmacro %}

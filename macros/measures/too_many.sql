{#-
too_many: 1 where the answer cites more distinct documents than max_recommendations allows.

Hard cases: undefined where the recording names no max_recommendations; repeats and malformed citations don't count.
-#}
{% macro measure_too_many() %}
    {{ return(adapter.dispatch('measure_too_many', 'assay')()) }}
{% endmacro %}

{% macro default__measure_too_many() %}
    {{ return({
        'numerator': 'case when has_too_many then 1 else 0 end',
        'denominator': 'case when has_too_many is not null then 1 end',
    }) }}
{% endmacro %}

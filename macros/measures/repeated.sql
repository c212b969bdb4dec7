{#-
repeated: 1 where the answer cites one document more than once.

Hard cases: malformed citations are no documents, so they repeat none.
-#}
{% macro measure_repeated() %}
    {{ return(adapter.dispatch('measure_repeated', 'assay')()) }}
{% endmacro %}

{% macro default__measure_repeated() %}
    {{ return({
        'numerator': 'case when n_repeated > 0 then 1 else 0 end',
        'denominator': 'case when n_repeated is not null then 1 end',
    }) }}
{% endmacro %}

{#-
outside_context: 1 where the answer cites a document of the catalog that its context did not hold.

Hard cases: undefined where the context is unknown; where the catalog holds only the documents seen, every ID from outside the context
counts here, since nobody knows that it is no document.
-#}
{% macro measure_outside_context() %}
    {{ return(adapter.dispatch('measure_outside_context', 'assay')()) }}
{% endmacro %}

{% macro default__measure_outside_context() %}
    {{ return({
        'numerator': 'case when n_outside_context > 0 then 1 else 0 end',
        'denominator': 'case when n_outside_context is not null then 1 end',
    }) }}
{% endmacro %}

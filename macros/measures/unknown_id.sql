{#-
unknown_id: 1 where the answer cites an ID that neither its context nor the catalog holds.

Hard cases: undefined where the context is unknown; 0 where the catalog holds only the documents seen (see outside_context).
-#}
{% macro measure_unknown_id() %}
    {{ return(adapter.dispatch('measure_unknown_id', 'assay')()) }}
{% endmacro %}

{% macro default__measure_unknown_id() %}
    {{ return({
        'numerator': 'case when n_unknown_id > 0 then 1 else 0 end',
        'denominator': 'case when n_unknown_id is not null then 1 end',
    }) }}
{% endmacro %}

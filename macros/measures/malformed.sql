{#-
malformed: 1 where the answer cites something that is no ID: blank, none, null, n/a, or no string or whole number.

Hard cases: an ID that the context or the catalog holds is that ID first, even one that reads "NULL".
-#}
{% macro measure_malformed() %}
    {{ return(adapter.dispatch('measure_malformed', 'assay')()) }}
{% endmacro %}

{% macro default__measure_malformed() %}
    {{ return({
        'numerator': 'case when n_malformed > 0 then 1 else 0 end',
        'denominator': 'case when n_malformed is not null then 1 end',
    }) }}
{% endmacro %}

{#-
judged@k: distinct judged documents among the first k, divided by the distinct documents there.

Source: ir_measures, Judged.
Hard cases: undefined for an empty list, and where nobody wrote down what is not relevant (positive_only): there every judged document
is a relevant one; grade -1 is no judgment; a repeated document counts once on both sides.
-#}
{% macro measure_judged() %}
    {{ return(adapter.dispatch('measure_judged', 'assay')()) }}
{% endmacro %}

{% macro default__measure_judged() %}
    {{ return({
        'numerator': 'n_judged',
        'denominator': 'case when not is_positive_only then n_documents end',
    }) }}
{% endmacro %}

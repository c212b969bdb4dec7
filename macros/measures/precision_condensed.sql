{#-
precision_condensed@k: precision@k of the list without its unjudged documents, still divided by k.

Source: Sakai 2007, Alternatives to Bpref (condensed lists).
Hard cases: the list is condensed before it is cut, so documents from beyond place k move up; grade -1 is unjudged; the later place of a
repeated judged document stays taken, that of an unjudged one goes with it.
-#}
{% macro measure_precision_condensed() %}
    {{ return(adapter.dispatch('measure_precision_condensed', 'assay')()) }}
{% endmacro %}

{% macro default__measure_precision_condensed() %}
    {{ return({
        'numerator': 'n_exact_condensed',
        'denominator': 'k',
    }) }}
{% endmacro %}

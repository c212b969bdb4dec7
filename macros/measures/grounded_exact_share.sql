{#-
grounded_exact_share: exact_share with a citation from outside the context counted as not exact.

An exact document that the model remembered or guessed was not in front of it.
Hard cases: undefined where the context is unknown; 0 where nothing is cited.
-#}
{% macro measure_grounded_exact_share() %}
    {{ return(adapter.dispatch('measure_grounded_exact_share', 'assay')()) }}
{% endmacro %}

{% macro default__measure_grounded_exact_share() %}
    {{ return({
        'numerator': 'n_exact_in_context_cited',
        'denominator': 'case when has_documents then case when n_cited > 0 then n_cited else 1 end end',
    }) }}
{% endmacro %}

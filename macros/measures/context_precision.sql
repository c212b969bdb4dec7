{#-
context_precision@k: the mean of precision@i over the places i among the first k that hold an exact document.

Source: Ragas, context precision, with the judgments as the reference. It is not precision, and not average precision, which
divides by all exact documents.
precision_sum / precision_unit is the sum of those precision@i; see assay_context_scores.
Hard cases: 0 where no place holds an exact document; a repeated document's later place holds none.
Worked: grades 1 1 2 2 2, exact 2, k 5: (1/3 + 2/4 + 3/5) / 3 = 0.478.
-#}
{% macro measure_context_precision() %}
    {{ return(adapter.dispatch('measure_context_precision', 'assay')()) }}
{% endmacro %}

{% macro default__measure_context_precision() %}
    {{ return({
        'numerator': 'case when k <= 30 then precision_sum end',
        'denominator': 'case when n_exact > 0 then precision_unit * n_exact else 1 end',
        'value': 'case when n_exact > 0 then cast(precision_sum as double) / (cast(precision_unit as double) * n_exact) else 0.0 end',
    }) }}
{% endmacro %}

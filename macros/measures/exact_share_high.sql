{#-
exact_share_high: exact_share with the unjudged documents of the catalog counted as exact.

exact_share itself is the low end: what unjudged documents are worth lies between the two.
Hard cases: an ID that neither context nor catalog holds can't be exact; 0 where nothing is cited.
-#}
{% macro measure_exact_share_high() %}
    {{ return(adapter.dispatch('measure_exact_share_high', 'assay')()) }}
{% endmacro %}

{% macro default__measure_exact_share_high() %}
    {{ return({
        'numerator': 'n_exact_cited + n_unjudged_in_catalog_cited',
        'denominator': 'case when n_cited > 0 then n_cited else 1 end',
    }) }}
{% endmacro %}

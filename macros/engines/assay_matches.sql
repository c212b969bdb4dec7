{#-
True where the whole text is of a pattern; null where there is no text. The pattern is of what all engines read alike: classes, groups, counts and
alternatives, and no backslash. A cast is only tried on a text of one pattern: engines differ in what else they take for a time or a number.
-#}
{% macro assay_matches(text, pattern) %}
    {{ return(adapter.dispatch('assay_matches', 'assay')(text, pattern)) }}
{% endmacro %}

{% macro default__assay_matches(text, pattern) %}
    {{ return("regexp_full_match(" ~ text ~ ", '" ~ pattern ~ "')") }}
{% endmacro %}

{% macro spark__assay_matches(text, pattern) %}
    {{ return(text ~ " rlike r'^(?:" ~ pattern ~ ")\\z'") }}
{% endmacro %}

{#- A text without the white space around it: spaces, tabs, line ends and no-break spaces. -#}
{% macro assay_trimmed(text) %}
    {{ return(adapter.dispatch('assay_trimmed', 'assay')(text)) }}
{% endmacro %}

{% macro default__assay_trimmed(text) %}
    {{ return("trim(" ~ text ~ ", ' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(160))") }}
{% endmacro %}

{% macro spark__assay_trimmed(text) %}
    {{ return("trim(both ' ' || char(9) || char(10) || char(11) || char(12) || char(13) || char(160) from " ~ text ~ ")") }}
{% endmacro %}

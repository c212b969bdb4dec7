{#- The quotient of two integers, cut to an integer. -#}
{% macro assay_integer_quotient(dividend, divisor) %}
    {{ return(adapter.dispatch('assay_integer_quotient', 'assay')(dividend, divisor)) }}
{% endmacro %}

{% macro default__assay_integer_quotient(dividend, divisor) %}
    {{ return('((' ~ dividend ~ ') // (' ~ divisor ~ '))') }}
{% endmacro %}

{% macro spark__assay_integer_quotient(dividend, divisor) %}
    {{ return('((' ~ dividend ~ ') div (' ~ divisor ~ '))') }}
{% endmacro %}

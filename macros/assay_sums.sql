{#- A sum of whole numbers that a bigint, or a double, wouldn't hold: exact on every engine. -#}
{% macro assay_exact_sum(expression) %}
    {{ return('sum(cast(' ~ expression ~ ' as decimal(38, 0)))') }}
{% endmacro %}


{#- n times the sum of products less the product of the sums of a and b, exact before it is a double: n (n - 1) times their covariance. -#}
{% macro assay_spread(n, products, a, b) %}
    {{ return('cast(cast(' ~ n ~ ' as decimal(38, 0)) * ' ~ products ~ ' - ' ~ a ~ ' * ' ~ b ~ ' as double)') }}
{% endmacro %}

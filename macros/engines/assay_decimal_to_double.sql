{#-
A decimal with 17 places, 0 or more, as a double: its whole part and its places become doubles, then one division and one sum. Engines
round a cast of a wide decimal in different ways. DuckDB's cast does just this, and faster than the same written out; elsewhere it is
written out. tests/python/test_discounts.py holds the two to each other.
-#}
{% macro assay_decimal_to_double(decimal) %}
    {{ return(adapter.dispatch('assay_decimal_to_double', 'assay')(decimal)) }}
{% endmacro %}

{% macro default__assay_decimal_to_double(decimal) %}
    {{ return(
        '(cast(floor(' ~ decimal ~ ') as double) + cast(cast((' ~ decimal ~ ' - floor(' ~ decimal
        ~ ')) * 100000000000000000 as ' ~ dbt.type_bigint() ~ ') as double) / 100000000000000000)'
    ) }}
{% endmacro %}

{% macro duckdb__assay_decimal_to_double(decimal) %}
    {{ return('cast(' ~ decimal ~ ' as double)') }}
{% endmacro %}

{#- Spark would cut places of the difference to fit it into 38 digits. A remainder keeps all 17, and so does a product of 18 digits by 18. -#}
{% macro spark__assay_decimal_to_double(decimal) %}
    {{ return(
        '(cast(floor(' ~ decimal ~ ') as double) + cast(cast((' ~ decimal
        ~ ' % 1) * cast(100000000000000000 as decimal(18, 0)) as bigint) as double) / 100000000000000000)'
    ) }}
{% endmacro %}

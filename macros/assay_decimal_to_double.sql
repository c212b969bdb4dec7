{#-
A decimal with 17 places, 0 or more, as a double: its whole part and its places are integers that become doubles, then one division and
one sum. Engines round a cast of a wide decimal in different ways; this is the same everywhere.
-#}
{% macro assay_decimal_to_double(decimal) %}
    {{ return(
        'cast(floor(' ~ decimal ~ ') as double) + cast(cast((' ~ decimal ~ ' - floor(' ~ decimal
        ~ ')) * 100000000000000000 as ' ~ dbt.type_bigint() ~ ') as double) / 100000000000000000'
    ) }}
{% endmacro %}

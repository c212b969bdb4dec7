{#- An integer whose products and sums may pass 64 bits. DuckDB sums in 128 bits, and stops at a product that passes 64; Spark would go on with a wrong one. -#}
{% macro assay_wide(integer) %}
    {{ return(adapter.dispatch('assay_wide', 'assay')(integer)) }}
{% endmacro %}

{% macro default__assay_wide(integer) %}
    {{ return(integer) }}
{% endmacro %}

{% macro spark__assay_wide(integer) %}
    {{ return('cast(' ~ integer ~ ' as decimal(38, 0))') }}
{% endmacro %}

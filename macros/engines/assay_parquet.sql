{#- All Parquet files of a raw table's folder in a lake, with the key of the load that each is of. -#}
{% macro assay_parquet(folder) %}
    {{ return(adapter.dispatch('assay_parquet', 'assay')(folder)) }}
{% endmacro %}

{% macro default__assay_parquet(folder) %}
    {{ return(
        "read_parquet('" ~ folder | replace("'", "''")
        ~ "/*/*/rows.parquet', hive_partitioning = true, hive_types = {'load_key': varchar, 'owner': varchar})"
    ) }}
{% endmacro %}

{% macro spark__assay_parquet(folder) %}
    {{ return('parquet.`' ~ folder | replace('`', '``') ~ '`') }}
{% endmacro %}

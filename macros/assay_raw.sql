{#-
A raw table: the one that ingest fills in the database, or the Parquet files of a lake (`python -m ingest load --lake DIR`) where the
var assay_lake names one. All staging models read their table through this macro, so nothing behind them knows which it is.

Of a lake, the rows of the loads that count are read; which those are was written down once, before the first of them is read
(stg_assay__lake_loads), so that all tables of a build are of the same loads however many loaders are at work.
-#}
{% macro assay_raw(table) %}
    {%- set relation = source('assay_raw', table) -%}
    {%- if not var('assay_lake', none) -%}
        {{ return(relation) }}
    {%- endif -%}
    {{ return(assay_of_lake(table, ref('stg_assay__lake_loads'))) }}
{% endmacro %}


{#- The same from within a materialization, where ref() reaches no model that isn't named in the code. -#}
{% macro assay_raw_at_run(table) %}
    {%- if not var('assay_lake', none) -%}
        {{ return(source('assay_raw', table)) }}
    {%- endif -%}
    {%- set node = graph.nodes.values() | selectattr('name', 'equalto', 'stg_assay__lake_loads') | first -%}
    {{ return(assay_of_lake(table, api.Relation.create(database=node.database, schema=node.schema, identifier=node.alias))) }}
{% endmacro %}


{% macro assay_of_lake(table, lake_loads) %}
    {%- set condition = {'loads': 'true', 'check_rules': 'is_newest'}.get(table, 'is_current') -%}
    {{ return(
        '(select * from ' ~ assay_parquet(assay_lake() ~ '/' ~ table) ~ ' where load_key in (select load_key from '
        ~ lake_loads ~ ' where ' ~ condition ~ '))'
    ) }}
{% endmacro %}


{#- The folder of the lake. A view keeps it, and is read from anywhere, so it has to start at the root. -#}
{% macro assay_lake() %}
    {#- A model that is off is parsed too. -#}
    {%- set folder = (var('assay_lake', none) or '/') | string -%}
    {%- if not folder.startswith('/') and ':' not in folder -%}
        {{ exceptions.raise_compiler_error(
            'assay_lake: ' ~ folder ~ ' is no whole path: views keep it, and are read from other folders. Begin it at the root.'
        ) }}
    {%- endif -%}
    {{ return(folder.rstrip('/')) }}
{% endmacro %}

{#- Before a run: says in one sentence that nothing was loaded yet, where dbt would fail on its first table. -#}
{% macro assay_is_loaded() %}
    {%- if execute and flags.WHICH in ('build', 'run') and not var('assay_lake', none) -%}
        {%- set schema = var('assay_raw_schema', 'assay_raw') -%}
        {%- if adapter.get_relation(database=target.get('database'), schema=schema, identifier='recordings') is none -%}
            {{ exceptions.raise_compiler_error(
                'There is no ' ~ schema ~ '.recordings here: load something first, with `python -m ingest load PATH`.'
            ) }}
        {%- endif -%}
    {%- endif -%}
    {{ return('') }}
{% endmacro %}

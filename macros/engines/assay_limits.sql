{#- Before a run: what ASSAY_MEMORY (such as 4GB) and ASSAY_THREADS allow the database, as they do for ingest. -#}
{% macro assay_limits() %}
    {{ return(adapter.dispatch('assay_limits', 'assay')()) }}
{% endmacro %}

{% macro default__assay_limits() %}
    {{ return('') }}
{% endmacro %}

{% macro duckdb__assay_limits() %}
    {%- set memory = env_var('ASSAY_MEMORY', '') -%}
    {%- set threads = env_var('ASSAY_THREADS', '') -%}
    {%- set settings = [] -%}
    {%- if memory -%}{%- do settings.append("set global memory_limit = '" ~ memory ~ "'") -%}{%- endif -%}
    {%- if threads -%}{%- do settings.append('set global threads = ' ~ threads | int) -%}{%- endif -%}
    {{ return(settings | join('; ')) }}
{% endmacro %}

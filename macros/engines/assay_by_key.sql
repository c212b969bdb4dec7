{#-
    Tables that are built key by key: a recording's rows are made when the recording is new or something that they rest on has changed, and are left alone
    else. A model says so with

        config(materialized='assay_by_key', assay_key='recording_id')

    (or 'collection') and filters what it imports with `where assay_is_due()`, which reads `true`.

    `_assay_built` keeps, for each such model, what its code was when it was built (a digest of the compiled model, vars and measures included) and which version of
    each key it holds. A version is the number and digest of the load, of the collection's and of the answers' recording that it is held against. Whatever is
    gone or has another version is deleted; what is absent is appended, in one transaction. Other code, of the model itself or of one that it reads, or a table
    that somebody replaced, is built whole.

    Elsewhere than in DuckDB such a model is a table.
-#}
{% macro assay_is_due() -%}
    true /* of what is due */
{%- endmacro %}

{% macro assay_built_table() %}
    {{- return(api.Relation.create(database=target.database, schema=target.schema, identifier='_assay_built')) -}}
{% endmacro %}

{#- Before a run: the table that remembers. -#}
{% macro assay_remember() %}
    {{ return(adapter.dispatch('assay_remember', 'assay')()) }}
{% endmacro %}

{% macro default__assay_remember() %}
    {{ return('') }}
{% endmacro %}

{% macro duckdb__assay_remember() %}
    {%- if execute and flags.WHICH in ('build', 'run') -%}
        {%- set table = assay_built_table() -%}
        {#- A transaction of its own: what a hook before it began would be rolled back with the hooks. -#}
        {%- call statement('assay_remember') -%}
            create schema if not exists {{ table.without_identifier() }};
            create table if not exists {{ table }} (model varchar, code varchar, key varchar, version varchar)
        {%- endcall -%}
        {%- do adapter.commit() -%}
    {%- endif -%}
    {{ return('') }}
{% endmacro %}

{#- Each key as it stands now, with its version. -#}
{% macro assay_versions(key) %}
    {%- if key == 'collection' -%}
    select
        collection as key,
        cast(load_number as varchar) || ' ' || digest as version
    from {{ assay_raw_at_run('collections') }}
    {%- else -%}
    select
        recordings.recording_id as key,
        concat_ws(
            ' ', recordings.load_number, recordings.digest, coalesce(collections.load_number, 0), collections.digest,
            coalesce(answers.load_number, 0), answers.digest
        ) as version
    from {{ assay_raw_at_run('recordings') }} as recordings
    left join {{ assay_raw_at_run('collections') }} as collections
        on recordings.collection = collections.collection
    left join {{ assay_raw_at_run('recordings') }} as answers
        on recordings.answers_recording = answers.recording_id
    {%- endif -%}
{% endmacro %}

{#- The code behind what a model reads: as it was built where that is a table by key, as it stands in the database where it is a view. -#}
{% macro assay_codes() %}
    {%- set codes = {} -%}
    {%- for row in run_query(
        'select model, code from ' ~ assay_built_table() ~ " where key is null union all select schema_name || '.' || view_name, md5(sql) from duckdb_views()"
    ).rows -%}
        {%- do codes.update({row[0]: row[1]}) -%}
    {%- endfor -%}
    {{- return(codes) -}}
{% endmacro %}

{% macro assay_code_behind(node_ids, codes) %}
    {%- set parts = [] -%}
    {%- for node_id in node_ids | sort if node_id in graph.nodes -%}
        {%- set node = graph.nodes[node_id] -%}
        {%- do parts.append(codes.get(node.schema ~ '.' ~ node.alias, node.checksum.checksum)) -%}
        {%- if node.config.materialized != 'assay_by_key' and node.depends_on.nodes -%}
            {%- do parts.append(assay_code_behind(node.depends_on.nodes, codes)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(parts | join(' ')) -}}
{% endmacro %}

{#- What of a model is due: keys to delete, keys to make. None where the whole of it is to be built. -#}
{% macro assay_due(existing, code) %}
    {%- set built = assay_built_table() -%}
    {%- set name = "'" ~ this.schema ~ '.' ~ this.identifier ~ "'" -%}
    {%- if existing is none or not existing.is_table or should_full_refresh() -%}{{- return(none) -}}{%- endif -%}
    {%- set codes = run_query('select distinct code from ' ~ built ~ ' where model = ' ~ name).columns[0].values() -%}
    {%- if codes | list != [code] -%}{{- return(none) -}}{%- endif -%}
    {%- set found = run_query(
        'with now as (' ~ assay_versions(config.get('assay_key')) ~ '), held as (select key, version from ' ~ built ~ ' where model = ' ~ name
        ~ " and key is not null) select coalesce(now.key, held.key), now.key is not null from now full join held on now.key = held.key"
        ~ ' where now.version is distinct from held.version order by 1'
    ) -%}
    {%- set due = {'stale': [], 'wanted': []} -%}
    {%- for row in found.rows -%}
        {%- do due.stale.append(row[0]) -%}
        {%- if row[1] -%}{%- do due.wanted.append(row[0]) -%}{%- endif -%}
    {%- endfor -%}
    {{- return(due) -}}
{% endmacro %}

{% macro assay_in(column, keys) %}
    {%- set quoted = [] -%}
    {%- for key in keys -%}{%- do quoted.append("'" ~ (key | string | replace("'", "''")) ~ "'") -%}{%- endfor -%}
    {{- return(column ~ ' in (' ~ quoted | join(', ') ~ ')') -}}
{% endmacro %}

{#- The statement that says of a model's keys that they are held as they stand now. A row without a key keeps the code of a table without any. -#}
{% macro assay_note_built(code, keys=none) %}
    {%- set name = "'" ~ this.schema ~ '.' ~ this.identifier ~ "'" -%}
    {%- set values = "select " ~ name ~ ", '" ~ code ~ "', " -%}
    {%- if keys is none -%}
        {{- return(
            'insert into ' ~ assay_built_table() ~ ' ' ~ values ~ 'key, version from (' ~ assay_versions(config.get('assay_key')) ~ ') union all '
            ~ values ~ 'null, null'
        ) -}}
    {%- else -%}
        {{- return(
            'insert into ' ~ assay_built_table() ~ ' ' ~ values ~ 'key, version from (' ~ assay_versions(config.get('assay_key')) ~ ') where '
            ~ assay_in('key', keys)
        ) -}}
    {%- endif -%}
{% endmacro %}

{% materialization assay_by_key, default %}
    {{ return(context['materialization_table_' ~ adapter.type()]()) }}
{% endmaterialization %}

{% materialization assay_by_key, adapter='duckdb', supported_languages=['sql', 'python'] %}
    {%- set existing = load_cached_relation(this) -%}
    {%- set relation = this.incorporate(type='table') -%}
    {%- set built = assay_built_table() -%}
    {%- set is_model = "model = '" ~ this.schema ~ '.' ~ this.identifier ~ "'" -%}
    {%- set code = local_md5(
        compiled_code ~ model.columns ~ model.description ~ config.get('assay_code', '') ~ assay_code_behind(model.depends_on.nodes, assay_codes())
    ) -%}
    {%- set due = assay_due(existing, code) -%}

    {%- set language = model['language'] -%}
    {#- A Python model's rows come by way of a table: dbt runs Python from a materialization itself, and from nothing that it calls. -#}
    {%- set by_way_of = make_temp_relation(relation) -%}

    {%- if due is none -%}
        {#- Forgotten first: a stop in between leaves a table that is built whole again. -#}
        {%- do run_query('delete from ' ~ built ~ ' where ' ~ is_model) -%}
        {%- if language == 'sql' -%}
            {%- set made = context['materialization_table_duckdb']() -%}
            {%- do run_query(assay_note_built(code)) -%}
            {{- return(made) -}}
        {%- endif -%}
    {%- endif -%}

    {{- run_hooks(pre_hooks, inside_transaction=False) -}}
    {{- run_hooks(pre_hooks, inside_transaction=True) -}}
    {%- if due is none -%}
        {%- set rows = 'select * from ' ~ by_way_of -%}
        {%- set to_run = compiled_code -%}
    {%- elif due.wanted -%}
        {%- set to_run = compiled_code | replace(assay_is_due(), assay_in(config.get('assay_key'), due.wanted)) -%}
        {%- set rows = to_run if language == 'sql' else 'select * from ' ~ by_way_of -%}
    {%- endif -%}
    {%- if language == 'python' and to_run is defined -%}
        {%- do run_query('drop table if exists ' ~ by_way_of) -%}
        {%- call statement('by_way_of', language='python') -%}
            {{- create_table_as(False, by_way_of, to_run, 'python') }}
        {%- endcall -%}
    {%- endif -%}
    {%- call statement('main') -%}
        {%- if due is none -%}
        create or replace table {{ relation }} as {{ rows }};
        {{ assay_note_built(code) }};
        {%- else -%}
        {%- if due.stale -%}
        delete from {{ relation }} where {{ assay_in(config.get('assay_key'), due.stale) }};
        delete from {{ built }} where {{ is_model }} and {{ assay_in('key', due.stale) }};
        {%- endif -%}
        {%- if due.wanted -%}
        insert into {{ relation }} by name ({{ rows }});
        {{ assay_note_built(code, due.wanted) }};
        {%- endif -%}
        {%- endif -%}
        select 1
    {%- endcall -%}
    {%- if due is none -%}{%- do persist_docs(relation, model) -%}{%- endif -%}
    {{- run_hooks(post_hooks, inside_transaction=True) -}}
    {%- do adapter.commit() -%}
    {%- if language == 'python' and to_run is defined -%}
        {%- do run_query('drop table if exists ' ~ by_way_of) -%}
    {%- endif -%}
    {{- run_hooks(post_hooks, inside_transaction=False) -}}
    {{- return({'relations': [relation]}) -}}
{% endmaterialization %}

{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

contexts as (

    select * from {{ ref('stg_assay__contexts') }}
    where {{ assay_is_due() }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}
    where {{ assay_is_due() }}

),

collections as (

    select * from {{ ref('stg_assay__collections') }}

),

asked_queries as (

    select * from {{ ref('fct_assay__asked_queries') }}
    where {{ assay_is_due() }}

),

context_documents as (

    select * from {{ ref('fct_assay__context_documents') }}
    where {{ assay_is_due() }}

),

queries as (

    select * from {{ ref('assay_queries') }}

),

retrievers as (

    select distinct
        recording_id,
        retriever
    from contexts

),

-- A query that was asked and has no row under a retriever counts as an empty list.
missing as (

    select
        asked_queries.recording_id,
        asked_queries.query_id,
        retrievers.retriever
    from asked_queries
    inner join retrievers
        on asked_queries.recording_id = retrievers.recording_id
    left join contexts
        on
            asked_queries.recording_id = contexts.recording_id
            and asked_queries.query_id = contexts.query_id
            and retrievers.retriever = contexts.retriever
    where contexts.recording_id is null

),

rows_and_missing as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        has_documents,
        searched_as,
        duration_ms,
        false as is_missing
    from contexts

    union all

    select
        recording_id,
        query_id,
        retriever,
        1 as trial,
        true as has_documents,
        null as searched_as,
        null as duration_ms,
        true as is_missing
    from missing

),

-- A retriever's list may be kept deeper than what it shows, so that ties can be seen; the context is what it shows.
counted as (

    select
        context_documents.recording_id,
        context_documents.query_id,
        context_documents.retriever,
        context_documents.trial,
        count(*) as n_places,
        count(*) filter (where not is_repeat) as n_documents,
        count(*) filter (where is_repeat) as n_repeated,
        count(*) filter (where is_exact) as n_exact,
        count(*) filter (where is_partial) as n_partial,
        count(*) filter (where is_irrelevant) as n_irrelevant,
        count(*) filter (where is_unjudged) as n_unjudged,
        count(*) filter (where is_unjudged and is_in_catalog) as n_unjudged_in_catalog,
        count(*) filter (where not is_in_catalog and not is_repeat) as n_outside_catalog,
        count(*) filter (where is_in_text and not is_repeat) as n_in_text,
        count(*) filter (where n_words is null) as n_texts_unknown,
        sum(n_words) as n_words
    from context_documents
    inner join recordings
        on context_documents.recording_id = recordings.recording_id
    where
        recordings.kind != 'contexts'
        or recordings.results_shown is null
        or context_documents.rank <= recordings.results_shown
    group by
        context_documents.recording_id,
        context_documents.query_id,
        context_documents.retriever,
        context_documents.trial

),

described as (

    select
        rows_and_missing.recording_id,
        rows_and_missing.query_id,
        rows_and_missing.retriever,
        cast(rows_and_missing.trial as {{ dbt.type_bigint() }}) as trial,
        recordings.collection,
        asked_queries.query_id is not null as is_asked,
        rows_and_missing.is_missing,
        rows_and_missing.has_documents,
        coalesce(queries.has_judgments, false) as has_judgments,
        coalesce(collections.judgments = 'positive_only', false) as is_positive_only,
        -- An unknown list has unknown counts, an empty one has zeros.
        {% for column in [
            'n_places', 'n_documents', 'n_repeated', 'n_exact', 'n_partial', 'n_irrelevant', 'n_unjudged', 'n_unjudged_in_catalog',
            'n_outside_catalog', 'n_in_text',
        ] %}
        cast(case when rows_and_missing.has_documents then coalesce(counted.{{ column }}, 0) end as {{ dbt.type_bigint() }}) as {{ column }},
        {% endfor %}
        -- The words of a list are known where every text is.
        cast(case
            when rows_and_missing.has_documents and coalesce(counted.n_texts_unknown, 0) = 0
                then coalesce(counted.n_words, 0)
        end as {{ dbt.type_bigint() }}) as n_words,
        coalesce(queries.n_exact, 0) as n_query_exact,
        coalesce(queries.n_exact_in_catalog, 0) as n_query_exact_in_catalog,
        recordings.results_shown,
        rows_and_missing.searched_as,
        cast(rows_and_missing.duration_ms as double) as duration_ms
    from rows_and_missing
    inner join recordings
        on rows_and_missing.recording_id = recordings.recording_id
    left join collections
        on recordings.collection = collections.collection
    left join asked_queries
        on
            rows_and_missing.recording_id = asked_queries.recording_id
            and rows_and_missing.query_id = asked_queries.query_id
    left join queries
        on
            recordings.collection = queries.collection
            and rows_and_missing.query_id = queries.query_id
    left join counted
        on
            rows_and_missing.recording_id = counted.recording_id
            and rows_and_missing.query_id = counted.query_id
            and rows_and_missing.retriever = counted.retriever
            and rows_and_missing.trial = counted.trial

),

final as (

    select
        *,
        {% for measure in assay_measures_of('context') %}
        {{ assay_value(measure) }} as {{ measure.name }}{{ ',' if not loop.last }}
        {% endfor %}
    from described

)

select * from final

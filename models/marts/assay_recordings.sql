with

recordings as (

    select * from {{ ref('stg_assay__recordings') }}

),

collections as (

    select * from {{ ref('stg_assay__collections') }}

),

asked_queries as (

    select * from {{ ref('fct_assay__asked_queries') }}

),

contexts as (

    select * from {{ ref('stg_assay__contexts') }}

),

traces as (

    select * from {{ ref('stg_assay__traces') }}

),

checks as (

    select * from {{ ref('stg_assay__checks') }}

),

-- What a recording has a row for: contexts stand behind answers too, and traces stand alone.
given as (

    select
        recording_id,
        retriever,
        query_id
    from contexts

    union all

    select
        recording_id,
        retriever,
        query_id
    from traces

),

given_by_retriever as (

    select
        given.recording_id,
        given.retriever,
        count(distinct asked_queries.query_id) as n_asked_and_given,
        count(*) filter (where asked_queries.query_id is null) as n_not_asked
    from given
    left join asked_queries
        on
            given.recording_id = asked_queries.recording_id
            and given.query_id = asked_queries.query_id
    group by given.recording_id, given.retriever

),

given_by_recording as (

    select
        recording_id,
        count(*) as n_retrievers,
        sum(n_asked_and_given) as n_asked_and_given,
        sum(n_not_asked) as n_not_asked
    from given_by_retriever
    group by recording_id

),

asked_by_recording as (

    select
        recording_id,
        count(*) as n_asked
    from asked_queries
    group by recording_id

),

checks_by_recording as (

    select
        name as recording_id,
        count(distinct check_name) as n_checks,
        count(distinct check_name) filter (where status = 'passed') as n_checks_passed,
        count(*) filter (where status = 'failed' and severity = 'warning') as n_warnings,
        count(*) filter (where status = 'failed' and severity = 'note') as n_notes
    from checks
    where kind = 'recording'
    group by name

),

counted as (

    select
        recordings.*,
        collections.collection is not null as has_collection,
        collections.digest = recordings.collection_digest as is_collection_as_pinned,
        coalesce(given_by_recording.n_retrievers, 0) as n_retrievers,
        coalesce(asked_by_recording.n_asked, 0) as n_asked,
        coalesce(given_by_recording.n_not_asked, 0) as n_not_asked,
        -- A recording without any row misses every query once.
        coalesce(asked_by_recording.n_asked, 0) * coalesce(given_by_recording.n_retrievers, 1)
        - coalesce(given_by_recording.n_asked_and_given, 0) as n_missing,
        coalesce(checks_by_recording.n_checks, 0) as n_checks,
        coalesce(checks_by_recording.n_checks_passed, 0) as n_checks_passed,
        coalesce(checks_by_recording.n_warnings, 0) as n_warnings,
        coalesce(checks_by_recording.n_notes, 0) as n_notes
    from recordings
    left join collections
        on recordings.collection = collections.collection
    left join given_by_recording
        on recordings.recording_id = given_by_recording.recording_id
    left join asked_by_recording
        on recordings.recording_id = asked_by_recording.recording_id
    left join checks_by_recording
        on recordings.recording_id = checks_by_recording.recording_id

),

final as (

    select
        recording_id,
        kind,
        collection,
        has_collection,
        split,
        model,
        model_digest,
        model_licence,
        num_ctx,
        n_prompt_words,
        recorded_at,
        is_recorded_on_a_date,
        results_shown,
        max_searches,
        max_recommendations,
        shows_all_fields,
        answers_recording,
        asked,
        citations,
        is_ids_in_text_asked,
        context_is,
        is_judgments_shown,
        digest,
        is_pinned,
        is_collection_as_pinned,
        n_lines,
        n_loaded,
        n_quarantined,
        cast(n_retrievers as {{ dbt.type_bigint() }}) as n_retrievers,
        cast(n_asked as {{ dbt.type_bigint() }}) as n_asked,
        cast(n_missing as {{ dbt.type_bigint() }}) as n_missing,
        cast(n_not_asked as {{ dbt.type_bigint() }}) as n_not_asked,
        cast(n_checks as {{ dbt.type_bigint() }}) as n_checks,
        cast(n_checks_passed as {{ dbt.type_bigint() }}) as n_checks_passed,
        cast(n_warnings as {{ dbt.type_bigint() }}) as n_warnings,
        cast(n_notes as {{ dbt.type_bigint() }}) as n_notes,
        has_collection and n_quarantined = 0 and n_missing = 0 as is_complete
    from counted

)

select * from final

with

searches as (

    select * from {{ ref('fct_assay__searches') }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}

),

queries as (

    select * from {{ ref('assay_queries') }}

),

-- The same text under another task inherits that task's judgments, so the task is part of the grain.
repeated as (

    select
        recordings.collection,
        searches.query_id,
        searches.query,
        count(*) as n_searches,
        count(distinct searches.recording_id) as n_recordings,
        min(searches.search) as first_search
    from searches
    inner join recordings
        on searches.recording_id = recordings.recording_id
    where searches.query is not null
    group by recordings.collection, searches.query_id, searches.query

),

typed as (

    select
        collection,
        query,
        count(*) as n_typed
    from queries
    group by collection, query

),

final as (

    select
        repeated.collection,
        repeated.query_id,
        repeated.query,
        cast(repeated.n_searches as {{ dbt.type_bigint() }}) as n_searches,
        cast(repeated.n_recordings as {{ dbt.type_bigint() }}) as n_recordings,
        cast(repeated.first_search as {{ dbt.type_bigint() }}) as first_search,
        typed.n_typed is not null as is_typed_by_a_person,
        coalesce(queries.query = repeated.query, false) as is_as_its_task,
        coalesce(queries.has_judgments, false) as has_judgments,
        cast(coalesce(queries.n_judged, 0) as {{ dbt.type_bigint() }}) as n_judged,
        cast(coalesce(queries.n_exact, 0) as {{ dbt.type_bigint() }}) as n_exact
    from repeated
    left join queries
        on
            repeated.collection = queries.collection
            and repeated.query_id = queries.query_id
    left join typed
        on
            repeated.collection = typed.collection
            and repeated.query = typed.query

)

select * from final

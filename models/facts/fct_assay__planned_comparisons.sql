with

planned as (

    select * from {{ ref('planned_comparisons') }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}

),

asked_queries as (

    select * from {{ ref('fct_assay__asked_queries') }}

),

queries as (

    select * from {{ ref('stg_assay__queries') }}

),

scores as (

    select * from {{ ref('assay_scores') }}

),

resolved as (

    select
        comparison_id,
        family,
        planned_on,
        -- Times are UTC, with or without a Z. Engines read other offsets differently, so none is read.
        case
            when substring(planned_on, 11) like '%+%' or substring(planned_on, 11) like '%-%' then null
            else try_cast(planned_on as timestamp)
        end as planned_at,
        -- A text as short as 2026-11-01 has no time.
        length(trim(planned_on)) <= 10 as is_planned_on_a_date,
        split,
        recording_id,
        retriever,
        measure,
        k,
        coalesce(baseline_recording_id, recording_id) as baseline_recording_id,
        coalesce(baseline_retriever, retriever) as baseline_retriever,
        coalesce(baseline_measure, measure) as baseline_measure,
        coalesce(baseline_k, k) as baseline_k
    from planned

),

sides as (

    select
        comparison_id,
        split,
        recording_id
    from resolved

    union all

    select
        comparison_id,
        split,
        baseline_recording_id as recording_id
    from resolved

),

-- A query that both sides asked stands on two rows, one that a single side asked on one.
compared_queries as (

    select
        sides.comparison_id,
        asked_queries.query_id,
        count(*) as n_sides
    from sides
    inner join asked_queries
        on sides.recording_id = asked_queries.recording_id
    inner join queries
        on
            asked_queries.collection = queries.collection
            and asked_queries.query_id = queries.query_id
    where sides.split is null or sides.split = queries.split
    group by sides.comparison_id, asked_queries.query_id

),

shared_queries as (

    select
        comparison_id,
        count(*) as n_queries,
        count(*) filter (where n_sides = 1) as n_not_shared
    from compared_queries
    group by comparison_id

),

scored as (

    select distinct
        recording_id,
        retriever,
        measure,
        coalesce(k, 0) as k_or_zero
    from scores

),

retrievers as (

    select distinct
        recording_id,
        retriever
    from scored

),

families as (

    select
        family,
        count(*) as n_family
    from resolved
    where planned_on is not null
    group by family

),

joined as (

    select
        resolved.*,
        recordings.collection,
        baseline_recordings.collection as baseline_collection,
        recordings.recording_id is not null as is_loaded,
        baseline_recordings.recording_id is not null as is_baseline_loaded,
        recordings.collection_digest,
        baseline_recordings.collection_digest as baseline_collection_digest,
        recordings.recorded_at,
        baseline_recordings.recorded_at as baseline_recorded_at,
        case
            when baseline_recordings.recorded_at > recordings.recorded_at then baseline_recordings.recorded_at
            else recordings.recorded_at
        end as later_at,
        coalesce(recordings.is_recorded_on_a_date, false) as is_recorded_on_a_date,
        coalesce(baseline_recordings.is_recorded_on_a_date, false) as is_baseline_recorded_on_a_date,
        retrievers.retriever is not null as has_retriever,
        baseline_retrievers.retriever is not null as has_baseline_retriever,
        scored.measure is not null as is_scored,
        baseline_scored.measure is not null as is_baseline_scored,
        coalesce(shared_queries.n_queries, 0) as n_queries,
        coalesce(shared_queries.n_not_shared, 0) as n_not_shared,
        case when resolved.planned_on is not null then families.n_family end as n_family
    from resolved
    left join recordings
        on resolved.recording_id = recordings.recording_id
    left join recordings as baseline_recordings
        on resolved.baseline_recording_id = baseline_recordings.recording_id
    left join retrievers
        on
            resolved.recording_id = retrievers.recording_id
            and resolved.retriever = retrievers.retriever
    left join retrievers as baseline_retrievers
        on
            resolved.baseline_recording_id = baseline_retrievers.recording_id
            and resolved.baseline_retriever = baseline_retrievers.retriever
    left join scored
        on
            resolved.recording_id = scored.recording_id
            and resolved.retriever = scored.retriever
            and resolved.measure = scored.measure
            and coalesce(resolved.k, 0) = scored.k_or_zero
    left join scored as baseline_scored
        on
            resolved.baseline_recording_id = baseline_scored.recording_id
            and resolved.baseline_retriever = baseline_scored.retriever
            and resolved.baseline_measure = baseline_scored.measure
            and coalesce(resolved.baseline_k, 0) = baseline_scored.k_or_zero
    left join shared_queries
        on resolved.comparison_id = shared_queries.comparison_id
    left join families
        on resolved.family = families.family

),

dated as (

    select
        *,
        cast(planned_at as date) as planned_day,
        cast(later_at as date) as later_day,
        -- Days are all there is to compare once the plan, or a recording of the later day, has no time.
        is_planned_on_a_date
        or (is_recorded_on_a_date and cast(recorded_at as date) = cast(later_at as date))
        or (is_baseline_recorded_on_a_date and cast(baseline_recorded_at as date) = cast(later_at as date))
            as is_compared_by_day
    from joined

),

judged as (

    select
        *,
        case
            when planned_on is null then 'no planned_on'
            when planned_at is null then 'planned_on is neither a date nor a UTC time: ' || planned_on
            -- What isn't recorded yet can't have been seen by whoever planned it.
            when not (is_loaded and is_baseline_loaded) then null
            when recorded_at is null then 'recording ' || recording_id || ' has no recorded_at'
            when baseline_recorded_at is null
                then 'recording ' || baseline_recording_id || ' has no recorded_at'
            when is_compared_by_day and planned_day = later_day
                then 'planned on the day of the later recording, and which came first is not known'
            when is_compared_by_day and planned_day > later_day then 'planned after the later recording'
            when not is_compared_by_day and planned_at >= later_at then 'planned after the later recording'
        end as exploratory_reason,
        case
            when not is_loaded then 'recording ' || recording_id || ' is not loaded'
            when not is_baseline_loaded then 'recording ' || baseline_recording_id || ' is not loaded'
            when not has_retriever then 'recording ' || recording_id || ' has no retriever ' || retriever
            when not has_baseline_retriever
                then 'recording ' || baseline_recording_id || ' has no retriever ' || baseline_retriever
        end as not_recorded_reason,
        case
            when
                recording_id = baseline_recording_id
                and retriever = baseline_retriever
                and measure = baseline_measure
                and coalesce(k, 0) = coalesce(baseline_k, 0)
                then 'both sides are the same'
            when collection != baseline_collection
                then 'the sides rest on two collections: ' || collection || ' and ' || baseline_collection
            when collection_digest != baseline_collection_digest
                then 'the recordings pin two versions of collection ' || collection
            when is_loaded and is_baseline_loaded and n_queries = 0
                then 'no query' || coalesce(' of split ' || split, '') || ' was asked'
            when is_loaded and is_baseline_loaded and n_not_shared > 0
                then
                    'the recordings asked different queries; asked on one side only: '
                    || cast(n_not_shared as {{ dbt.type_string() }})
            when has_retriever and not is_scored
                then
                    'recording ' || recording_id || ' has no scores of '
                    || measure || coalesce(' at k ' || cast(k as {{ dbt.type_string() }}), ' without k')
            when has_baseline_retriever and not is_baseline_scored
                then
                    'recording ' || baseline_recording_id || ' has no scores of '
                    || baseline_measure
                    || coalesce(' at k ' || cast(baseline_k as {{ dbt.type_string() }}), ' without k')
        end as refused_reason
    from dated

),

final as (

    select
        comparison_id,
        family,
        planned_on,
        split,
        recording_id,
        retriever,
        measure,
        k,
        baseline_recording_id,
        baseline_retriever,
        baseline_measure,
        baseline_k,
        collection,
        exploratory_reason is null as is_planned,
        exploratory_reason,
        not_recorded_reason,
        refused_reason,
        not_recorded_reason is null and refused_reason is null as is_testable,
        cast(n_family as {{ dbt.type_bigint() }}) as n_family,
        case
            when exploratory_reason is null
                then cast({{ var('assay_alpha') }} as double) / n_family
            else cast({{ var('assay_alpha') }} as double)
        end as threshold
    from judged

)

select * from final

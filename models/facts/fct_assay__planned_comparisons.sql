{% set iso_time = '[0-9]{4}-[0-9]{2}-[0-9]{2}([ T]([01][0-9]|2[0-3]):[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?Z?)?' %}

with

planned as (

    select
        *,
        {{ assay_planned_column('treatment') }} as said_treatment
    from {{ ref('planned_comparisons') }}

),

plan_versions as (

    select * from {{ ref('fct_assay__plan_versions') }}

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
        -- Times are UTC, with or without a Z. Engines read anything else differently, so nothing else is read.
        case
            when {{ assay_matches('trim(planned_on)', iso_time) }} then try_cast(replace(trim(planned_on), 'Z', '') as timestamp)
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
        coalesce(baseline_k, k) as baseline_k,
        nullif(lower(trim(said_treatment)), '') as treatment
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
        count(*) as n_sides,
        min(queries.query) != max(queries.query) as has_two_texts
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
        count(*) filter (where n_sides = 1) as n_not_shared,
        count(*) filter (where has_two_texts) as n_other_texts
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

-- The first build that saw both recordings: what a row said in the build before, or then where there is none, it must still say.
first_recorded as (

    select
        comparison_id,
        min(version) as version
    from plan_versions
    where is_recorded
    group by comparison_id

),

registered_versions as (

    select
        plan_versions.comparison_id,
        first_recorded.version as recorded_version,
        max(plan_versions.version) filter (where plan_versions.version < first_recorded.version) as version_before,
        max(plan_versions.version) as last_version
    from plan_versions
    inner join first_recorded
        on plan_versions.comparison_id = first_recorded.comparison_id
    group by plan_versions.comparison_id, first_recorded.version

),

registered as (

    select
        registered_versions.comparison_id,
        as_registered.family,
        as_registered.is_dated,
        as_registered.row_digest != as_last_seen.row_digest as is_edited
    from registered_versions
    inner join plan_versions as as_registered
        on
            registered_versions.comparison_id = as_registered.comparison_id
            and coalesce(registered_versions.version_before, registered_versions.recorded_version) = as_registered.version
    inner join plan_versions as as_last_seen
        on
            registered_versions.comparison_id = as_last_seen.comparison_id
            and registered_versions.last_version = as_last_seen.version

),

-- A planned row that was taken out, or moved to another family, once its recordings could be seen, goes on counting.
family_rows as (

    select
        family,
        comparison_id
    from resolved
    where planned_on is not null

    union

    select
        family,
        comparison_id
    from registered
    where is_dated

),

families as (

    select
        family,
        count(*) as n_family
    from family_rows
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
        coalesce(shared_queries.n_other_texts, 0) as n_other_texts,
        coalesce(registered.is_edited, false) as is_edited,
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
    left join registered
        on resolved.comparison_id = registered.comparison_id

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
            when is_edited then 'the row was edited after its recordings were loaded'
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
            when treatment not in ('collection', 'queries')
                then 'the treatment is neither collection nor queries: ' || treatment
            when collection != baseline_collection and coalesce(treatment, '') != 'collection'
                then 'the sides rest on two collections: ' || collection || ' and ' || baseline_collection
            when collection_digest != baseline_collection_digest and coalesce(treatment, '') != 'collection'
                then 'the recordings pin two versions of collection ' || collection
            when n_other_texts > 0
                then
                    'one query_id stands for two texts: '
                    || cast(n_other_texts as {{ dbt.type_string() }}) || ' queries'
            when is_loaded and is_baseline_loaded and n_queries = 0
                then 'no query' || coalesce(' of split ' || split, '') || ' was asked'
            when is_loaded and is_baseline_loaded and n_not_shared = n_queries
                then 'no query' || coalesce(' of split ' || split, '') || ' was asked on both sides'
            when is_loaded and is_baseline_loaded and n_not_shared > 0 and coalesce(treatment, '') != 'queries'
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
        treatment,
        collection,
        cast(n_not_shared as {{ dbt.type_bigint() }}) as n_not_shared,
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

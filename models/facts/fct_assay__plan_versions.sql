{#- What was seen is kept: rows are only added, and a full refresh leaves them alone. -#}
{{ config(materialized='incremental', incremental_strategy='append', full_refresh=false) }}

with

planned as (

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
        {{ assay_planned_column('treatment') }} as treatment
    from {{ ref('planned_comparisons') }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}

),

seen as (

    {% if is_incremental() %}
    select
        comparison_id,
        version,
        row_digest,
        is_recorded
    from {{ this }}
    {% else %}
    select
        comparison_id,
        cast(null as {{ dbt.type_bigint() }}) as version,
        cast(null as {{ dbt.type_string() }}) as row_digest,
        cast(null as {{ dbt.type_boolean() }}) as is_recorded
    from planned
    where 1 = 0
    {% endif %}

),

last_versions as (

    select
        comparison_id,
        max(version) as version
    from seen
    group by comparison_id

),

last_seen as (

    select seen.*
    from seen
    inner join last_versions
        on
            seen.comparison_id = last_versions.comparison_id
            and seen.version = last_versions.version

),

written as (

    select
        comparison_id,
        family,
        planned_on is not null as is_dated,
        recording_id,
        coalesce(baseline_recording_id, recording_id) as baseline_recording_id,
        {{ dbt.hash(assay_planned_text()) }} as row_digest
    from planned

),

now_seen as (

    select
        written.*,
        recordings.recording_id is not null and baseline_recordings.recording_id is not null as is_recorded
    from written
    left join recordings
        on written.recording_id = recordings.recording_id
    left join recordings as baseline_recordings
        on written.baseline_recording_id = baseline_recordings.recording_id

),

final as (

    select
        now_seen.comparison_id,
        cast(coalesce(last_seen.version, 0) + 1 as {{ dbt.type_bigint() }}) as version,
        now_seen.family,
        now_seen.is_dated,
        now_seen.row_digest,
        now_seen.is_recorded
    from now_seen
    left join last_seen
        on now_seen.comparison_id = last_seen.comparison_id
    where
        last_seen.comparison_id is null
        or now_seen.row_digest != last_seen.row_digest
        or now_seen.is_recorded != last_seen.is_recorded

)

select * from final

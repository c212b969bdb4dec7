{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

scores as (

    select * from {{ ref('assay_scores') }}
    where {{ assay_is_due() }}

),

intervals as (

    select * from {{ assay_python_model('fct_assay__intervals', reads='fct_assay__value_counts') }}
    where {{ assay_is_due() }}

),

floors as (

    select * from {{ ref('stg_assay__recording_floors') }}
    where {{ assay_is_due() }}

),

per_query as (

    select
        recording_id,
        retriever,
        measure,
        coalesce(k, 0) as k_or_zero,
        query_id,
        max(case when is_missing then 1 else 0 end) as missing,
        max(case when is_broken then 1 else 0 end) as broken,
        count(value) as n_defined
    from scores
    where is_asked
    group by recording_id, retriever, measure, coalesce(k, 0), query_id

),

counted as (

    select
        recording_id,
        retriever,
        measure,
        k_or_zero,
        count(*) as n_queries,
        sum(missing) as n_missing,
        sum(broken) as n_broken,
        count(*) filter (where n_defined = 0) as n_undefined
    from per_query
    group by recording_id, retriever, measure, k_or_zero

),

final as (

    select
        counted.recording_id,
        counted.retriever,
        counted.measure,
        cast(case when counted.k_or_zero > 0 then counted.k_or_zero end as {{ dbt.type_bigint() }}) as k,
        cast(counted.n_queries as {{ dbt.type_bigint() }}) as n_queries,
        cast(counted.n_missing as {{ dbt.type_bigint() }}) as n_missing,
        cast(counted.n_broken as {{ dbt.type_bigint() }}) as n_broken,
        cast(counted.n_undefined as {{ dbt.type_bigint() }}) as n_undefined,
        intervals.mean,
        intervals.interval_low,
        intervals.interval_high,
        intervals.interval_level,
        intervals.interval_method,
        intervals.degenerate_reason,
        floors.retriever is not null as is_floor
    from counted
    left join intervals
        on
            counted.recording_id = intervals.recording_id
            and counted.retriever = intervals.retriever
            and counted.measure = intervals.measure
            and counted.k_or_zero = coalesce(intervals.k, 0)
    left join floors
        on
            counted.recording_id = floors.recording_id
            and counted.retriever = floors.retriever

)

select * from final

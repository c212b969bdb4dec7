with

planned as (

    select * from {{ ref('fct_assay__planned_comparisons') }}

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

sides as (

    select
        comparison_id,
        'candidate' as side,
        split,
        recording_id,
        retriever,
        measure,
        k
    from planned
    where is_testable

    union all

    select
        comparison_id,
        'baseline' as side,
        split,
        baseline_recording_id as recording_id,
        baseline_retriever as retriever,
        baseline_measure as measure,
        baseline_k as k
    from planned
    where is_testable

),

asked as (

    select
        sides.comparison_id,
        sides.side,
        sides.recording_id,
        sides.retriever,
        sides.measure,
        sides.k,
        asked_queries.query_id
    from sides
    inner join asked_queries
        on sides.recording_id = asked_queries.recording_id
    inner join queries
        on
            asked_queries.collection = queries.collection
            and asked_queries.query_id = queries.query_id
    where sides.split is null or sides.split = queries.split

),

-- Where the queries asked differ, and the plan says so, pairs are those of both sides.
shared as (

    select
        comparison_id,
        query_id
    from asked
    group by comparison_id, query_id
    having count(distinct side) = 2

),

final as (

    select
        asked.comparison_id,
        asked.side,
        asked.query_id,
        coalesce(scores.trial, 1) as trial,
        asked.recording_id,
        asked.retriever,
        asked.measure,
        asked.k,
        scores.numerator,
        scores.denominator,
        scores.value,
        -- A query without a score row at all is missing too.
        coalesce(scores.is_missing, true) as is_missing,
        coalesce(scores.is_broken, false) as is_broken
    from asked
    inner join shared
        on
            asked.comparison_id = shared.comparison_id
            and asked.query_id = shared.query_id
    left join scores
        on
            asked.recording_id = scores.recording_id
            and asked.retriever = scores.retriever
            and asked.query_id = scores.query_id
            and asked.measure = scores.measure
            and coalesce(asked.k, 0) = coalesce(scores.k, 0)

)

select * from final

-- The denominator of every mean is the queries asked: fails where a measure's row counts fewer, or more.
with

summary as (

    select * from {{ ref('assay_summary') }}

),

asked as (

    select
        recording_id,
        count(*) as n_asked
    from {{ ref('fct_assay__asked_queries') }}
    group by recording_id

)

select
    summary.recording_id,
    summary.retriever,
    summary.measure,
    summary.k,
    summary.n_queries,
    asked.n_asked
from summary
left join asked
    on summary.recording_id = asked.recording_id
where summary.n_queries != coalesce(asked.n_asked, 0)

with

pairs as (

    select * from {{ ref('fct_assay__judge_pairs') }}

),

queries as (

    select * from {{ ref('stg_assay__queries') }}

),

final as (

    select
        pairs.recording_id,
        pairs.label_recording_id,
        pairs.task,
        pairs.judge,
        pairs.item,
        pairs.person,
        pairs.person_recording_id,
        pairs.query_id,
        queries.query,
        pairs.retriever,
        pairs.trial,
        pairs.claim,
        pairs.documents,
        pairs.judge_label,
        pairs.person_label,
        pairs.judge_value - pairs.person_value as value_difference
    from pairs
    left join queries
        on
            pairs.collection = queries.collection
            and pairs.query_id = queries.query_id
    where not pairs.is_equal

)

select * from final

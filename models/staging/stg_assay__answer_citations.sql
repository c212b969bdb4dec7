with

source as (

    select * from {{ assay_raw('answer_citations') }}

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        position,
        cited,
        doc_id
    from source

)

select * from final

with

source as (

    select * from {{ source('assay_raw', 'support') }}

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        claim,
        documents,
        judge,
        label,
        score,
        line,
        extra
    from source

)

select * from final

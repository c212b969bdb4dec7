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
        judge,
        label,
        score,
        line,
        extra
    from source

)

select * from final

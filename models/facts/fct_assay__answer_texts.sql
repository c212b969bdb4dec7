with

answers as (

    select * from {{ ref('stg_assay__answers') }}

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        answer,
        error
    from answers

)

select * from final

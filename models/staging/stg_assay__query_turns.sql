with

source as (

    select * from {{ source('assay_raw', 'query_turns') }}

),

final as (

    select
        collection,
        query_id,
        turn,
        text
    from source

)

select * from final

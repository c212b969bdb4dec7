with

source as (

    select * from {{ assay_raw('query_turns') }}

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

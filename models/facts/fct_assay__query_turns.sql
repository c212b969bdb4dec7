with

query_turns as (

    select * from {{ ref('stg_assay__query_turns') }}

),

final as (

    select
        collection,
        query_id,
        turn,
        text
    from query_turns

)

select * from final

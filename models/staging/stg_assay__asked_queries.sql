with

source as (

    select * from {{ assay_raw('asked_queries') }}

),

final as (

    select
        recording_id,
        query_id
    from source

)

select * from final

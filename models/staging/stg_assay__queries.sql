with

source as (

    select * from {{ assay_raw('queries') }}

),

final as (

    select
        collection,
        query_id,
        query,
        split,
        extra
    from source

)

select * from final

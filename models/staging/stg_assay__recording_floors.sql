with

source as (

    select * from {{ assay_raw('recording_floors') }}

),

final as (

    select
        recording_id,
        retriever
    from source

)

select * from final

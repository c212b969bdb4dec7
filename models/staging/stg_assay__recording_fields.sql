with

source as (

    select * from {{ assay_raw('recording_fields') }}

),

final as (

    select
        recording_id,
        position,
        field
    from source

)

select * from final

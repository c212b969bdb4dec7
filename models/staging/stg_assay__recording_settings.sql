with

source as (

    select * from {{ assay_raw('recording_settings') }}

),

final as (

    select
        recording_id,
        setting,
        value
    from source

)

select * from final

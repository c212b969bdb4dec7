with

recording_settings as (

    select * from {{ ref('stg_assay__recording_settings') }}

),

final as (

    select
        recording_id,
        setting,
        value
    from recording_settings

)

select * from final

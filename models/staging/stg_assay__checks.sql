with

source as (

    select * from {{ source('assay_raw', 'checks') }}

),

final as (

    select
        kind,
        name,
        check_name,
        severity,
        file,
        observed,
        message
    from source

)

select * from final

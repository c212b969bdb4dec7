with

source as (

    select * from {{ assay_raw('checks') }}

),

final as (

    select
        kind,
        name,
        check_name,
        severity,
        status,
        file,
        observed,
        allowed,
        message,
        examples
    from source

)

select * from final

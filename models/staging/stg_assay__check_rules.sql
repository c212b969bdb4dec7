with

source as (

    select * from {{ assay_raw('check_rules') }}

),

final as (

    select
        check_name,
        severity,
        subjects,
        meaning
    from source

)

select * from final

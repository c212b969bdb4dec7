with

source as (

    select * from {{ assay_raw('quarantine') }}

),

final as (

    select
        kind,
        name,
        file,
        line,
        reason,
        text
    from source

)

select * from final

with

source as (

    select * from {{ assay_raw('loads') }}

),

final as (

    select
        load_number,
        name,
        kind,
        format,
        path,
        digest,
        n_lines,
        n_loaded,
        n_quarantined,
        cast(loaded_at as timestamp) as loaded_at
    from source

)

select * from final

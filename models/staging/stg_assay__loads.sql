with

source as (

    select * from {{ source('assay_raw', 'loads') }}

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
        loaded_at
    from source

)

select * from final

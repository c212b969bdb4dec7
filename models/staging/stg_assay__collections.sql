with

source as (

    select * from {{ assay_raw('collections') }}

),

final as (

    select
        collection,
        load_number,
        digest,
        licence,
        source,
        exact_grade,
        catalog,
        judgments,
        n_documents,
        n_queries,
        n_judgments,
        n_lines,
        n_quarantined,
        description
    from source

)

select * from final

with

collections as (

    select * from {{ ref('stg_assay__collections') }}

),

queries as (

    select * from {{ ref('assay_queries') }}

),

counted as (

    select
        collection,
        count(*) filter (where has_judgments) as n_judged_queries
    from queries
    group by collection

),

final as (

    select
        collections.collection,
        collections.licence,
        collections.source,
        collections.catalog,
        collections.judgments,
        collections.exact_grade,
        collections.n_documents,
        collections.n_queries,
        cast(coalesce(counted.n_judged_queries, 0) as {{ dbt.type_bigint() }}) as n_judged_queries,
        collections.n_judgments,
        collections.n_lines,
        collections.n_quarantined,
        collections.digest
    from collections
    left join counted
        on collections.collection = counted.collection

)

select * from final

with

source as (

    select * from {{ assay_raw('judgments') }}

),

final as (

    select
        collection,
        query_id,
        doc_id,
        grade,
        line
    from source

)

select * from final

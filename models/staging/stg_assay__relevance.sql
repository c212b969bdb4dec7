with

source as (

    select * from {{ assay_raw('relevance') }}

),

final as (

    select
        recording_id,
        query_id,
        doc_id,
        judge,
        grade,
        line,
        extra
    from source

)

select * from final

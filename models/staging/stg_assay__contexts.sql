with

source as (

    select * from {{ assay_raw('contexts') }}

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        has_documents,
        searched_as,
        duration_ms,
        line,
        extra
    from source

)

select * from final

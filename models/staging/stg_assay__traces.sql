with

source as (

    select * from {{ assay_raw('traces') }}

),

final as (

    select
        recording_id,
        trace_id,
        query_id,
        retriever,
        trial,
        has_searches,
        is_finished,
        error,
        line,
        extra
    from source

)

select * from final

with

source as (

    select * from {{ assay_raw('trace_events') }}

),

final as (

    select
        recording_id,
        trace_id,
        seq,
        step,
        step_at,
        event,
        doc_id,
        text,
        error,
        extra
    from source

)

select * from final

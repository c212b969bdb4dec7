with

trace_events as (

    select * from {{ ref('stg_assay__trace_events') }}

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
        error
    from trace_events

)

select * from final

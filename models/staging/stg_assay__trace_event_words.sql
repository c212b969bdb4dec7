with

source as (

    select * from {{ assay_raw('trace_event_words') }}

),

final as (

    select
        recording_id,
        trace_id,
        seq,
        word
    from source

)

select * from final

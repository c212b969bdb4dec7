with

source as (

    select * from {{ assay_raw('picks') }}

),

final as (

    select
        recording_id,
        trace_id,
        position,
        picked,
        doc_id
    from source

)

select * from final

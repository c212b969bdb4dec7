with

source as (

    select * from {{ assay_raw('support_documents') }}

),

final as (

    select
        recording_id,
        line,
        position,
        doc_id
    from source

)

select * from final

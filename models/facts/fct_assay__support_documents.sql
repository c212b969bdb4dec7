with

support_documents as (

    select * from {{ ref('stg_assay__support_documents') }}

),

final as (

    select
        recording_id,
        line,
        position,
        doc_id
    from support_documents

)

select * from final

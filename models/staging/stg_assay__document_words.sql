with

source as (

    select * from {{ assay_raw('document_words') }}

),

final as (

    select
        collection,
        doc_id,
        field,
        word
    from source

)

select * from final

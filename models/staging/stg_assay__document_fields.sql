with

source as (

    select * from {{ assay_raw('document_fields') }}

),

final as (

    select
        collection,
        doc_id,
        field,
        value,
        n_words,
        n_sentences,
        is_cut
    from source

)

select * from final

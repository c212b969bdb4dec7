with

source as (

    select * from {{ assay_raw('documents') }}

),

final as (

    select
        collection,
        doc_id,
        n_id_words,
        n_words,
        extra
    from source

)

select * from final

with

source as (

    select * from {{ assay_raw('collection_fields') }}

),

final as (

    select
        collection,
        position,
        field,
        n_label_words
    from source

)

select * from final

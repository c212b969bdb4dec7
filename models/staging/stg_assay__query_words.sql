with

source as (

    select * from {{ assay_raw('query_words') }}

),

final as (

    select
        collection,
        query_id,
        word
    from source

)

select * from final

with

source as (

    select * from {{ assay_raw('collection_grades') }}

),

final as (

    select
        collection,
        grade,
        label
    from source

)

select * from final

with

source as (

    select * from {{ assay_raw('search_words') }}

),

final as (

    select
        recording_id,
        trace_id,
        search,
        word
    from source

)

select * from final

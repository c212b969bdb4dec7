with

source as (

    select * from {{ assay_raw('search_results') }}

),

final as (

    select
        recording_id,
        trace_id,
        search,
        rank,
        doc_id,
        first_rank,
        score
    from source

)

select * from final

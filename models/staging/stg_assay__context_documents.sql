with

source as (

    select * from {{ assay_raw('context_documents') }}

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        rank,
        doc_id,
        first_rank,
        passage_id,
        text,
        n_text_words,
        score,
        run_rank,
        is_in_text
    from source

)

select * from final

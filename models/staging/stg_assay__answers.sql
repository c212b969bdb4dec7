with

source as (

    select * from {{ assay_raw('answers') }}

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        answer,
        n_answer_words,
        has_cited,
        error,
        raw,
        prompt_tokens,
        answer_tokens,
        duration_ms,
        cast(recorded_at as timestamp) as recorded_at,
        line,
        extra
    from source

)

select * from final

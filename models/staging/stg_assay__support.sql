with

source as (

    select * from {{ assay_raw('support') }}

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        claim,
        documents,
        judge,
        label,
        score,
        error,
        raw,
        prompt_tokens,
        answer_tokens,
        duration_ms,
        line,
        extra
    from source

)

select * from final

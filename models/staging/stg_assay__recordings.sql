with

source as (

    select * from {{ assay_raw('recordings') }}

),

final as (

    select
        recording_id,
        load_number,
        digest,
        kind,
        collection,
        split,
        model,
        model_digest,
        model_licence,
        num_ctx,
        n_prompt_words,
        cast(recorded_at as timestamp) as recorded_at,
        is_recorded_on_a_date,
        results_shown,
        max_searches,
        max_recommendations,
        shows_all_fields,
        answers_recording,
        asked,
        citations,
        is_ids_in_text_asked,
        citation_form,
        context_is,
        is_judgments_shown,
        collection_digest,
        is_pinned,
        n_lines,
        n_loaded,
        n_quarantined,
        manifest
    from source

)

select * from final

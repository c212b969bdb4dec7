{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

answers as (

    select * from {{ ref('assay_answers') }}
    where {{ assay_is_due() }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}
    where {{ assay_is_due() }}

),

collections as (

    select * from {{ ref('stg_assay__collections') }}

),

documents as (

    select * from {{ ref('stg_assay__documents') }}

),

catalogs as (

    select
        collection,
        sum(n_words) as n_catalog_words
    from documents
    group by collection

),

-- The words of the whole catalog are known only where the whole catalog was given.
joined as (

    select
        answers.recording_id,
        answers.query_id,
        answers.retriever,
        answers.trial,
        answers.collection,
        case when collections.catalog = 'whole' then catalogs.n_catalog_words end as n_catalog_words,
        answers.n_prompt_words,
        answers.prompt_tokens,
        recordings.num_ctx,
        answers.is_prompt_cut
    from answers
    inner join recordings
        on answers.recording_id = recordings.recording_id
    left join collections
        on answers.collection = collections.collection
    left join catalogs
        on answers.collection = catalogs.collection
    where not answers.is_missing

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        collection,
        cast(n_catalog_words as {{ dbt.type_bigint() }}) as n_catalog_words,
        n_prompt_words,
        prompt_tokens,
        num_ctx,
        cast(n_catalog_words as double) / nullif(n_prompt_words, 0) as catalog_per_prompt,
        cast(n_catalog_words as double) / nullif(num_ctx, 0) as catalog_per_window,
        cast(n_catalog_words as double) / 200000 as catalog_per_200000,
        cast(n_prompt_words as double) / nullif(num_ctx, 0) as prompt_per_window,
        cast(n_prompt_words as double) / 200000 as prompt_per_200000,
        is_prompt_cut
    from joined

)

select * from final

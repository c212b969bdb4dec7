{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

recordings as (

    select * from {{ ref('stg_assay__recordings') }}
    where {{ assay_is_due() }}

),

summary as (

    select * from {{ ref('assay_summary') }}
    where {{ assay_is_due() }}

),

prompts as (

    select * from {{ ref('assay_prompts') }}
    where {{ assay_is_due() }}

),

numbered as (

    select
        recording_id,
        retriever,
        n_prompt_words,
        row_number() over (partition by recording_id, retriever order by n_prompt_words) as place,
        count(*) over (partition by recording_id, retriever) as n_prompts
    from prompts
    where n_prompt_words is not null

),

-- The median is the middle one, or half the sum of the two in the middle.
medians as (

    select
        recording_id,
        retriever,
        count(*) as n_prompts,
        sum(case when place * 2 in (n_prompts, n_prompts + 1, n_prompts + 2) then n_prompt_words end) as middle_words,
        count(case when place * 2 in (n_prompts, n_prompts + 1, n_prompts + 2) then 1 end) as n_middle,
        max(n_prompt_words) as most_prompt_words
    from numbered
    group by recording_id, retriever

),

final as (

    select
        recordings.recording_id,
        summary.retriever,
        recordings.collection,
        recordings.model,
        recordings.split,
        cast(recordings.results_shown as {{ dbt.type_bigint() }}) as results_shown,
        summary.n_queries,
        summary.mean as exact_share,
        cast(medians.n_prompts as {{ dbt.type_bigint() }}) as n_prompts,
        cast(medians.middle_words as double) / medians.n_middle as median_prompt_words,
        cast(medians.most_prompt_words as {{ dbt.type_bigint() }}) as most_prompt_words
    from recordings
    inner join summary
        on recordings.recording_id = summary.recording_id
    left join medians
        on
            summary.recording_id = medians.recording_id
            and summary.retriever = medians.retriever
    where
        recordings.kind = 'answers'
        and summary.measure = 'exact_share'

)

select * from final

{{ config(materialized='assay_by_key', assay_key='recording_id') }}

{% set answer_counts = [
    'n_items', 'n_cited', 'n_exact_cited', 'n_partial_cited', 'n_irrelevant_cited', 'n_unjudged_cited', 'n_unjudged_in_catalog_cited',
    'n_in_context_cited', 'n_exact_in_context_cited', 'n_in_context_and_text_cited', 'n_outside_context', 'n_unknown_id',
    'n_malformed', 'n_repeated',
] %}
{#- What can't be known without the context. -#}
{% set context_counts = [
    'n_in_context_cited', 'n_exact_in_context_cited', 'n_in_context_and_text_cited', 'n_outside_context', 'n_unknown_id',
] %}

with

contexts as (

    select * from {{ ref('assay_contexts') }}
    where {{ assay_is_due() }}

),

answers as (

    select * from {{ ref('stg_assay__answers') }}
    where {{ assay_is_due() }}

),

citations as (

    select * from {{ ref('fct_assay__citations') }}
    where {{ assay_is_due() }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}
    where {{ assay_is_due() }}

),

counted as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        count(*) as n_items,
        count(*) filter (where is_document) as n_cited,
        count(*) filter (where is_exact) as n_exact_cited,
        count(*) filter (where is_partial) as n_partial_cited,
        count(*) filter (where is_irrelevant) as n_irrelevant_cited,
        count(*) filter (where is_unjudged) as n_unjudged_cited,
        count(*) filter (where is_unjudged and is_in_catalog) as n_unjudged_in_catalog_cited,
        count(*) filter (where is_document and citation_class = 'in_context') as n_in_context_cited,
        count(*) filter (where is_exact and citation_class = 'in_context') as n_exact_in_context_cited,
        count(*) filter (where is_document and citation_class = 'in_context' and is_in_text) as n_in_context_and_text_cited,
        count(*) filter (where is_document and citation_class = 'outside_context') as n_outside_context,
        count(*) filter (where is_document and citation_class = 'unknown_id') as n_unknown_id,
        count(*) filter (where citation_class = 'malformed') as n_malformed,
        count(*) filter (where is_repeat) as n_repeated
    from citations
    group by recording_id, query_id, retriever, trial

),

-- Every answer has a context's row, and so has every query that was asked and not answered.
given as (

    select
        contexts.recording_id,
        contexts.query_id,
        contexts.retriever,
        contexts.trial,
        contexts.collection,
        contexts.is_asked,
        contexts.is_missing,
        contexts.has_documents,
        contexts.has_judgments,
        contexts.n_documents as n_context,
        contexts.n_exact as n_exact_in_context,
        contexts.n_partial as n_partial_in_context,
        contexts.n_irrelevant as n_irrelevant_in_context,
        contexts.n_unjudged as n_unjudged_in_context,
        contexts.n_in_text,
        contexts.n_words as n_context_words,
        recordings.citations,
        recordings.citations != 'not_asked' as is_citation_asked,
        recordings.is_ids_in_text_asked,
        recordings.max_recommendations,
        recordings.num_ctx,
        recordings.n_prompt_words + contexts.n_words as n_prompt_words,
        answers.prompt_tokens,
        answers.answer_tokens,
        answers.n_answer_words,
        answers.duration_ms,
        answers.answer is not null as has_text,
        -- No list of citations where one was asked for, or an error: nothing was given, which is no abstention.
        not contexts.is_missing
        and (
            answers.error is not null
            or (recordings.citations != 'not_asked' and not coalesce(answers.has_cited, false))
        ) as is_broken
    from contexts
    inner join recordings
        on contexts.recording_id = recordings.recording_id
    left join answers
        on
            contexts.recording_id = answers.recording_id
            and contexts.query_id = answers.query_id
            and contexts.retriever = answers.retriever
            and contexts.trial = answers.trial
    where recordings.kind = 'answers'

),

-- What nobody asked for is unknown; a broken answer gives nothing, whatever stands in its list.
with_counts as (

    select
        given.*,
        {% for column in answer_counts %}
        cast(case
            when not given.is_citation_asked then null
            {% if column in context_counts %}
            when not given.has_documents then null
            {% endif %}
            when given.is_broken then 0
            else coalesce(counted.{{ column }}, 0)
        end as {{ dbt.type_bigint() }}) as {{ column }}{{ ',' if not loop.last }}
        {% endfor %}
    from given
    left join counted
        on
            given.recording_id = counted.recording_id
            and given.query_id = counted.query_id
            and given.retriever = counted.retriever
            and given.trial = counted.trial

),

described as (

    select
        *,
        case when is_citation_asked then not is_broken and not is_missing and n_items = 0 end as is_abstained,
        case when is_citation_asked then n_cited = 0 and n_malformed > 0 end as is_only_malformed,
        case when has_documents and has_judgments then n_exact_in_context > 0 end as is_exact_held,
        case when has_documents and has_judgments then n_exact_cited > n_exact_in_context end as is_above_ceiling,
        case when is_citation_asked then n_cited > max_recommendations end as has_too_many,
        case
            when not is_citation_asked or citations = 'text' or not is_ids_in_text_asked then null
            when is_missing or is_broken then false
            when not has_documents or not has_text then null
            -- Two sets are equal where what they share is all of both.
            else n_in_context_and_text_cited != n_in_text or n_in_context_and_text_cited != n_in_context_cited
        end as has_text_and_field_difference,
        -- A server that drops what doesn't fit counts no more tokens than its window, and fewer than the words it was sent.
        prompt_tokens >= num_ctx or prompt_tokens < n_prompt_words as is_prompt_cut
    from with_counts

),

celled as (

    select
        *,
        case
            when is_missing then 'missing'
            when is_broken then 'broken'
            when not is_citation_asked then 'not asked'
            when is_only_malformed then 'only malformed'
            when is_abstained and is_exact_held then 'abstained, exact held'
            when is_abstained and not is_exact_held then 'abstained, none held'
            when is_abstained then 'abstained, held unknown'
            when is_exact_held then 'answered, exact held'
            when not is_exact_held then 'answered, none held'
            else 'answered, held unknown'
        end as abstention_cell
    from described

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        collection,
        is_asked,
        is_missing,
        is_broken,
        is_citation_asked,
        has_documents,
        has_judgments,
        n_context,
        n_exact_in_context,
        n_partial_in_context,
        n_irrelevant_in_context,
        n_unjudged_in_context,
        {% for column in answer_counts %}
        {{ column }},
        {% endfor %}
        {% for name in ['exact_share', 'exact_share_high', 'grounded_exact_share'] %}
        {{ assay_value(assay_measure(name)) }} as {{ name }},
        {% endfor %}
        is_abstained,
        is_only_malformed,
        is_exact_held,
        is_above_ceiling,
        has_too_many,
        has_text_and_field_difference,
        abstention_cell,
        n_answer_words,
        n_context_words,
        n_prompt_words,
        prompt_tokens,
        answer_tokens,
        is_prompt_cut,
        duration_ms
    from celled

)

select * from final

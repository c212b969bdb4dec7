{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

answer_citations as (

    select * from {{ ref('stg_assay__answer_citations') }}
    where {{ assay_is_due() }}

),

contexts as (

    select * from {{ ref('stg_assay__contexts') }}
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

context_documents as (

    select * from {{ ref('fct_assay__context_documents') }}
    where {{ assay_is_due() }}

),

judgments as (

    select * from {{ ref('fct_assay__judgments') }}

),

joined as (

    select
        answer_citations.*,
        coalesce(contexts.has_documents, false) as has_documents,
        coalesce(collections.catalog = 'seen', false) as is_catalog_seen,
        documents.doc_id is not null as is_in_catalog,
        context_documents.rank as context_rank,
        context_documents.is_in_text,
        judgments.grade,
        judgments.is_judged,
        judgments.is_exact,
        judgments.is_partial,
        judgments.is_irrelevant,
        answer_citations.doc_id is null
        or lower({{ assay_trimmed('answer_citations.doc_id') }}) in ('', 'none', 'null', 'n/a') as is_no_id
    from answer_citations
    inner join recordings
        on answer_citations.recording_id = recordings.recording_id
    left join collections
        on recordings.collection = collections.collection
    left join contexts
        on
            answer_citations.recording_id = contexts.recording_id
            and answer_citations.query_id = contexts.query_id
            and answer_citations.retriever = contexts.retriever
            and answer_citations.trial = contexts.trial
    left join documents
        on
            recordings.collection = documents.collection
            and answer_citations.doc_id = documents.doc_id
    left join context_documents
        on
            answer_citations.recording_id = context_documents.recording_id
            and answer_citations.query_id = context_documents.query_id
            and answer_citations.retriever = context_documents.retriever
            and answer_citations.trial = context_documents.trial
            and answer_citations.doc_id = context_documents.doc_id
            and not context_documents.is_repeat
    left join judgments
        on
            recordings.collection = judgments.collection
            and answer_citations.query_id = judgments.query_id
            and answer_citations.doc_id = judgments.doc_id

),

-- The first class that fits. An ID that the context or the catalog holds is that ID, even one that reads "NULL".
classed as (

    select
        *,
        case
            when context_rank is not null then 'in_context'
            when is_in_catalog and not has_documents then 'context_unknown'
            when is_in_catalog then 'outside_context'
            when is_no_id then 'malformed'
            when not has_documents then 'context_unknown'
            -- A catalog of what was seen can't tell a stranger from an invention.
            when is_catalog_seen then 'outside_context'
            else 'unknown_id'
        end as citation_class
    from joined

),

placed as (

    select
        *,
        citation_class != 'malformed'
        and row_number() over (
            partition by recording_id, query_id, retriever, trial, citation_class, doc_id
            order by position
        ) > 1 as is_repeat
    from classed

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        position,
        cited,
        doc_id,
        citation_class,
        is_repeat,
        context_rank,
        is_in_catalog,
        grade,
        -- A document counts once, at its first place; what is no ID is no document.
        citation_class != 'malformed' and not is_repeat as is_document,
        citation_class != 'malformed' and not is_repeat and coalesce(is_exact, false) as is_exact,
        citation_class != 'malformed' and not is_repeat and coalesce(is_partial, false) as is_partial,
        citation_class != 'malformed' and not is_repeat and coalesce(is_irrelevant, false) as is_irrelevant,
        citation_class != 'malformed' and not is_repeat and not coalesce(is_judged, false) as is_unjudged,
        is_in_text
    from placed

)

select * from final

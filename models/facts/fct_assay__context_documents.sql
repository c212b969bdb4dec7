{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

context_documents as (

    select * from {{ ref('stg_assay__context_documents') }}
    where {{ assay_is_due() }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}
    where {{ assay_is_due() }}

),

recording_fields as (

    select * from {{ ref('stg_assay__recording_fields') }}
    where {{ assay_is_due() }}

),

collection_fields as (

    select * from {{ ref('stg_assay__collection_fields') }}

),

documents as (

    select * from {{ ref('stg_assay__documents') }}

),

document_fields as (

    select * from {{ ref('stg_assay__document_fields') }}

),

judgments as (

    select * from {{ ref('fct_assay__judgments') }}

),

-- What a model read of a document differs from the catalog's text where only some fields were shown.
shown_in_part as (

    select distinct
        recordings.recording_id,
        recordings.collection,
        context_documents.doc_id
    from context_documents
    inner join recordings
        on context_documents.recording_id = recordings.recording_id
    where not recordings.shows_all_fields

),

shown_words as (

    select
        shown_in_part.recording_id,
        shown_in_part.doc_id,
        sum(collection_fields.n_label_words + document_fields.n_words) as n_words
    from shown_in_part
    inner join recording_fields
        on shown_in_part.recording_id = recording_fields.recording_id
    inner join collection_fields
        on
            shown_in_part.collection = collection_fields.collection
            and recording_fields.field = collection_fields.field
    inner join document_fields
        on
            shown_in_part.collection = document_fields.collection
            and shown_in_part.doc_id = document_fields.doc_id
            and recording_fields.field = document_fields.field
    group by shown_in_part.recording_id, shown_in_part.doc_id

),

joined as (

    select
        context_documents.*,
        recordings.shows_all_fields,
        judgments.grade,
        judgments.is_judged,
        judgments.is_exact,
        judgments.is_partial,
        judgments.is_irrelevant,
        documents.doc_id is not null as is_in_catalog,
        documents.n_words as n_document_words,
        documents.n_id_words,
        shown_words.n_words as n_shown_words,
        context_documents.first_rank < context_documents.rank as is_repeat
    from context_documents
    inner join recordings
        on context_documents.recording_id = recordings.recording_id
    left join judgments
        on
            recordings.collection = judgments.collection
            and context_documents.query_id = judgments.query_id
            and context_documents.doc_id = judgments.doc_id
    left join documents
        on
            recordings.collection = documents.collection
            and context_documents.doc_id = documents.doc_id
    left join shown_words
        on
            context_documents.recording_id = shown_words.recording_id
            and context_documents.doc_id = shown_words.doc_id

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        rank,
        doc_id,
        passage_id,
        score,
        run_rank,
        grade,
        -- A document counts once, at its first place; the later place stays taken and holds nothing.
        coalesce(is_exact, false) and not is_repeat as is_exact,
        coalesce(is_partial, false) and not is_repeat as is_partial,
        coalesce(is_irrelevant, false) and not is_repeat as is_irrelevant,
        not coalesce(is_judged, false) and not is_repeat as is_unjudged,
        is_in_catalog,
        is_repeat,
        cast(case
            when n_text_words is not null then n_text_words
            when shows_all_fields then n_document_words
            else n_id_words + coalesce(n_shown_words, 0)
        end as {{ dbt.type_bigint() }}) as n_words,
        is_in_text,
        text
    from joined

)

select * from final

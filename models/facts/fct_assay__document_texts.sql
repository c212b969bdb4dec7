with

document_fields as (

    select * from {{ ref('stg_assay__document_fields') }}

),

collection_fields as (

    select * from {{ ref('stg_assay__collection_fields') }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}

),

context_documents as (

    select * from {{ ref('stg_assay__context_documents') }}

),

answer_citations as (

    select * from {{ ref('stg_assay__answer_citations') }}

),

search_results as (

    select * from {{ ref('stg_assay__search_results') }}

),

trace_events as (

    select * from {{ ref('stg_assay__trace_events') }}

),

picks as (

    select * from {{ ref('stg_assay__picks') }}

),

-- A run is kept deeper than what it shows; nobody read what stands below.
named as (

    select
        context_documents.recording_id,
        context_documents.doc_id
    from context_documents
    inner join recordings
        on context_documents.recording_id = recordings.recording_id
    where context_documents.rank <= coalesce(recordings.results_shown, {{ var('assay_cutoffs') | max }})

    union all

    select
        recording_id,
        doc_id
    from answer_citations

    union all

    select
        recording_id,
        doc_id
    from search_results

    union all

    select
        recording_id,
        doc_id
    from trace_events

    union all

    select
        recording_id,
        doc_id
    from picks

),

read_documents as (

    select distinct
        recordings.collection,
        named.doc_id
    from named
    inner join recordings
        on named.recording_id = recordings.recording_id

),

final as (

    select
        document_fields.collection,
        document_fields.doc_id,
        collection_fields.position,
        document_fields.field,
        document_fields.value
    from document_fields
    inner join read_documents
        on
            document_fields.collection = read_documents.collection
            and document_fields.doc_id = read_documents.doc_id
    inner join collection_fields
        on
            document_fields.collection = collection_fields.collection
            and document_fields.field = collection_fields.field

)

select * from final

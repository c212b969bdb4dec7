{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

search_results as (

    select * from {{ ref('stg_assay__search_results') }}
    where {{ assay_is_due() }}

),

traces as (

    select * from {{ ref('stg_assay__traces') }}
    where {{ assay_is_due() }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}
    where {{ assay_is_due() }}

),

documents as (

    select * from {{ ref('stg_assay__documents') }}

),

judgments as (

    select * from {{ ref('fct_assay__judgments') }}

),

joined as (

    select
        search_results.recording_id,
        search_results.trace_id,
        search_results.search,
        search_results.rank,
        search_results.doc_id,
        search_results.score,
        judgments.grade,
        judgments.is_judged,
        judgments.is_exact,
        documents.doc_id is not null as is_in_catalog,
        search_results.first_rank < search_results.rank as is_repeat
    from search_results
    inner join traces
        on
            search_results.recording_id = traces.recording_id
            and search_results.trace_id = traces.trace_id
    inner join recordings
        on search_results.recording_id = recordings.recording_id
    left join documents
        on
            recordings.collection = documents.collection
            and search_results.doc_id = documents.doc_id
    left join judgments
        on
            recordings.collection = judgments.collection
            and traces.query_id = judgments.query_id
            and search_results.doc_id = judgments.doc_id

),

final as (

    select
        recording_id,
        trace_id,
        search,
        rank,
        doc_id,
        score,
        grade,
        -- A document counts once, at its first place.
        coalesce(is_exact, false) and not is_repeat as is_exact,
        not coalesce(is_judged, false) and not is_repeat as is_unjudged,
        is_in_catalog,
        is_repeat
    from joined

)

select * from final

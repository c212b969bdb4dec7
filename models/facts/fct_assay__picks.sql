{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

picks as (

    select * from {{ ref('stg_assay__picks') }}
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

collections as (

    select * from {{ ref('stg_assay__collections') }}

),

documents as (

    select * from {{ ref('stg_assay__documents') }}

),

judgments as (

    select * from {{ ref('fct_assay__judgments') }}

),

searches as (

    select * from {{ ref('stg_assay__searches') }}
    where {{ assay_is_due() }}

),

search_results as (

    select * from {{ ref('fct_assay__search_results') }}
    where {{ assay_is_due() }}

),

-- The search, and the place in it, that returned a document of the trace first.
returned as (

    select
        search_results.recording_id,
        search_results.trace_id,
        search_results.doc_id,
        search_results.search,
        search_results.rank
    from search_results
    -- A fraction of all results is picked: look for those alone.
    inner join picks
        on
            search_results.recording_id = picks.recording_id
            and search_results.trace_id = picks.trace_id
            and search_results.doc_id = picks.doc_id
    qualify row_number() over (
        partition by search_results.recording_id, search_results.trace_id, search_results.doc_id
        order by search_results.search, search_results.rank
    ) = 1

),

with_unknown_results as (

    select
        recording_id,
        trace_id
    from traces
    where not has_searches

    union

    select
        recording_id,
        trace_id
    from searches
    where not has_results

),

joined as (

    select
        picks.recording_id,
        picks.trace_id,
        picks.position,
        traces.query_id,
        traces.retriever,
        traces.trial,
        picks.picked,
        picks.doc_id,
        judgments.grade,
        judgments.is_judged,
        judgments.is_exact,
        judgments.is_partial,
        judgments.is_irrelevant,
        documents.doc_id is not null as is_in_catalog,
        coalesce(collections.catalog = 'seen', false) as is_catalog_seen,
        returned.search as returned_search,
        returned.rank as returned_rank,
        with_unknown_results.trace_id is not null as is_result_unknown,
        coalesce(picks.position <= recordings.max_recommendations, false) as is_counted,
        picks.doc_id is null
        or lower({{ assay_trimmed('picks.doc_id') }}) in ('', 'none', 'null', 'n/a') as is_no_id
    from picks
    inner join traces
        on
            picks.recording_id = traces.recording_id
            and picks.trace_id = traces.trace_id
    inner join recordings
        on picks.recording_id = recordings.recording_id
    left join collections
        on recordings.collection = collections.collection
    left join documents
        on
            recordings.collection = documents.collection
            and picks.doc_id = documents.doc_id
    left join judgments
        on
            recordings.collection = judgments.collection
            and traces.query_id = judgments.query_id
            and picks.doc_id = judgments.doc_id
    left join returned
        on
            picks.recording_id = returned.recording_id
            and picks.trace_id = returned.trace_id
            and picks.doc_id = returned.doc_id
    left join with_unknown_results
        on
            picks.recording_id = with_unknown_results.recording_id
            and picks.trace_id = with_unknown_results.trace_id

),

-- The first class that fits, as for citations; the trace's results stand in the context's stead.
classed as (

    select
        *,
        case
            when returned_search is not null then 'returned'
            when is_no_id and not is_in_catalog then 'malformed'
            when is_result_unknown then 'undecidable'
            when is_in_catalog or is_catalog_seen then 'never_returned'
            else 'unknown_id'
        end as pick_class
    from joined

),

placed as (

    select
        *,
        pick_class != 'malformed'
        and row_number() over (
            partition by recording_id, trace_id, pick_class, doc_id
            order by position
        ) > 1 as is_repeat
    from classed

),

final as (

    select
        recording_id,
        trace_id,
        position,
        query_id,
        retriever,
        trial,
        picked,
        doc_id,
        pick_class,
        is_repeat,
        is_counted,
        returned_search,
        returned_rank,
        is_in_catalog,
        grade,
        -- A document counts once, at its first place; what is no ID is no document.
        pick_class != 'malformed' and not is_repeat as is_document,
        pick_class != 'malformed' and not is_repeat and coalesce(is_exact, false) as is_exact,
        pick_class != 'malformed' and not is_repeat and coalesce(is_partial, false) as is_partial,
        pick_class != 'malformed' and not is_repeat and coalesce(is_irrelevant, false) as is_irrelevant,
        pick_class != 'malformed' and not is_repeat and not coalesce(is_judged, false) as is_unjudged
    from placed

)

select * from final

{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

traces as (

    select * from {{ ref('stg_assay__traces') }}
    where {{ assay_is_due() }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}
    where {{ assay_is_due() }}

),

asked_queries as (

    select * from {{ ref('fct_assay__asked_queries') }}
    where {{ assay_is_due() }}

),

queries as (

    select * from {{ ref('assay_queries') }}

),

searches as (

    select * from {{ ref('fct_assay__searches') }}
    where {{ assay_is_due() }}

),

search_results as (

    select * from {{ ref('fct_assay__search_results') }}
    where {{ assay_is_due() }}

),

picks as (

    select * from {{ ref('fct_assay__picks') }}
    where {{ assay_is_due() }}

),

answer_contexts as (

    select * from {{ ref('stg_assay__contexts') }}
    where recording_id in (select answers_recording from recordings)

),

answer_documents as (

    select * from {{ ref('fct_assay__context_documents') }}
    where recording_id in (select answers_recording from recordings)

),

retrievers as (

    select distinct
        recording_id,
        retriever
    from traces

),

-- A query that was asked and has no trace under a retriever counts as a task that did nothing.
missing as (

    select
        asked_queries.recording_id,
        asked_queries.query_id,
        retrievers.retriever
    from asked_queries
    inner join retrievers
        on asked_queries.recording_id = retrievers.recording_id
    left join traces
        on
            asked_queries.recording_id = traces.recording_id
            and asked_queries.query_id = traces.query_id
            and retrievers.retriever = traces.retriever
    where traces.recording_id is null

),

rows_and_missing as (

    select
        recording_id,
        trace_id,
        query_id,
        retriever,
        trial,
        has_searches,
        is_finished,
        error,
        false as is_missing
    from traces

    union all

    select
        recording_id,
        retriever || '/' || query_id || '/1' as trace_id,
        query_id,
        retriever,
        1 as trial,
        true as has_searches,
        false as is_finished,
        null as error,
        true as is_missing
    from missing

),

search_counts as (

    select
        recording_id,
        trace_id,
        count(*) as n_searches,
        sum(n_attempts) as n_attempts,
        sum(n_errors) as n_errors,
        count(*) filter (where is_refused) as n_refused,
        count(*) filter (where is_later) as n_later_searches,
        count(*) filter (where not is_known_query) as n_searches_without_words,
        count(*) filter (where not has_results) as n_searches_without_results,
        sum(n_words_added) filter (where is_later) as n_words_added,
        sum(n_words_shown) filter (where is_later) as n_words_shown,
        sum(n_words_undecidable) filter (where is_later) as n_words_undecidable,
        sum(n_words_new) filter (where is_later) as n_words_new
    from searches
    group by recording_id, trace_id

),

returned_counts as (

    select
        recording_id,
        trace_id,
        count(distinct doc_id) as n_returned,
        count(distinct case when is_exact then doc_id end) as n_exact_returned
    from search_results
    group by recording_id, trace_id

),

pick_counts as (

    select
        recording_id,
        trace_id,
        count(*) as n_picks,
        count(*) filter (where pick_class = 'malformed') as n_malformed_picks,
        count(*) filter (where is_document and pick_class = 'never_returned') as n_never_returned,
        count(*) filter (where is_document and pick_class = 'unknown_id') as n_unknown_id_picks,
        count(*) filter (where is_document and pick_class = 'undecidable') as n_undecidable_picks,
        count(*) filter (where is_repeat) as n_repeated_picks,
        count(*) filter (where is_document) as n_picked,
        count(*) filter (where is_exact) as n_exact_picked,
        count(*) filter (where is_partial) as n_partial_picked,
        count(*) filter (where is_irrelevant) as n_irrelevant_picked,
        count(*) filter (where is_unjudged) as n_unjudged_picked,
        count(*) filter (where is_exact and is_counted) as n_exact_picked_at_k
    from picks
    group by recording_id, trace_id

),

first_searches as (

    select * from searches
    where search = 1

),

first_results as (

    select
        search_results.recording_id,
        search_results.trace_id,
        count(*) filter (
            where search_results.is_exact and search_results.rank <= recordings.max_recommendations
        ) as n_exact_at_k
    from search_results
    inner join recordings
        on search_results.recording_id = recordings.recording_id
    where search_results.search = 1
    group by search_results.recording_id, search_results.trace_id

),

retriever_counts as (

    select
        recording_id,
        count(*) as n_retrievers
    from retrievers
    group by recording_id

),

-- First searches of one query and trial, over all retrievers.
first_texts as (

    select
        recording_id,
        query_id,
        trial,
        count(distinct retriever) as n_retrievers,
        count(distinct query) as n_texts
    from first_searches
    where query is not null
    group by recording_id, query_id, trial

),

-- The context that the answers recording holds for the trace's query and retriever, in its first trial.
compared_contexts as (

    select
        rows_and_missing.recording_id,
        rows_and_missing.trace_id,
        recordings.answers_recording,
        min(answer_contexts.trial) as trial
    from rows_and_missing
    inner join recordings
        on rows_and_missing.recording_id = recordings.recording_id
    inner join answer_contexts
        on
            recordings.answers_recording = answer_contexts.recording_id
            and rows_and_missing.query_id = answer_contexts.query_id
            and rows_and_missing.retriever = answer_contexts.retriever
            and answer_contexts.has_documents
    group by rows_and_missing.recording_id, rows_and_missing.trace_id, recordings.answers_recording

),

compared_places as (

    select
        compared_contexts.recording_id,
        compared_contexts.trace_id,
        answer_documents.rank,
        answer_documents.doc_id
    from compared_contexts
    inner join rows_and_missing
        on
            compared_contexts.recording_id = rows_and_missing.recording_id
            and compared_contexts.trace_id = rows_and_missing.trace_id
    inner join answer_documents
        on
            compared_contexts.answers_recording = answer_documents.recording_id
            and rows_and_missing.query_id = answer_documents.query_id
            and rows_and_missing.retriever = answer_documents.retriever
            and compared_contexts.trial = answer_documents.trial

),

first_places as (

    select
        search_results.recording_id,
        search_results.trace_id,
        search_results.rank,
        search_results.doc_id
    from search_results
    inner join compared_contexts
        on
            search_results.recording_id = compared_contexts.recording_id
            and search_results.trace_id = compared_contexts.trace_id
    where search_results.search = 1

),

-- Places at which one of the two lists holds another document than the other, or none.
different_places as (

    select
        coalesce(compared_places.recording_id, first_places.recording_id) as recording_id,
        coalesce(compared_places.trace_id, first_places.trace_id) as trace_id
    from compared_places
    full outer join first_places
        on
            compared_places.recording_id = first_places.recording_id
            and compared_places.trace_id = first_places.trace_id
            and compared_places.rank = first_places.rank
            and compared_places.doc_id = first_places.doc_id
    where compared_places.doc_id is null or first_places.doc_id is null

),

different_lists as (

    select distinct
        recording_id,
        trace_id
    from different_places

),

joined as (

    select
        rows_and_missing.recording_id,
        rows_and_missing.trace_id,
        rows_and_missing.query_id,
        rows_and_missing.retriever,
        cast(rows_and_missing.trial as {{ dbt.type_bigint() }}) as trial,
        recordings.collection,
        recordings.max_recommendations,
        asked_queries.query_id is not null as is_asked,
        rows_and_missing.is_missing,
        rows_and_missing.is_finished,
        -- An unfinished task did what it did, and scores 0: only an error of the task's own breaks it.
        not rows_and_missing.is_missing and rows_and_missing.error is not null as is_broken,
        rows_and_missing.error,
        rows_and_missing.has_searches,
        coalesce(queries.has_judgments, false) as has_judgments,
        first_searches.query = queries.query as is_first_search_as_typed,
        case
            when retriever_counts.n_retrievers > 1 and first_searches.query is not null
                then first_texts.n_texts = 1 and first_texts.n_retrievers = retriever_counts.n_retrievers
        end as is_first_search_same_everywhere,
        case
            when compared_contexts.trace_id is not null and first_searches.has_results
                then different_lists.trace_id is null
        end as is_first_result_the_answer_context,
        {% for column in [
            'n_searches', 'n_attempts', 'n_errors', 'n_refused', 'n_later_searches', 'n_searches_without_words',
            'n_searches_without_results', 'n_words_added', 'n_words_shown', 'n_words_undecidable', 'n_words_new',
        ] %}
        cast(case when rows_and_missing.has_searches then coalesce(search_counts.{{ column }}, 0) end as {{ dbt.type_bigint() }}) as {{ column }},
        {% endfor %}
        {% for column in ['n_returned', 'n_exact_returned'] %}
        cast(case when rows_and_missing.has_searches then coalesce(returned_counts.{{ column }}, 0) end as {{ dbt.type_bigint() }}) as {{ column }},
        {% endfor %}
        {% for column in [
            'n_picks', 'n_malformed_picks', 'n_unknown_id_picks', 'n_undecidable_picks', 'n_repeated_picks', 'n_picked', 'n_exact_picked',
            'n_partial_picked', 'n_irrelevant_picked', 'n_unjudged_picked', 'n_exact_picked_at_k',
        ] %}
        cast(coalesce(pick_counts.{{ column }}, 0) as {{ dbt.type_bigint() }}) as {{ column }},
        {% endfor %}
        -- Among unknown results there may be the pick.
        cast(case
            when coalesce(pick_counts.n_undecidable_picks, 0) = 0 then coalesce(pick_counts.n_never_returned, 0)
        end as {{ dbt.type_bigint() }}) as n_never_returned,
        cast(case
            when not rows_and_missing.has_searches or not coalesce(first_searches.has_results, true) then null
            else coalesce(first_results.n_exact_at_k, 0)
        end as {{ dbt.type_bigint() }}) as n_exact_first_search_at_k
    from rows_and_missing
    inner join recordings
        on rows_and_missing.recording_id = recordings.recording_id
    left join asked_queries
        on
            rows_and_missing.recording_id = asked_queries.recording_id
            and rows_and_missing.query_id = asked_queries.query_id
    left join queries
        on
            recordings.collection = queries.collection
            and rows_and_missing.query_id = queries.query_id
    left join search_counts
        on
            rows_and_missing.recording_id = search_counts.recording_id
            and rows_and_missing.trace_id = search_counts.trace_id
    left join returned_counts
        on
            rows_and_missing.recording_id = returned_counts.recording_id
            and rows_and_missing.trace_id = returned_counts.trace_id
    left join pick_counts
        on
            rows_and_missing.recording_id = pick_counts.recording_id
            and rows_and_missing.trace_id = pick_counts.trace_id
    left join first_searches
        on
            rows_and_missing.recording_id = first_searches.recording_id
            and rows_and_missing.trace_id = first_searches.trace_id
    left join first_results
        on
            rows_and_missing.recording_id = first_results.recording_id
            and rows_and_missing.trace_id = first_results.trace_id
    left join retriever_counts
        on rows_and_missing.recording_id = retriever_counts.recording_id
    left join first_texts
        on
            rows_and_missing.recording_id = first_texts.recording_id
            and rows_and_missing.query_id = first_texts.query_id
            and rows_and_missing.trial = first_texts.trial
    left join compared_contexts
        on
            rows_and_missing.recording_id = compared_contexts.recording_id
            and rows_and_missing.trace_id = compared_contexts.trace_id
    left join different_lists
        on
            rows_and_missing.recording_id = different_lists.recording_id
            and rows_and_missing.trace_id = different_lists.trace_id

),

final as (

    select
        recording_id,
        trace_id,
        query_id,
        retriever,
        trial,
        collection,
        is_asked,
        is_missing,
        is_finished,
        is_broken,
        error,
        has_searches,
        has_judgments,
        n_searches,
        n_attempts,
        n_errors,
        n_refused,
        is_first_search_as_typed,
        is_first_search_same_everywhere,
        is_first_result_the_answer_context,
        n_later_searches,
        n_searches_without_words,
        n_searches_without_results,
        n_words_added,
        n_words_shown,
        n_words_undecidable,
        n_words_new,
        n_returned,
        case when has_judgments then n_exact_returned end as n_exact_returned,
        max_recommendations,
        n_picks,
        n_picked,
        n_malformed_picks,
        n_never_returned,
        n_unknown_id_picks,
        n_undecidable_picks,
        n_repeated_picks,
        case when has_judgments then n_exact_picked end as n_exact_picked,
        case when has_judgments then n_partial_picked end as n_partial_picked,
        case when has_judgments then n_irrelevant_picked end as n_irrelevant_picked,
        n_unjudged_picked,
        n_exact_picked_at_k,
        n_exact_first_search_at_k,
        {% for measure in assay_measures_of('trace') %}
        {{ assay_value(measure) }} as {{ measure.name }},
        {% endfor %}
        n_picked < max_recommendations as has_fewer_picks,
        -- With unknown results, an exact document may have been among them.
        case
            when not has_judgments or not has_searches then null
            when n_exact_returned > 0 then false
            when n_searches_without_results > 0 then null
            else true
        end as is_exact_never_returned,
        case
            when not has_judgments or not has_searches then null
            when n_exact_picked > 0 then false
            when n_exact_returned > 0 then true
            when n_searches_without_results > 0 then null
            else false
        end as is_exact_seen_none_picked
    from joined

)

select * from final

{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

searches as (

    select * from {{ ref('stg_assay__searches') }}
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

queries as (

    select * from {{ ref('assay_queries') }}

),

search_results as (

    select * from {{ ref('fct_assay__search_results') }}
    where {{ assay_is_due() }}

),

search_words as (

    select * from {{ ref('fct_assay__search_words') }}
    where {{ assay_is_due() }}

),

results as (

    select
        search_results.recording_id,
        search_results.trace_id,
        search_results.search,
        count(*) filter (where not search_results.is_repeat) as n_results,
        count(*) filter (where search_results.is_repeat) as n_repeated,
        count(*) filter (where search_results.is_exact) as n_exact_returned,
        count(*) filter (where search_results.is_unjudged) as n_unjudged_returned,
        count(*) filter (
            where search_results.is_exact and search_results.rank <= recordings.results_shown
        ) as n_exact_shown
    from search_results
    inner join recordings
        on search_results.recording_id = recordings.recording_id
    group by search_results.recording_id, search_results.trace_id, search_results.search

),

words as (

    select
        recording_id,
        trace_id,
        search,
        count(*) as n_words,
        count(*) filter (where is_added) as n_words_added,
        count(*) filter (where origin = 'shown') as n_words_shown,
        count(*) filter (where origin = 'undecidable') as n_words_undecidable,
        count(*) filter (where origin = 'new') as n_words_new
    from search_words
    group by recording_id, trace_id, search

),

joined as (

    select
        searches.recording_id,
        searches.trace_id,
        searches.search,
        traces.query_id,
        traces.retriever,
        traces.trial,
        searches.seq,
        searches.step,
        searches.step_at,
        searches.query,
        searches.query is not null as is_known_query,
        searches.search > 1 as is_later,
        searches.has_results,
        searches.error is not null as is_refused,
        searches.n_attempts,
        searches.n_errors,
        searches.error,
        searches.call_id,
        recordings.results_shown,
        coalesce(queries.has_judgments, false) as has_judgments,
        {% for column in ['n_results', 'n_repeated', 'n_exact_returned', 'n_unjudged_returned', 'n_exact_shown'] %}
        cast(case when searches.has_results then coalesce(results.{{ column }}, 0) end as {{ dbt.type_bigint() }}) as {{ column }},
        {% endfor %}
        {% for column in ['n_words', 'n_words_added', 'n_words_shown', 'n_words_undecidable', 'n_words_new'] %}
        cast(case when searches.query is not null then coalesce(words.{{ column }}, 0) end as {{ dbt.type_bigint() }}) as {{ column }}{{ ',' if not loop.last }}
        {% endfor %}
    from searches
    inner join traces
        on
            searches.recording_id = traces.recording_id
            and searches.trace_id = traces.trace_id
    inner join recordings
        on searches.recording_id = recordings.recording_id
    left join queries
        on
            recordings.collection = queries.collection
            and traces.query_id = queries.query_id
    left join results
        on
            searches.recording_id = results.recording_id
            and searches.trace_id = results.trace_id
            and searches.search = results.search
    left join words
        on
            searches.recording_id = words.recording_id
            and searches.trace_id = words.trace_id
            and searches.search = words.search

),

final as (

    select
        recording_id,
        trace_id,
        search,
        query_id,
        retriever,
        trial,
        seq,
        step,
        step_at,
        query,
        is_known_query,
        is_later,
        has_results,
        is_refused,
        n_attempts,
        n_errors,
        error,
        call_id,
        n_results,
        n_repeated,
        case when has_judgments then n_exact_returned end as n_exact_returned,
        case when has_judgments then n_unjudged_returned end as n_unjudged_returned,
        case when has_judgments then n_exact_shown end as n_exact_shown,
        results_shown,
        {{ assay_search_precision() }} as precision,
        n_words,
        n_words_added,
        n_words_shown,
        n_words_undecidable,
        n_words_new
    from joined

)

select * from final

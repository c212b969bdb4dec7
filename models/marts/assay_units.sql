{{ config(materialized='assay_by_key', assay_key='recording_id') }}

{% set cutoffs = assay_cutoffs() %}

with

summary as (

    select * from {{ ref('assay_summary') }}
    where {{ assay_is_due() }}

),

contexts as (

    select * from {{ ref('assay_contexts') }}
    where {{ assay_is_due() }}

),

documents as (

    select * from {{ ref('fct_assay__context_documents') }}
    where {{ assay_is_due() }}

),

context_scores as (

    select * from {{ ref('assay_context_scores') }}
    where {{ assay_is_due() }}

),

tie_ranges as (

    select * from {{ ref('assay_tie_ranges') }}
    where {{ assay_is_due() }}

),

settings as (

    select * from {{ ref('stg_assay__recording_settings') }}
    where {{ assay_is_due() }}

),

-- A setting's value is JSON text, so a text stands in quotes.
units as (

    select
        recording_id,
        max(case when setting = 'retrieval.unit' then replace(value, '"', '') end) as unit,
        max(case when setting = 'retrieval.method' then replace(value, '"', '') end) as method
    from settings
    where setting in ('retrieval.unit', 'retrieval.method')
    group by recording_id

),

means as (

    select
        recording_id,
        retriever,
        k,
        max(case when measure = 'precision' then n_queries end) as n_queries,
        max(case when measure = 'precision' then mean end) as precision,
        max(case when measure = 'recall' then mean end) as recall,
        max(case when measure = 'judged' then mean end) as judged
    from summary
    where
        measure in ('precision', 'recall', 'judged')
        and k is not null
    group by recording_id, retriever, k

),

-- Words and exact documents among the first k, a column a cutoff, so that documents are read once.
counted as (

    select
        documents.recording_id,
        documents.retriever,
        {% for k in cutoffs %}
        sum(documents.n_words) filter (where documents.rank <= {{ k }}) as n_words_{{ k }},
        count(*) filter (where documents.rank <= {{ k }} and documents.n_words is null) as n_unknown_{{ k }}{{ ',' if not loop.last }}
        {% endfor %}
    from documents
    inner join contexts
        on
            documents.recording_id = contexts.recording_id
            and documents.query_id = contexts.query_id
            and documents.retriever = contexts.retriever
            and documents.trial = contexts.trial
    where
        documents.rank <= {{ cutoffs | max }}
        and contexts.is_asked
        and contexts.has_judgments
    group by documents.recording_id, documents.retriever

),

words as (

    {% for k in cutoffs %}
    select
        recording_id,
        retriever,
        cast({{ k }} as {{ dbt.type_bigint() }}) as k,
        case when n_unknown_{{ k }} = 0 then coalesce(n_words_{{ k }}, 0) end as n_words
    from counted
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}

),

-- Lists of unknown documents hold neither words nor exact documents that can be counted.
exact as (

    select
        recording_id,
        retriever,
        k,
        sum(n_exact) as n_exact,
        count(*) filter (where not has_documents) as n_unknown_lists
    from context_scores
    where
        is_asked
        and has_judgments
    group by recording_id, retriever, k

),

ties as (

    select
        recording_id,
        retriever,
        k,
        count(distinct query_id) filter (where is_tie_crossing) as n_queries_changed_by_ties,
        count(distinct query_id) filter (where is_tie_cut) as n_queries_with_ties_cut
    from tie_ranges
    where is_asked
    group by recording_id, retriever, k

),

final as (

    select
        means.recording_id,
        means.retriever,
        means.k,
        units.method,
        units.unit,
        means.n_queries,
        means.precision,
        means.recall,
        means.judged,
        -- No row: no list has scores in order, so nothing is known of its ties.
        cast(ties.n_queries_changed_by_ties as {{ dbt.type_bigint() }}) as n_queries_changed_by_ties,
        cast(ties.n_queries_with_ties_cut as {{ dbt.type_bigint() }}) as n_queries_with_ties_cut,
        cast(exact.n_exact as {{ dbt.type_bigint() }}) as n_exact,
        cast(case when exact.n_unknown_lists = 0 then words.n_words end as {{ dbt.type_bigint() }}) as n_words,
        case
            when exact.n_unknown_lists = 0
                then cast(words.n_words as double) / nullif(exact.n_exact, 0)
        end as words_per_exact
    from means
    left join units
        on means.recording_id = units.recording_id
    left join exact
        on
            means.recording_id = exact.recording_id
            and means.retriever = exact.retriever
            and means.k = exact.k
    left join words
        on
            means.recording_id = words.recording_id
            and means.retriever = words.retriever
            and means.k = words.k
    left join ties
        on
            means.recording_id = ties.recording_id
            and means.retriever = ties.retriever
            and means.k = ties.k

)

select * from final

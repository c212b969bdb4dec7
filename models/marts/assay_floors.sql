{{ config(materialized='assay_by_key', assay_key='recording_id') }}

{{ config(materialized='view') }}

with

context_scores as (

    select * from {{ ref('assay_context_scores') }}
    where {{ assay_is_due() }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}
    where {{ assay_is_due() }}

),

collections as (

    select * from {{ ref('stg_assay__collections') }}

),

-- A random context draws from the catalog alone, so its exact documents are those that the catalog holds.
joined as (

    select
        context_scores.recording_id,
        context_scores.query_id,
        context_scores.retriever,
        context_scores.trial,
        context_scores.k,
        recordings.collection,
        context_scores.is_asked,
        context_scores.has_judgments,
        context_scores.n_query_exact,
        context_scores.n_query_exact_in_catalog,
        case when collections.catalog = 'whole' then collections.n_documents end as n_documents,
        context_scores.precision,
        context_scores.recall
    from context_scores
    inner join recordings
        on context_scores.recording_id = recordings.recording_id
    inner join collections
        on recordings.collection = collections.collection

),

-- The mean of the hypergeometric distribution: draws x exact / documents. A catalog smaller than k is drawn whole.
counted as (

    select
        *,
        least(k, n_documents) * n_query_exact_in_catalog as n_exact_expected,
        case when n_documents is not null then least(k, n_query_exact_in_catalog) end as n_exact_best
    from joined

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        k,
        collection,
        is_asked,
        cast(n_documents as {{ dbt.type_bigint() }}) as n_documents,
        cast(n_query_exact as {{ dbt.type_bigint() }}) as n_query_exact,
        cast(n_query_exact_in_catalog as {{ dbt.type_bigint() }}) as n_query_exact_in_catalog,
        case when has_judgments then cast(n_exact_expected as double) / nullif(n_documents * k, 0) end as precision_floor,
        precision,
        case when has_judgments then cast(n_exact_best as double) / k end as precision_ceiling,
        case when has_judgments then cast(n_exact_expected as double) / nullif(n_documents * n_query_exact, 0) end as recall_floor,
        recall,
        case when has_judgments then cast(n_exact_best as double) / nullif(n_query_exact, 0) end as recall_ceiling
    from counted

)

select * from final

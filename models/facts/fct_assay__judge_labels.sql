{#- A label or a score as a whole number of billionths, so that every sum over labels is exact. -#}
{% set one = 1000000000 %}

with

support as (

    select * from {{ ref('stg_assay__support') }}

),

relevance as (

    select * from {{ ref('stg_assay__relevance') }}

),

judgments as (

    select * from {{ ref('fct_assay__judgments') }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}

),

collections as (

    select * from {{ ref('stg_assay__collections') }}

),

support_labels as (

    select
        'support' as task,
        case when recordings.kind = 'labels' then recordings.answers_recording else recordings.recording_id end as recording_id,
        support.recording_id as label_recording_id,
        recordings.collection,
        support.query_id,
        support.retriever,
        support.trial,
        support.claim,
        support.documents,
        support.judge,
        support.label,
        cast(case
            when support.label = 'supported' then {{ one }}
            when support.label = 'partly' then {{ one // 2 }}
            when support.label = 'unsupported' then 0
            else round(support.score * {{ one }})
        end as {{ dbt.type_bigint() }}) as value_units
    from support
    inner join recordings
        on support.recording_id = recordings.recording_id
    -- An error is no label; assay_judges counts it.
    where support.error is null

),

relevance_labels as (

    select
        'relevance' as task,
        relevance.recording_id,
        relevance.recording_id as label_recording_id,
        recordings.collection,
        relevance.query_id,
        cast(null as {{ dbt.type_string() }}) as retriever,
        cast(null as {{ dbt.type_bigint() }}) as trial,
        cast(null as {{ dbt.type_string() }}) as claim,
        relevance.doc_id as documents,
        relevance.judge,
        cast(relevance.grade as {{ dbt.type_string() }}) as label,
        cast(case when relevance.grade >= collections.exact_grade then {{ one }} else 0 end as {{ dbt.type_bigint() }}) as value_units
    from relevance
    inner join recordings
        on relevance.recording_id = recordings.recording_id
    inner join collections
        on recordings.collection = collections.collection
    -- TREC's -1 is no judgment, whoever wrote it.
    where relevance.grade != -1

),

graded as (

    select distinct
        recording_id,
        collection,
        query_id,
        documents
    from relevance_labels

),

-- What people judged of the same documents stands with the collection.
people_of_the_collection as (

    select
        'relevance' as task,
        graded.recording_id,
        cast(null as {{ dbt.type_string() }}) as label_recording_id,
        graded.collection,
        graded.query_id,
        cast(null as {{ dbt.type_string() }}) as retriever,
        cast(null as {{ dbt.type_bigint() }}) as trial,
        cast(null as {{ dbt.type_string() }}) as claim,
        graded.documents,
        'person' as judge,
        cast(judgments.grade as {{ dbt.type_string() }}) as label,
        cast(case when judgments.is_exact then {{ one }} else 0 end as {{ dbt.type_bigint() }}) as value_units
    from graded
    inner join judgments
        on
            graded.collection = judgments.collection
            and graded.query_id = judgments.query_id
            and graded.documents = judgments.doc_id
    where judgments.is_judged

),

unioned as (

    select * from support_labels

    union all

    select * from relevance_labels

    union all

    select * from people_of_the_collection

),

-- Who gives one label of one thing on several lines gives it once; who gives several gives each of them.
folded as (

    select
        task,
        recording_id,
        label_recording_id,
        collection,
        query_id,
        retriever,
        trial,
        claim,
        documents,
        judge,
        label,
        value_units,
        count(*) as n_lines
    from unioned
    group by
        task,
        recording_id,
        label_recording_id,
        collection,
        query_id,
        retriever,
        trial,
        claim,
        documents,
        judge,
        label,
        value_units

),

final as (

    select
        task,
        recording_id,
        label_recording_id,
        collection,
        query_id,
        retriever,
        trial,
        claim,
        documents,
        -- Lengths keep two parts apart; what is unknown differs from what is empty.
        {{ dbt.hash(
            "query_id || '|' || coalesce(retriever, '') || '|' || coalesce(cast(trial as " ~ dbt.type_string() ~ "), '') || '|'"
            ~ " || coalesce(cast(length(claim) as " ~ dbt.type_string() ~ ") || ':' || claim, '-') || coalesce(documents, '-')"
        ) }} as item,
        judge,
        judge = 'person' or judge like 'person:%' as is_person,
        label,
        value_units,
        cast(value_units as double) / {{ one }} as value,
        cast(n_lines as {{ dbt.type_bigint() }}) as n_lines
    from folded

)

select * from final

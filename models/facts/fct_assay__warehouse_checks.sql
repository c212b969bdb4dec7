{#- Checks that need more than one load. Which they are, and how severe a failure is, stands in check_rules. -#}
with

recordings as (

    select * from {{ ref('stg_assay__recordings') }}

),

collections as (

    select * from {{ ref('stg_assay__collections') }}

),

queries as (

    select * from {{ ref('stg_assay__queries') }}

),

contexts as (

    select * from {{ ref('stg_assay__contexts') }}

),

traces as (

    select * from {{ ref('stg_assay__traces') }}

),

support as (

    select * from {{ ref('stg_assay__support') }}

),

asked_queries as (

    select * from {{ ref('fct_assay__asked_queries') }}

),

asked_by_file as (

    select * from {{ ref('stg_assay__asked_queries') }}

),

planned_comparisons as (

    select * from {{ ref('fct_assay__planned_comparisons') }}

),

rules as (

    select * from {{ ref('stg_assay__check_rules') }}

),

orphan_recordings as (

    select
        'orphan_recording' as check_name,
        'recording' as kind,
        recordings.recording_id as name,
        case when collections.collection is null then 1 else 0 end as observed,
        'its collection, ' || recordings.collection || ', is not loaded' as message,
        recordings.collection as example
    from recordings
    left join collections
        on recordings.collection = collections.collection

),

named_queries as (

    select
        recording_id,
        query_id
    from contexts

    union

    select
        recording_id,
        query_id
    from traces

    union

    select
        recording_id,
        query_id
    from support

    union

    select
        recording_id,
        query_id
    from asked_by_file

),

orphan_queries as (

    select
        'orphan_queries' as check_name,
        'recording' as kind,
        recordings.recording_id as name,
        count(*) filter (where named_queries.query_id is not null and queries.query_id is null) as observed,
        'it has rows of queries that its collection, ' || recordings.collection || ', lacks' as message,
        min(case when queries.query_id is null then named_queries.query_id end) as example
    from recordings
    left join named_queries
        on recordings.recording_id = named_queries.recording_id
    left join queries
        on
            recordings.collection = queries.collection
            and named_queries.query_id = queries.query_id
    group by recordings.recording_id, recordings.collection

),

pinned_digests as (

    select
        'pinned_digest_differs' as check_name,
        'recording' as kind,
        recordings.recording_id as name,
        case when collections.digest != recordings.collection_digest then 1 else 0 end as observed,
        'it pins ' || recordings.collection_digest || ', and what is loaded of ' || recordings.collection || ' has ' || collections.digest
            as message,
        recordings.collection as example
    from recordings
    inner join collections
        on recordings.collection = collections.collection
    where recordings.collection_digest is not null

),

answers_recordings as (

    select
        'answers_recording_unfit' as check_name,
        'recording' as kind,
        recordings.recording_id as name,
        case
            when answers.kind = 'answers' and answers.collection = recordings.collection then 0
            else 1
        end as observed,
        'its answers_recording, ' || recordings.answers_recording
        || case
            when answers.recording_id is null then ', is not loaded'
            when answers.kind != 'answers' then ', holds no answers'
            else ', is of another collection'
        end as message,
        recordings.answers_recording as example
    from recordings
    left join recordings as answers
        on recordings.answers_recording = answers.recording_id
    where recordings.answers_recording is not null

),

rows_given as (

    select
        recording_id,
        retriever,
        query_id
    from contexts

    union

    select
        recording_id,
        retriever,
        query_id
    from traces

),

retrievers as (

    select distinct
        recording_id,
        retriever
    from rows_given

),

covered as (

    select
        retrievers.recording_id,
        retrievers.retriever,
        count(*) as n_asked,
        count(rows_given.query_id) as n_given
    from retrievers
    inner join asked_queries
        on retrievers.recording_id = asked_queries.recording_id
    left join rows_given
        on
            retrievers.recording_id = rows_given.recording_id
            and retrievers.retriever = rows_given.retriever
            and asked_queries.query_id = rows_given.query_id
    group by retrievers.recording_id, retrievers.retriever

),

low_coverage as (

    select
        'low_coverage' as check_name,
        'recording' as kind,
        recording_id as name,
        count(*) filter (where 2 * n_given < n_asked) as observed,
        'less than half of the queries asked have a row under a retriever' as message,
        min(case when 2 * n_given < n_asked then retriever end) as example
    from covered
    group by recording_id

),

unequal_collections as (

    select
        'unequal_collections' as check_name,
        'comparison' as kind,
        planned_comparisons.comparison_id as name,
        case
            when one.collection != other.collection and coalesce(planned_comparisons.treatment, '') != 'collection' then 1
            else 0
        end as observed,
        'one side is of ' || one.collection || ', the other of ' || other.collection as message,
        planned_comparisons.comparison_id as example
    from planned_comparisons
    inner join recordings as one
        on planned_comparisons.recording_id = one.recording_id
    inner join recordings as other
        on planned_comparisons.baseline_recording_id = other.recording_id

),

all_checks as (

    select * from orphan_recordings

    union all

    select * from orphan_queries

    union all

    select * from pinned_digests

    union all

    select * from answers_recordings

    union all

    select * from low_coverage

    union all

    select * from unequal_collections

),

final as (

    select
        all_checks.kind,
        all_checks.name,
        all_checks.check_name,
        rules.severity,
        case when all_checks.observed > 0 then 'failed' else 'passed' end as status,
        cast(all_checks.observed as {{ dbt.type_bigint() }}) as observed,
        case when all_checks.observed > 0 then all_checks.message else rules.meaning end as message,
        case when all_checks.observed > 0 then all_checks.example end as examples
    from all_checks
    inner join rules
        on all_checks.check_name = rules.check_name

)

select * from final

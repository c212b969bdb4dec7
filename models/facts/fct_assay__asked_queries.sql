{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

recordings as (

    select * from {{ ref('stg_assay__recordings') }}
    where {{ assay_is_due() }}

),

asked_queries as (

    select * from {{ ref('stg_assay__asked_queries') }}
    where {{ assay_is_due() }}

),

queries as (

    select * from {{ ref('stg_assay__queries') }}

),

from_split as (

    select
        recordings.recording_id,
        recordings.collection,
        queries.query_id
    from recordings
    inner join queries
        on recordings.collection = queries.collection
    -- Labels judge what was recorded elsewhere: nobody was asked a query for them.
    where
        recordings.kind != 'labels'
        and recordings.asked = 'split'
        and (recordings.split is null or recordings.split = queries.split)

),

from_file as (

    select
        asked_queries.recording_id,
        recordings.collection,
        asked_queries.query_id
    from asked_queries
    inner join recordings
        on asked_queries.recording_id = recordings.recording_id
    where recordings.kind != 'labels' and recordings.asked != 'split'

),

final as (

    select
        recording_id,
        query_id,
        collection
    from from_split

    union all

    select
        recording_id,
        query_id,
        collection
    from from_file

)

select * from final

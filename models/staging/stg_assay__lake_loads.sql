{{ config(materialized='table', enabled=var('assay_lake', none) is not none) }}

{#- A table, and so read once a build: whoever loads meanwhile changes nothing under it. -#}
with

source as (

    select * from {{ assay_parquet(assay_lake() ~ '/loads') }}

),

numbered as (

    select
        load_key,
        load_number,
        name,
        kind,
        row_number() over (
            partition by case when kind = 'collection' then 1 else 0 end, name
            order by load_number desc
        ) as newest_of_owner,
        row_number() over (order by load_number desc) as newest
    from source

),

final as (

    select
        load_key,
        load_number,
        name,
        kind,
        newest_of_owner = 1 as is_current,
        newest = 1 as is_newest
    from numbered

)

select * from final

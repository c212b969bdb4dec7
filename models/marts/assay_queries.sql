{{ config(materialized='assay_by_key', assay_key='collection') }}

with

queries as (

    select * from {{ ref('stg_assay__queries') }}
    where {{ assay_is_due() }}

),

judgments as (

    select * from {{ ref('fct_assay__judgments') }}
    where {{ assay_is_due() }}

),

counted as (

    select
        collection,
        query_id,
        count(*) filter (where is_judged) as n_judged,
        count(*) filter (where is_exact) as n_exact,
        count(*) filter (where is_partial) as n_partial,
        count(*) filter (where is_irrelevant) as n_irrelevant,
        count(*) filter (where not is_judged) as n_pooled_unjudged,
        count(*) filter (where is_exact and is_in_catalog) as n_exact_in_catalog,
        count(*) filter (where is_judged and not is_in_catalog) as n_judged_outside_catalog
    from judgments
    group by collection, query_id

),

final as (

    select
        -- Judgments may name a query that the queries' file lacks.
        coalesce(queries.collection, counted.collection) as collection,
        coalesce(queries.query_id, counted.query_id) as query_id,
        queries.query,
        queries.split,
        coalesce(counted.n_judged, 0) > 0 as has_judgments,
        cast(coalesce(counted.n_judged, 0) as {{ dbt.type_bigint() }}) as n_judged,
        cast(coalesce(counted.n_exact, 0) as {{ dbt.type_bigint() }}) as n_exact,
        cast(coalesce(counted.n_partial, 0) as {{ dbt.type_bigint() }}) as n_partial,
        cast(coalesce(counted.n_irrelevant, 0) as {{ dbt.type_bigint() }}) as n_irrelevant,
        cast(coalesce(counted.n_pooled_unjudged, 0) as {{ dbt.type_bigint() }}) as n_pooled_unjudged,
        cast(coalesce(counted.n_exact_in_catalog, 0) as {{ dbt.type_bigint() }}) as n_exact_in_catalog,
        cast(coalesce(counted.n_judged_outside_catalog, 0) as {{ dbt.type_bigint() }}) as n_judged_outside_catalog
    from queries
    full outer join counted
        on
            queries.collection = counted.collection
            and queries.query_id = counted.query_id

)

select * from final

{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

scores as (

    select * from {{ ref('assay_scores') }}
    where {{ assay_is_due() }}

),

defined as (

    select * from scores
    where is_asked and value is not null

),

per_query as (

    select
        recording_id,
        retriever,
        measure,
        coalesce(k, 0) as k_or_zero,
        query_id,
        count(*) as n_trials,
        count(numerator) as n_fractions,
        sum(numerator) as numerator,
        min(denominator) as denominator,
        max(denominator) as largest_denominator,
        min(value) as value,
        max(value) as largest_value
    from defined
    group by recording_id, retriever, measure, coalesce(k, 0), query_id

),

-- Trials over one denominator add up here, in integers. Others are left to exact arithmetic in Python.
sorted_out as (

    select
        *,
        n_fractions = n_trials and denominator = largest_denominator as is_one_fraction,
        n_fractions = 0 and value = largest_value as is_one_number
    from per_query

),

folded as (

    select
        recording_id,
        retriever,
        measure,
        case when k_or_zero > 0 then k_or_zero end as k,
        cast(null as {{ dbt.type_string() }}) as query_id,
        case when is_one_fraction then numerator end as numerator,
        case when is_one_fraction then denominator * n_trials end as denominator,
        case when is_one_number then value end as value,
        count(*) as n
    from sorted_out
    where is_one_fraction or is_one_number
    group by
        recording_id,
        retriever,
        measure,
        k_or_zero,
        case when is_one_fraction then numerator end,
        case when is_one_fraction then denominator * n_trials end,
        case when is_one_number then value end

),

trials as (

    select
        defined.recording_id,
        defined.retriever,
        defined.measure,
        defined.k,
        defined.query_id,
        defined.numerator,
        defined.denominator,
        defined.value,
        1 as n
    from defined
    inner join sorted_out
        on
            defined.recording_id = sorted_out.recording_id
            and defined.retriever = sorted_out.retriever
            and defined.measure = sorted_out.measure
            and coalesce(defined.k, 0) = sorted_out.k_or_zero
            and defined.query_id = sorted_out.query_id
    where not (sorted_out.is_one_fraction or sorted_out.is_one_number)

),

unioned as (

    select * from folded

    union all

    select * from trials

),

final as (

    select
        recording_id,
        retriever,
        measure,
        cast(k as {{ dbt.type_bigint() }}) as k,
        query_id,
        cast(numerator as {{ dbt.type_bigint() }}) as numerator,
        cast(denominator as {{ dbt.type_bigint() }}) as denominator,
        coalesce(value, cast(numerator as double) / denominator) as value,
        cast(n as {{ dbt.type_bigint() }}) as n
    from unioned

)

select * from final

{{ config(materialized='assay_by_key', assay_key='recording_id') }}

{#-
Spearman's rank correlation is Pearson's of the ranks, ties on their middle rank. Everything up to the last step is an integer:
a rank r is kept as 2 r - (n + 1), which is whole for middle ranks too and sums to 0, so that covariance and variance are sums of
products. The pairs are first counted by value, so that only distinct values are put in order.
-#}
{% set context_measures = assay_measures() | selectattr('grain', 'in', ['context_at_k', 'context']) | map(attribute='name') | list %}

with

scores as (

    select * from {{ ref('assay_scores') }}
    where {{ assay_is_due() }}

),

floors as (

    select * from {{ ref('stg_assay__recording_floors') }}
    where {{ assay_is_due() }}

),

answers as (

    select
        recording_id,
        retriever,
        query_id,
        trial,
        measure,
        value
    from scores
    where
        measure = 'exact_share'
        and is_asked
        and not is_missing

),

contexts as (

    select
        recording_id,
        retriever,
        query_id,
        trial,
        measure,
        k,
        value
    from scores
    where measure in ('{{ context_measures | join("', '") }}')

),

pairs as (

    select
        answers.recording_id,
        answers.retriever,
        contexts.measure,
        contexts.k,
        answers.measure as with_measure,
        contexts.value as x,
        answers.value as y,
        count(*) as n
    from answers
    inner join contexts
        on
            answers.recording_id = contexts.recording_id
            and answers.retriever = contexts.retriever
            and answers.query_id = contexts.query_id
            and answers.trial = contexts.trial
    group by
        answers.recording_id,
        answers.retriever,
        contexts.measure,
        contexts.k,
        answers.measure,
        contexts.value,
        answers.value

),

over_retrievers as (

    select
        pairs.recording_id,
        '(all)' as retriever,
        pairs.measure,
        pairs.k,
        pairs.with_measure,
        pairs.x,
        pairs.y,
        sum(pairs.n) as n
    from pairs
    left join floors
        on
            pairs.recording_id = floors.recording_id
            and pairs.retriever = floors.retriever
    where floors.retriever is null
    group by pairs.recording_id, pairs.measure, pairs.k, pairs.with_measure, pairs.x, pairs.y

),

scopes as (

    select * from pairs

    union all

    select * from over_retrievers

),

-- A scope has its row even where no pair is left.
every_scope as (

    select distinct
        recording_id,
        retriever,
        measure,
        k,
        with_measure
    from scopes

),

defined as (

    select
        recording_id,
        retriever,
        measure,
        coalesce(k, 0) as k,
        with_measure,
        x,
        y,
        cast(n as {{ dbt.type_bigint() }}) as n
    from scopes
    where x is not null and y is not null

),

x_values as (

    select
        recording_id,
        retriever,
        measure,
        k,
        with_measure,
        x,
        cast(sum(n) as {{ dbt.type_bigint() }}) as n
    from defined
    group by recording_id, retriever, measure, k, with_measure, x

),

y_values as (

    select
        recording_id,
        retriever,
        measure,
        k,
        with_measure,
        y,
        cast(sum(n) as {{ dbt.type_bigint() }}) as n
    from defined
    group by recording_id, retriever, measure, k, with_measure, y

),

-- n values stand on places from m + 1 to m + n, the middle of which, doubled, is 2 m + n + 1.
x_ranks as (

    select
        *,
        cast(
            2 * sum(n) over (
                partition by recording_id, retriever, measure, k, with_measure
                order by x
                rows between unbounded preceding and current row
            ) - n
            - sum(n) over (partition by recording_id, retriever, measure, k, with_measure) as {{ dbt.type_bigint() }}
        ) as centred
    from x_values

),

y_ranks as (

    select
        *,
        cast(
            2 * sum(n) over (
                partition by recording_id, retriever, measure, k, with_measure
                order by y
                rows between unbounded preceding and current row
            ) - n
            - sum(n) over (partition by recording_id, retriever, measure, k, with_measure) as {{ dbt.type_bigint() }}
        ) as centred
    from y_values

),

summed as (

    select
        defined.recording_id,
        defined.retriever,
        defined.measure,
        defined.k,
        defined.with_measure,
        sum(defined.n) as n,
        sum({{ assay_wide('defined.n') }} * x_ranks.centred * y_ranks.centred) as covariance,
        sum({{ assay_wide('defined.n') }} * x_ranks.centred * x_ranks.centred) as x_variance,
        sum({{ assay_wide('defined.n') }} * y_ranks.centred * y_ranks.centred) as y_variance
    from defined
    inner join x_ranks
        on
            defined.recording_id = x_ranks.recording_id
            and defined.retriever = x_ranks.retriever
            and defined.measure = x_ranks.measure
            and defined.k = x_ranks.k
            and defined.with_measure = x_ranks.with_measure
            and defined.x = x_ranks.x
    inner join y_ranks
        on
            defined.recording_id = y_ranks.recording_id
            and defined.retriever = y_ranks.retriever
            and defined.measure = y_ranks.measure
            and defined.k = y_ranks.k
            and defined.with_measure = y_ranks.with_measure
            and defined.y = y_ranks.y
    group by defined.recording_id, defined.retriever, defined.measure, defined.k, defined.with_measure

),

final as (

    select
        every_scope.recording_id,
        every_scope.retriever,
        every_scope.measure,
        every_scope.k,
        every_scope.with_measure,
        cast(coalesce(summed.n, 0) as {{ dbt.type_bigint() }}) as n,
        -- One root of one product: two equal variances give exactly that variance, and a perfect order exactly 1.
        cast(summed.covariance as double)
        / nullif(sqrt(cast(summed.x_variance as double) * cast(summed.y_variance as double)), 0) as spearman
    from every_scope
    left join summed
        on
            every_scope.recording_id = summed.recording_id
            and every_scope.retriever = summed.retriever
            and every_scope.measure = summed.measure
            and coalesce(every_scope.k, 0) = summed.k
            and every_scope.with_measure = summed.with_measure

)

select * from final

with

planned as (

    select * from {{ ref('fct_assay__planned_comparisons') }}

),

tests as (

    select * from {{ assay_python_model('fct_assay__comparison_tests', reads='fct_assay__comparison_values') }}

),

joined as (

    select
        planned.*,
        tests.n_queries,
        tests.n_pairs,
        tests.n_missing,
        tests.n_broken,
        tests.n_undefined,
        tests.mean,
        tests.baseline_mean,
        tests.mean_difference,
        tests.sd_difference,
        tests.wins,
        tests.losses,
        tests.ties,
        tests.p_value,
        tests.p_method,
        tests.p_is_bound,
        tests.n_draws,
        tests.smallest_p,
        -- A sampled p is never below 1 / (1 + draws), whatever the pairs.
        case
            when tests.n_draws is not null and tests.smallest_p < cast(1 as double) / (1 + tests.n_draws)
                then cast(1 as double) / (1 + tests.n_draws)
            else tests.smallest_p
        end as reachable_p,
        tests.t_test_p,
        tests.interval_low,
        tests.interval_high,
        tests.interval_level,
        tests.interval_draws,
        tests.detectable_difference,
        tests.t_test_degenerate_reason,
        tests.interval_degenerate_reason
    from planned
    left join tests
        on planned.comparison_id = tests.comparison_id

),

with_status as (

    select
        *,
        case
            when not_recorded_reason is not null then 'not recorded'
            when refused_reason is not null then 'refused'
            when n_missing + n_broken > 0 then 'incomplete'
            when not is_planned then 'exploratory'
            when n_pairs = 0 or reachable_p >= threshold then 'cannot reach'
            when p_value < threshold then 'established'
            else 'not established'
        end as status,
        cast(threshold as {{ dbt.type_string() }}) as threshold_text
    from joined

),

-- Holm (1979): the smallest p against the level over m, the next against the level over m - 1, and so on until
-- one fails. A planned row that can't be established has no p to offer and stands last, as p = 1.
with_holm_p as (

    select
        *,
        case
            when status in ('established', 'not established', 'cannot reach') and n_pairs > 0 then p_value
            else cast(1 as double)
        end as holm_p
    from with_status

),

with_holm_rank as (

    select
        *,
        row_number() over (
            partition by family, case when planned_on is null then 1 else 0 end
            order by holm_p, comparison_id
        ) as holm_rank
    from with_holm_p

),

with_holm_threshold as (

    select
        *,
        case
            when planned_on is not null
                then cast({{ var('assay_alpha') }} as double) / (n_family - holm_rank + 1)
        end as holm_threshold
    from with_holm_rank

),

with_holm as (

    select
        *,
        -- 0 from the first failing step on.
        min(case when holm_p < holm_threshold then 1 else 0 end) over (
            partition by family, case when planned_on is null then 1 else 0 end
            order by holm_p, comparison_id
            rows between unbounded preceding and current row
        ) as holm_steps_hold
    from with_holm_threshold

),

final as (

    select
        comparison_id,
        family,
        recording_id,
        retriever,
        measure,
        k,
        baseline_recording_id,
        baseline_retriever,
        baseline_measure,
        baseline_k,
        planned_on,
        split,
        treatment,
        is_planned,
        status,
        case status
            when 'not recorded' then not_recorded_reason
            when 'refused' then refused_reason
            when 'incomplete'
                then
                    'queries missing: ' || cast(n_missing as {{ dbt.type_string() }})
                    || ', broken: ' || cast(n_broken as {{ dbt.type_string() }})
                    || coalesce('; exploratory: ' || exploratory_reason, '')
            when 'exploratory' then exploratory_reason
            when 'cannot reach'
                then
                    case
                        when n_pairs = 0 then 'no query has a value on both sides'
                        when reachable_p > smallest_p
                            then
                                'a sampled p from ' || cast(n_draws as {{ dbt.type_string() }})
                                || ' draws cannot be below ' || cast(reachable_p as {{ dbt.type_string() }})
                        else
                            'pairs that differ: ' || cast(wins + losses as {{ dbt.type_string() }})
                            || ', so that p cannot be below '
                            || cast(smallest_p as {{ dbt.type_string() }})
                    end
            when 'established' then 'p is below ' || threshold_text
            else 'p is not below ' || threshold_text
        end as reason,
        case status
            when 'not recorded' then 'not recorded yet'
            when 'refused' then 'refused: the two sides cannot be compared'
            when 'incomplete' then 'incomplete, and so not established: the difference is over the complete pairs only'
            when 'exploratory' then 'exploratory, and so never established'
            when 'cannot reach'
                then
                    'cannot reach ' || threshold_text
                    || ': too few pairs differ for any result to be established; it does not show that they are equal'
            when 'established'
                then
                    'established at ' || threshold_text
                    || case when mean_difference > 0 then ': higher than the baseline' else ': lower than the baseline' end
            else 'not established at ' || threshold_text || ': this does not show that they are equal'
        end as verdict,
        n_not_shared,
        cast(n_queries as {{ dbt.type_bigint() }}) as n_queries,
        cast(n_pairs as {{ dbt.type_bigint() }}) as n_pairs,
        cast(n_missing as {{ dbt.type_bigint() }}) as n_missing,
        cast(n_broken as {{ dbt.type_bigint() }}) as n_broken,
        cast(n_undefined as {{ dbt.type_bigint() }}) as n_undefined,
        mean,
        baseline_mean,
        mean_difference,
        sd_difference,
        cast(wins as {{ dbt.type_bigint() }}) as wins,
        cast(losses as {{ dbt.type_bigint() }}) as losses,
        cast(ties as {{ dbt.type_bigint() }}) as ties,
        p_value,
        p_method,
        p_is_bound,
        cast(n_draws as {{ dbt.type_bigint() }}) as n_draws,
        smallest_p,
        n_family,
        threshold,
        status = 'established' as is_established,
        case
            when planned_on is not null and is_planned and status in ('established', 'not established', 'cannot reach')
                then holm_steps_hold = 1
            else false
        end as is_holm_established,
        holm_threshold,
        t_test_p,
        (t_test_p < threshold) = (p_value < threshold) as t_test_agrees,
        interval_low,
        interval_high,
        interval_level,
        cast(interval_draws as {{ dbt.type_bigint() }}) as interval_draws,
        -- A degenerate interval is no evidence on either side.
        case
            when interval_degenerate_reason is null
                then (interval_low > 0 or interval_high < 0) = (p_value < threshold)
        end as interval_agrees,
        detectable_difference,
        case
            when t_test_degenerate_reason is not null or interval_degenerate_reason is not null
                then 'degenerate: ' || coalesce(interval_degenerate_reason, t_test_degenerate_reason)
        end as degenerate_reason
    from with_holm

)

select * from final

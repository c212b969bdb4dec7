with

items as (

    select * from {{ ref('fct_assay__judged_items') }}

),

pairs as (

    select * from {{ ref('fct_assay__judge_pairs') }}

),

labels as (

    select * from {{ ref('fct_assay__judge_labels') }}

),

confusion as (

    select * from {{ ref('assay_judge_confusion') }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}

),

support as (

    select * from {{ ref('stg_assay__support') }}

),

broken as (

    select
        recording_id as label_recording_id,
        judge,
        '(all)' as scope,
        count(*) as n_broken
    from support
    where error is not null
    group by recording_id, judge

    union all

    select
        recording_id as label_recording_id,
        judge,
        retriever as scope,
        count(*) as n_broken
    from support
    where error is not null
    group by recording_id, judge, retriever

),

scoped_items as (

    select
        '(all)' as scope,
        items.*
    from items

    union all

    select
        items.retriever as scope,
        items.*
    from items
    where items.retriever is not null

),

summed as (

    select
        task,
        recording_id,
        label_recording_id,
        judge,
        collection,
        scope,
        count(*) as n_judged,
        count(person_units) as n_labelled,
        {{ assay_exact_sum('judge_units') }} as judge_sum,
        {{ assay_exact_sum('judge_units * judge_units') }} as judge_squares,
        {{ assay_exact_sum('case when person_units is not null then judge_units else 0 end') }} as labelled_judge_sum,
        {{ assay_exact_sum('case when person_units is not null then judge_units * judge_units else 0 end') }} as labelled_judge_squares,
        {{ assay_exact_sum('coalesce(person_units, 0)') }} as person_sum,
        {{ assay_exact_sum('coalesce(person_units * person_units, 0)') }} as person_squares,
        {{ assay_exact_sum('coalesce(person_units * judge_units, 0)') }} as products
    from scoped_items
    group by task, recording_id, label_recording_id, judge, collection, scope

),

people_items as (

    select distinct
        task,
        recording_id,
        retriever,
        item
    from labels
    where is_person

),

people as (

    select
        task,
        recording_id,
        '(all)' as scope,
        count(*) as n_by_people
    from people_items
    group by task, recording_id

    union all

    select
        task,
        recording_id,
        retriever as scope,
        count(*) as n_by_people
    from people_items
    where retriever is not null
    group by task, recording_id, retriever

),

scoped_pairs as (

    select
        '(all)' as scope,
        pairs.*
    from pairs

    union all

    select
        pairs.retriever as scope,
        pairs.*
    from pairs
    where pairs.retriever is not null

),

agreed as (

    select
        task,
        recording_id,
        label_recording_id,
        judge,
        scope,
        count(*) as n_pairs,
        count(is_equal) as n_label_pairs,
        count(*) filter (where is_equal) as n_equal
    from scoped_pairs
    group by task, recording_id, label_recording_id, judge, scope

),

judge_totals as (

    select
        task,
        recording_id,
        label_recording_id,
        judge,
        retriever as scope,
        judge_label as label,
        sum(n) as n
    from confusion
    group by task, recording_id, label_recording_id, judge, retriever, judge_label

),

person_totals as (

    select
        task,
        recording_id,
        label_recording_id,
        judge,
        retriever as scope,
        person_label as label,
        sum(n) as n
    from confusion
    group by task, recording_id, label_recording_id, judge, retriever, person_label

),

-- How many of n * n pairs would be equal by chance: each label's two totals, multiplied.
chance as (

    select
        judge_totals.task,
        judge_totals.recording_id,
        judge_totals.label_recording_id,
        judge_totals.judge,
        judge_totals.scope,
        sum(judge_totals.n * person_totals.n) as n_by_chance
    from judge_totals
    inner join person_totals
        on
            judge_totals.task = person_totals.task
            and judge_totals.recording_id = person_totals.recording_id
            and judge_totals.label_recording_id = person_totals.label_recording_id
            and judge_totals.judge = person_totals.judge
            and judge_totals.scope = person_totals.scope
            and judge_totals.label = person_totals.label
    group by judge_totals.task, judge_totals.recording_id, judge_totals.label_recording_id, judge_totals.judge, judge_totals.scope

),

joined as (

    select
        summed.*,
        coalesce(people.n_by_people, 0) - summed.n_labelled as n_labelled_not_judged,
        coalesce(broken.n_broken, 0) as n_broken,
        coalesce(agreed.n_pairs, 0) as n_pairs,
        coalesce(agreed.n_label_pairs, 0) as n_label_pairs,
        coalesce(agreed.n_equal, 0) as n_equal,
        coalesce(chance.n_by_chance, 0) as n_by_chance,
        summed.n_judged - summed.n_labelled as n_unlabelled,
        case when recordings.kind = 'labels' then recordings.model_digest end as judge_digest,
        case
            when summed.n_labelled = 0 then 'people labelled nothing of what it judged'
            when summed.n_labelled = 1 then 'people labelled one thing of what it judged'
        end as undefined_reason
    from summed
    left join people
        on
            summed.task = people.task
            and summed.recording_id = people.recording_id
            and summed.scope = people.scope
    left join agreed
        on
            summed.task = agreed.task
            and summed.recording_id = agreed.recording_id
            and summed.label_recording_id = agreed.label_recording_id
            and summed.judge = agreed.judge
            and summed.scope = agreed.scope
    left join chance
        on
            summed.task = chance.task
            and summed.recording_id = chance.recording_id
            and summed.label_recording_id = chance.label_recording_id
            and summed.judge = chance.judge
            and summed.scope = chance.scope
    left join broken
        on
            summed.task = 'support'
            and summed.label_recording_id = broken.label_recording_id
            and summed.judge = broken.judge
            and summed.scope = broken.scope
    left join recordings
        on summed.label_recording_id = recordings.recording_id

),

-- n (n - 1) times the variances and the covariance, in squared units.
spread as (

    select
        *,
        {{ assay_spread('n_judged', 'judge_squares', 'judge_sum', 'judge_sum') }} as judge_spread,
        {{ assay_spread('n_labelled', 'labelled_judge_squares', 'labelled_judge_sum', 'labelled_judge_sum') }} as labelled_judge_spread,
        {{ assay_spread('n_labelled', 'person_squares', 'person_sum', 'person_sum') }} as person_spread,
        {{ assay_spread('n_labelled', 'products', 'labelled_judge_sum', 'person_sum') }} as common_spread,
        cast(n_unlabelled as double) / n_judged as unlabelled_share,
        cast(n_judged as double) as big_n,
        cast(n_labelled as double) as small_n
    from joined

),

-- The labelled are a part of what was judged, so the two means share items. Taken apart, the estimate is a mean over the labelled of
-- person - share * judge, and a share of the mean of the judge over the others: two samples without a common item, whose variances add up.
varied as (

    select
        *,
        case
            when n_labelled >= 2
                then
                    unlabelled_share * judge_spread / (big_n * big_n * (big_n - 1))
                    + greatest(
                        person_spread - 2 * unlabelled_share * common_spread + unlabelled_share * unlabelled_share * labelled_judge_spread,
                        cast(0 as double)
                    ) / (small_n * small_n * (small_n - 1))
        end as squared_error
    from spread

),

estimated as (

    select
        *,
        case
            when n_labelled >= 2
                then
                    cast(judge_sum * cast(n_labelled as decimal(38, 0))
                    + (person_sum - labelled_judge_sum) * cast(n_judged as decimal(38, 0)) as double)
                    / (big_n * small_n * 1000000000)
        end as estimate,
        {{ assay_interval_z() }} * sqrt(squared_error) / 1000000000 as half_width
    from varied

),

final as (

    select
        recording_id,
        label_recording_id,
        task,
        judge,
        scope as retriever,
        collection,
        judge_digest,
        cast(n_judged as {{ dbt.type_bigint() }}) as n_judged,
        cast(n_broken as {{ dbt.type_bigint() }}) as n_broken,
        cast(n_labelled as {{ dbt.type_bigint() }}) as n_labelled,
        cast(n_labelled_not_judged as {{ dbt.type_bigint() }}) as n_labelled_not_judged,
        cast(n_pairs as {{ dbt.type_bigint() }}) as n_pairs,
        cast(n_pairs - n_label_pairs as {{ dbt.type_bigint() }}) as n_score_pairs,
        cast(n_equal as {{ dbt.type_bigint() }}) as n_equal,
        cast(n_equal as double) / nullif(n_label_pairs, 0) as share_equal,
        cast(n_label_pairs * n_equal - n_by_chance as double)
        / nullif(cast(n_label_pairs * n_label_pairs - n_by_chance as double), 0) as kappa,
        case
            when n_pairs = 0 then 'people labelled nothing of what it judged'
            when n_label_pairs = 0 then 'scores were given in the place of labels'
            when n_label_pairs * n_label_pairs = n_by_chance then 'all labels are equal'
        end as kappa_undefined_reason,
        case when n_labelled >= 2 then cast(judge_sum as double) / (big_n * 1000000000) end as judge_mean,
        case when n_labelled >= 2 then cast(labelled_judge_sum as double) / (small_n * 1000000000) end as judge_mean_of_labelled,
        case when n_labelled >= 2 then cast(person_sum as double) / (small_n * 1000000000) end as people_mean,
        estimate,
        estimate - half_width as interval_low,
        estimate + half_width as interval_high,
        {{ assay_interval_level() }} as interval_level,
        undefined_reason,
        case
            when n_labelled >= 2 and squared_error = 0
                then 'all labels are equal, so the interval has no width'
        end as degenerate_reason
    from estimated

)

select * from final

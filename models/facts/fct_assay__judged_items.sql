with

labels as (

    select * from {{ ref('fct_assay__judge_labels') }}

),

by_judge as (

    select
        task,
        recording_id,
        label_recording_id,
        collection,
        judge,
        item,
        query_id,
        retriever,
        sum(value_units) as units,
        count(*) as n_labels
    from labels
    where not is_person
    group by task, recording_id, label_recording_id, collection, judge, item, query_id, retriever

),

-- People are one voice, the mean of all their labels of a thing, wherever they were written down.
by_people as (

    select
        task,
        recording_id,
        item,
        sum(value_units) as units,
        count(*) as n_labels
    from labels
    where is_person
    group by task, recording_id, item

),

final as (

    select
        by_judge.task,
        by_judge.recording_id,
        by_judge.label_recording_id,
        by_judge.collection,
        by_judge.judge,
        by_judge.item,
        by_judge.query_id,
        by_judge.retriever,
        cast(by_judge.n_labels as {{ dbt.type_bigint() }}) as n_judge_labels,
        cast(coalesce(by_people.n_labels, 0) as {{ dbt.type_bigint() }}) as n_person_labels,
        -- Halves are rounded up: twice the sum and the count, over twice the count.
        cast({{ assay_integer_quotient('2 * by_judge.units + by_judge.n_labels', '2 * by_judge.n_labels') }} as {{ dbt.type_bigint() }})
            as judge_units,
        cast({{ assay_integer_quotient('2 * by_people.units + by_people.n_labels', '2 * by_people.n_labels') }} as {{ dbt.type_bigint() }})
            as person_units
    from by_judge
    left join by_people
        on
            by_judge.task = by_people.task
            and by_judge.recording_id = by_people.recording_id
            and by_judge.item = by_people.item

)

select * from final

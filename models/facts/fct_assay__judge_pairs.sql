with

labels as (

    select * from {{ ref('fct_assay__judge_labels') }}

),

final as (

    select
        judges.task,
        judges.recording_id,
        judges.label_recording_id,
        judges.judge,
        judges.collection,
        judges.query_id,
        judges.retriever,
        judges.trial,
        judges.claim,
        judges.documents,
        judges.item,
        people.judge as person,
        people.label_recording_id as person_recording_id,
        judges.label as judge_label,
        people.label as person_label,
        judges.value as judge_value,
        people.value as person_value,
        -- Unknown where either gave a score: two numbers are hardly ever equal.
        judges.label = people.label as is_equal
    from labels as judges
    inner join labels as people
        on
            judges.task = people.task
            and judges.recording_id = people.recording_id
            and judges.item = people.item
    where
        not judges.is_person
        and people.is_person

)

select * from final

with

pairs as (

    select * from {{ ref('fct_assay__judge_pairs') }}

),

labelled as (

    select *
    from pairs
    where is_equal is not null

),

scoped as (

    select
        labelled.*,
        '(all)' as scope
    from labelled

    union all

    select
        labelled.*,
        labelled.retriever as scope
    from labelled
    where labelled.retriever is not null

),

final as (

    select
        recording_id,
        label_recording_id,
        task,
        judge,
        scope as retriever,
        judge_label,
        person_label,
        cast(count(*) as {{ dbt.type_bigint() }}) as n
    from scoped
    group by recording_id, label_recording_id, task, judge, scope, judge_label, person_label

)

select * from final

with

collection_grades as (

    select * from {{ ref('stg_assay__collection_grades') }}

),

collections as (

    select * from {{ ref('stg_assay__collections') }}

),

judgments as (

    select * from {{ ref('fct_assay__judgments') }}

),

counted as (

    select
        collection,
        grade,
        count(*) as n_judgments
    from judgments
    group by collection, grade

),

-- A collection may name a grade that nobody gave, and judges may give one that it doesn't name.
joined as (

    select
        coalesce(collection_grades.collection, counted.collection) as collection,
        coalesce(collection_grades.grade, counted.grade) as grade,
        collection_grades.label,
        coalesce(counted.n_judgments, 0) as n_judgments
    from collection_grades
    full outer join counted
        on
            collection_grades.collection = counted.collection
            and collection_grades.grade = counted.grade

),

final as (

    select
        joined.collection,
        joined.grade,
        joined.label,
        joined.grade >= collections.exact_grade as is_exact,
        cast(joined.n_judgments as {{ dbt.type_bigint() }}) as n_judgments
    from joined
    inner join collections
        on joined.collection = collections.collection

)

select * from final

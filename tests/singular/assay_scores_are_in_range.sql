-- Every value lies in its measure's range, and is its numerator over its denominator where it has them.
with

scores as (

    select * from {{ ref('assay_scores') }}

),

measures as (

    select * from {{ ref('assay_measures') }}

)

select
    scores.*,
    measures.lowest,
    measures.highest
from scores
inner join measures
    on scores.measure = measures.measure
where
    scores.value < measures.lowest
    or scores.value > measures.highest
    or (scores.numerator is null) != (scores.denominator is null)
    or (scores.numerator is not null and scores.value is null)
    or scores.value != cast(scores.numerator as double) / scores.denominator
    or ((scores.is_missing or scores.is_broken) and scores.value != 0)

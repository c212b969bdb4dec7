-- Each answer is in one of the cells, broken, or only malformed, and nothing is lost on the way: the marts have a row for every
-- answer that was loaded, and one for every missing one. Fails with a recording's counts where they don't add up.
with

answers as (

    select * from {{ ref('assay_answers') }}

),

loaded as (

    select
        recording_id,
        count(*) as n_loaded
    from {{ ref('stg_assay__answers') }}
    group by recording_id

),

counted as (

    select
        recording_id,
        count(*) as n_rows,
        count(*) filter (where is_missing) as n_missing,
        count(*) filter (where abstention_cell = 'missing') as n_missing_cell,
        count(*) filter (where abstention_cell = 'broken') as n_broken_cell,
        count(*) filter (where is_broken) as n_broken,
        count(*) filter (where abstention_cell like 'abstained, %') as n_abstained_cells,
        count(*) filter (where is_abstained) as n_abstained,
        count(*) filter (where abstention_cell like 'answered, %') as n_answered_cells,
        count(*) filter (where n_cited > 0) as n_answered,
        count(*) filter (where abstention_cell in ('only malformed', 'not asked')) as n_other
    from answers
    group by recording_id

)

select
    counted.*,
    loaded.n_loaded
from counted
full outer join loaded
    on counted.recording_id = loaded.recording_id
where
    counted.recording_id is null
    or counted.n_rows != counted.n_missing + coalesce(loaded.n_loaded, 0)
    or counted.n_missing != counted.n_missing_cell
    or counted.n_broken != counted.n_broken_cell
    or counted.n_abstained != counted.n_abstained_cells
    or counted.n_answered != counted.n_answered_cells
    or counted.n_rows
    != counted.n_missing_cell + counted.n_broken_cell + counted.n_abstained_cells + counted.n_answered_cells + counted.n_other

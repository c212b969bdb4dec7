-- How many documents? What each place k holds of every run (more recall, less precision, more words), and beside it, where answers were
-- recorded at several sizes, what a model made of them.
select
    units.recording_id,
    units.retriever,
    units.k,
    units.precision,
    units.recall,
    units.judged,
    units.words_per_exact,
    sizes.exact_share,
    sizes.median_prompt_words
from {{ ref('assay_units') }} as units
left join {{ ref('assay_by_size') }} as sizes
    on
        units.recording_id = sizes.recording_id
        and units.retriever = sizes.retriever
        and units.k = sizes.results_shown
order by units.recording_id, units.retriever, units.k

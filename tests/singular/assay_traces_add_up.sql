-- Every added word came from somewhere, every pick has one class, and no count is above what it is part of.
select
    recording_id,
    trace_id
from {{ ref('assay_traces') }}
where
    n_words_added != n_words_shown + n_words_undecidable + n_words_new
    or n_picks < n_picked + n_malformed_picks
    or n_picked + n_malformed_picks + n_repeated_picks != n_picks
    or n_exact_picked_at_k > n_exact_picked
    or n_attempts < n_searches
    or n_errors > n_attempts
    or n_later_searches > n_searches
    or n_exact_returned > n_returned

-- What is held, cited and judged falls into classes that add up. Fails with the rows where they don't.
select
    'context' as kind,
    recording_id,
    query_id,
    retriever,
    trial
from {{ ref('assay_contexts') }}
where
    n_documents != n_exact + n_partial + n_irrelevant + n_unjudged
    or n_places != n_documents + n_repeated
    or n_unjudged_in_catalog > n_unjudged

union all

select
    'answer' as kind,
    recording_id,
    query_id,
    retriever,
    trial
from {{ ref('assay_answers') }}
where
    n_cited != n_exact_cited + n_partial_cited + n_irrelevant_cited + n_unjudged_cited
    or n_cited != n_in_context_cited + n_outside_context + n_unknown_id
    or n_items != n_cited + n_malformed + n_repeated
    -- More exact documents than the context holds can only come from outside it.
    or (is_above_ceiling and n_outside_context + n_unknown_id = 0)

union all

select
    'query' as kind,
    collection as recording_id,
    query_id,
    null as retriever,
    null as trial
from {{ ref('assay_queries') }}
where
    n_judged != n_exact + n_partial + n_irrelevant
    or n_exact_in_catalog > n_exact

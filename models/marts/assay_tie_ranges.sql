{{ config(materialized='assay_by_key', assay_key='recording_id') }}

{% set cutoffs = assay_cutoffs() %}

with

context_scores as (

    select * from {{ ref('assay_context_scores') }}
    where {{ assay_is_due() }}

),

documents as (

    select * from {{ ref('fct_assay__context_documents') }}
    where {{ assay_is_due() }}

),

depths as (

    select
        recording_id,
        max(case when {{ assay_matches('value', '[0-9]{1,18}') }} then try_cast(value as {{ dbt.type_bigint() }}) end) as depth
    from {{ ref('stg_assay__recording_settings') }}
    where setting in ('depth', 'options.depth', 'retrieval.depth')
    group by recording_id

),

-- A run file's scores are compared as trec_eval keeps them, in 4 bytes.
scored as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        rank,
        is_exact,
        case when run_rank is null then score else cast(cast(score as float) as double) end as tied_score
    from documents
    where score is not null

),

-- Documents with one score.
groups as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        tied_score,
        min(rank) as first_rank,
        max(rank) as last_rank,
        count(*) as n_tied,
        count(*) filter (where is_exact) as n_exact_tied
    from scored
    group by recording_id, query_id, retriever, trial, tied_score

),

-- A list is in the order of its scores where each group stands together and below all higher scores.
ordered_groups as (

    select
        *,
        lag(tied_score) over (
            partition by recording_id, query_id, retriever, trial
            order by first_rank
        ) as score_before
    from groups

),

lists as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        sum(n_tied) as n_scored,
        max(last_rank) as last_rank,
        min(case
            when last_rank - first_rank + 1 != n_tied then 0
            when score_before is not null and score_before <= tied_score then 0
            else 1
        end) = 1 as is_in_score_order
    from ordered_groups
    group by recording_id, query_id, retriever, trial

),

cutoffs as (

    select cast(k as {{ dbt.type_bigint() }}) as k
    from (
        values
        {% for k in cutoffs %}
        ({{ k }}){{ ',' if not loop.last }}
        {% endfor %}
    ) as literals (k)

),

crossing as (

    select
        groups.recording_id,
        groups.query_id,
        groups.retriever,
        groups.trial,
        cutoffs.k,
        groups.last_rank,
        groups.n_tied,
        groups.n_exact_tied,
        cutoffs.k - groups.first_rank + 1 as n_places
    from groups
    inner join cutoffs
        on
            groups.first_rank <= cutoffs.k
            and groups.last_rank > cutoffs.k
    where groups.n_tied > 1

),

joined as (

    select
        context_scores.recording_id,
        context_scores.query_id,
        context_scores.retriever,
        context_scores.trial,
        context_scores.k,
        context_scores.is_asked,
        context_scores.has_judgments,
        context_scores.n_exact,
        context_scores.n_query_exact,
        coalesce(crossing.n_tied, 0) as n_tied,
        coalesce(crossing.n_places, 0) as n_tied_places,
        crossing.n_exact_tied,
        -- The list ends inside the group, and was cut at this depth: more documents may share the score.
        coalesce(crossing.last_rank = lists.last_rank and lists.last_rank >= depths.depth, false) as is_tie_cut
    from context_scores
    inner join lists
        on
            context_scores.recording_id = lists.recording_id
            and context_scores.query_id = lists.query_id
            and context_scores.retriever = lists.retriever
            and context_scores.trial = lists.trial
            and lists.is_in_score_order
    left join crossing
        on
            context_scores.recording_id = crossing.recording_id
            and context_scores.query_id = crossing.query_id
            and context_scores.retriever = crossing.retriever
            and context_scores.trial = crossing.trial
            and context_scores.k = crossing.k
    left join depths
        on context_scores.recording_id = depths.recording_id
    -- A score is known for every place, or for none that can be compared.
    where lists.n_scored = lists.last_rank

),

-- Exact documents above the group.
counted_above as (

    select
        crossing.recording_id,
        crossing.query_id,
        crossing.retriever,
        crossing.trial,
        crossing.k,
        count(*) as n_exact
    from crossing
    inner join documents
        on
            crossing.recording_id = documents.recording_id
            and crossing.query_id = documents.query_id
            and crossing.retriever = documents.retriever
            and crossing.trial = documents.trial
            and crossing.k - crossing.n_places >= documents.rank
    where documents.is_exact
    group by crossing.recording_id, crossing.query_id, crossing.retriever, crossing.trial, crossing.k

),

exact_above as (

    select
        joined.*,
        coalesce(counted_above.n_exact, 0) as n_exact_above
    from joined
    left join counted_above
        on
            joined.recording_id = counted_above.recording_id
            and joined.query_id = counted_above.query_id
            and joined.retriever = counted_above.retriever
            and joined.trial = counted_above.trial
            and joined.k = counted_above.k

),

-- Exact documents among the first k: the fewest and the most, and their expectation as a fraction over n_tied.
ranged as (

    select
        *,
        case
            when is_tie_cut then null
            when n_tied = 0 then n_exact
            else n_exact_above + greatest(0, n_tied_places - (n_tied - n_exact_tied))
        end as n_exact_low,
        case
            when is_tie_cut then null
            when n_tied = 0 then n_exact
            else n_exact_above + least(n_tied_places, n_exact_tied)
        end as n_exact_high,
        case
            when is_tie_cut then null
            when n_tied = 0 then n_exact
            else n_exact_above * n_tied + n_tied_places * n_exact_tied
        end as n_exact_expected,
        greatest(n_tied, 1) as expected_unit
    from exact_above

),

final as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        k,
        is_asked,
        cast(n_tied as {{ dbt.type_bigint() }}) as n_tied,
        cast(n_tied_places as {{ dbt.type_bigint() }}) as n_tied_places,
        n_tied > 0 as is_tie_crossing,
        is_tie_cut,
        case when has_judgments then cast(n_exact_low as double) / k end as precision_low,
        case when has_judgments then cast(n_exact_high as double) / k end as precision_high,
        case when has_judgments then cast(n_exact_expected as double) / (expected_unit * k) end as precision_expected,
        case when has_judgments then cast(n_exact_low as double) / nullif(n_query_exact, 0) end as recall_low,
        case when has_judgments then cast(n_exact_high as double) / nullif(n_query_exact, 0) end as recall_high,
        case when has_judgments then cast(n_exact_expected as double) / nullif(expected_unit * n_query_exact, 0) end as recall_expected
    from ranged

)

select * from final

{{ config(materialized='assay_by_key', assay_key='recording_id') }}

{#-
All cutoffs are counted in one pass over the documents, a column each, and turned into rows at the context's grain: ten million
documents are never multiplied by the cutoffs.
-#}
{% set cutoffs = assay_cutoffs() %}
{% set deepest = cutoffs | max %}
{#- The deepest cutoff whose precision sum is exact; see assay_precision_unit. -#}
{% set exact_cutoffs = cutoffs | select('le', 30) | list %}
{% set exact_depth = exact_cutoffs | max if exact_cutoffs else 1 %}
{% set exact_unit = assay_precision_unit(exact_depth) %}
{% set fixed_unit = assay_precision_unit(31) %}
{% set discounts = assay_discounts() %}

with

contexts as (

    select * from {{ ref('assay_contexts') }}
    where {{ assay_is_due() }}

),

documents as (

    select * from {{ ref('fct_assay__context_documents') }}
    where {{ assay_is_due() }}

),

judgments as (

    select * from {{ ref('fct_assay__judgments') }}

),

-- What a grade is worth at each place, for nDCG. A grade is multiplied as a decimal of 19 digits, since DuckDB gives the product of two
-- narrower ones 18 digits, which a grade of 10 overflows; with 20 Spark would cut the places of the product.
discounts as (

    select
        cast(rank as {{ dbt.type_bigint() }}) as rank,
        cast(discount as decimal(18, 17)) as discount
    from (
        values
        {% for rank in range(1, deepest + 1) %}
        ({{ rank }}, {{ discounts[rank - 1] }}){{ ',' if not loop.last }}
        {% endfor %}
    ) as literals (rank, discount)

),

-- The best order of all judged documents, by grade. Which of two equal grades comes first changes nothing.
best_order as (

    select
        collection,
        query_id,
        grade,
        row_number() over (partition by collection, query_id order by grade desc) as rank
    from judgments
    where grade > 0

),

ideals as (

    select
        best_order.collection,
        best_order.query_id,
        {% for k in cutoffs %}
        sum(cast(best_order.grade as decimal(19, 0)) * discounts.discount)
            filter (where best_order.rank <= {{ k }}) as ideal_dcg_{{ k }}{{ ',' if not loop.last }}
        {% endfor %}
    from best_order
    inner join discounts
        on best_order.rank = discounts.rank
    group by best_order.collection, best_order.query_id

),

-- Running counts need an order, and only judged documents need running counts. The place in the condensed list is the place among
-- them: the later place of a judged document stays in it, that of an unjudged one doesn't.
judged as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        rank,
        grade,
        is_exact,
        is_repeat,
        is_in_catalog,
        row_number() over (
            partition by recording_id, query_id, retriever, trial
            order by rank
        ) as condensed_rank,
        count(*) filter (where is_exact) over (
            partition by recording_id, query_id, retriever, trial
            order by rank
            rows between unbounded preceding and current row
        ) as n_exact_so_far
    from documents
    where grade != -1

),

judged_with_worth as (

    select
        judged.recording_id,
        judged.query_id,
        judged.retriever,
        judged.trial,
        judged.rank,
        judged.condensed_rank,
        judged.is_exact,
        judged.is_exact and judged.is_in_catalog as is_exact_in_catalog,
        not judged.is_repeat as is_judged,
        judged.is_repeat,
        false as is_unjudged_outside_catalog,
        case
            when judged.is_exact and judged.rank <= {{ exact_depth }}
                then {{ assay_integer_quotient('judged.n_exact_so_far * ' ~ exact_unit, 'judged.rank') }}
        end as precision_exact,
        {% if deepest > 30 %}
        case
            when judged.is_exact and judged.rank <= {{ deepest }}
                then {{ assay_integer_quotient('judged.n_exact_so_far * ' ~ fixed_unit, 'judged.rank') }}
        end as precision_fixed,
        {% endif %}
        case
            when judged.grade > 0 and not judged.is_repeat
                then cast(judged.grade as decimal(19, 0)) * discounts.discount
        end as gain
    from judged
    left join discounts
        on judged.rank = discounts.rank

),

-- Most documents of a long run are unjudged, in the catalog and no repeat. Those are what is left of the list's places when the
-- others are taken off, so only the others are counted.
unjudged as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        rank,
        null as condensed_rank,
        false as is_exact,
        false as is_exact_in_catalog,
        false as is_judged,
        is_repeat,
        not is_repeat as is_unjudged_outside_catalog,
        null as precision_exact,
        {% if deepest > 30 %}
        null as precision_fixed,
        {% endif %}
        null as gain
    from documents
    where
        rank <= {{ deepest }}
        and (grade is null or grade = -1)
        and (is_repeat or not is_in_catalog)

),

places as (

    select * from judged_with_worth

    union all

    select * from unjudged

),

counted as (

    select
        recording_id,
        query_id,
        retriever,
        trial,
        {% for k in cutoffs %}
        count(*) filter (where is_exact and rank <= {{ k }}) as n_exact_{{ k }},
        count(*) filter (where is_exact_in_catalog and rank <= {{ k }}) as n_exact_in_catalog_{{ k }},
        count(*) filter (where is_judged and rank <= {{ k }}) as n_judged_{{ k }},
        count(*) filter (where is_repeat and rank <= {{ k }}) as n_repeated_{{ k }},
        count(*) filter (where is_unjudged_outside_catalog and rank <= {{ k }}) as n_unjudged_outside_catalog_{{ k }},
        count(*) filter (where is_exact and condensed_rank <= {{ k }}) as n_exact_condensed_{{ k }},
        cast(sum({{ 'precision_exact' if k <= 30 else 'precision_fixed' }}) filter (where rank <= {{ k }}) as {{ dbt.type_bigint() }})
            as precision_sum_{{ k }},
        sum(gain) filter (where rank <= {{ k }}) as dcg_{{ k }},
        {% endfor %}
        min(rank) filter (where is_exact) as first_exact_rank
    from places
    group by recording_id, query_id, retriever, trial

),

by_context as (

    select
        contexts.recording_id,
        contexts.query_id,
        contexts.retriever,
        contexts.trial,
        contexts.collection,
        contexts.is_asked,
        contexts.is_missing,
        contexts.has_documents,
        contexts.has_judgments,
        contexts.is_positive_only,
        contexts.n_query_exact,
        contexts.n_query_exact_in_catalog,
        contexts.n_places,
        contexts.results_shown,
        -- An unknown list has unknown counts, an empty one has zeros.
        cast(case when contexts.has_documents then 0 end as {{ dbt.type_bigint() }}) as none_counted,
        counted.first_exact_rank,
        {% for k in cutoffs %}
        counted.n_exact_{{ k }},
        counted.n_exact_in_catalog_{{ k }},
        counted.n_judged_{{ k }},
        counted.n_repeated_{{ k }},
        counted.n_unjudged_outside_catalog_{{ k }},
        counted.n_exact_condensed_{{ k }},
        counted.precision_sum_{{ k }},
        counted.dcg_{{ k }},
        ideals.ideal_dcg_{{ k }}{{ ',' if not loop.last }}
        {% endfor %}
    from contexts
    left join counted
        on
            contexts.recording_id = counted.recording_id
            and contexts.query_id = counted.query_id
            and contexts.retriever = counted.retriever
            and contexts.trial = counted.trial
    left join ideals
        on
            contexts.collection = ideals.collection
            and contexts.query_id = ideals.query_id

),

-- A context has a row for each cutoff that its recording reaches.
by_cutoff as (

    {% for k in cutoffs %}
    {#- Not least(n_places, k): that would make k of an unknown length. -#}
    {% set places = 'case when n_places >= ' ~ k ~ ' then ' ~ k ~ ' else n_places end' %}
    select
        recording_id,
        query_id,
        retriever,
        trial,
        cast({{ k }} as {{ dbt.type_bigint() }}) as k,
        is_asked,
        is_missing,
        has_documents,
        has_judgments,
        is_positive_only,
        {{ places }} as n_places,
        {{ places }} - coalesce(n_repeated_{{ k }}, 0) as n_documents,
        coalesce(n_exact_{{ k }}, none_counted) as n_exact,
        coalesce(n_exact_in_catalog_{{ k }}, none_counted) as n_exact_in_catalog,
        coalesce(n_judged_{{ k }}, none_counted) as n_judged,
        {{ places }} - coalesce(n_repeated_{{ k }} + n_judged_{{ k }} + n_unjudged_outside_catalog_{{ k }}, 0)
            as n_unjudged_in_catalog,
        coalesce(n_exact_condensed_{{ k }}, none_counted) as n_exact_condensed,
        case when first_exact_rank <= {{ k }} then first_exact_rank end as first_exact_rank,
        -- Counted in the deepest cutoff's unit; every term of this cutoff is a whole number of its own, smaller unit.
        {% if k <= 30 %}
        {{ assay_integer_quotient('coalesce(precision_sum_' ~ k ~ ', none_counted)', exact_unit // assay_precision_unit(k)) }} as precision_sum,
        {% else %}
        coalesce(precision_sum_{{ k }}, none_counted) as precision_sum,
        {% endif %}
        cast({{ assay_precision_unit(k) }} as {{ dbt.type_bigint() }}) as precision_unit,
        coalesce({{ assay_decimal_to_double('dcg_' ~ k) }}, none_counted) as dcg,
        coalesce({{ assay_decimal_to_double('ideal_dcg_' ~ k) }}, 0) as ideal_dcg,
        n_query_exact,
        n_query_exact_in_catalog
    from by_context
    where results_shown is null or results_shown >= {{ k }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}

),

final as (

    select
        *,
        {% for measure in assay_measures_of('context_at_k') %}
        {{ assay_value(measure) }} as {{ measure.name }}{{ ',' if not loop.last }}
        {% endfor %}
    from by_cutoff

)

select * from final

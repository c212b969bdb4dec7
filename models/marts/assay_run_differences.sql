{% set cutoffs = assay_cutoffs() %}

with

contexts as (

    select * from {{ ref('assay_contexts') }}

),

documents as (

    select * from {{ ref('fct_assay__context_documents') }}

),

-- Trials of one query repeat a list as a rule; the first stands for it.
lists as (

    select
        collection,
        recording_id,
        retriever,
        query_id,
        n_places,
        results_shown
    from contexts
    where
        trial = 1
        and is_asked
        and has_documents
        and not is_missing

),

places as (

    select
        lists.collection,
        documents.recording_id,
        documents.retriever,
        documents.query_id,
        documents.doc_id,
        documents.rank,
        documents.is_repeat
    from documents
    inner join lists
        on
            documents.recording_id = lists.recording_id
            and documents.retriever = lists.retriever
            and documents.query_id = lists.query_id
    where
        documents.trial = 1
        and documents.rank <= {{ cutoffs | max }}

),

distinct_documents as (

    select
        recording_id,
        retriever,
        query_id,
        {% for k in cutoffs %}
        count(*) filter (where not is_repeat and rank <= {{ k }}) as n_documents_{{ k }}{{ ',' if not loop.last }}
        {% endfor %}
    from places
    group by recording_id, retriever, query_id

),

counted_lists as (

    select
        lists.*,
        {% for k in cutoffs %}
        case when lists.n_places >= {{ k }} then {{ k }} else lists.n_places end as n_places_{{ k }},
        coalesce(distinct_documents.n_documents_{{ k }}, 0) as n_documents_{{ k }}{{ ',' if not loop.last }}
        {% endfor %}
    from lists
    left join distinct_documents
        on
            lists.recording_id = distinct_documents.recording_id
            and lists.retriever = distinct_documents.retriever
            and lists.query_id = distinct_documents.query_id

),

-- Documents that both of two lists hold among their first k, and those that both hold at the same place.
shared as (

    select
        one.recording_id,
        one.retriever,
        other.recording_id as other_recording_id,
        other.retriever as other_retriever,
        one.query_id,
        {% for k in cutoffs %}
        count(*) filter (where one.rank <= {{ k }} and other.rank <= {{ k }} and not one.is_repeat and not other.is_repeat)
            as n_common_{{ k }},
        count(*) filter (where one.rank <= {{ k }} and one.rank = other.rank) as n_same_place_{{ k }}{{ ',' if not loop.last }}
        {% endfor %}
    from places as one
    inner join places as other
        on
            one.collection = other.collection
            and one.query_id = other.query_id
            and one.doc_id = other.doc_id
            and (one.recording_id < other.recording_id
                or (one.recording_id = other.recording_id and one.retriever < other.retriever))
    group by one.recording_id, one.retriever, other.recording_id, other.retriever, one.query_id

),

compared as (

    {% for k in cutoffs %}
    select
        one.collection,
        one.recording_id,
        one.retriever,
        other.recording_id as other_recording_id,
        other.retriever as other_retriever,
        cast({{ k }} as {{ dbt.type_bigint() }}) as k,
        one.n_places_{{ k }} = other.n_places_{{ k }}
        and coalesce(shared.n_same_place_{{ k }}, 0) = one.n_places_{{ k }} as is_same,
        one.n_documents_{{ k }} = other.n_documents_{{ k }}
        and coalesce(shared.n_common_{{ k }}, 0) = one.n_documents_{{ k }} as is_same_documents
    from counted_lists as one
    inner join counted_lists as other
        on
            one.collection = other.collection
            and one.query_id = other.query_id
            and (one.recording_id < other.recording_id
                or (one.recording_id = other.recording_id and one.retriever < other.retriever))
    left join shared
        on
            one.recording_id = shared.recording_id
            and one.retriever = shared.retriever
            and other.recording_id = shared.other_recording_id
            and other.retriever = shared.other_retriever
            and one.query_id = shared.query_id
    where
        (one.results_shown is null or one.results_shown >= {{ k }})
        and (other.results_shown is null or other.results_shown >= {{ k }})
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}

),

final as (

    select
        recording_id,
        retriever,
        other_recording_id,
        other_retriever,
        k,
        collection,
        cast(count(*) as {{ dbt.type_bigint() }}) as n_queries,
        cast(count(*) filter (where is_same) as {{ dbt.type_bigint() }}) as n_same,
        cast(count(*) filter (where is_same_documents and not is_same) as {{ dbt.type_bigint() }}) as n_other_order,
        cast(count(*) filter (where not is_same_documents) as {{ dbt.type_bigint() }}) as n_different
    from compared
    group by recording_id, retriever, other_recording_id, other_retriever, k, collection

)

select * from final

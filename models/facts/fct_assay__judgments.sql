{{ config(materialized='assay_by_key', assay_key='collection') }}

with

judgments as (

    select * from {{ ref('stg_assay__judgments') }}
    where {{ assay_is_due() }}

),

collections as (

    select * from {{ ref('stg_assay__collections') }}
    where {{ assay_is_due() }}

),

documents as (

    select * from {{ ref('stg_assay__documents') }}
    where {{ assay_is_due() }}

),

-- A pair may stand on several lines, always with one grade: ingest refuses a collection with two.
folded as (

    select
        collection,
        query_id,
        doc_id,
        max(grade) as grade,
        count(*) as n_lines
    from judgments
    group by collection, query_id, doc_id

),

final as (

    select
        folded.collection,
        folded.query_id,
        folded.doc_id,
        folded.grade,
        -- TREC's -1: a document that was pooled and never judged.
        folded.grade != -1 as is_judged,
        folded.grade >= collections.exact_grade as is_exact,
        folded.grade > 0 and folded.grade < collections.exact_grade as is_partial,
        folded.grade <= 0 and folded.grade != -1 as is_irrelevant,
        documents.doc_id is not null as is_in_catalog,
        cast(folded.n_lines as {{ dbt.type_bigint() }}) as n_lines
    from folded
    inner join collections
        on folded.collection = collections.collection
    left join documents
        on
            folded.collection = documents.collection
            and folded.doc_id = documents.doc_id

)

select * from final

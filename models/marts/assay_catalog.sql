{{ config(materialized='assay_by_key', assay_key='collection') }}

with

collections as (

    select * from {{ ref('stg_assay__collections') }}
    where {{ assay_is_due() }}

),

collection_fields as (

    select * from {{ ref('stg_assay__collection_fields') }}
    where {{ assay_is_due() }}

),

document_fields as (

    select * from {{ ref('stg_assay__document_fields') }}
    where {{ assay_is_due() }}

),

documents as (

    select * from {{ ref('stg_assay__documents') }}
    where {{ assay_is_due() }}

),

-- A document as the model reads it, its ID and the fields' labels included, stands beside its fields.
parts as (

    select
        collection,
        '(all)' as field,
        cast(0 as {{ dbt.type_bigint() }}) as position,
        true as is_whole_document
    from collections

    union all

    select
        collection,
        field,
        position,
        false as is_whole_document
    from collection_fields

),

texts as (

    select
        collection,
        field,
        false as is_whole_document,
        n_words,
        n_sentences,
        is_cut
    from document_fields

    union all

    select
        collection,
        '(all)' as field,
        true as is_whole_document,
        n_words,
        null as n_sentences,
        null as is_cut
    from documents

),

numbered as (

    select
        collection,
        field,
        is_whole_document,
        n_words,
        n_sentences,
        is_cut,
        row_number() over (partition by collection, is_whole_document, field order by n_words) as place,
        count(*) over (partition by collection, is_whole_document, field) as n_texts
    from texts

),

-- The median is the middle one, or half the sum of the two in the middle.
counted as (

    select
        collection,
        field,
        is_whole_document,
        count(*) as n_texts,
        sum(n_words) as n_words,
        max(n_words) as most_words,
        sum(n_sentences) as n_sentences,
        count(*) filter (where is_cut) as n_cut,
        sum(case when place * 2 in (n_texts, n_texts + 1, n_texts + 2) then n_words end) as middle_words,
        count(case when place * 2 in (n_texts, n_texts + 1, n_texts + 2) then 1 end) as n_middle
    from numbered
    group by collection, field, is_whole_document

),

final as (

    select
        parts.collection,
        parts.is_whole_document,
        parts.field,
        cast(parts.position as {{ dbt.type_bigint() }}) as position,
        cast(collections.n_documents as {{ dbt.type_bigint() }}) as n_documents,
        cast(collections.n_documents - coalesce(counted.n_texts, 0) as {{ dbt.type_bigint() }}) as n_empty,
        cast(coalesce(counted.n_words, 0) as {{ dbt.type_bigint() }}) as n_words,
        cast(counted.middle_words as double) / counted.n_middle as median_words,
        cast(counted.most_words as {{ dbt.type_bigint() }}) as most_words,
        -- A whole document is a record, not a text that has sentences.
        cast(case when not parts.is_whole_document then coalesce(counted.n_sentences, 0) end as {{ dbt.type_bigint() }}) as n_sentences,
        cast(case when not parts.is_whole_document then coalesce(counted.n_cut, 0) end as {{ dbt.type_bigint() }}) as n_cut
    from parts
    inner join collections
        on parts.collection = collections.collection
    left join counted
        on
            parts.collection = counted.collection
            and parts.field = counted.field
            and parts.is_whole_document = counted.is_whole_document

)

select * from final

{{ config(materialized='assay_by_key', assay_key='recording_id') }}

with

search_words as (

    select * from {{ ref('stg_assay__search_words') }}
    where {{ assay_is_due() }}

),

searches as (

    select * from {{ ref('stg_assay__searches') }}
    where {{ assay_is_due() }}

),

traces as (

    select * from {{ ref('stg_assay__traces') }}
    where {{ assay_is_due() }}

),

recordings as (

    select * from {{ ref('stg_assay__recordings') }}
    where {{ assay_is_due() }}

),

query_words as (

    select * from {{ ref('stg_assay__query_words') }}

),

collection_fields as (

    select * from {{ ref('stg_assay__collection_fields') }}

),

recording_fields as (

    select * from {{ ref('stg_assay__recording_fields') }}
    where {{ assay_is_due() }}

),

documents as (

    select * from {{ ref('stg_assay__documents') }}

),

document_words as (

    select * from {{ ref('stg_assay__document_words') }}

),

search_results as (

    select * from {{ ref('stg_assay__search_results') }}
    where {{ assay_is_due() }}

),

trace_events as (

    select * from {{ ref('stg_assay__trace_events') }}
    where {{ assay_is_due() }}

),

trace_event_words as (

    select * from {{ ref('stg_assay__trace_event_words') }}
    where {{ assay_is_due() }}

),

-- Only a trace with a second search can say a word again.
said_first as (

    select
        search_words.recording_id,
        search_words.trace_id,
        search_words.word,
        min(search_words.search) as search
    from search_words
    inner join searches
        on
            search_words.recording_id = searches.recording_id
            and search_words.trace_id = searches.trace_id
            and searches.search = 2
    group by search_words.recording_id, search_words.trace_id, search_words.word

),

words as (

    select
        search_words.recording_id,
        search_words.trace_id,
        search_words.search,
        search_words.word,
        recordings.collection,
        searches.step_at,
        query_words.word is not null as is_askers,
        coalesce(said_first.search < search_words.search, false) as is_said_before
    from search_words
    inner join searches
        on
            search_words.recording_id = searches.recording_id
            and search_words.trace_id = searches.trace_id
            and search_words.search = searches.search
    inner join traces
        on
            search_words.recording_id = traces.recording_id
            and search_words.trace_id = traces.trace_id
    inner join recordings
        on search_words.recording_id = recordings.recording_id
    left join query_words
        on
            recordings.collection = query_words.collection
            and traces.query_id = query_words.query_id
            and search_words.word = query_words.word
    left join said_first
        on
            search_words.recording_id = said_first.recording_id
            and search_words.trace_id = said_first.trace_id
            and search_words.word = said_first.word

),

added as (

    select
        recording_id,
        trace_id,
        search,
        word,
        collection,
        step_at
    from words
    where not is_askers and not is_said_before

),

-- What a search showed of a document: the fields that the manifest names, or all.
shown_fields as (

    select
        recordings.recording_id,
        collection_fields.field,
        collection_fields.position
    from recordings
    inner join collection_fields
        on recordings.collection = collection_fields.collection
    left join recording_fields
        on
            recordings.recording_id = recording_fields.recording_id
            and collection_fields.field = recording_fields.field
    where recordings.shows_all_fields or recording_fields.field is not null

),

shown_by_results as (

    select
        added.recording_id,
        added.trace_id,
        added.search,
        added.word,
        'result' as shown_by,
        earlier.step_at as shown_at,
        earlier.search as shown_search,
        search_results.rank as shown_rank,
        search_results.doc_id as shown_doc_id,
        shown_fields.field as shown_field,
        shown_fields.position as field_position
    from added
    inner join searches as earlier
        on
            added.recording_id = earlier.recording_id
            and added.trace_id = earlier.trace_id
            -- Searches of one step can't have used each other's results.
            and added.step_at > earlier.step_at
    inner join search_results
        on
            earlier.recording_id = search_results.recording_id
            and earlier.trace_id = search_results.trace_id
            and earlier.search = search_results.search
    inner join document_words
        on
            added.collection = document_words.collection
            and search_results.doc_id = document_words.doc_id
            and added.word = document_words.word
    inner join shown_fields
        on
            added.recording_id = shown_fields.recording_id
            and document_words.field = shown_fields.field

),

-- Who opens a document reads all of it.
opened as (

    select
        recording_id,
        trace_id,
        seq,
        step_at,
        doc_id
    from trace_events
    where event = 'open' and doc_id is not null and error is null

),

shown_by_opening as (

    select
        added.recording_id,
        added.trace_id,
        added.search,
        added.word,
        'open' as shown_by,
        opened.step_at as shown_at,
        null as shown_search,
        opened.seq as shown_rank,
        opened.doc_id as shown_doc_id,
        document_words.field as shown_field,
        collection_fields.position as field_position
    from added
    inner join opened
        on
            added.recording_id = opened.recording_id
            and added.trace_id = opened.trace_id
            and added.step_at > opened.step_at
    inner join document_words
        on
            added.collection = document_words.collection
            and opened.doc_id = document_words.doc_id
            and added.word = document_words.word
    inner join collection_fields
        on
            added.collection = collection_fields.collection
            and document_words.field = collection_fields.field

),

shown_by_feedback as (

    select
        added.recording_id,
        added.trace_id,
        added.search,
        added.word,
        'feedback' as shown_by,
        trace_events.step_at as shown_at,
        null as shown_search,
        trace_events.seq as shown_rank,
        null as shown_doc_id,
        null as shown_field,
        null as field_position
    from added
    inner join trace_event_words
        on
            added.recording_id = trace_event_words.recording_id
            and added.trace_id = trace_event_words.trace_id
            and added.word = trace_event_words.word
    inner join trace_events
        on
            trace_event_words.recording_id = trace_events.recording_id
            and trace_event_words.trace_id = trace_events.trace_id
            and trace_event_words.seq = trace_events.seq
            and added.step_at > trace_events.step_at

),

shown as (

    select * from shown_by_results

    union all

    select * from shown_by_opening

    union all

    select * from shown_by_feedback

),

-- What showed the word first; the rest of the order only makes it one.
shown_first as (

    select *
    from shown
    qualify row_number() over (
        partition by recording_id, trace_id, search, word
        order by
            shown_at,
            coalesce(shown_search, 0),
            shown_rank,
            coalesce(field_position, 0),
            coalesce(shown_doc_id, ''),
            shown_by
    ) = 1

),

-- From where on something was read that nobody wrote down: unknown results, or a document whose text the collection lacks.
unreadable as (

    select
        searches.recording_id,
        searches.trace_id,
        searches.step_at
    from searches
    where not searches.has_results

    union all

    select
        searches.recording_id,
        searches.trace_id,
        searches.step_at
    from searches
    inner join search_results
        on
            searches.recording_id = search_results.recording_id
            and searches.trace_id = search_results.trace_id
            and searches.search = search_results.search
    inner join recordings
        on searches.recording_id = recordings.recording_id
    left join documents
        on
            recordings.collection = documents.collection
            and search_results.doc_id = documents.doc_id
    left join collection_fields
        on
            recordings.collection = collection_fields.collection
            and collection_fields.position = 1
    where documents.doc_id is null or collection_fields.field is null

    union all

    select
        opened.recording_id,
        opened.trace_id,
        opened.step_at
    from opened
    inner join recordings
        on opened.recording_id = recordings.recording_id
    left join documents
        on
            recordings.collection = documents.collection
            and opened.doc_id = documents.doc_id
    left join collection_fields
        on
            recordings.collection = collection_fields.collection
            and collection_fields.position = 1
    where documents.doc_id is null or collection_fields.field is null

),

unreadable_from as (

    select
        recording_id,
        trace_id,
        min(step_at) as step_at
    from unreadable
    group by recording_id, trace_id

),

final as (

    select
        words.recording_id,
        words.trace_id,
        words.search,
        words.word,
        case
            when words.is_askers then 'asker'
            when words.is_said_before then 'earlier_search'
            when shown_first.word is not null then 'shown'
            when unreadable_from.step_at < words.step_at then 'undecidable'
            else 'new'
        end as origin,
        not words.is_askers and not words.is_said_before as is_added,
        shown_first.shown_by,
        shown_first.shown_at,
        shown_first.shown_search,
        shown_first.shown_doc_id,
        shown_first.shown_field
    from words
    left join shown_first
        on
            words.recording_id = shown_first.recording_id
            and words.trace_id = shown_first.trace_id
            and words.search = shown_first.search
            and words.word = shown_first.word
    left join unreadable_from
        on
            words.recording_id = unreadable_from.recording_id
            and words.trace_id = unreadable_from.trace_id

)

select * from final

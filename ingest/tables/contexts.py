"""Contexts: lists of documents that a retriever chose, alone or behind answers."""

from __future__ import annotations

from ingest.errors import BadInput, shown
from ingest.files import SourceFile
from ingest.sqltext import literal
from ingest.staging import Load

#: What makes a context, an answer or a trace unique in a recording.
KEY = ("query_id", "retriever", "trial")
_GIVE_TRIALS = "Where it was recorded more than once, give each line its own 'trial'; else take one out."


def check_contexts(load: Load, source: SourceFile, table: str, collection: str) -> None:
    """Refuse repeats and unknown queries of a typed table with query_id, retriever and trial."""
    load.progress.step(f"checking {source.name}")
    load.refuse_repeats(source, table, KEY, _GIVE_TRIALS)
    load.refuse_unknown_queries(source, table, collection)


def add_contexts(load: Load, source: SourceFile, table: str, collection: str) -> int:
    """Contexts and their documents.

    `table` has line, query_id, retriever, trial, doc_ids, passage_ids, texts, scores, named (the IDs that an
    answer's text names; null without a text), searched_as, duration_ms and extra.
    """
    recording = literal(load.name)
    load.progress.step("keeping contexts")
    n = load.insert(
        "contexts",
        f"select {recording} as recording_id, query_id, retriever, trial, doc_ids is not null as has_documents,"
        f" searched_as, duration_ms, line, extra from {table}",
    )
    load.progress.step("keeping the contexts' documents")
    load.insert(
        "context_documents",
        f"""
        with flat as (
            select
                query_id, retriever, trial, named,
                generate_subscripts(doc_ids, 1) as rank,
                unnest(doc_ids) as doc_id,
                unnest(first_places(doc_ids)) as first_rank,
                unnest(passage_ids) as passage_id,
                unnest(texts) as text,
                unnest(scores) as score
            from {table}
            where len(doc_ids) > 0
        )
        select
            {recording} as recording_id, query_id, retriever, trial, rank, doc_id, first_rank, passage_id, text,
            pieces(text) as n_text_words, score, list_contains(named, doc_id) as is_in_text
        from flat
        """,
    )
    load.notice_unknown_documents(
        source, f"select unnest(doc_ids) as doc_id from {table} where len(doc_ids) > 0", collection
    )
    return n


def add_run(load: Load, source: SourceFile, lines: str, collection: str, *, by_rank: bool) -> int:
    """The contexts of a TREC run file, from its staged lines (line, text).

    Ordered as trec_eval orders: by the score as a 4-byte float, descending, then by doc_id, descending by bytes;
    or by the file's own rank column.
    """
    load.con.execute(
        f"""
        create or replace temp table run as
        with columns as (
            select line, text, string_split(
                case when regexp_matches(text, '[\\t\\r]|  |^ | $') then regexp_replace(trim(text, ' \t\r'), '\\s+', ' ', 'g')
                     else text end, ' ') as c
            from {lines}
        )
        select
            line, c[1] as query_id, c[3] as doc_id, c[6] as retriever, cast(1 as bigint) as trial,
            try_cast(c[4] as bigint) as run_rank, try_cast(c[5] as double) as score,
            case
                when len(c) != 6 then 'a line of a run has six columns, this one has ' || len(c) || ': ' || left(text, 60)
                when not coalesce(isfinite(try_cast(c[5] as double)), false) then 'the score must be a number, not ' || left(c[5], 40)
                when try_cast(c[4] as bigint) is null then 'the rank must be a whole number, not ' || left(c[4], 40)
            end as problem
        from columns
        """
    )
    load.quarantine_where(source, "run", "problem is not null", "problem")
    again = load.first(
        "select max(line), query_id, retriever, doc_id, min(line) from run"
        " group by query_id, retriever, doc_id having count(*) > 1 order by 1"
    )
    if again is not None:
        raise BadInput(
            f"{source.at(again[0])}: document {shown(again[3])} stands twice for query {shown(again[1])} "
            f"in the run {shown(again[2])} (see line {again[4]}). Keep one of the two."
        )
    load.refuse_unknown_queries(source, "run", collection)
    recording = literal(load.name)
    order = "run_rank, line" if by_rank else "cast(score as float) desc, doc_id desc"
    load.progress.step("keeping contexts")
    n = load.insert(
        "contexts",
        f"select {recording} as recording_id, query_id, retriever, trial, true as has_documents, min(line) as line"
        " from run group by query_id, retriever, trial",
    )
    load.progress.step("keeping the contexts' documents")
    load.insert(
        "context_documents",
        f"""
        with ranked as (
            select *, row_number() over (partition by query_id, retriever order by {order}) as place from run
        )
        select {recording} as recording_id, query_id, retriever, trial, place as rank, place as first_rank, doc_id, score, run_rank
        from ranked
        """,
    )
    load.notice_unknown_documents(source, "select doc_id from run", collection)
    load.con.execute("drop table run")
    return n

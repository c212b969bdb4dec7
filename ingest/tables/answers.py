"""Answers and the citations in them, beside their contexts."""

from __future__ import annotations

from ingest.files import SourceFile
from ingest.sqltext import literal
from ingest.staging import Load
from ingest.tables.contexts import add_contexts, check_contexts


def add_answers(
    load: Load, source: SourceFile, table: str, collection: str, citation_form: str | None
) -> int:
    """Answers, citations and contexts.

    `table` has line, query_id, retriever, trial, doc_ids, passage_ids, texts, answer, cited, searched_as, raw,
    prompt_tokens, answer_tokens, duration_ms, recorded_at, error and extra. `citation_form` is how the text
    writes a citation, with ``{id}`` in it; None for the bare ID.
    """
    check_contexts(load, source, table, collection)
    recording = literal(load.name)
    load.progress.step("keeping answers")
    n = load.insert(
        "answers",
        f"""
        select
            {recording} as recording_id, query_id, retriever, trial, answer, pieces(answer) as n_answer_words,
            cited is not null as has_cited, error, raw, prompt_tokens, answer_tokens, duration_ms, recorded_at, line, extra
        from {table}
        """,
    )
    load.insert(
        "answer_citations",
        f"""
        with flat as (
            select query_id, retriever, trial, generate_subscripts(cited, 1) as position, unnest(cited) as item
            from {table} where len(cited) > 0
        )
        select
            {recording} as recording_id, query_id, retriever, trial, position,
            item.given as cited, item.doc_id as doc_id
        from flat
        """,
    )
    load.progress.step("finding the IDs that the texts name")
    named = (
        "bare_ids_in_text(answer, doc_ids)"
        if citation_form is None
        else f"formed_ids_in_text(answer, doc_ids, {literal(citation_form)})"
    )
    load.con.execute(
        f"""
        create or replace temp table answer_contexts as
        select
            line, query_id, retriever, trial, doc_ids, passage_ids, texts, cast(null as double[]) as scores,
            {named} as named, searched_as, duration_ms, cast(null as varchar) as extra
        from {table}
        """
    )
    add_contexts(load, source, "answer_contexts", collection)
    load.con.execute("drop table answer_contexts")
    load.notice_extra(source, table)
    return n

"""Judges' labels: whether the cited documents' text supports a claim, or a document fits a query, and who says so."""

from __future__ import annotations

from ingest.files import SourceFile
from ingest.sqltext import literal
from ingest.staging import Load


def add_support(load: Load, source: SourceFile, table: str, collection: str) -> int:
    """Labels and their documents, from `table` (line, query_id, retriever, trial, claim, doc_ids, judge, label, score, error, raw, counts, extra)."""
    load.refuse_unknown_queries(source, table, collection)
    recording = literal(load.name)
    load.progress.step("keeping labels of support")
    n = load.insert(
        "support",
        f"select {recording} as recording_id, query_id, retriever, trial, claim,"
        " cast(to_json(list_sort(list_distinct(doc_ids))) as varchar) as documents,"
        f" judge, label, score, error, raw, prompt_tokens, answer_tokens, duration_ms, line, extra from {table}",
    )
    load.insert(
        "support_documents",
        f"select {recording} as recording_id, line, generate_subscripts(doc_ids, 1) as position, unnest(doc_ids) as doc_id"
        f" from {table} where len(doc_ids) > 0",
    )
    load.notice_extra(source, table)
    return n


def add_relevance(load: Load, source: SourceFile, table: str, collection: str) -> int:
    """Grades of documents by a named judge, from `table` (line, query_id, doc_id, judge, grade, extra)."""
    load.refuse_unknown_queries(source, table, collection)
    load.progress.step("keeping labels of relevance")
    n = load.insert(
        "relevance",
        f"select {literal(load.name)} as recording_id, query_id, doc_id, judge, grade, line, extra from {table}",
    )
    load.notice_unknown_documents(source, f"select doc_id from {table}", collection)
    load.notice_extra(source, table)
    return n

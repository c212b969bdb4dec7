"""Ragas's evaluation sets: a JSONL file for each retriever and trial, a row a query.

``user_input``, ``retrieved_context_ids`` and ``retrieved_contexts`` (the text as shown, else the catalog's fields, a line each), ``reference_context_ids``
(every document of an exact grade), and ``response`` where there is an answer. Repeated documents stay. A query that no one judged has no reference.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from ingest.contract import RAW_SCHEMA
from ingest.exports.base import What, copy, lists_of
from ingest.sqltext import literal

NAME = "ragas"
SUMMARY = "a JSONL file for each retriever: IDs and texts of contexts, references, responses"


def export(con: duckdb.DuckDBPyConnection, what: What, folder: Path) -> list[str]:
    """Write the files; returns what was written."""
    collection, said = literal(what.collection), []
    for one in lists_of(con, what):
        rows = f"""
            with texts as (
                select f.doc_id, string_agg(f.value, chr(10) order by p.position) as text
                from {RAW_SCHEMA}.document_fields as f
                join {RAW_SCHEMA}.collection_fields as p on p.collection = f.collection and p.field = f.field
                where f.collection = {collection} group by f.doc_id
            ),
            lists as (
                select d.query_id, list(d.doc_id order by d.rank) as ids, list(coalesce(d.text, t.text, '') order by d.rank) as texts
                from {RAW_SCHEMA}.context_documents as d left join texts as t on t.doc_id = d.doc_id where {one.where} group by d.query_id
            ),
            refs as (
                select j.query_id, list(distinct j.doc_id order by j.doc_id) filter (where j.grade >= c.exact_grade) as ids
                from {RAW_SCHEMA}.judgments as j join {RAW_SCHEMA}.collections as c on c.collection = j.collection
                where j.collection = {collection} and j.grade != -1 group by j.query_id
            )
            select q.query as user_input,
                case when c.has_documents then coalesce(lists.ids, []) end as retrieved_context_ids,
                case when c.has_documents then coalesce(lists.texts, []) end as retrieved_contexts,
                case when refs.query_id is not null then coalesce(refs.ids, []) end as reference_context_ids,
                a.answer as response, c.query_id as query_id
            from (select * from {RAW_SCHEMA}.contexts where {one.where}) as c
            join {RAW_SCHEMA}.queries as q on q.collection = {collection} and q.query_id = c.query_id
            left join lists on lists.query_id = c.query_id
            left join refs on refs.query_id = c.query_id
            left join (select * from {RAW_SCHEMA}.answers where {one.where}) as a on a.query_id = c.query_id
            order by c.query_id
        """
        n = copy(con, rows, folder / f"{one.stem}.jsonl", "format json")
        said.append(f"{one.stem}.jsonl: {n:,} rows")
    return said

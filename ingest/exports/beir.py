"""BEIR's folder: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv``, and ``results/`` with a dictionary for each retriever and trial.

A document's title is its field ``title`` or ``name``; its text the values of all others, a line each. Queries without a split are in ``qrels/all.tsv``. A
result's score is the number of places from the end of its list. Later places of a repeated document can't be written, and are counted.
"""

from __future__ import annotations

import json
from pathlib import Path

import duckdb

from ingest.contract import RAW_SCHEMA
from ingest.errors import BadInput, shown
from ingest.exports.base import Lists, What, copy, documents, lists_of, repeats
from ingest.sqltext import literal

NAME = "beir"
SUMMARY = "corpus.jsonl, queries.jsonl, qrels/*.tsv and results/*.json"

_BLOCK = 10_000


def export(con: duckdb.DuckDBPyConnection, what: What, folder: Path) -> list[str]:
    """Write the files; returns what was written."""
    collection = literal(what.collection)
    odd = con.execute(
        f"select query_id, doc_id from {RAW_SCHEMA}.judgments where collection = {collection}"
        " and regexp_matches(query_id || doc_id, '[\\t\\n\\r]') limit 1"
    ).fetchone()
    if odd is not None:
        raise BadInput(
            f"query {shown(odd[0])} and document {shown(odd[1])}: BEIR's qrels are split at tabs and lines, and can't hold such an ID. "
            "Rename it in the collection."
        )
    title = con.execute(
        f"select field from {RAW_SCHEMA}.collection_fields where collection = {collection} and field in ('title', 'name')"
        " order by field != 'title' limit 1"
    ).fetchone()
    is_title = "false" if title is None else f"f.field = {literal(str(title[0]))}"
    corpus = f"""
        select d.doc_id as _id, coalesce(max(case when {is_title} then f.value end), '') as title,
            coalesce(string_agg(case when not ({is_title}) then f.value end, chr(10) order by p.position), '') as text
        from {RAW_SCHEMA}.documents as d
        left join {RAW_SCHEMA}.document_fields as f on f.collection = d.collection and f.doc_id = d.doc_id
        left join {RAW_SCHEMA}.collection_fields as p on p.collection = d.collection and p.field = f.field
        where d.collection = {collection} group by d.doc_id order by d.doc_id
    """
    queries = f"select query_id as _id, query as text from {RAW_SCHEMA}.queries where collection = {collection} order by 1"
    said = [
        f"corpus.jsonl: {copy(con, corpus, folder / 'corpus.jsonl', 'format json'):,} documents",
        f"queries.jsonl: {copy(con, queries, folder / 'queries.jsonl', 'format json'):,} queries",
    ]
    (folder / "qrels").mkdir()
    for (split,) in con.execute(
        f"select distinct coalesce(split, 'all') from {RAW_SCHEMA}.queries where collection = {collection} order by 1"
    ).fetchall():
        if "/" in split or split in (".", ".."):
            raise BadInput(
                f"the split {shown(split)} can't be the name of a file. Rename it in the collection."
            )
        judged = f"""
            select distinct j.query_id as "query-id", j.doc_id as "corpus-id", j.grade as score
            from {RAW_SCHEMA}.judgments as j join {RAW_SCHEMA}.queries as q on q.collection = j.collection and q.query_id = j.query_id
            where j.collection = {collection} and coalesce(q.split, 'all') = {literal(split)} order by all
        """
        options = "format csv, delimiter '\t', header true, quote '', escape ''"
        said.append(
            f"qrels/{split}.tsv: {copy(con, judged, folder / 'qrels' / f'{split}.tsv', options):,} judgments"
        )
    found = lists_of(con, what)
    if found:
        (folder / "results").mkdir()
    for one in found:
        n, left = _results(con, one, folder / "results" / f"{one.stem}.json"), repeats(con, one)
        said.append(
            f"results/{one.stem}.json: {n:,} documents"
            + (f"; {left:,} repeats can't be written" if left else "")
        )
    return said


def _results(con: duckdb.DuckDBPyConnection, lists: Lists, path: Path) -> int:
    """Write the dictionary a query at a time; an empty list is an empty dictionary."""
    rows = con.execute(
        f"""
        select c.query_id, d.doc_id, 1 + count(d.doc_id) over (partition by c.query_id) - row_number() over (partition by c.query_id order by d.rank)
        from (select query_id from {RAW_SCHEMA}.contexts where {lists.where} and has_documents) as c
        left join ({documents(lists)}) as d on d.query_id = c.query_id order by c.query_id, d.rank
        """
    )
    n, current = 0, None
    with path.open("w", encoding="utf-8") as out:
        out.write("{")
        while block := rows.fetchmany(_BLOCK):
            for query, doc, score in block:
                if query != current:
                    out.write(
                        ("" if current is None else "},\n") + f"{json.dumps(query, ensure_ascii=False)}: {{"
                    )
                elif doc is not None:
                    out.write(", ")
                if doc is not None:
                    out.write(f"{json.dumps(doc, ensure_ascii=False)}: {score}")
                    n += 1
                current = query
        out.write("}}\n" if current is not None else "}\n")
    return n

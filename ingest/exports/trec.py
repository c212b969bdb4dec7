"""TREC's files: ``qrels.txt``, ``topics.tsv`` and a run for each retriever and trial.

A run's score is the number of places from the end of its list, so that trec_eval, which sorts by score, has our order back. A document stands once in
a run: later places of a repeated one can't be written, and are counted; so is an empty list, which no line stands for. IDs with white space can't be written
at all. White space within a query's text is written as one space, for a topic is one line.
"""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from ingest.contract import RAW_SCHEMA
from ingest.errors import BadInput, shown
from ingest.exports.base import What, copy, documents, empty_lists, lists_of, repeats
from ingest.sqltext import literal

NAME = "trec"
SUMMARY = "qrels.txt, topics.tsv and a .run for each retriever, for trec_eval"

_COLUMNS = "format csv, delimiter ' ', header false, quote '', escape ''"


def export(con: duckdb.DuckDBPyConnection, what: What, folder: Path) -> list[str]:
    """Write the files; returns what was written. Raises BadInput for an ID that TREC's columns can't hold."""
    collection = literal(what.collection)
    judged = (
        f"select distinct query_id, doc_id, grade from {RAW_SCHEMA}.judgments where collection = {collection}"
    )
    _refuse_white_space(con, judged)
    said = [
        f"qrels.txt: {copy(con, f'select query_id, 0, doc_id, grade from ({judged}) order by all', folder / 'qrels.txt', _COLUMNS):,} judgments"
    ]
    topics = (
        "select query_id, trim(regexp_replace(query, '\\s+', ' ', 'g')) as query"
        f" from {RAW_SCHEMA}.queries where collection = {collection} order by 1"
    )
    options = "format csv, delimiter '\t', header false, quote '', escape ''"
    said.append(f"topics.tsv: {copy(con, topics, folder / 'topics.tsv', options):,} queries")
    for one in lists_of(con, what):
        _refuse_white_space(con, documents(one))
        tag = re.sub(r"\s+", "_", one.retriever)
        run = (
            "select query_id, 'Q0', doc_id, row_number() over w, 1 + count(*) over (partition by query_id) - row_number() over w,"
            f" {literal(tag)} from ({documents(one)}) window w as (partition by query_id order by rank) order by query_id, rank"
        )
        n, left = copy(con, run, folder / f"{one.stem}.run", _COLUMNS), repeats(con, one)
        empty = empty_lists(con, one)
        said.append(
            f"{one.stem}.run: {n:,} documents"
            + (f"; {left:,} repeats can't be written" if left else "")
            + (f"; {empty:,} empty lists can't be written" if empty else "")
        )
    return said


def _refuse_white_space(con: duckdb.DuckDBPyConnection, ids: str) -> None:
    row = con.execute(
        f"select query_id, doc_id from ({ids}) where regexp_matches(query_id || doc_id, '\\s') limit 1"
    ).fetchone()
    if row is not None:
        raise BadInput(
            f"query {shown(row[0])} and document {shown(row[1])}: TREC's files are split at white space, and can't hold such an ID. "
            "Export it as beir."
        )

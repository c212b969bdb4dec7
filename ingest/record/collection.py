"""What a recording needs of the warehouse: a copy of the collection in a scratch database, so that the warehouse is free while models answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from ingest.contract import RAW_SCHEMA, TABLES
from ingest.errors import BadInput, shown
from ingest.sqltext import create_macros, literal
from ingest.warehouse import connect, connect_scratch

#: Tables of the collection, and of its recordings of contexts.
_OF_COLLECTION = (
    "collections",
    "collection_fields",
    "collection_grades",
    "documents",
    "document_fields",
    "queries",
    "query_turns",
)
_OF_RECORDINGS = (
    "recordings",
    "recording_settings",
    "recording_fields",
    "recording_floors",
    "asked_queries",
    "contexts",
    "context_documents",
)
#: Of a recording of answers that is judged.
_OF_ANSWERS = ("answers", "answer_citations", "support", "support_documents")


@dataclass(frozen=True)
class Query:
    """A query as a person typed it."""

    query_id: str
    text: str


@dataclass(frozen=True)
class Copied:
    """The copy of one collection: its connection, name, digest and fields."""

    con: duckdb.DuckDBPyConnection
    collection: str
    digest: str
    fields: tuple[str, ...]

    def queries(self, split: str | None, limit: int | None) -> list[Query]:
        """The queries of a split, or all, by query_id (as numbers where all are such). Raises BadInput where there are none."""
        where = "" if split is None else f" and split = {literal(split)}"
        rows = self.con.execute(
            f"select query_id, query from assay_raw.queries where collection = {literal(self.collection)}{where}"
            " order by try_cast(query_id as bigint) nulls last, query_id"
        ).fetchall()
        if not rows:
            has = self.con.execute(
                f"select distinct split from assay_raw.queries where collection = {literal(self.collection)} and split is not null order by 1"
            ).fetchall()
            splits = ", ".join(str(s) for (s,) in has)
            raise BadInput(
                f"no query of the collection {self.collection!r} has the split {shown(split)}. "
                + (f"It has {splits}." if splits else "Leave --split out.")
            )
        return [Query(str(i), str(text)) for i, text in rows[:limit]]

    def check_fields(self, fields: Sequence[str]) -> None:
        """Raise BadInput for a field that the collection doesn't have."""
        for field in fields:
            if field not in self.fields:
                raise BadInput(
                    f"{shown(field)} is no field of the collection {self.collection!r}. It has {', '.join(self.fields) or 'none'}."
                )

    def values(self, doc_ids: Sequence[str], fields: Sequence[str]) -> dict[str, dict[str, str]]:
        """The values of documents' fields that aren't empty, in the order of `fields`; documents that the catalog lacks have none."""
        if not doc_ids or not fields:
            return {doc_id: {} for doc_id in doc_ids}
        ids, names = ", ".join(map(literal, dict.fromkeys(doc_ids))), ", ".join(map(literal, fields))
        rows = self.con.execute(
            f"select doc_id, field, value from assay_raw.document_fields where collection = {literal(self.collection)}"
            f" and doc_id in ({ids}) and field in ({names}) and value != ''"
        ).fetchall()
        found: dict[str, dict[str, str]] = {doc_id: {} for doc_id in doc_ids}
        for doc_id, field, value in sorted(rows, key=lambda row: list(fields).index(row[1])):
            found[doc_id][field] = value
        return found

    def texts(self, doc_ids: Sequence[str], fields: Sequence[str]) -> list[str]:
        """Documents as a model reads them: the ID on a line, then each field that isn't empty on one."""
        values = self.values(doc_ids, fields)
        return [
            "\n".join([f"ID: {doc_id}", *(f"{f}: {v}" for f, v in values[doc_id].items())])
            for doc_id in doc_ids
        ]


def _collection(con: duckdb.DuckDBPyConnection, named: str | None) -> tuple[str, str]:
    rows = con.execute(
        "select collection, digest, n_documents from warehouse.assay_raw.collections order by 1"
    ).fetchall()
    loaded = {str(name): (str(digest), int(n)) for name, digest, n in rows}
    if named is None and len(loaded) == 1:
        [named] = loaded
    if named is None or named not in loaded:
        have = f"Loaded are {', '.join(loaded)}." if loaded else "None is loaded: load its folder first."
        raise BadInput(
            (f"the collection {shown(named)} is not loaded. " if named else "which collection? ")
            + have
            + " Name one with --collection."
        )
    if not loaded[named][1]:
        raise BadInput(f"the collection {named!r} has no documents, so a model can be shown none.")
    return named, loaded[named][0]


def _collection_of(con: duckdb.DuckDBPyConnection, answers: str) -> str:
    rows = con.execute(
        "select recording_id, collection from warehouse.assay_raw.recordings where kind = 'answers' order by 1"
    ).fetchall()
    for name, collection in rows:
        if name == answers:
            return str(collection)
    raise BadInput(
        f"no recording of answers {shown(answers)} is loaded. "
        + (f"Loaded are {', '.join(str(n) for n, _ in rows)}." if rows else "Load one first.")
    )


@contextmanager
def copied(warehouse: Path, named: str | None, wait: float, answers: str | None = None) -> Iterator[Copied]:
    """A copy of a loaded collection and its recordings of contexts. Raises BadInput and CannotRun.

    With `answers`, a recording of answers, the copy is of its collection, and has its answers and their labels too.
    """
    # Opened once by itself: whether it is there and free is said in a sentence.
    connect(warehouse, read_only=True, wait=wait).close()
    with connect_scratch() as con:
        con.execute(f"attach {literal(str(warehouse))} as warehouse (read_only)")
        there = con.execute(
            "select count(*) from duckdb_tables() where database_name = 'warehouse' and schema_name = 'assay_raw'"
        ).fetchone()
        if not there or not there[0]:
            raise BadInput(f"{warehouse}: nothing is loaded in it. Load a collection first.")
        if answers is not None:
            named = _collection_of(con, answers)
        collection, digest = _collection(con, named)
        con.execute(f"create schema {RAW_SCHEMA}")
        for table in TABLES.values():
            con.execute(table.ddl())
        for name in _OF_COLLECTION:
            con.execute(
                f"insert into {RAW_SCHEMA}.{name} select * from warehouse.{RAW_SCHEMA}.{name} where collection = {literal(collection)}"
            )
        con.execute(f"insert into {RAW_SCHEMA}.loads select * from warehouse.{RAW_SCHEMA}.loads")
        kept = f"select recording_id from warehouse.{RAW_SCHEMA}.recordings where collection = {literal(collection)} and kind = 'contexts'"
        if answers is not None:
            kept = literal(answers)
        for name in _OF_RECORDINGS if answers is None else (*_OF_RECORDINGS, *_OF_ANSWERS):
            con.execute(
                f"insert into {RAW_SCHEMA}.{name} select * from warehouse.{RAW_SCHEMA}.{name} where recording_id in ({kept})"
            )
        con.execute("detach warehouse")
        create_macros(con)
        fields = con.execute(
            f"select field from {RAW_SCHEMA}.collection_fields where collection = {literal(collection)} order by position"
        ).fetchall()
        yield Copied(con, collection, digest, tuple(str(f) for (f,) in fields))

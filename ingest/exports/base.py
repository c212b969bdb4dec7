"""What the exports have in common: what is to be written, the lists of documents, and names that files can have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import duckdb

from ingest.contract import RAW_SCHEMA
from ingest.errors import BadInput, shown
from ingest.sqltext import literal


@dataclass(frozen=True)
class What:
    """A collection, and the recordings of it that are written: those with lists of documents."""

    collection: str
    recordings: tuple[str, ...]


@dataclass(frozen=True)
class Lists:
    """The lists of one retriever and trial of a recording."""

    recording: str
    kind: str
    retriever: str
    trial: int

    @property
    def stem(self) -> str:
        """A name for its file."""
        name = f"{self.recording}.{self.retriever}" + (f".{self.trial}" if self.trial > 1 else "")
        return re.sub(r"[^\w.+-]+", "_", name)

    @property
    def where(self) -> str:
        """The condition on a raw table's rows."""
        return f"recording_id = {literal(self.recording)} and retriever = {literal(self.retriever)} and trial = {self.trial}"


def chosen(con: duckdb.DuckDBPyConnection, collection: str, recordings: list[str]) -> What:
    """The collection with the recordings that are named, or all of it. Raises BadInput for what isn't loaded."""
    if (
        con.execute(f"select 1 from {RAW_SCHEMA}.collections where collection = ?", [collection]).fetchone()
        is None
    ):
        raise BadInput(f"no collection {shown(collection)} is loaded. `python -m ingest list` shows what is.")
    loaded = con.execute(
        f"select recording_id from {RAW_SCHEMA}.recordings where collection = ? order by 1", [collection]
    ).fetchall()
    names = [str(name) for (name,) in loaded]
    for name in recordings:
        if name not in names:
            raise BadInput(f"no recording {shown(name)} of the collection {shown(collection)} is loaded.")
    return What(collection, tuple(recordings or names))


def lists_of(con: duckdb.DuckDBPyConnection, what: What) -> list[Lists]:
    """The lists of the recordings, by recording, retriever and trial. Raises BadInput where two files would have one name."""
    found: list[Lists] = []
    for recording in what.recordings:
        rows = con.execute(
            f"select distinct r.kind, c.retriever, c.trial from {RAW_SCHEMA}.contexts as c"
            f" join {RAW_SCHEMA}.recordings as r using (recording_id) where recording_id = {literal(recording)} order by all"
        ).fetchall()
        found += [Lists(recording, str(kind), str(retriever), int(trial)) for kind, retriever, trial in rows]
    stems: dict[str, Lists] = {}
    for one in found:
        twin = stems.setdefault(one.stem.lower(), one)
        if twin != one:
            raise BadInput(
                f"the lists of {twin.retriever!r} in {twin.recording!r} and of {one.retriever!r} in {one.recording!r} would both be "
                f"written to {one.stem}. Export one recording at a time."
            )
    return found


def documents(lists: Lists) -> str:
    """Query, document and place of each list, later places of a repeated document left out; SQL."""
    return f"select query_id, doc_id, rank from {RAW_SCHEMA}.context_documents where {lists.where} and first_rank = rank"


def repeats(con: duckdb.DuckDBPyConnection, lists: Lists) -> int:
    """How many later places of a repeated document the lists have."""
    row = con.execute(
        f"select count(*) from {RAW_SCHEMA}.context_documents where {lists.where} and first_rank < rank"
    ).fetchone()
    return 0 if row is None else int(row[0])


def empty_lists(con: duckdb.DuckDBPyConnection, lists: Lists) -> int:
    """How many of the lists are known to hold nothing."""
    row = con.execute(
        f"select count(*) from {RAW_SCHEMA}.contexts as c where {lists.where} and has_documents and query_id not in ("
        f"select query_id from {RAW_SCHEMA}.context_documents where {lists.where})"
    ).fetchone()
    return 0 if row is None else int(row[0])


def copy(con: duckdb.DuckDBPyConnection, select: str, path: Path, options: str) -> int:
    """Write a query's rows to a file; returns how many."""
    row = con.execute(f"copy ({select}) to {literal(str(path))} ({options})").fetchone()
    return 0 if row is None else int(row[0])

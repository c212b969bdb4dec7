"""What a retriever is given (`Job`) and what it gives (`Retrieved`)."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from types import ModuleType
from typing import Any

import duckdb

from ingest.errors import CannotRun
from ingest.staging import Progress


@dataclass(frozen=True)
class Query:
    """One query to retrieve for. An agent's search text is a trial of the query that its task came from."""

    query_id: str
    trial: int
    text: str

    @property
    def key(self) -> tuple[str, int]:
        """What is different for every query of a job."""
        return self.query_id, self.trial


@dataclass(frozen=True)
class Asked:
    """The queries of a job: which split they are of, and the IDs that were asked where no split says so."""

    queries: list[Query]
    split: str | None
    listed: list[str] | None
    #: people or agent.
    kind: str


@dataclass(frozen=True)
class Ranked:
    """The documents chosen for one query, best first, with their scores where there are any."""

    query: Query
    doc_ids: Sequence[str]
    scores: Sequence[float] | None = None


@dataclass
class Job:
    """One call of a retriever on a loaded collection.

    `doc_ids` are the catalog's, in the order in which ties are broken; a document's place is its index there.
    """

    con: duckdb.DuckDBPyConnection
    collection: str
    doc_ids: list[str]
    asked: Asked
    k: int
    depth: int
    unit: str
    seed: int
    #: The options of the command, a retriever's own among them.
    args: argparse.Namespace
    progress: Progress

    @property
    def queries(self) -> list[Query]:
        """The queries to retrieve for, in order."""
        return self.asked.queries


@dataclass(frozen=True)
class Retrieved:
    """What a retriever gives: one `Ranked` a query, made while it is read, and what pins it for the manifest."""

    lists: Iterable[Ranked]
    #: Parameters, models, digests: what stands under ``retrieval`` in the manifest.
    settings: dict[str, Any]
    #: Libraries whose versions stand in the manifest.
    libraries: tuple[str, ...] = ()
    #: Keys of the manifest beside ``retrieval``.
    manifest: dict[str, Any] = field(default_factory=dict)
    #: Whether the query's text takes part, and is written down as it was searched.
    reads_query: bool = True
    #: A floor, not a candidate: left out of correlations over all retrievers.
    is_floor: bool = False


def library(name: str, extra: str = "retrieve") -> ModuleType:
    """A library that only an extra needs. Raises CannotRun with how to install it where it is absent."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise CannotRun(
            f"the library {name} is not installed, and this needs it. Install it: pip install 'assay-warehouse[{extra}]'."
        ) from None


def versions(libraries: Iterable[str]) -> dict[str, str]:
    """The installed version of each library."""
    return {name: version(name) for name in sorted(libraries)}


def first(con: duckdb.DuckDBPyConnection, sql: str) -> tuple[Any, ...] | None:
    """The first row of a query, or None; nothing of its result is left open on the connection."""
    rows = con.execute(sql).fetchall()
    return rows[0] if rows else None

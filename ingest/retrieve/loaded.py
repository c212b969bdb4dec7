"""Runs that are loaded already: the lists of one retriever in one recording, to be fused or re-ordered."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import duckdb

from ingest.errors import BadInput, shown
from ingest.retrieve.base import Asked, Query, first
from ingest.sqltext import literal


@dataclass(frozen=True)
class Run:
    """One retriever's lists in one loaded recording, with its place among those named."""

    position: int
    recording_id: str
    retriever: str

    @property
    def is_named(self) -> str:
        """As the command line names it."""
        return f"{self.recording_id}:{self.retriever}"


@dataclass(frozen=True)
class Placed:
    """One list of a run: the documents at their first places, in order, with scores where all are known."""

    run: Run
    ranks: list[int]
    doc_ids: list[str]
    scores: list[float] | None


def add_split_argument(parser: argparse.ArgumentParser) -> None:
    """The split, which is the runs' own where nothing is said."""
    parser.add_argument(
        "--split", metavar="NAME", help="the queries of this split; those of the runs without it"
    )


def find_runs(con: duckdb.DuckDBPyConnection, collection: str, named: list[str]) -> list[Run]:
    """The runs that are named, ``RECORDING`` or ``RECORDING:RETRIEVER``. Raises BadInput."""
    found: list[Run] = []
    for name in named:
        run = _find(con, collection, name, len(found))
        if any(run.is_named == other.is_named for other in found):
            raise BadInput(f"the run {run.is_named!r} is named twice. Name different runs.")
        found.append(run)
    return found


def _find(con: duckdb.DuckDBPyConnection, collection: str, name: str, position: int) -> Run:
    # A recording's name may hold a colon itself.
    splits = [(name, None)] + [(name[:i], name[i + 1 :]) for i, c in enumerate(name) if c == ":"]
    for recording, retriever in splits:
        row = first(
            con,
            f"select collection, kind from assay_raw.recordings where recording_id = {literal(recording)}",
        )
        if row is None:
            continue
        if row[0] != collection:
            raise BadInput(
                f"the recording {recording!r} is of the collection {row[0]!r}, not of {collection!r}. Name one of {collection!r}."
            )
        has = [
            str(one)
            for (one,) in con.execute(
                f"select distinct retriever from assay_raw.contexts where recording_id = {literal(recording)} order by 1"
            ).fetchall()
        ]
        if retriever is None and len(has) == 1:
            return Run(position, recording, has[0])
        if retriever in has:
            return Run(position, recording, str(retriever))
        which = f"of {shown(retriever)}" if retriever is not None else "of one retriever alone"
        raise BadInput(
            f"the recording {recording!r} has no lists {which}; it has those of {', '.join(has) or 'none'}. "
            "Name one as RECORDING:RETRIEVER."
        )
    raise BadInput(f"{shown(name)} is no loaded recording. `python -m ingest list` lists them.")


def _chosen(runs: list[Run]) -> str:
    rows = ", ".join(
        f"({run.position}, {literal(run.recording_id)}, {literal(run.retriever)})" for run in runs
    )
    return f"(values {rows}) as runs (position, recording_id, retriever)"


def queries_of(con: duckdb.DuckDBPyConnection, collection: str, runs: list[Run], split: str | None) -> Asked:
    """The queries of the runs, by query_id and trial, and what was asked of them.

    Without a split, it is the one that all runs name. Where a run names the queries it was asked in a file, so does what is
    made of it.
    """
    about = con.execute(
        f"""
        select distinct r.split, r.asked, coalesce(s.value, '"people"') from {_chosen(runs)}
        inner join assay_raw.recordings as r using (recording_id)
        left join assay_raw.recording_settings as s
            on s.recording_id = r.recording_id and s.setting = 'retrieval.queries'
        """
    ).fetchall()
    splits = {row[0] for row in about}
    if split is None and len(splits) == 1:
        [split] = splits
    within = "" if split is None else f"and q.split = {literal(split)}"
    rows = con.execute(
        f"""
        select c.query_id, c.trial, any_value(coalesce(c.searched_as, q.query) order by runs.position)
        from {_chosen(runs)}
        inner join assay_raw.contexts as c using (recording_id, retriever)
        inner join assay_raw.queries as q on q.collection = {literal(collection)} and q.query_id = c.query_id
        where c.has_documents {within}
        group by c.query_id, c.trial order by c.query_id, c.trial
        """
    ).fetchall()
    queries = [Query(str(query_id), int(trial), str(text)) for query_id, trial, text in rows]
    if not queries:
        raise BadInput(
            f"{runs[0].is_named!r} has no list for a query"
            + (f" of the split {split!r}." if split is not None else ".")
            + " Name another split or run."
        )
    listed = None
    if any(row[1] != "split" for row in about):
        asked = con.execute(
            f"""
            select distinct a.query_id from {_chosen(runs)}
            inner join assay_raw.asked_queries as a using (recording_id)
            inner join assay_raw.queries as q on q.collection = {literal(collection)} and q.query_id = a.query_id
            where true {within} order by 1
            """
        ).fetchall()
        listed = sorted({str(query_id) for (query_id,) in asked} | {query.query_id for query in queries})
    kind = "agent" if any(row[2] == '"agent"' for row in about) else "people"
    return Asked(queries, split, listed, kind)


def lists(con: duckdb.DuckDBPyConnection, runs: list[Run]) -> Iterator[tuple[tuple[str, int], list[Placed]]]:
    """What the runs hold for each query and trial, in order; a repeated document stands at its first place alone."""
    con.execute(
        f"""
        select d.query_id, d.trial, runs.position, d.rank, d.doc_id, d.score
        from {_chosen(runs)}
        inner join assay_raw.context_documents as d using (recording_id, retriever)
        where d.rank = d.first_rank
        order by d.query_id, d.trial, runs.position, d.rank
        """
    )
    for key, of_query in groupby(_rows(con), key=lambda row: (row[0], row[1])):
        found = []
        for position, of_run in groupby(of_query, key=lambda row: row[2]):
            kept = list(of_run)
            scores = [row[5] for row in kept]
            known = (
                None if any(score is None for score in scores) else [float(str(score)) for score in scores]
            )
            found.append(Placed(runs[position], [row[3] for row in kept], [row[4] for row in kept], known))
        yield key, found


def _rows(con: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, int, int, int, str, float | None]]:
    while some := con.fetchmany(10_000):
        yield from some


def setting(con: duckdb.DuckDBPyConnection, runs: list[Run], name: str) -> str | None:
    """A setting (JSON text) that all runs share, or None."""
    rows = con.execute(
        f"""
        select distinct s.value from {_chosen(runs)}
        left join assay_raw.recording_settings as s on s.recording_id = runs.recording_id and s.setting = {literal(name)}
        """
    ).fetchall()
    return None if len(rows) != 1 or rows[0][0] is None else str(rows[0][0])


def described(con: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[dict[str, str]]:
    """The runs for a manifest: recording, retriever and the recording's digest."""
    digests = dict(
        con.execute(f"select recording_id, digest from {_chosen(runs)} inner join assay_raw.recordings using (recording_id)").fetchall()
    )  # fmt: skip
    return [
        {"recording": run.recording_id, "retriever": run.retriever, "digest": str(digests[run.recording_id])}
        for run in runs
    ]

"""The queries to retrieve for: people's, by their split, or the texts that agents searched for, kept apart from those.

An agent's search text is a query of its own. It inherits the judgments of the query that its task came from, so it is written
under that query's ID; each distinct text of one query is a trial, numbered by where it was first searched (recording, trace, search).
"""

from __future__ import annotations

import argparse

import duckdb

from ingest.errors import BadInput, shown
from ingest.retrieve.base import Asked, Job, Query, first
from ingest.sqltext import literal


def add_query_arguments(parser: argparse.ArgumentParser) -> None:
    """Which queries to retrieve for."""
    add = parser.add_argument
    add("--split", metavar="NAME", help="the queries of this split; all without it")
    add(
        "--queries", choices=("people", "agent"), default="people",
        help="people's, or the texts that agents searched for",
    )  # fmt: skip
    add(
        "--traces", action="append", default=[], metavar="RECORDING",
        help="agents' searches of this recording alone; may be repeated",
    )  # fmt: skip
    add(
        "--earlier-turns",
        action="store_true",
        help="put a conversation's earlier turns in front of its query",
    )


def asked(job: Job) -> Asked:
    """The queries that the options name. Raises BadInput for an unknown split, none at all, and options that contradict."""
    args = job.args
    if args.traces and args.queries != "agent":
        raise BadInput("--traces names where agents' searches are taken from. Add --queries agent.")
    if args.earlier_turns and args.queries == "agent":
        raise BadInput("--earlier-turns is for people's queries: an agent's search has none. Leave it out.")
    check_split(job.con, job.collection, args.split)
    if args.queries == "agent":
        queries = agent_queries(job.con, job.collection, args.split, args.traces)
        return Asked(queries, args.split, sorted({query.query_id for query in queries}), "agent")
    queries = people_queries(job.con, job.collection, args.split, earlier_turns=args.earlier_turns)
    return Asked(queries, args.split, None, "people")


def check_split(con: duckdb.DuckDBPyConnection, collection: str, split: str | None) -> None:
    """Raise BadInput where no query of the collection has the split."""
    rows = con.execute(
        f"select split, count(*) from assay_raw.queries where collection = {literal(collection)} group by split order by split"
    ).fetchall()
    if not rows:
        raise BadInput(f"the collection {collection!r} has no queries, so there is nothing to retrieve for.")
    has = [str(name) for name, _ in rows if name is not None]
    if split is not None and split not in has:
        raise BadInput(
            f"no query of the collection {collection!r} has the split {shown(split)}. "
            + (f"It has {', '.join(has)}." if has else "Its queries name no split: leave --split out.")
        )


def people_queries(
    con: duckdb.DuckDBPyConnection, collection: str, split: str | None, *, earlier_turns: bool
) -> list[Query]:
    """Queries as typed, by query_id; with `earlier_turns`, what was said before stands in front, a line each."""
    text = "concat_ws(chr(10), turns.said, queries.query)" if earlier_turns else "queries.query"
    rows = con.execute(
        f"""
        with turns as (
            select query_id, string_agg(text, chr(10) order by turn) as said
            from assay_raw.query_turns where collection = {literal(collection)} group by query_id
        )
        select queries.query_id, {text}
        from assay_raw.queries as queries left join turns using (query_id)
        where queries.collection = {literal(collection)} {"" if split is None else f"and queries.split = {literal(split)}"}
        order by queries.query_id
        """
    ).fetchall()
    return [Query(str(query_id), 1, str(text)) for query_id, text in rows]


def agent_queries(
    con: duckdb.DuckDBPyConnection, collection: str, split: str | None, recordings: list[str]
) -> list[Query]:
    """Distinct search texts of the tasks of each query, by query_id and trial. Raises BadInput where there are none.

    `recordings` names the recordings of traces; none means all of the collection.
    """
    for name in recordings:
        row = first(
            con, f"select kind, collection from assay_raw.recordings where recording_id = {literal(name)}"
        )
        if row is None or row[0] != "traces" or row[1] != collection:
            found = "not loaded" if row is None else f"a recording of {row[0]} of the collection {row[1]!r}"
            raise BadInput(
                f"--traces {shown(name)}: this is {found}. Name a loaded recording of traces of the collection {collection!r}."
            )
    among = f"and recordings.recording_id in ({', '.join(map(literal, recordings))})" if recordings else ""
    in_split = f"and queries.split = {literal(split)}" if split is not None else ""
    rows = con.execute(
        f"""
        with texts as (
            select traces.query_id, searches.query as text, min((recording_id, trace_id, search)) as first_searched
            from assay_raw.searches as searches
            inner join assay_raw.traces as traces using (recording_id, trace_id)
            inner join assay_raw.recordings as recordings using (recording_id)
            inner join assay_raw.queries as queries
                on queries.collection = recordings.collection and queries.query_id = traces.query_id
            where recordings.collection = {literal(collection)} and searches.query is not null {among} {in_split}
            group by traces.query_id, searches.query
        )
        select query_id, row_number() over (partition by query_id order by first_searched) as trial, text
        from texts order by query_id, trial
        """
    ).fetchall()
    if not rows:
        raise BadInput(
            f"no loaded recording of traces has a search for the collection {collection!r}"
            + (f" and the split {split!r}" if split is not None else "")
            + ". Load one first, or leave --queries agent out."
        )
    return [Query(str(query_id), int(trial), str(text)) for query_id, trial, text in rows]

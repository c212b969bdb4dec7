"""`ingest list` and `ingest drop`: what is loaded, and taking it out again."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from ingest.contract import COLLECTION_TABLES, RAW_SCHEMA, RECORDING_TABLES
from ingest.errors import BadInput
from ingest.sqltext import literal


@dataclass(frozen=True)
class Entry:
    """One collection or recording that is loaded."""

    kind: str
    name: str
    #: The collection of a recording; None for a collection.
    collection: str | None
    path: str
    loaded_at: str
    n_lines: int
    n_quarantined: int
    n_warnings: int


def delete(con: duckdb.DuckDBPyConnection, kind: str, name: str) -> None:
    """Delete every raw row of a collection or recording. The caller holds the transaction."""
    for table in COLLECTION_TABLES if kind == "collection" else RECORDING_TABLES:
        con.execute(f"delete from {RAW_SCHEMA}.{table.name} where {table.owner} = {literal(name)}")
    for log in ("quarantine", "checks"):
        con.execute(f"delete from {RAW_SCHEMA}.{log} where kind = {literal(kind)} and name = {literal(name)}")


def entries(con: duckdb.DuckDBPyConnection) -> list[Entry]:
    """Everything that is loaded: collections first, then recordings, by name."""
    rows = con.execute(
        f"""
        with loaded as (
            select 'collection' as kind, collection as name, null as of, load_number, n_lines, n_quarantined
            from {RAW_SCHEMA}.collections
            union all
            select 'recording', recording_id, collection, load_number, n_lines, n_quarantined from {RAW_SCHEMA}.recordings
        ),
        warned as (
            select kind, name, count(*) as n from {RAW_SCHEMA}.checks where severity = 'warning' and status = 'failed' group by kind, name
        )
        select
            loaded.kind, loaded.name, loaded.of, loads.path, strftime(loads.loaded_at, '%Y-%m-%d %H:%M'), loaded.n_lines,
            loaded.n_quarantined, coalesce(warned.n, 0)
        from loaded
        inner join {RAW_SCHEMA}.loads as loads on loaded.load_number = loads.load_number
        left join warned on loaded.kind = warned.kind and loaded.name = warned.name
        order by loaded.kind, loaded.name
        """
    ).fetchall()
    return [Entry(*row) for row in rows]


def recordings_of(con: duckdb.DuckDBPyConnection, collection: str) -> list[str]:
    """The recordings that rest on a collection."""
    rows = con.execute(
        f"select recording_id from {RAW_SCHEMA}.recordings where collection = ? order by 1", [collection]
    ).fetchall()
    return [str(row[0]) for row in rows]


def drop(con: duckdb.DuckDBPyConnection, name: str, *, with_recordings: bool = False) -> list[str]:
    """Take a recording, or a collection with all recordings on it, out of the warehouse, in one transaction.

    Returns what was dropped. Raises BadInput where nothing has the name, where both a collection and a recording have it,
    and where recordings rest on the collection and `with_recordings` is false.
    """
    kinds = [entry.kind for entry in entries(con) if entry.name == name]
    if not kinds:
        names = ", ".join(entry.name for entry in entries(con)) or "nothing"
        raise BadInput(f"{name!r} is not loaded. Loaded: {names}.")
    victims = [("recording", name)] if "recording" in kinds else []
    if "collection" in kinds:
        resting = recordings_of(con, name)
        if resting and not with_recordings:
            raise BadInput(
                f"the recordings {', '.join(resting)} rest on the collection {name!r}. "
                "Drop them first, or all of it with --with-recordings."
            )
        victims = [*(("recording", r) for r in resting), *victims, ("collection", name)]
    victims = list(dict.fromkeys(victims))
    con.execute("begin transaction")
    try:
        for kind, victim in victims:
            delete(con, kind, victim)
        con.execute("commit")
    except BaseException:
        con.execute("rollback")
        raise
    return [f"{kind} {victim}" for kind, victim in victims]

"""Opening the warehouse, or a published file, to read its marts."""

from __future__ import annotations

from pathlib import Path

import duckdb


def connect(path: Path, missing: str, *needed: str) -> duckdb.DuckDBPyConnection:
    """A read-only connection with the marts on its search path and no way to other files.

    `missing` says what to do where the file isn't there; `needed` are tables without which the file is too old. Raises SystemExit with
    one sentence.
    """
    if not path.is_file():
        raise SystemExit(f"error: {path}: {missing}")
    try:
        con = duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"})
    except duckdb.Error as error:
        raise SystemExit(f"error: {path}: it can't be opened: {str(error).splitlines()[0]}") from None
    schema = con.execute(
        "select schema_name from duckdb_tables() where table_name = 'assay_recordings'"
    ).fetchone()
    if schema is None:
        raise SystemExit(f"error: {path}: it holds no marts yet. Run dbt build first.")
    con.execute("set search_path = ?", [schema[0]])
    there = {row[0] for row in con.execute("select table_name from information_schema.tables").fetchall()}
    lacking = [table for table in needed if table not in there]
    if lacking:
        raise SystemExit(
            f"error: {path}: it lacks {', '.join(lacking)}: an older version made it. Run dbt build and publish again."
        )
    return con

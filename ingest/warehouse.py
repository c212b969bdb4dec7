"""Opening the warehouse file: where it is, how much memory and how many threads it may use, who holds it."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from ingest.checks.run import keep_rules
from ingest.checks.settings import read_settings
from ingest.contract import RAW_SCHEMA, TABLES
from ingest.errors import CannotRun
from ingest.sqltext import create_macros

#: Keeps the file readable for BI drivers that ship DuckDB 1.4.
STORAGE = "v1.4.0"


def warehouse_path() -> Path:
    """The warehouse file: ``ASSAY_WAREHOUSE``, or ``warehouse.duckdb`` in the current folder."""
    return Path(os.environ.get("ASSAY_WAREHOUSE") or "warehouse.duckdb")


def limits() -> dict[str, str]:
    """DuckDB's settings from ``ASSAY_MEMORY`` (such as 4GB) and ``ASSAY_THREADS``."""
    settings = {"memory_limit": os.environ.get("ASSAY_MEMORY"), "threads": os.environ.get("ASSAY_THREADS")}
    return {name: value for name, value in settings.items() if value}


def connect(path: Path, *, read_only: bool = False, wait: float = 0.0) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB file; where another process holds it, wait up to `wait` seconds.

    Raises CannotRun where it stays locked, is no DuckDB file, or can't be made.
    """
    config = limits()
    if not read_only:
        config["storage_compatibility_version"] = STORAGE
    if read_only and not path.exists():
        raise CannotRun(f"{path}: there is no warehouse here. Load something first, or set ASSAY_WAREHOUSE.")
    give_up = time.monotonic() + wait
    said = False
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only, config=dict(config))
        except duckdb.IOException as error:
            holder = re.search(r"Conflicting lock is held in (.+?)(?:\. See|$)", str(error))
            if holder is None:
                raise CannotRun(f"{path}: it can't be opened: {str(error).splitlines()[0]}") from None
            if time.monotonic() >= give_up:
                raise CannotRun(
                    f"{path}: another process holds the warehouse: {holder.group(1)}. "
                    "End it, or wait for it with --wait SECONDS."
                ) from None
            if not said:
                print(
                    f"waiting up to {wait:.0f} s for {holder.group(1)} to let go of {path}", file=sys.stderr
                )
                said = True
            time.sleep(min(0.2, max(0.01, give_up - time.monotonic())))
        except duckdb.Error as error:
            raise CannotRun(f"{path}: it can't be opened: {str(error).splitlines()[0]}") from None


@contextmanager
def connect_scratch() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database beside the warehouse, under the same limits; what doesn't fit into memory goes to a folder that is removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        con = duckdb.connect(":memory:", config={**limits(), "temp_directory": folder})
        try:
            yield con
        finally:
            con.close()


def _refuse_other_version(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse a file whose raw tables are those of another version of this package."""
    rows = con.execute(
        f"select table_name, list(column_name order by column_index) from duckdb_columns() where schema_name = '{RAW_SCHEMA}'"
        " and database_name = current_database() group by table_name"
    ).fetchall()
    other = [name for name, columns in rows if name in TABLES and tuple(columns) != TABLES[name].column_names]
    if other:
        raise CannotRun(
            f"{path}: its table {RAW_SCHEMA}.{sorted(other)[0]} was made by another version. Load into a new file "
            "(ASSAY_WAREHOUSE names it), or move this one away."
        )


def open_warehouse(path: Path | None = None, *, wait: float = 0.0) -> duckdb.DuckDBPyConnection:
    """Open the warehouse for loading: its raw tables made where they are missing, its macros ready."""
    con = connect(path or warehouse_path(), wait=wait)
    con.execute(f"create schema if not exists {RAW_SCHEMA}")
    for table in TABLES.values():
        con.execute(table.ddl())
    _refuse_other_version(con, path or warehouse_path())
    keep_rules(con, read_settings())
    # Line numbers are counted in the order of the file.
    con.execute("set preserve_insertion_order = true")
    create_macros(con)
    return con

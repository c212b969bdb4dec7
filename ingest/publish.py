"""`ingest publish`: the facts and marts in a file of their own, for BI tools to open while the next build runs.

The file is made under a temporary name beside the target and put in its place by one rename, so a reader sees the
old file or the new one. A process that holds the old file keeps reading it until it closes its connections.
"""

from __future__ import annotations

import glob
import os
import tempfile
from pathlib import Path

import duckdb

from ingest.contract import RAW_SCHEMA
from ingest.errors import CannotRun
from ingest.sqltext import literal
from ingest.warehouse import STORAGE, connect, limits, warehouse_path

#: What is published: models with these prefixes, whatever their schema.
_PREFIXES = ("assay_", "fct_assay__")


def publish(target: Path, *, wait: float = 0.0, warehouse: Path | None = None) -> str:
    """Write the published file; returns what it holds, in a line. Raises CannotRun, and then the old file stands."""
    source = warehouse or warehouse_path()
    if not source.exists():
        raise CannotRun(f"{source}: there is no warehouse here. Load something and run dbt build first.")
    if target.resolve() == source.resolve():
        raise CannotRun(f"{target}: this is the warehouse itself. Publish to another file.")
    if target.is_dir():
        raise CannotRun(f"{target}: this is a folder. Name a file.")
    target.parent.mkdir(parents=True, exist_ok=True)
    connect(source, read_only=True, wait=wait).close()
    _sweep(target)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.{os.getpid()}.", suffix=".new")
    os.close(handle)
    new = Path(name)
    new.unlink()
    try:
        n_tables, n_rows = _copy(source, new, target)
        _sync(new)
        os.replace(new, target)
        _sync(target.parent)
    except duckdb.Error as error:
        raise CannotRun(f"{target}: not published: {' '.join(str(error).split())[:300]}") from None
    except OSError as error:
        raise CannotRun(f"{target}: not published: {error}") from None
    finally:
        for left in (new, Path(f"{name}.wal")):
            left.unlink(missing_ok=True)
    return f"{target}: published, {n_tables} tables, {n_rows:,} rows"


def _sweep(target: Path) -> None:
    """Remove what publishing to this file left behind where it was killed: files under a temporary name whose process is gone."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.new*"):
        owner = left.name.removeprefix(f".{target.name}.").split(".")[0]
        if owner.isdecimal() and not _is_alive(int(owner)):
            left.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _copy(source: Path, new: Path, target: Path) -> tuple[int, int]:
    """Copy tables, views as tables, and every comment. Returns how many tables and rows."""
    con = duckdb.connect(config=dict(limits()))
    try:
        # Views name the file they stand in by its stem, so it must be attached under that.
        inside = '"' + source.stem.replace('"', '""') + '"'
        con.execute(f"attach {literal(str(source))} as {inside} (read_only)")
        con.execute(f"attach {literal(str(new))} as published_file (storage_version {literal(STORAGE)})")
        relations = con.execute(
            """
            select schema_name, table_name as name, comment from duckdb_tables() where database_name = $1
            union all
            select schema_name, view_name, comment from duckdb_views() where database_name = $1 and not internal
            order by all
            """,
            [source.stem],
        ).fetchall()
        chosen = [r for r in relations if r[0] != RAW_SCHEMA and str(r[1]).startswith(_PREFIXES)]
        if not any(str(r[1]).startswith("assay_") for r in chosen):
            raise CannotRun(f"{source}: it holds no marts yet. Run dbt build first.")
        n_rows = 0
        if target.stem in {str(r[0]) for r in chosen}:
            raise CannotRun(
                f"{target}: a file named after the schema {target.stem!r} makes every table's name ambiguous in it. "
                "Give it another name."
            )
        for schema, name, comment in chosen:
            where = f'"{schema}"."{name}"'
            con.execute(f'create schema if not exists published_file."{schema}"')
            con.execute(f"create table published_file.{where} as from {inside}.{where}")
            row = con.execute(f"select count(*) from published_file.{where}").fetchone()
            n_rows += int(row[0]) if row else 0
            if comment is not None:
                con.execute(f"comment on table published_file.{where} is {literal(comment)}")
            columns = con.execute(
                """
                select column_name, comment from duckdb_columns()
                where database_name = ? and schema_name = ? and table_name = ? and comment is not null
                """,
                [source.stem, schema, name],
            ).fetchall()
            for column, text in columns:
                con.execute(f'comment on column published_file.{where}."{column}" is {literal(text)}')
        con.execute("checkpoint published_file")
        return len(chosen), n_rows
    finally:
        con.close()

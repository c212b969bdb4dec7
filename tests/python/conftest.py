"""What tests share: small collections and recordings in folders, and warehouses to load them into."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ingest.__main__ import main

PROJECT = Path(__file__).resolve().parents[2]

#: Real data beside the project, for the tests that use it.
SHARED = PROJECT.parent / "shared" / "data"


def write_lines(path: Path, rows: list[Any]) -> None:
    """A JSONL file; a row that is a text is written as it is."""
    path.write_text(
        "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), encoding="utf-8"
    )


def write_collection(
    folder: Path,
    name: str = "c",
    docs: list[Any] | None = None,
    queries: list[Any] | None = None,
    qrels: list[Any] | None = None,
    **settings: Any,
) -> Path:
    """A collection's folder. Documents and queries may be given by their IDs alone, judgments as triples."""
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / "catalog.jsonl", [d if isinstance(d, dict) else {"doc_id": d} for d in docs or []])
    write_lines(
        folder / "queries.jsonl",
        [q if isinstance(q, dict) else {"query_id": q, "query": f"query {q}"} for q in queries or []],
    )
    write_lines(
        folder / "qrels.jsonl",
        [
            dict(zip(("query_id", "doc_id", "grade"), j, strict=True)) if isinstance(j, tuple) else j
            for j in qrels or []
        ],
    )
    description = {"collection": name, "fields": [], "exact_grade": 1} | settings
    (folder / "collection.json").write_text(json.dumps(description))
    return folder


def write_recording(
    folder: Path, name: str, kind: str, rows: list[Any], collection: str = "c", **settings: Any
) -> Path:
    """A recording's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / f"{kind}.jsonl", rows)
    manifest = {"recording": name, "kind": kind, "collection": collection} | settings
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


class Warehouse:
    """A warehouse file of a test's own: load into it, ask it."""

    def __init__(self, path: Path, capture: Callable[[], Any] | None = None) -> None:
        self.path = path
        self._capture = capture

    def run(self, *args: str | Path) -> int:
        """Run ``python -m ingest`` with these arguments; its exit code."""
        before = os.environ.get("ASSAY_WAREHOUSE")
        os.environ["ASSAY_WAREHOUSE"] = str(self.path)
        try:
            return main([str(a) for a in args])
        finally:
            if before is None:
                del os.environ["ASSAY_WAREHOUSE"]
            else:
                os.environ["ASSAY_WAREHOUSE"] = before

    def load(self, *paths: Path) -> None:
        """Load, and fail where that fails."""
        assert self.run("load", *paths) == 0

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a query gives; raw tables are named ``assay_raw.<table>``."""
        con = duckdb.connect(str(self.path), read_only=True)
        try:
            return con.execute(sql).fetchall()
        finally:
            con.close()

    def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every raw table's rows, to see that nothing changed."""
        con = duckdb.connect(str(self.path), read_only=True)
        try:
            tables = con.execute(
                "select table_name from duckdb_tables() where schema_name = 'assay_raw' order by 1"
            ).fetchall()
            return {t: con.execute(f"select * from assay_raw.{t} order by all").fetchall() for (t,) in tables}
        finally:
            con.close()


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    """An empty warehouse."""
    yield Warehouse(tmp_path / "warehouse.duckdb")


def dbt(warehouse: Warehouse, *args: str, threads: int | None = None) -> None:
    """Run dbt on a warehouse, with a target folder beside it; fails with dbt's output where dbt fails."""
    env = os.environ | {
        "ASSAY_WAREHOUSE": str(warehouse.path),
        "DBT_TARGET_PATH": str(warehouse.path.parent / "target"),
        "DBT_LOG_PATH": str(warehouse.path.parent / "logs"),
    }
    if threads is not None:
        env["ASSAY_THREADS"] = str(threads)
    command = [str(Path(sys.executable).parent / "dbt"), "--no-use-colors", *args, "--profiles-dir", "."]
    done = subprocess.run(command, cwd=PROJECT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]

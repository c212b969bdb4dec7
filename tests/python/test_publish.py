"""`ingest publish`: what the file holds, and that readers see the old one or the new one, whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from conftest import Warehouse

from ingest.errors import CannotRun
from ingest.publish import publish


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A warehouse with a raw table, a fact, a mart and a view over it, and comments."""
    path = tmp_path / "house.duckdb"
    fill(path, 1)
    return path


def fill(path: Path, number: int) -> None:
    con = duckdb.connect(str(path), config={"storage_compatibility_version": "v1.4.0"})
    con.execute("create schema if not exists assay_raw; create schema if not exists assay")
    con.execute("create or replace table assay_raw.documents as select 1 as secret")
    con.execute(f"create or replace table assay.fct_assay__things as select {number} as n")
    con.execute(f"create or replace table assay.assay_things as select {number} as n, 'it''s' as text")
    con.execute("comment on table assay.assay_things is 'One row per thing; it''s a mart.'")
    con.execute("comment on column assay.assay_things.n is 'How many.'")
    con.execute("create or replace view assay.assay_scores as select n from house.assay.assay_things")
    con.execute("comment on view assay.assay_scores is 'Long.'")
    con.close()


def test_facts_and_marts_with_their_comments(built: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "bi.duckdb"
    said = publish(target, warehouse=built)
    assert "3 tables" in said
    con = duckdb.connect(str(target), read_only=True)
    tables = con.execute("select schema_name, table_name, comment from duckdb_tables() order by 2").fetchall()
    assert tables == [
        ("assay", "assay_scores", "Long."),
        ("assay", "assay_things", "One row per thing; it's a mart."),
        ("assay", "fct_assay__things", None),
    ]
    assert con.execute(
        "select comment from duckdb_columns() where column_name = 'n' and comment is not null"
    ).fetchall() == [("How many.",)]
    assert con.execute("select n from assay.assay_scores").fetchall() == [(1,)]
    con.close()
    assert [p.name for p in target.parent.iterdir()] == ["bi.duckdb"]


def test_a_reader_keeps_its_rows_and_a_new_one_sees_the_new(built: Path, tmp_path: Path) -> None:
    target = tmp_path / "bi.duckdb"
    publish(target, warehouse=built)
    script = (
        "import duckdb, sys; con = duckdb.connect(sys.argv[1], read_only=True)\n"
        "for line in sys.stdin: print(con.execute('select n from assay.assay_things').fetchone()[0], flush=True)"
    )
    old = subprocess.Popen(
        [sys.executable, "-c", script, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert old.stdin is not None and old.stdout is not None

    def ask() -> str:
        assert old.stdin is not None and old.stdout is not None
        old.stdin.write("?\n")
        old.stdin.flush()
        return old.stdout.readline().strip()

    assert ask() == "1"
    fill(built, 2)
    publish(target, warehouse=built)
    assert ask() == "1"
    new = subprocess.run(
        [sys.executable, "-c", script, str(target)], input="?\n", capture_output=True, text=True, check=True
    )
    assert new.stdout.strip() == "2"
    old.stdin.close()
    assert old.wait() == 0


def test_what_cannot_be_published(built: Path, tmp_path: Path, warehouse: Warehouse) -> None:
    with pytest.raises(CannotRun, match="there is no warehouse here"):
        publish(tmp_path / "bi.duckdb", warehouse=tmp_path / "none.duckdb")
    with pytest.raises(CannotRun, match="this is the warehouse itself"):
        publish(built, warehouse=built)
    with pytest.raises(CannotRun, match="makes every table's name ambiguous"):
        publish(tmp_path / "assay.duckdb", warehouse=built)
    con = duckdb.connect(str(built))
    con.execute("drop schema assay cascade")
    con.close()
    target = tmp_path / "bi.duckdb"
    target.write_text("old")
    with pytest.raises(CannotRun, match="it holds no marts yet"):
        publish(target, warehouse=built)
    assert target.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bi.duckdb", "house.duckdb"]


def test_what_a_killed_publish_left_is_swept(built: Path, tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    folder = tmp_path / "out"
    folder.mkdir()
    left = [folder / f".bi.duckdb.{ended.pid}.x.new", folder / f".bi.duckdb.{ended.pid}.x.new.wal"]
    # Another publish that runs now, and another target's file, are left alone.
    others = [folder / f".bi.duckdb.{os.getpid()}.y.new", folder / f".other.duckdb.{ended.pid}.x.new"]
    for path in (*left, *others):
        path.write_bytes(b"")
    publish(folder / "bi.duckdb", warehouse=built)
    assert sorted(folder.iterdir()) == sorted([folder / "bi.duckdb", *others])

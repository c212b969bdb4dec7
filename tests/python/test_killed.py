"""A publish or a build that is killed: the published file is the old one or the new, and the warehouse can be built again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
from conftest import PROJECT, Warehouse, dbt, write_collection, write_recording

from ingest.publish import publish

#: Publishes, and says what it is about to do.
SAYING_STEPS = """
import os, sys
from pathlib import Path
from ingest import publish
def saying(what, real):
    def wrapped(*given):
        print(what, flush=True)
        return real(*given)
    return wrapped
publish._copy = saying("copying", publish._copy)
publish._sync = saying("syncing", publish._sync)
os.replace = saying("replacing", os.replace)
publish.publish(Path(sys.argv[2]), warehouse=Path(sys.argv[1]))
"""

KILLS = 15
MARTS = ("assay_recordings", "assay_answers")


def marts(path: Path, number: int) -> None:
    """Two marts that hold one number, with enough rows that copying them takes a while."""
    con = duckdb.connect(str(path))
    con.execute("create schema if not exists assay")
    for mart in MARTS:
        con.execute(
            f"create or replace table assay.{mart} as select {number} as n, hash(i) as h from range(1000000) as t (i)"
        )
    con.close()


def published(path: Path) -> int:
    """The one number that every row of the published file holds. Fails where there are two, or a row is missing."""
    con = duckdb.connect(str(path), read_only=True)
    try:
        found = {con.execute(f"select min(n), max(n), count(*) from assay.{m}").fetchone() for m in MARTS}
    finally:
        con.close()
    [(least, most, n_rows)] = found
    assert least == most and n_rows == 1_000_000
    return int(least)


def test_a_killed_publish_leaves_the_old_file_or_the_new(tmp_path: Path) -> None:
    warehouse, target = tmp_path / "house.duckdb", tmp_path / "bi.duckdb"
    marts(warehouse, 0)
    publish(target, warehouse=warehouse)
    marts(warehouse, 1)
    old = target.read_bytes()
    draw = random.Random(20261201)
    killed: Counter[str] = Counter()
    for _ in range(KILLS):
        target.write_bytes(old)
        child = subprocess.Popen(
            [sys.executable, "-c", SAYING_STEPS, str(warehouse), str(target)],
            stdout=subprocess.PIPE, text=True, cwd=PROJECT, env=os.environ | {"PYTHONPATH": str(PROJECT)},
        )  # fmt: skip
        assert child.stdout is not None
        wanted = draw.choice(["copying", "copying", "syncing", "replacing"])
        for line in child.stdout:
            if line.strip() == wanted:
                break
        time.sleep(draw.uniform(0, 0.05))
        child.send_signal(signal.SIGKILL)
        child.stdout.close()
        if child.wait() == -signal.SIGKILL:
            killed[wanted] += 1
        assert published(target) in (0, 1)
        if wanted == "copying":
            assert published(target) == 0 or child.returncode == 0
    assert killed["copying"] > KILLS / 4 and killed.total() > KILLS / 2, killed
    publish(target, warehouse=warehouse)
    assert published(target) == 1


def test_a_killed_build_leaves_what_was_loaded_and_can_be_built_again(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = [
        {"query_id": q, "context": x, "context_ids": ["d1", "d2"], "answer": "see d1", "cited": ["d1"]}
        for q in ("q1", "q2")
        for x in ("x", "y")
    ]
    warehouse.load(
        write_collection(tmp_path / "c", docs=["d1", "d2"], queries=["q1", "q2"], qrels=[("q1", "d1", 1)]),
        write_recording(tmp_path / "r", "r", "answers", rows),
    )
    # Tests write nothing that stays.
    build = ("build", "--exclude-resource-type", "unit_test", "test")
    dbt(warehouse, *build)
    raw = warehouse.everything()
    summary = warehouse.rows("select * from assay.assay_summary order by all")
    assert summary
    command = [str(Path(sys.executable).parent / "dbt"), "--no-use-colors", *build, "--profiles-dir", "."]
    env = os.environ | {
        "ASSAY_WAREHOUSE": str(warehouse.path),
        "DBT_TARGET_PATH": str(tmp_path / "target"),
        "DBT_LOG_PATH": str(tmp_path / "logs"),
    }
    for wanted in (1, 20):
        child = subprocess.Popen(command, cwd=PROJECT, env=env, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        made = 0
        for line in child.stdout:
            made += " OK created " in line
            if made == wanted:
                break
        child.send_signal(signal.SIGKILL)
        child.stdout.close()
        assert child.wait() == -signal.SIGKILL and made == wanted
        assert warehouse.everything() == raw
    dbt(warehouse, *build)
    assert warehouse.everything() == raw
    assert warehouse.rows("select * from assay.assay_summary order by all") == summary

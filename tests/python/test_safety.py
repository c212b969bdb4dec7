"""Nothing that goes wrong on the machine loses or half-changes what was there."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import PROJECT, Warehouse, dbt, write_collection, write_recording

from ingest.publish import publish

KILLS = 25

#: Loads like the command, and says on standard output what it begins to do.
SAYING_STEPS = """
import sys
from ingest.staging import Progress
real = Progress.step
def step(self, what):
    print(what, flush=True)
    real(self, what)
Progress.step = step
from ingest.__main__ import main
sys.exit(main(["load", sys.argv[1]]))
"""


def answers(n: int, cited: str) -> list[dict[str, Any]]:
    docs = [f"d{i}" for i in range(8)]
    return [
        {"query_id": f"q{i}", "context": "x", "context_ids": docs, "answer": f"see {cited}", "cited": [cited]}
        for i in range(n)
    ]


@pytest.fixture
def store(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    """A collection, a recording beside, and the recording r in its first form: 5,000 answers that cite d0."""
    docs, queries = [f"d{i}" for i in range(8)], [f"q{i}" for i in range(20_000)]
    warehouse.load(
        write_collection(tmp_path / "c", docs=docs, queries=queries, qrels=[("q1", "d0", 1)]),
        write_recording(tmp_path / "beside", "beside", "answers", answers(10, "d3")),
        write_recording(tmp_path / "r", "r", "answers", answers(5_000, "d0")),
    )
    return warehouse


def state(warehouse: Warehouse) -> tuple[Any, ...]:
    """How many rows r has in each table, and what it cites: all of one form or of the other."""
    return tuple(
        warehouse.rows(f"select count(*) from assay_raw.{t} where recording_id = 'r'")[0][0]
        for t in ("recordings", "answers", "answer_citations", "contexts", "context_documents")
    ) + tuple(
        warehouse.rows(
            "select distinct doc_id from assay_raw.answer_citations where recording_id = 'r' order by 1"
        )
    )


OLD = (1, 5_000, 5_000, 5_000, 40_000, ("d0",))
NEW = (1, 20_000, 20_000, 20_000, 160_000, ("d1",))


def environment(warehouse: Warehouse) -> dict[str, str]:
    return os.environ | {"ASSAY_WAREHOUSE": str(warehouse.path), "PYTHONPATH": str(PROJECT)}


def test_a_load_killed_at_any_moment_leaves_all_or_nothing(store: Warehouse, tmp_path: Path) -> None:
    folder = write_recording(tmp_path / "r", "r", "answers", answers(20_000, "d1"))
    beside = store.rows("select * from assay_raw.answers where recording_id = 'beside' order by all")
    draw = random.Random(20261201)
    inside = 0
    for _ in range(KILLS):
        child = subprocess.Popen(
            [sys.executable, "-c", SAYING_STEPS, str(folder)],
            env=environment(store),
            stdout=subprocess.PIPE,
            text=True,
            cwd=PROJECT,
        )
        assert child.stdout is not None
        # Four in five wait for the first insert; the others may fall anywhere.
        wanted = draw.choice(
            [
                "keeping answers",
                "keeping contexts",
                "keeping the contexts' documents",
                "checking what was written",
                "committing",
                "reading answers.jsonl",
            ]
        )
        last = ""
        for line in child.stdout:
            last = line.strip()
            if last == wanted:
                break
        time.sleep(draw.uniform(0, 0.08))
        child.send_signal(signal.SIGKILL)
        child.stdout.close()
        finished = child.wait() == 0
        found = state(store)
        assert found == NEW if finished else found in (OLD, NEW)
        inside += not finished and found == OLD and last.startswith(("keeping", "checking", "committing"))
        assert (
            store.rows("select * from assay_raw.answers where recording_id = 'beside' order by all") == beside
        )
        if found == NEW:
            write_recording(tmp_path / "again", "r", "answers", answers(5_000, "d0"))
            store.load(tmp_path / "again")
        assert state(store) == OLD
    assert inside > KILLS / 2
    store.load(folder)
    assert state(store) == NEW


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 16 MB, in memory."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("a disk can't be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_is_really_full_leaves_what_was_there(
    store: Warehouse, small_disk: Path, tmp_path: Path
) -> None:
    there = Warehouse(small_disk / "warehouse.duckdb")
    shutil.copy(store.path, there.path)
    filler = small_disk / "filler"
    free = shutil.disk_usage(small_disk).free
    filler.write_bytes(b"x" * (free - 300_000))
    folder = write_recording(tmp_path / "r", "r", "answers", answers(20_000, "d1"))
    command = [sys.executable, "-m", "ingest", "load", str(folder)]
    env = environment(there) | {"ASSAY_MEMORY": "60MB"}
    done = subprocess.run(command, env=env, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    assert "error: " in done.stderr and "Traceback" not in done.stderr
    assert state(there) == OLD
    filler.unlink()
    there.load(folder)
    assert state(there) == NEW


def test_a_full_disk_leaves_what_was_there(store: Warehouse, tmp_path: Path) -> None:
    folder = write_recording(tmp_path / "r", "r", "answers", answers(20_000, "d1"))
    most = store.path.stat().st_size + 200_000

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    done = subprocess.run(
        [sys.executable, "-m", "ingest", "load", str(folder)],
        env=environment(store) | {"ASSAY_MEMORY": "60MB"}, cwd=PROJECT, preexec_fn=limit, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert "error: " in done.stderr and "Traceback" not in done.stderr
    assert state(store) == OLD
    store.load(folder)
    assert state(store) == NEW


HOLDER = "import duckdb, sys, time; con = duckdb.connect(sys.argv[1]); print('held', flush=True); time.sleep(float(sys.argv[2]))"


def hold(path: Path, seconds: float) -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None and holder.stdout.readline().strip() == "held"
    return holder


def test_a_locked_warehouse_is_waited_for(store: Warehouse, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ingest", "load", str(tmp_path / "beside")]
    holder = hold(store.path, 60)
    try:
        done = subprocess.run(
            [*command, "--wait", "0.5"], env=environment(store), cwd=PROJECT, capture_output=True, text=True
        )
        assert done.returncode == 1 and "Traceback" not in done.stderr
        assert f"PID {holder.pid}" in done.stderr and "another process holds the warehouse" in done.stderr
        assert "waiting up to" in done.stderr
    finally:
        holder.kill()
        holder.wait()
    holder = hold(store.path, 2)
    done = subprocess.run(
        [*command, "--wait", "30"], env=environment(store), cwd=PROJECT, capture_output=True, text=True
    )
    holder.wait()
    assert done.returncode == 0 and "nothing changed" in done.stdout


def test_a_reader_sees_whole_files_through_ten_rounds(tmp_path: Path) -> None:
    """Two marts that always hold one number: a reader that opens the published file in a loop never sees two."""
    warehouse, target = tmp_path / "house.duckdb", tmp_path / "bi.duckdb"
    errors: list[str] = []
    seen: set[int] = set()

    def make(number: int) -> None:
        con = duckdb.connect(str(warehouse))
        con.execute("create schema if not exists assay")
        for mart in ("assay_recordings", "assay_answers"):
            con.execute(f"create or replace table assay.{mart} as select {number} as n from range(10000)")
        con.close()
        publish(target, warehouse=warehouse)

    make(0)
    stop = threading.Event()
    reader = (
        "import duckdb, sys\n"
        "for _ in range(1):\n"
        "    con = duckdb.connect(sys.argv[1], read_only=True)\n"
        "    print(*[con.execute(f'select min(n), max(n), count(*) from assay.{t}').fetchone() for t in ('assay_recordings', 'assay_answers')], sep='|')\n"
    )

    def read() -> None:
        while not stop.is_set():
            done = subprocess.run([sys.executable, "-c", reader, str(target)], capture_output=True, text=True)
            left, _, right = done.stdout.strip().partition("|")
            if done.returncode or left != right or not left.endswith("10000)"):
                errors.append(done.stdout + done.stderr)
            else:
                seen.add(int(left[1:].split(",")[0]))

    thread = threading.Thread(target=read)
    thread.start()
    for number in range(1, 11):
        make(number)
        time.sleep(0.3)
    stop.set()
    thread.join()
    assert not errors
    assert len(seen) > 2


def test_a_reader_sees_whole_rounds_of_load_build_and_publish(tmp_path: Path) -> None:
    """In round n each of 20 answers cites n documents: a fact and a mart of the published file must both say n."""
    warehouse, target = Warehouse(tmp_path / "house.duckdb"), tmp_path / "bi.duckdb"
    docs, queries = [f"d{i}" for i in range(12)], [f"q{i}" for i in range(20)]
    warehouse.load(write_collection(tmp_path / "c", docs=docs, queries=queries, qrels=[("q1", "d0", 1)]))
    reader = (
        "import duckdb, sys\n"
        "con = duckdb.connect(sys.argv[1], read_only=True)\n"
        "one = 'select sum(n_cited) from assay.assay_answers'\n"
        "two = 'select count(*) from assay.fct_assay__citations'\n"
        "print(*[con.execute(sql).fetchone()[0] for sql in (one, two)])\n"
    )
    errors: list[str] = []
    seen: list[int] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            done = subprocess.run([sys.executable, "-c", reader, str(target)], capture_output=True, text=True)
            found = set(done.stdout.split())
            if done.returncode or len(found) != 1 or int(found.copy().pop()) % 20:
                errors.append(done.stdout + done.stderr)
            else:
                seen.append(int(found.pop()) // 20)

    thread = threading.Thread(target=read)
    for number in range(1, 11):
        rows = [
            {"query_id": q, "context": "x", "context_ids": docs, "answer": "", "cited": docs[:number]}
            for q in queries
        ]
        warehouse.load(write_recording(tmp_path / "r", "r", "answers", rows))
        # After the first round only what the recording changes is built.
        changed = ["fct_assay__context_documents", "fct_assay__citations", "assay_contexts", "assay_answers"]
        dbt(warehouse, "run", "--select", *(["+assay_answers"] if number == 1 else changed))
        publish(target, warehouse=warehouse.path)
        if number == 1:
            thread.start()
    time.sleep(1)
    stop.set()
    thread.join()
    assert not errors
    # Every round is seen in its turn, or passed over; none comes back.
    assert seen == sorted(seen) and seen[-1] == 10 and len(set(seen)) > 5


# What is loaded, and taking it out


def test_list_and_drop(store: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert store.run("list") == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in said] == [
        "collection c",
        "recording beside on c",
        "recording r on c",
    ]
    assert store.run("drop", "nothing") == 1
    assert "'nothing' is not loaded. Loaded: c, beside, r." in capsys.readouterr().err
    before = store.everything()
    assert store.run("drop", "c") == 1
    assert "the recordings beside, r rest on the collection 'c'" in capsys.readouterr().err
    assert store.everything() == before
    assert store.run("drop", "r") == 0
    assert state(store) == (0, 0, 0, 0, 0)
    assert store.rows("select count(*) from assay_raw.answers") == [(10,)]
    assert store.run("drop", "c", "--with-recordings") == 0
    left = {table for table, rows in store.everything().items() if rows}
    assert left == {"loads", "check_rules"}


def test_a_replaced_collection_says_whom_it_touches(
    store: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = [f"q{i}" for i in range(20_000)]
    write_collection(tmp_path / "c", docs=["d0"], queries=queries, qrels=[("q1", "d0", 0)])
    capsys.readouterr()
    store.load(tmp_path / "c")
    assert "the collection was replaced under beside, r" in capsys.readouterr().out


def test_a_pinned_collection_is_held_to_its_digest(store: Warehouse, tmp_path: Path) -> None:
    [(digest,)] = store.rows("select digest from assay_raw.collections")
    check = "select observed from assay_raw.checks where check_name = 'collection_digest_differs' and status = 'failed'"
    store.load(
        write_recording(tmp_path / "pinned", "p", "answers", answers(1, "d0"), collection_digest=digest)
    )
    assert store.rows(check) == []
    store.load(
        write_recording(tmp_path / "pinned", "p", "answers", answers(1, "d0"), collection_digest="sha256:0")
    )
    assert store.rows(check) == [(1,)]


def test_strict_loses_no_line(store: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_recording(tmp_path / "s", "s", "answers", [*answers(3, "d0"), '{"query_id": "q'])
    assert store.run("load", "--strict", folder) == 1
    assert "answers.jsonl, line 4: this is not valid JSON" in capsys.readouterr().err
    assert store.rows("select count(*) from assay_raw.recordings where recording_id = 's'") == [(0,)]
    store.load(folder)
    assert store.rows(
        "select n_lines, n_loaded, n_quarantined from assay_raw.recordings where recording_id = 's'"
    ) == [(4, 3, 1)]

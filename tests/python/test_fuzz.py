"""Mutated recordings: each is loaded with its lines in balance, or refused in a sentence. Nothing else may happen.

An input is a mutated line among the lines of a file: it is loaded, or quarantined, or its file is refused. Some files are mutated
wildly, keys and all; in the others only what can't refuse a file. ASSAY_FUZZ_FILES sets how many files are tried.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import PROJECT, write_collection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.checks.settings import Settings
from ingest.errors import BadInput
from ingest.load import find, load
from ingest.warehouse import open_warehouse

FILES = int(os.environ.get("ASSAY_FUZZ_FILES", "206"))
LINES = 50

#: Files are refused for what they are, not for how many lines can't be read.
LENIENT = Settings(quarantine_share=1.0)

VALUES: list[Any] = [
    None, True, 0, -1, 1.5, 10**30, "", " ", "x", "d1", "NULL", "nan", [], ["d1"], [None], [[]], {}, {"a": [1]}, "\u2028", "é" * 50,
    "'; drop table x; --", "{id}", "\\", "a\nb", ["d1", "d1"], ["d1", 2, True], "2026-01-01T00:00:00", float("nan"), float("inf"),
]  # fmt: skip


def valid(kind: str, i: int) -> dict[str, Any]:
    """A good line, with a query of its own."""
    base: dict[str, Any] = {"query_id": f"q{i}", "trial": 1}
    if kind == "answers":
        return base | {
            "context": "x", "context_ids": ["d1", "d2"], "passage_ids": ["1", None], "context_texts": ["a", None], "answer": "see d1",
            "cited": ["d1", 2], "prompt_tokens": 5, "duration_ms": 1.5, "recorded_at": "2026-01-01T00:00:00Z", "error": None,
        }  # fmt: skip
    if kind == "contexts":
        return base | {"context": "x", "doc_ids": ["d1", "d2"], "scores": [2, 1.5], "searched_as": "y"}
    if i % 2:
        return base | {
            "retriever": "x", "trace_id": f"t{i}", "seq": 1, "event": "search", "query": "a b", "results": ["d1"], "scores": [1],
            "call_id": "c", "attempt": 1, "step": 1,
        }  # fmt: skip
    return base | {
        "retriever": "x", "picked": ["d1", None], "searches": [{"query": "a", "results": ["d1", "d2"], "step": 1, "scores": [2, 1]}, {"query": ""}],
    }  # fmt: skip


#: What a line is known by: a change to it can refuse the file.
KEYS = ("query_id", "trial", "context", "retriever", "trace_id", "seq")


def mutated(draw: random.Random, row: dict[str, Any], wild: bool) -> bytes:
    """A line with one thing wrong, or odd, about it; the keys that can refuse a file only where it is wild."""
    how = draw.randrange(7)
    key = draw.choice([k for k in row if wild or k not in KEYS])
    if how == 0:
        row[key] = draw.choice(VALUES)
    elif how == 1 and key not in ("query_id", "context", "retriever"):
        del row[key]
    elif how == 2:
        row["extra key"] = draw.choice(VALUES)
    elif how == 3:
        inner = row.get("searches")
        if inner:
            inner[0][draw.choice(list(inner[0]))] = draw.choice(VALUES)
        else:
            row[key] = [row[key]]
    first = {k: row[k] for k in KEYS if k in row}
    data = bytearray(json.dumps({**first, **row}).encode())
    # Bytes are changed behind the keys.
    start = 0 if wild else len(json.dumps(first))
    if start >= len(data):
        return bytes(data)
    if how == 4:
        del data[draw.randrange(start, len(data)) :]
    elif how == 5:
        data[draw.randrange(start, len(data))] = draw.choice(
            [0, 9, 13, 34, 44, 92, 123, 125, 0x80, 0xC3, 0xFF]
        )
    elif how == 6:
        at = draw.randrange(start, len(data))
        data[at:at] = draw.choice(
            [b'"', b"\\", b"\\ud800", b"{", b"[" * 600, b"\r", b"\x1f", b"1e999", b",,", b"\xe2\x80\xa8", b"NaN", b",}"]
        )  # fmt: skip
    return bytes(data).replace(b"\n", b" ")


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    root = tmp_path_factory.mktemp("fuzz")
    con = open_warehouse(root / "warehouse.duckdb")
    folder = write_collection(
        root / "c", docs=["d1", "d2"], queries=[f"q{i}" for i in range(LINES)], qrels=[("q1", "d1", 1)]
    )
    [collection] = find([folder])
    load(con, collection)
    return con


def tried(con: duckdb.DuckDBPyConnection, folder: Path, kind: str, lines: list[bytes]) -> set[int] | None:
    """Load lines as a recording; the numbers of those in quarantine, None where it was refused. Asserts what must hold."""
    folder.mkdir(parents=True)
    (folder / f"{kind}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    manifest = {"recording": "r", "kind": kind, "collection": "c", "x": str(folder)}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    [found] = find([folder])
    start = time.monotonic()
    try:
        load(con, found, settings=LENIENT)
    except BadInput as error:
        assert str(folder) in str(error) and "\n" not in str(error)
        return None
    finally:
        assert time.monotonic() - start < 20
    [(n_lines, n_loaded, n_quarantined)] = con.execute(
        "select n_lines, n_loaded, n_quarantined from assay_raw.recordings"
    ).fetchall()
    kept = {
        line
        for (line,) in con.execute(
            "select line from assay_raw.quarantine where kind = 'recording'"
        ).fetchall()
    }
    written = sum(1 for line in lines if line.strip(b" \t\r"))
    assert n_lines == written == n_loaded + n_quarantined and len(kept) == n_quarantined
    if kind != "traces":
        [(n_rows,)] = con.execute(f"select count(*) from assay_raw.{kind}").fetchall()
        assert n_rows == n_loaded
    return kept


def test_mutated_lines_are_loaded_quarantined_or_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(FILES):
        draw = random.Random(seed)
        kind = draw.choice(["answers", "contexts", "traces"])
        wild = draw.random() < 0.3
        lines = [mutated(draw, valid(kind, i), wild) for i in range(LINES - 1)]
        # One line is as it should be, so that a file isn't refused for having none.
        lines.append(json.dumps(valid(kind, LINES - 1)).encode())
        kept = tried(con, tmp_path / str(seed), kind, lines)
        if kept is None:
            outcomes["refused"] += LINES - 1
        else:
            outcomes["quarantined"] += len(kept)
            outcomes["loaded"] += LINES - 1 - len(kept)
    n = sum(outcomes.values())
    assert n == FILES * (LINES - 1)
    assert min(outcomes[o] for o in ("loaded", "quarantined", "refused")) >= n / 10, outcomes


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["d1", "q1", "x", ""]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), kind=st.sampled_from(["answers", "contexts", "traces"]))
def test_any_json_under_any_key(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, data: st.DataObject, kind: str
) -> None:
    """Any value under any key of the format: a line is loaded or quarantined, or the file is refused."""
    lines = []
    for i in range(8):
        row = valid(kind, i)
        for key in data.draw(st.lists(st.sampled_from([*row, "extra", "another"]), max_size=3)):
            row[key] = data.draw(_json)
        lines.append(json.dumps(row).encode())
    lines.append(json.dumps(valid(kind, 9)).encode())
    folder = tmp_path / str(uuid.uuid4())
    tried(con, folder, kind, lines)
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    "path", sorted((PROJECT / "tests" / "python" / "kept_inputs").glob("*.jsonl")), ids=lambda p: p.stem
)
def test_inputs_that_once_failed(con: duckdb.DuckDBPyConnection, tmp_path: Path, path: Path) -> None:
    """Each is a kind, a dash and what was wrong with it; its second line must be in quarantine, the others loaded."""
    kept = tried(con, tmp_path / "r", path.stem.split("-")[0], path.read_bytes().splitlines())
    assert kept == {2}

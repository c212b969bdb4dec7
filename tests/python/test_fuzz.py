"""Mutated recordings: each is loaded with its lines in balance, or refused in a sentence. Nothing else may happen.

ASSAY_FUZZ_FILES sets how many files are tried; each has 30 lines, of which one in four is mutated.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import write_collection

from ingest import staging
from ingest.errors import BadInput
from ingest.load import find, load
from ingest.warehouse import open_warehouse

FILES = int(os.environ.get("ASSAY_FUZZ_FILES", "150"))
LINES = 30

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


def mutated(draw: random.Random, row: dict[str, Any]) -> bytes:
    """A line with one thing wrong, or odd, about it."""
    how = draw.randrange(7)
    key = draw.choice(list(row))
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
    data = bytearray(json.dumps(row).encode())
    if how == 4:
        del data[draw.randrange(len(data)) :]
    elif how == 5:
        data[draw.randrange(len(data))] = draw.choice([0, 9, 13, 34, 44, 92, 123, 125, 0x80, 0xC3, 0xFF])
    elif how == 6:
        at = draw.randrange(len(data))
        data[at:at] = draw.choice(
            [
                b'"',
                b"\\",
                b"\\ud800",
                b"{",
                b"[" * 500,
                b"\r",
                b"\x1f",
                b"1e999",
                b",,",
                b"\xe2\x80\xa8",
                b"NaN",
            ]
        )
    return bytes(data).replace(b"\n", b" ")


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    root = tmp_path_factory.mktemp("fuzz")
    con = open_warehouse(root / "warehouse.duckdb")
    [collection] = find(
        [
            write_collection(
                root / "c",
                docs=["d1", "d2"],
                queries=[f"q{i}" for i in range(LINES)],
                qrels=[("q1", "d1", 1)],
            )
        ]
    )
    load(con, collection)
    return con


def test_mutated_files_are_loaded_in_balance_or_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "QUARANTINE_SHARE", 1.0)
    outcomes: Counter[str] = Counter()
    for seed in range(FILES):
        draw = random.Random(seed)
        kind = draw.choice(["answers", "contexts", "traces"])
        rows = [
            json.dumps(valid(kind, i)).encode() if draw.random() < 0.75 else mutated(draw, valid(kind, i))
            for i in range(LINES)
        ]
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / f"{kind}.jsonl").write_bytes(b"\n".join(rows) + b"\n")
        (folder / "manifest.json").write_text(
            json.dumps({"recording": "r", "kind": kind, "collection": "c", "x": seed})
        )
        [found] = find([folder])
        try:
            load(con, found)
        except BadInput as error:
            outcomes["refused"] += 1
            assert str(folder) in str(error) and "\n" not in str(error), seed
            continue
        [(n_lines, n_loaded, n_quarantined)] = con.execute(
            "select n_lines, n_loaded, n_quarantined from assay_raw.recordings"
        ).fetchall()
        [(kept,)] = con.execute("select count(*) from assay_raw.quarantine").fetchall()
        written = sum(1 for row in rows if row.strip(b" \t\r"))
        assert n_lines == written == n_loaded + n_quarantined and kept == n_quarantined, seed
        table = {"answers": "answers", "contexts": "contexts", "traces": "traces"}[kind]
        [(n_rows,)] = con.execute(f"select count(*) from assay_raw.{table}").fetchall()
        assert n_rows == n_loaded, seed
        outcomes["loaded"] += n_loaded
        outcomes["quarantined"] += n_quarantined
    assert min(outcomes["refused"], outcomes["loaded"], outcomes["quarantined"]) > FILES / 10

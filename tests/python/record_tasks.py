"""What the tests of recording share: a small collection with a run on it, and the command with a server behind it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Warehouse, write_collection, write_recording
from ollama_faults import MODEL, Body, Ollama

DOCS = [
    {"doc_id": "1", "name": "oak desk", "note": "sturdy\nbrown"},
    {"doc_id": "2", "name": "pine desk", "note": ""},
    {"doc_id": "3", "name": "floor lamp", "note": "bright"},
    {"doc_id": "MED-10", "name": "wool rug", "note": "green"},
]
QUERIES = [
    {"query_id": "a", "query": "desk", "split": "test"},
    {"query_id": "b", "query": "floor lamp", "split": "test"},
    {"query_id": "c", "query": "wool rug {query}", "split": "test"},
    {"query_id": "d", "query": "chair", "split": "train"},
]
CONTEXTS = {"a": ["2", "1"], "b": ["3", "MED-10"], "c": []}


def prepared(warehouse: Warehouse, folder: Path) -> None:
    """Load the collection ``c`` and the run ``run`` of the retriever ``bm25``."""
    write_collection(
        folder / "c", docs=DOCS, queries=QUERIES, qrels=[("a", "1", 1), ("b", "3", 1), ("c", "MED-10", 1)], fields=["name", "note"]
    )  # fmt: skip
    rows = [{"query_id": q, "context": "bm25", "doc_ids": docs} for q, docs in CONTEXTS.items()]
    write_recording(folder / "run", "run", "contexts", rows, split="test", results_shown=2)
    warehouse.load(folder / "c", folder / "run")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


class Recorder:
    """Runs ``ingest record`` in this process; `out` is where it writes."""

    def __init__(self, warehouse: Warehouse, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.warehouse, self.out, self._capsys = warehouse, folder / "out", capsys
        #: What was sent in the last run, one body a call.
        self.sent: list[dict[str, Any]] = []
        self.said = self.complained = ""

    def run(
        self, kind: str, reply: Callable[[dict[str, Any], int], Body], *more: str, digest: str | None = None
    ) -> int:
        """Record with a server that replies so; the exit code."""
        self._capsys.readouterr()
        with Ollama(reply) as ollama:
            ollama.digest = digest or ollama.digest
            usual = ["--contexts", "run"] if kind == "answers" else ["--retriever", "bm25"]
            code = self.warehouse.run(
                "record", kind, *usual, "--split", "test", "--model", MODEL, "--host", ollama.host, "--out", self.out, "--retries", "0", *more
            )  # fmt: skip
            self.sent = ollama.sent
        self.said, self.complained = self._capsys.readouterr()
        assert "Traceback" not in self.complained
        return code

    def rows(self) -> list[dict[str, Any]]:
        """The recorded lines."""
        [path] = [p for p in self.out.iterdir() if p.suffix == ".jsonl"]
        return lines(path)

    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / "manifest.json").read_text(encoding="utf-8"))
        return found

"""`ingest init`: what it guesses, what it leaves to a person, and that loading names what is left."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from conftest import Warehouse, write_lines

from ingest.errors import BadInput
from ingest.init import init


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    write_lines(
        folder / "catalog.jsonl",
        [
            {"doc_id": 1, "name": "desk", "price": 3},
            {"doc_id": 2, "name": "lamp", "text": "a lamp", "price": 4},
        ],
    )
    write_lines(folder / "queries.jsonl", [{"query_id": "q", "query": "lamp"}])
    write_lines(
        folder / "qrels.jsonl",
        [{"query_id": "q", "doc_id": 2, "grade": 2}, {"query_id": "q", "doc_id": 1, "grade": 0}],
    )
    return folder


def test_a_first_collection_and_recording(
    warehouse: Warehouse, tmp_path: Path, collection: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert warehouse.run("init", collection) == 0
    described = json.loads((collection / "collection.json").read_text())
    assert described["collection"] == "shop"
    assert described["fields"] == ["name", "text"]
    assert described["exact_grade"] == 2 and described["judgments"] == "graded"
    qrels = collection / "qrels.jsonl"
    assert described["files"]["qrels.jsonl"] == {
        "sha256": hashlib.sha256(qrels.read_bytes()).hexdigest(),
        "rows": 2,
    }

    recording = tmp_path / "first-try"
    recording.mkdir()
    write_lines(
        recording / "answers.jsonl",
        [{"query_id": "q", "context": "bm25", "context_ids": [2, 1], "answer": "2", "cited": [2]}],
    )
    assert warehouse.run("init", recording) == 0
    manifest = json.loads((recording / "manifest.json").read_text())
    assert (manifest["kind"], manifest["collection"], manifest["results_shown"]) == ("answers", "shop", 2)

    # What only a person knows is named by load until it is written.
    capsys.readouterr()
    assert warehouse.run("load", collection) == 1
    assert "'licence', 'source' still say 'FILL IN'" in capsys.readouterr().err
    for path in (collection / "collection.json", recording / "manifest.json"):
        given = json.loads(path.read_text())
        path.write_text(json.dumps({k: v for k, v in given.items() if not str(v).startswith("FILL IN")}))
    warehouse.load(collection, recording)
    assert warehouse.rows("select is_pinned from assay_raw.recordings") == [(True,)]


def test_pinning_anew_keeps_what_is_said(collection: Path) -> None:
    init(collection)
    path = collection / "collection.json"
    given = json.loads(path.read_text()) | {"licence": "MIT"}
    path.write_text(json.dumps(given))
    with pytest.raises(BadInput, match="it is there already"):
        init(collection)
    write_lines(
        collection / "queries.jsonl", [{"query_id": "q", "query": "lamp"}, {"query_id": "r", "query": "desk"}]
    )
    init(collection, overwrite=True)
    after = json.loads(path.read_text())
    assert after["licence"] == "MIT" and after["files"]["queries.jsonl"]["rows"] == 2


@pytest.mark.parametrize(
    ("name", "text", "kind", "shown"),
    [
        ("run.txt", "q Q0 a 1 2 t\nq Q0 b 2 1 t\nq Q0 a 1 2 u\n", "contexts", 2),
        ("contexts.jsonl", '{"query_id": "q", "context": "x", "doc_ids": ["a", "b", "c"]}\n', "contexts", 3),
        ("traces.jsonl", '{"query_id": "q", "retriever": "x", "searches": [{"results": ["a"]}, {"results": ["a", "b"]}]}\n', "traces", 2),
        ("traces.jsonl", '{"query_id": "q", "retriever": "x", "event": "search", "results": ["a", "b"]}\n', "traces", 2),
    ],
)  # fmt: skip
def test_kinds_are_guessed_from_the_files(
    tmp_path: Path, name: str, text: str, kind: str, shown: int
) -> None:
    (tmp_path / name).write_text(text)
    init(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert (manifest["kind"], manifest["results_shown"]) == (kind, shown)
    assert manifest["collection"].startswith("FILL IN")


def test_nothing_to_describe(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="none of catalog"):
        init(tmp_path)
    (tmp_path / "traces.jsonl").write_text("")
    (tmp_path / "answers.jsonl").write_text("")
    with pytest.raises(BadInput, match="files of answers and traces lie here"):
        init(tmp_path)


@pytest.mark.parametrize(
    ("asked", "split"),
    [
        (["a", "b"], "test"),
        (["a"], "test"),
        (["a", "c"], "FILL IN"),
        (["a", "b", "c"], None),
        (["a", "stranger"], "FILL IN"),
    ],
)
def test_the_split_is_what_the_queries_show(
    collection: Path, tmp_path: Path, asked: list[str], split: str | None
) -> None:
    write_lines(
        collection / "queries.jsonl",
        [{"query_id": q, "query": q, "split": s} for q, s in (("a", "test"), ("b", "test"), ("c", "train"))],
    )
    init(collection)
    folder = tmp_path / "run"
    folder.mkdir()
    write_lines(folder / "contexts.jsonl", [{"query_id": q, "context": "x", "doc_ids": []} for q in asked])
    init(folder)
    found = json.loads((folder / "manifest.json").read_text()).get("split")
    assert found == split or (split is not None and found is not None and found.startswith(split))


def test_an_asked_file_takes_the_split_s_place(collection: Path, tmp_path: Path) -> None:
    init(collection)
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.txt").write_text("q Q0 a 1 2 t\n")
    (folder / "asked.txt").write_text("q\n")
    init(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["asked"] == "asked.txt" and "split" not in manifest

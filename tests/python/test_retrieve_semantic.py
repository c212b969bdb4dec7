"""Semantic retrieval: exact, the same bits everywhere, embedded once; and embeddings that can't be meant."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pytest
from conftest import PROJECT, Warehouse, write_collection
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from test_retrieve import lists, manifest, refused, run

from ingest.retrieve import nearest
from ingest.retrieve.nearest import search, unit_integers

Floats = npt.NDArray[np.float32]


def made(seed: int, n: int, dimensions: int) -> Floats:
    """Vectors of which every seventh is an earlier one again, and every eleventh one scaled: ties, exact in their direction."""
    rng = np.random.default_rng(seed)
    found = rng.standard_normal((n, dimensions)).astype(np.float32)
    found[7::7] = found[: len(found[7::7])]
    found[11::11] = found[: len(found[11::11])] * np.float32(4)
    return found


def slowly(
    queries: Floats, vectors: Floats, places: npt.NDArray[np.int64], depth: int
) -> list[list[tuple[int, int]]]:
    """The best documents by Python's own integers: (place, dot product in steps of 2^-52)."""
    q, d = unit_integers(queries).astype(np.int64).tolist(), unit_integers(vectors).astype(np.int64).tolist()
    found = []
    for query in q:
        best: dict[int, int] = {}
        for place, vector in zip(places.tolist(), d, strict=True):
            dot = min(sum(a * b for a, b in zip(query, vector, strict=True)), 1 << 52)
            best[place] = max(dot, best.get(place, dot))
        found.append(sorted(best.items(), key=lambda item: (-item[1], item[0]))[:depth])
    return found


def as_bytes(found: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]) -> bytes:
    return b"".join(places.tobytes() + scores.tobytes() for places, scores in found)


@pytest.mark.parametrize("depth", [1, 5, 400])
def test_search_is_exact(depth: int) -> None:
    queries, vectors = made(1, 9, 33), made(2, 300, 33)
    places = np.sort(np.random.default_rng(3).integers(0, 120, 300))
    expected = slowly(queries, vectors, places, depth)
    for (found, scores), right in zip(search(queries, [(places, vectors)], depth), expected, strict=True):
        assert found.tolist() == [place for place, _ in right]
        assert scores.tolist() == [dot / (1 << 52) for _, dot in right]


def test_scores_are_cosines() -> None:
    queries, vectors = made(1, 20, 768), made(2, 500, 768)
    wide, long = vectors.astype(np.longdouble), queries.astype(np.longdouble)
    cosines = (long @ wide.T) / np.linalg.norm(long, axis=1)[:, None] / np.linalg.norm(wide, axis=1)
    for row, (places, scores) in zip(cosines, search(queries, [(np.arange(500), vectors)], 500), strict=True):
        assert np.abs(row[places].astype(np.float64) - scores).max() < 1e-7
    [(places, scores)] = search(vectors[:1], [(np.arange(500), vectors)], 3)
    assert places[0] == 0 and 1 - 1e-7 < scores[0] <= 1


@pytest.mark.parametrize("block", [1, 7, 1000, 16_384])
def test_the_same_bits_for_any_block(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    queries, vectors = made(1, 40, 256), made(2, 2500, 256)
    places = np.arange(2500) // 2
    expected = as_bytes(search(queries, [(places, vectors)], 20))
    pieces = [(places[i : i + 100], vectors[i : i + 100]) for i in range(0, 2500, 100)]
    assert as_bytes(search(queries, pieces, 20, block)) == expected
    monkeypatch.setattr(nearest, "QUERIES", 7)
    monkeypatch.setattr(nearest, "ROWS", 3)
    monkeypatch.setattr(nearest, "PAIRS", 5)
    assert as_bytes(search(queries, pieces, 20, block)) == expected


_IN_THREADS = """
import hashlib, sys
sys.path[:0] = [{tests!r}, {project!r}]
import numpy as np
from test_retrieve_semantic import as_bytes, made
from ingest.retrieve.nearest import search
found = search(made(1, 300, 300), [(np.arange(9000), made(2, 9000, 300))], 50, {block})
print(hashlib.sha256(as_bytes(found)).hexdigest())
"""


def test_the_same_bits_for_any_number_of_threads() -> None:
    digests = set()
    for threads, block in (("1", 16_384), ("8", 16_384), ("8", 1000)):
        script = _IN_THREADS.format(tests=str(Path(__file__).parent), project=str(PROJECT), block=block)
        env = os.environ | {
            "OPENBLAS_NUM_THREADS": threads,
            "OMP_NUM_THREADS": threads,
            "MKL_NUM_THREADS": threads,
        }
        done = subprocess.run(
            [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
        )
        digests.add(done.stdout)
    assert len(digests) == 1


@settings(max_examples=60, deadline=None)
@given(
    vectors=arrays.arrays(
        np.float32, (12, 5), elements=st.floats(-(2.0**100), 2.0**100, width=32).filter(lambda x: x == 0 or abs(x) > 1e-30)
    ).filter(lambda v: bool(v.any(axis=1).all())),
    depth=st.integers(1, 12),
    block=st.integers(1, 13),
)  # fmt: skip
def test_search_is_exact_for_any_vectors(vectors: Floats, depth: int, block: int) -> None:
    places = np.arange(8)
    found = search(vectors[:4], [(places, vectors[4:])], depth, block)
    expected = slowly(vectors[:4], vectors[4:], places, depth)
    assert [list(zip(p.tolist(), s.tolist(), strict=True)) for p, s in found] == [
        [(place, dot / (1 << 52)) for place, dot in right] for right in expected
    ]


# Embeddings that a model makes


TEXTS = ["a lamp of brass", "an oak table", "oak furniture, round", "", "a lamp of brass"]


@pytest.fixture
def store(tmp_path: Path, warehouse: Warehouse) -> Warehouse:
    docs = [{"doc_id": str(i), "text": text} for i, text in enumerate(TEXTS)]
    queries = [{"query_id": "q", "query": "wooden table"}, {"query_id": "blank", "query": " "}]
    warehouse.load(write_collection(tmp_path / "c", docs=docs, queries=queries, fields=["text"]))
    return warehouse


def test_wordllama_needs_no_network_and_embeds_a_text_once(
    store: Warehouse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import wordllama
    from wordllama import WordLlama
    from wordllama.inference import WordLlamaInference

    embedded: list[str] = []
    embed = WordLlamaInference.embed

    def counted(self: Any, texts: list[str], **named: Any) -> Any:
        embedded.extend(texts)
        return embed(self, texts, **named)

    monkeypatch.setattr(WordLlamaInference, "embed", counted)
    assert run(store, "semantic") == 0
    assert sorted(embedded) == sorted({*TEXTS, "wooden table"} - {""})
    assert "2 lists, 1 of them empty" in capsys.readouterr().out
    found = lists(store, "semantic")[("q", 1)]
    # The two lamps tie; the document without a text has nothing to be found by.
    assert found[:2] == ["1", "2"] and found[2:] == ["0", "4"]
    [file] = (store.path.parent / "c" / "embeddings").iterdir()
    before = file.read_bytes()
    assert run(store, "semantic") == 0
    assert len(embedded) == 4 and file.read_bytes() == before
    rows = duckdb.execute(f"select text_sha256, embedding, model_digest from '{file}'").fetchall()
    assert {sha256 for sha256, _, _ in rows} == {hashlib.sha256(t.encode()).hexdigest() for t in embedded}
    assert {digest for _, _, digest in rows} == {manifest(store, "semantic")["model_digest"]}
    # Against wordllama itself.
    model = WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    query, *texts = model.embed(["wooden table", *TEXTS[:3]], norm=True)
    scores = dict(store.rows("select doc_id, score from assay_raw.context_documents"))
    for i, text in enumerate(texts):
        assert scores[str(i)] == pytest.approx(float(query @ text), abs=1e-6)


def test_a_store_of_embeddings_that_is_none(store: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(store, "semantic", "--cache", store.path.parent / "cache") == 0
    [file] = (store.path.parent / "cache").iterdir()
    file.write_text("no Parquet")
    capsys.readouterr()
    assert run(store, "semantic", "--cache", store.path.parent / "cache") == 1
    assert "this is no file of recorded embeddings" in capsys.readouterr().err


def test_a_folder_that_nobody_may_write_to_is_left_alone(store: Warehouse) -> None:
    folder = store.path.parent / "c"
    folder.chmod(0o555)
    try:
        assert run(store, "semantic") == 0
    finally:
        folder.chmod(0o755)
    assert not (folder / "embeddings").exists()
    assert [path.name for path in (store.path.parent / "embeddings").iterdir()] == ["c"]


class _Server(BaseHTTPRequestHandler):
    """As much of Ollama's HTTP interface as embedding needs."""

    seen: list[dict[str, Any]]
    answer: Any

    def _reply(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self._reply(200, {"models": [{"model": "tiny:latest", "digest": "ab" * 32}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/api/show":
            self._reply(200, {"license": "Apache-2.0\nthe rest of it", "model_info": {}})
            return
        type(self).seen.append(body)
        status, reply = type(self).answer(body["input"])
        self._reply(status, reply)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[tuple[str, type[_Server]]]:
    handler = type("Handler", (_Server,), {"seen": [], "answer": None})
    one = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=one.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{one.server_port}", handler
    one.shutdown()
    one.server_close()


def counted(texts: list[str]) -> tuple[int, Any]:
    """An embedding anyone can check: how often a text holds o, l and a."""
    return 200, {
        "model": "tiny",
        "embeddings": [[t.count("o") + 0.5, t.count("l"), t.count("a")] for t in texts],
    }


def test_an_ollama_model_embeds(store: Warehouse, server: tuple[str, type[_Server]]) -> None:
    host, handler = server
    handler.answer = staticmethod(counted)
    options = ("--model", "tiny", "--host", host, "--query-prefix", "find: ")
    assert run(store, "semantic", *options) == 0
    sent = [text for body in handler.seen for text in body["input"]]
    assert sorted(sent) == sorted({*TEXTS, "find: wooden table"} - {""})
    assert all(body["model"] == "tiny:latest" for body in handler.seen)
    _, reply = counted(["find: wooden table", *TEXTS[:3]])
    query, *texts = (np.array(one) / np.linalg.norm(one) for one in reply["embeddings"])
    scores = dict(store.rows("select doc_id, score from assay_raw.context_documents"))
    assert [scores[str(i)] for i in range(3)] == pytest.approx(
        [float(query @ text) for text in texts], abs=1e-7
    )
    found = manifest(store, "semantic")
    assert found["model"] == "tiny:latest" and found["model_digest"] == "sha256:" + "ab" * 32
    assert found["model_licence"] == "Apache-2.0" and found["retrieval"]["query_prefix"] == "find: "
    assert host not in json.dumps(found)
    n = len(handler.seen)
    assert run(store, "semantic", *options) == 0
    assert len(handler.seen) == n


def test_an_ollama_server_that_does_not_do_it(
    store: Warehouse, server: tuple[str, type[_Server]], capsys: pytest.CaptureFixture[str]
) -> None:
    host, handler = server
    options = ("--model", "tiny", "--host", host)
    handler.answer = staticmethod(lambda texts: (400, {"error": "this model does not support embeddings"}))
    assert "does not support embeddings" in refused(store, capsys, "semantic", *options)
    handler.answer = staticmethod(lambda texts: (200, {"embeddings": [[0.0, 0.0] for _ in texts]}))
    assert "gave no direction" in refused(store, capsys, "semantic", *options)
    handler.answer = staticmethod(
        lambda texts: (200, {"embeddings": [[1.0] * (1 + i) for i, _ in enumerate(texts)]})
    )
    assert "sizes for" in refused(store, capsys, "semantic", *options)
    handler.answer = staticmethod(lambda texts: (200, ["no object"]))
    assert "gives no reply of Ollama's" in refused(store, capsys, "semantic", *options)
    assert "ollama pull other" in refused(store, capsys, "semantic", "--model", "other", "--host", host)
    nobody = ("--model", "tiny", "--host", "http://127.0.0.1:9")
    assert "no Ollama server answers at http://127.0.0.1:9" in refused(store, capsys, "semantic", *nobody)


# Embeddings that were recorded elsewhere


def recorded(path: Path, rows: str, columns: str = "doc_id, query_id, embedding") -> Path:
    duckdb.execute(f"copy (select * from (values {rows}) as t ({columns})) to '{path}' (format parquet)")
    return path


GOOD = "('0', null, [1.0, 0.0]), ('1', null, [1.0, 1.0]), ('2', null, [0.0, 2.0]), ('4', null, [3.0, 0.0]), (null, 'q', [1.0, 0.1])"


def test_recorded_embeddings_by_id(store: Warehouse, tmp_path: Path) -> None:
    file = recorded(tmp_path / "e.parquet", GOOD)
    assert run(store, "semantic", "--embeddings", file) == 0
    assert lists(store, "semantic") == {("blank", 1): [], ("q", 1): ["0", "4", "1", "2"]}
    found = manifest(store, "semantic")
    assert found["retrieval"]["embeddings"] == [
        {"file": "e.parquet", "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    ]
    assert found["retrieval"]["dimensions"] == 2


def test_recorded_embeddings_by_text_are_those_that_retrieve_kept(store: Warehouse) -> None:
    assert run(store, "semantic") == 0
    before = store.rows("select query_id, rank, doc_id, score from assay_raw.context_documents order by all")
    [file] = (store.path.parent / "c" / "embeddings").iterdir()
    assert run(store, "semantic", "--embeddings", file) == 0
    after = store.rows("select query_id, rank, doc_id, score from assay_raw.context_documents order by all")
    assert after == before and manifest(store, "semantic")["model"].startswith("wordllama")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (GOOD.replace("[0.0, 2.0]", "[0.0]"), "the document '2' has an embedding of 1 numbers, and most have 2"),
        (GOOD.replace("[0.0, 2.0]", "['nan'::double, 1.0]"), "the document '2' has an embedding with a number that is NaN"),
        (GOOD.replace("[0.0, 2.0]", "[1.0, '-inf'::double]"), "the document '2' has an embedding with a number that is NaN or inf"),
        (GOOD.replace("[0.0, 2.0]", "[null, 1.0]"), "the document '2' has an embedding with a number missing"),
        (GOOD.replace("[0.0, 2.0]", "null"), "the document '2' has no embedding"),
        (GOOD.replace("[0.0, 2.0]", "[0.0, 0.0]"), "the document '2' has an embedding of zeros alone"),
        (GOOD.replace("'2'", "'7'"), "the document '2' has no embedding"),
        (GOOD.replace("'q'", "'z'"), "the query 'q' has no embedding"),
        (GOOD.replace("[1.0, 0.1]", "[1.0]"), "the query 'q' has an embedding of 1 numbers"),
        (GOOD.replace("'2'", "'1'"), "the doc_id '1' has 2 embeddings"),
        (GOOD.replace("[0.0, 2.0]", "[0.0, 1e300]"), "can't be read as lists of 4-byte floats"),
    ],
)  # fmt: skip
def test_recorded_embeddings_that_cannot_be_meant(
    store: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: str, said: str
) -> None:
    file = recorded(tmp_path / "e.parquet", rows)
    assert said in refused(store, capsys, "semantic", "--embeddings", file)


def test_files_that_hold_no_embeddings(
    store: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recorded(tmp_path / "e.parquet", "('0', 'x')", "doc_id, embedding")
    assert "embedding VARCHAR. Name them so." in refused(store, capsys, "semantic", "--embeddings", file)
    assert "there is no such file" in refused(
        store, capsys, "semantic", "--embeddings", tmp_path / "none.parquet"
    )
    (tmp_path / "text.parquet").write_text("text")
    assert "this is no Parquet file" in refused(
        store, capsys, "semantic", "--embeddings", tmp_path / "text.parquet"
    )
    good = recorded(tmp_path / "good.parquet", GOOD)
    assert "are of whole documents" in refused(
        store, capsys, "semantic", "--embeddings", good, "--unit", "text"
    )
    assert "Leave one out" in refused(store, capsys, "semantic", "--embeddings", good, "--model", "tiny")
    two = recorded(
        tmp_path / "two.parquet", "('0', [1.0], 'm'), ('1', [1.0], 'n')", "doc_id, embedding, model"
    )
    assert "those of two models can't be compared" in refused(store, capsys, "semantic", "--embeddings", two)

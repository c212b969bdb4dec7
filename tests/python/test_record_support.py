"""Recording a judge: what it is shown, what it says, what breaks, and going on after a stop."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from conftest import Warehouse, write_collection, write_lines, write_recording
from ollama_bridge import Bridge, model_file

pytest.importorskip("ollama")
jsonschema = pytest.importorskip("jsonschema")

Say = Callable[[dict[str, Any], int], tuple[int, dict[str, Any]]]


def says(label: str) -> tuple[int, dict[str, Any]]:
    return 200, {
        "message": {"role": "assistant", "content": json.dumps({"label": label})},
        "prompt_eval_count": 50,
    }


class Server:
    """A server of Ollama's API whose replies a test says."""

    def __init__(self, say: Say) -> None:
        self.asked: list[dict[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: Any) -> None:
                """Say nothing."""

            def _give(self, status: int, found: dict[str, Any]) -> None:
                body = json.dumps(found).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self) -> None:
                self._give(200, {"version": "1", "models": [{"model": "judge:1", "digest": "abc"}]})

            def do_POST(self) -> None:
                sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path == "/api/show":
                    self._give(200, {"license": "MIT"})
                    return
                server.asked.append(sent)
                self._give(*say(sent, len(server.asked)))

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def serve() -> Iterator[Callable[[Say], Server]]:
    servers: list[Server] = []

    def start(say: Say) -> Server:
        servers.append(Server(say))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def label(claim: str | None, doc_ids: list[str], judge: str = "person", **more: Any) -> dict[str, Any]:
    return {
        "query_id": "q1",
        "context": "x",
        "claim": claim,
        "doc_ids": doc_ids,
        "judge": judge,
        "label": "supported",
    } | more


@pytest.fixture
def store(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    """Two answers. Of the labelled claims one cites nothing, one a document without a text, two can be judged."""
    docs = [
        {"doc_id": "d1", "name": "red lamp"},
        {"doc_id": "d2", "name": "blue lamp"},
        {"doc_id": "d3", "name": ""},
    ]
    write_collection(tmp_path / "c", docs=docs, queries=["q1", "q2"], fields=["name"])
    answers = [
        {
            "query_id": q, "context": "x", "context_ids": ["d1", "d2", "d3"], "context_texts": [None, "as shown: blue", None],
            "answer": f"Take d1, {q}.", "cited": ["d1"] if q == "q1" else ["d2", "d3"],
        }
        for q in ("q1", "q2")
    ]  # fmt: skip
    write_recording(tmp_path / "a", "a", "answers", answers)
    labels = [
        label("it is red", ["d1"]), label("it is red", ["d1"], "person:2", label="partly"), label("it is nice", []),
        label("it is blue", ["d2", "d1"]), label("it is big", ["d3"]),
    ]  # fmt: skip
    write_lines(tmp_path / "a" / "support.jsonl", labels)
    warehouse.load(tmp_path / "c", tmp_path / "a")
    return warehouse


def record(store: Warehouse, out: Path, host: str, *more: str) -> int:
    return store.run(
        "record", "support", "--recording", "a", "--model", "judge:1", "--host", host, "--out", out, "--retries", "0", *more
    )  # fmt: skip


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "support.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_judge_reads_the_claim_and_what_it_cites(
    store: Warehouse, tmp_path: Path, serve: Callable[[Say], Server]
) -> None:
    server = serve(lambda sent, n: says("partly"))
    before = store.rows("select digest from assay_raw.recordings")
    assert record(store, tmp_path / "l", server.host) == 0
    told = [(r["claim"], r["doc_ids"], r["judge"], r["label"]) for r in lines(tmp_path / "l")]
    assert told == [
        ("it is red", ["d1"], "judge:1", "partly"),
        ("it is blue", ["d2", "d1"], "judge:1", "partly"),
    ]
    asked = [sent["messages"][0]["content"] for sent in server.asked]
    assert all(text.startswith("You check claims against the documents") for text in asked)
    assert asked[0].endswith("\n\nID: d1\nname: red lamp\n\nClaim: it is red")
    # The text as the answer's model saw it comes before the catalog's.
    assert asked[1].endswith("\n\nID: d2\nas shown: blue\n\nID: d1\nname: red lamp\n\nClaim: it is blue")
    assert not any("supported" in text.split("ID: d", 1)[1] for text in asked)
    jsonschema.validate({"label": "partly"}, server.asked[0]["format"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"label": "maybe"}, server.asked[0]["format"])
    manifest = json.loads((tmp_path / "l" / "manifest.json").read_text())
    assert manifest["left_out"] == {"without_documents": 1, "without_text": 1}
    assert (manifest["model_digest"], manifest["answers_recording"], manifest["kind"]) == (
        "sha256:abc",
        "a",
        "labels",
    )
    assert before == [(manifest["answers_digest"],)]
    assert {"prompts", "schemas", "options", "collection_digest", "recorded_at"} <= set(manifest)
    loaded = "select recording_id, judge, label, prompt_tokens, raw is not null from assay_raw.support where judge = 'judge:1' order by line"
    assert store.rows(loaded) == [("a-support-by-judge-1", "judge:1", "partly", 50, True)] * 2


def test_what_breaks_the_schema_is_an_error_and_no_label(
    store: Warehouse, tmp_path: Path, serve: Callable[[Say], Server]
) -> None:
    server = serve(lambda sent, n: says("maybe") if n == 1 else (500, {"error": "overloaded"}))
    assert record(store, tmp_path / "l", server.host) == 0
    first, second = lines(tmp_path / "l")
    assert "label" not in first and "breaks its schema" in first["error"] and "maybe" in first["raw"]
    assert "label" not in second and second["error"] == "status 500: overloaded"
    assert (
        store.rows("select label, score, error is not null from assay_raw.support where judge = 'judge:1'")
        == [(None, None, True)] * 2
    )
    # The same command does nothing again; with --retry-errors nothing either, once the recording is finished.
    assert record(store, tmp_path / "l", server.host) == 0 and len(server.asked) == 2


def test_a_stopped_recording_goes_on(
    store: Warehouse, tmp_path: Path, serve: Callable[[Say], Server]
) -> None:
    out = tmp_path / "l"
    broken = serve(lambda sent, n: says("supported"))
    assert record(store, out, broken.host) == 0
    whole = (out / "support.jsonl").read_bytes()
    # As a killed command leaves it: the first line, the second one cut, no manifest.
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["files"]
    (out / "unfinished.json").write_text(json.dumps(manifest))
    (out / "manifest.json").unlink()
    (out / "support.jsonl").unlink()
    first = whole.splitlines(keepends=True)[0]
    (out / "support.jsonl.partial").write_bytes(first + b'{"query_id": "q1", "con')
    server = serve(lambda sent, n: says("supported"))
    assert record(store, out, server.host) == 0
    assert len(server.asked) == 1 and server.asked[0]["messages"][0]["content"].endswith("Claim: it is blue")
    assert [r["claim"] for r in lines(out)] == ["it is red", "it is blue"]
    assert sorted(p.name for p in out.iterdir()) == ["manifest.json", "support.jsonl"]


def test_other_settings_dont_go_on_with_it(
    store: Warehouse, tmp_path: Path, serve: Callable[[Say], Server], capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve(lambda sent, n: says("supported"))
    assert record(store, tmp_path / "l", server.host, "--limit", "1") == 0
    assert len(lines(tmp_path / "l")) == 1
    assert record(store, tmp_path / "l", server.host, "--seed", "2") == 1
    assert "this recording was begun with" in capsys.readouterr().err


def test_whole_answers_can_be_judged(
    store: Warehouse, tmp_path: Path, serve: Callable[[Say], Server]
) -> None:
    server = serve(lambda sent, n: says("supported"))
    assert record(store, tmp_path / "l", server.host, "--claims", "answers") == 0
    # The second answer cites a document without a text.
    [row] = lines(tmp_path / "l")
    assert (row["query_id"], row.get("claim"), row["doc_ids"]) == ("q1", None, ["d1"])
    assert server.asked[0]["messages"][0]["content"].endswith("Claim: Take d1, q1.")


def test_a_dry_run_asks_nobody(store: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert record(store, tmp_path / "l", "http://127.0.0.1:9", "--dry-run") == 0
    said = capsys.readouterr().out
    assert (
        "Claim: it is red" in said and "2 tasks would be recorded" in said and not (tmp_path / "l").exists()
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--recording", "b"], "no recording of answers 'b' is loaded. Loaded are a."),
        (["--limit", "0"], "--limit must be 1 or higher"),
        (["--host", "http://127.0.0.1:9"], "no Ollama server answers at http://127.0.0.1:9"),
    ],
)
def test_what_cant_be_done_is_said(
    store: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    assert record(store, tmp_path / "l", "http://127.0.0.1:9", *more) == 1
    assert message in capsys.readouterr().err


@pytest.mark.skipif(model_file() is None, reason="no small model is installed")
def test_a_real_model_judges(store: Warehouse, tmp_path: Path) -> None:
    path = model_file()
    assert path is not None
    with Bridge(path, num_ctx=1024) as bridge:
        args = [
            "record",
            "support",
            "--recording",
            "a",
            "--model",
            bridge.name,
            "--host",
            bridge.host,
            "--num-ctx",
            "1024",
        ]
        assert store.run(*args, "--num-predict", "32", "--out", tmp_path / "l") == 0
    for row in lines(tmp_path / "l"):
        assert (
            row["label"] in ("supported", "partly", "unsupported")
            and json.loads(row["raw"])["done_reason"] == "stop"
        )

"""Recording answers: what is sent, what is kept, what is no abstention, and going on after a stop."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT, Warehouse
from ollama_faults import MODEL, Body, Ollama, in_turn, said
from record_tasks import CONTEXTS, Recorder, lines, prepared

FINE = {"answer": "Take the oak desk (1).", "cited": ["1"]}


@pytest.fixture
def recorder(warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Recorder:
    prepared(warehouse, tmp_path)
    return Recorder(warehouse, tmp_path, capsys)


def by_query(sent: dict[str, Any], n: int) -> Body:
    """A reply that only what was sent decides, so that any order of calls gives the same."""
    text = sent["messages"][0]["content"]
    number = int(hashlib.sha256(text.encode()).hexdigest(), 16) % 3
    return said({"answer": f"number {number}", "cited": ["1"] * number})


def test_one_call_a_query_and_context(recorder: Recorder) -> None:
    assert recorder.run("answers", in_turn(said(FINE)), "--num-ctx", "2048", "--seed", "7") == 0
    assert len(recorder.sent) == 3
    first = recorder.sent[0]
    assert first["options"] == {"num_ctx": 2048, "temperature": 0.0, "seed": 7, "num_predict": 1024}
    assert first["think"] is False and first["format"]["required"] == ["answer", "cited"]
    [message] = first["messages"]
    # The collection's texts as the format says that a model reads them, in the context's order, then the query.
    assert message["content"].endswith(
        "\n\nID: 2\nname: pine desk\n\nID: 1\nname: oak desk\nnote: sturdy\nbrown\n\nI'm looking for desk"
    )
    assert message["content"].startswith("You help people") and "up to 3 documents" in message["content"]
    # A query's own braces are its own.
    assert recorder.sent[2]["messages"][0]["content"].endswith("I'm looking for wool rug {query}")
    rows = recorder.rows()
    assert [(r["query_id"], r["context"], r["context_ids"]) for r in rows] == [
        (query, "bm25", docs) for query, docs in CONTEXTS.items()
    ]
    assert all(r["cited"] == ["1"] and r["answer"] == FINE["answer"] for r in rows)
    assert [(r["prompt_tokens"], r["answer_tokens"], r["duration_ms"]) for r in rows] == [(400, 7, 2.5)] * 3
    assert json.loads(rows[0]["raw"])["message"]["content"] == json.dumps(FINE)


def test_the_manifest_pins_what_made_it(recorder: Recorder) -> None:
    assert recorder.run("answers", in_turn(said(FINE)), "--note", "a try", "--citation-form", "({id})") == 0
    found = recorder.manifest()
    data = (recorder.out / "answers.jsonl").read_bytes()
    assert found["files"] == {"answers.jsonl": {"sha256": hashlib.sha256(data).hexdigest(), "rows": 3}}
    assert (found["model"], found["model_digest"], found["model_licence"]) == (
        MODEL,
        "sha256:" + "ab" * 32,
        "MIT",
    )
    assert found["server"] == {"name": "ollama", "version": "0.99.0"}
    assert found["options"] == {
        "num_ctx": 8192,
        "temperature": 0.0,
        "seed": 1,
        "num_predict": 1024,
        "think": False,
    }
    assert found["schemas"]["answer"]["properties"]["cited"]["type"] == "array"
    [run] = found["contexts"]
    [(digest,)] = recorder.warehouse.rows(
        "select digest from assay_raw.recordings where recording_id = 'run'"
    )
    assert run == {"recording": "run", "retriever": "bm25", "digest": digest}
    assert found["prompts"].startswith("You help people") and found["notes"] == ["a try"]
    assert (found["results_shown"], found["max_recommendations"], found["citation_form"]) == (2, 3, "({id})")
    assert recorder.warehouse.rows(
        "select recording_id, kind from assay_raw.recordings where recording_id = 'c-answers'"
    ) == [("c-answers", "answers")]


def test_only_the_named_fields_are_shown(recorder: Recorder) -> None:
    assert recorder.run("answers", in_turn(said(FINE)), "--show", "note", "--no-load") == 0
    assert "ID: 2\n\nID: 1\nnote: sturdy\nbrown\n\n" in recorder.sent[0]["messages"][0]["content"]
    assert recorder.manifest()["shown_fields"] == ["note"]
    assert recorder.run("answers", in_turn(said(FINE)), "--show", "colour") != 0
    assert "colour" in recorder.complained and "name, note" in recorder.complained


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("I recommend the oak desk.", "the reply is no JSON"),
        ("", "the reply is no JSON"),
        ('{"answer": "x", "cited": ["1"', "the reply is no JSON"),
        ("[]", "the reply is no JSON object"),
        ({"answer": "x"}, "breaks its schema at the reply: 'cited' is a required property"),
        ({"answer": "x", "cited": "1"}, "breaks its schema at cited"),
        ({"answer": "x", "cited": None}, "breaks its schema at cited"),
        ({"answer": "x", "cited": [1]}, "breaks its schema at cited/0"),
        ({"answer": 3, "cited": []}, "breaks its schema at answer"),
        ({"answer": "x", "cited": ["1"] * 11}, "breaks its schema at cited"),
    ],
)  # fmt: skip
def test_a_reply_that_breaks_the_schema_is_broken_and_no_abstention(
    recorder: Recorder, content: Any, problem: str
) -> None:
    assert (
        recorder.run("answers", in_turn(said(content), said(FINE), said({"answer": "none", "cited": []})))
        == 0
    )
    broken, fine, abstained = recorder.rows()
    assert problem in broken["error"] and "cited" not in broken and "answer" not in broken
    given = content if isinstance(content, str) else json.dumps(content)
    assert json.loads(broken["raw"])["message"]["content"] == given
    assert "error" not in fine and abstained["cited"] == []
    rows = recorder.warehouse.rows(
        "select query_id, has_cited, error is not null from assay_raw.answers where recording_id = 'c-answers' order by 1"
    )
    assert rows == [("a", False, True), ("b", True, False), ("c", True, False)]


def test_a_call_that_fails_is_an_error_and_the_rest_goes_on(recorder: Recorder) -> None:
    cut = Body(said(FINE).data, is_cut=True)
    assert recorder.run("answers", in_turn(Body(b'{"error":"boom"}', 500), cut, said(FINE))) == 0
    first, second, third = recorder.rows()
    assert first["error"] == "status 500: boom" and first["raw"] == '{"error":"boom"}'
    assert second["error"].startswith("connection: ") and "raw" not in second and "cited" not in second
    assert "error" not in third
    assert "2 errors" in recorder.complained
    # Asked for again, only what failed is asked again. Its lines come last.
    assert recorder.run("answers", in_turn(said(FINE)), "--retry-errors") == 0
    assert recorder.sent == [], "a finished recording stands"


def test_a_server_that_is_gone_stops_the_command_and_it_goes_on(recorder: Recorder) -> None:
    gone = Body(b"", is_dropped=True)
    assert recorder.run("answers", in_turn(gone), "--name", "n") == 1
    assert (
        "nobody answered 3 calls in a row" in recorder.complained and "--retry-errors" in recorder.complained
    )
    assert not (recorder.out / "manifest.json").exists()
    assert recorder.run("answers", in_turn(said(FINE)), "--name", "n", "--retry-errors") == 0
    assert len(recorder.sent) == 3 and all("error" not in row for row in recorder.rows())


def test_a_prompt_that_was_cut_is_flagged(recorder: Recorder) -> None:
    replies = in_turn(
        said(FINE, prompt_eval_count=512), said(FINE, prompt_eval_count=3), said(FINE, prompt_eval_count=None)
    )
    assert recorder.run("answers", replies, "--num-ctx", "512") == 0
    full, short, unknown = recorder.rows()
    assert full["extra"]["prompt_cut"] == "as many tokens as num_ctx allows (512)"
    n_words = len(recorder.sent[1]["messages"][0]["content"].split())
    assert short["extra"]["prompt_cut"] == f"3 tokens were counted, and {n_words} words were sent"
    assert "extra" not in unknown and "prompt_tokens" not in unknown


def test_a_reply_that_ran_out_of_tokens_says_so(recorder: Recorder) -> None:
    assert recorder.run("answers", in_turn(said('{"answer": "on and on', done_reason="length"))) == 0
    row = recorder.rows()[0]
    assert row["extra"]["done_reason"] == "length" and "no JSON" in row["error"]


def test_trials_are_recorded_apart(recorder: Recorder) -> None:
    replies = [said({"answer": str(n), "cited": ["1"] if n > 3 else []}) for n in range(1, 7)]
    assert recorder.run("answers", in_turn(*replies), "--trials", "2") == 0
    assert [(r["query_id"], r.get("trial", 1), r["answer"]) for r in recorder.rows()] == [
        ("a", 1, "1"), ("b", 1, "2"), ("c", 1, "3"), ("a", 2, "4"), ("b", 2, "5"), ("c", 2, "6"),
    ]  # fmt: skip
    assert recorder.manifest()["trials"] == 2


def test_a_limit_is_what_was_asked(recorder: Recorder) -> None:
    assert recorder.run("answers", in_turn(said(FINE)), "--limit", "2") == 0
    assert [r["query_id"] for r in recorder.rows()] == ["a", "b"]
    assert (recorder.out / "asked.txt").read_text() == "a\nb\n"
    assert recorder.warehouse.rows(
        "select query_id from assay_raw.asked_queries where recording_id = 'c-answers' order by 1"
    ) == [("a",), ("b",)]


def test_a_dry_run_asks_nobody_and_writes_nothing(recorder: Recorder) -> None:
    before = recorder.warehouse.everything()
    assert recorder.run("answers", in_turn(said(FINE)), "--dry-run", "--limit", "1") == 0
    assert recorder.sent == [] and not recorder.out.exists() and recorder.warehouse.everything() == before
    assert "[user]\nYou help people" in recorder.said and "I'm looking for desk" in recorder.said
    assert "1 tasks would be recorded; nobody was asked." in recorder.said


@pytest.mark.parametrize(
    ("more", "said_of_it"),
    [
        (["--num-ctx", "0"], "--num-ctx must be 1 or higher"),
        (["--timeout", "0"], "--timeout must be above 0"),
        (["--option", "top_k"], "KEY=VALUE"),
        (["--ask", "hello"], "{query}"),
        (["--collection", "nope"], "nope"),
        (["--model", "huge"], "ollama pull huge"),
        (["--prompt", "/nowhere/p.txt"], "can't be read"),
        (["--schema", "/nowhere/s.json"], "can't be read"),
        (["--contexts", "nope"], "nope"),
    ],
)  # fmt: skip
def test_what_can_not_be_done_is_said(recorder: Recorder, more: list[str], said_of_it: str) -> None:
    assert recorder.run("answers", in_turn(said(FINE)), *more) == 1
    assert said_of_it in recorder.complained and recorder.sent == []


def test_schema_files_are_checked(recorder: Recorder, tmp_path: Path) -> None:
    for text, why in (
        ("{", "no JSON schema"),
        ('{"type": 3}', "no JSON schema"),
        ('{"type": "object", "properties": {"answer": {}}}', "no property 'cited'"),
    ):
        (tmp_path / "s.json").write_text(text)
        assert recorder.run("answers", in_turn(said(FINE)), "--schema", str(tmp_path / "s.json")) == 1
        assert why in recorder.complained and "s.json" in recorder.complained


def test_other_settings_do_not_go_on_with_a_recording(recorder: Recorder) -> None:
    assert recorder.run("answers", in_turn(said(FINE)), "--seed", "1") == 0
    before = (recorder.out / "answers.jsonl").read_bytes()
    assert recorder.run("answers", in_turn(said(FINE)), "--seed", "2") == 1
    assert "begun with options" in recorder.complained and "--out" in recorder.complained
    assert recorder.run("answers", in_turn(said(FINE)), digest="cd" * 32) == 1
    assert "begun with model_digest" in recorder.complained
    assert (recorder.out / "answers.jsonl").read_bytes() == before


def test_a_folder_with_something_else_is_left_alone(recorder: Recorder) -> None:
    recorder.out.mkdir()
    (recorder.out / "thesis.txt").write_text("mine")
    assert recorder.run("answers", in_turn(said(FINE))) == 1
    assert "thesis.txt" in recorder.complained and os.listdir(recorder.out) == ["thesis.txt"]


@pytest.mark.parametrize("left", range(0, 1200, 97))
def test_cut_anywhere_it_goes_on_to_the_same_file(recorder: Recorder, left: int) -> None:
    assert recorder.run("answers", by_query, "--no-load", "--recorded-at", "2026-01-01T00:00:00Z") == 0
    whole = {p.name: p.read_bytes() for p in recorder.out.iterdir()}
    # A stop in the middle of writing: the partial file with its first bytes, and what pinned it.
    manifest = recorder.manifest()
    manifest.pop("files")
    (recorder.out / "manifest.json").unlink()
    (recorder.out / "answers.jsonl").rename(recorder.out / "answers.jsonl.partial")
    os.truncate(recorder.out / "answers.jsonl.partial", min(left, len(whole["answers.jsonl"])))
    (recorder.out / "unfinished.json").write_text(json.dumps(manifest))
    assert recorder.run("answers", by_query, "--no-load") == 0
    assert len(recorder.sent) == 3 - whole["answers.jsonl"][:left].count(b"\n")
    assert {p.name: p.read_bytes() for p in recorder.out.iterdir()} == whole


def test_killed_it_goes_on_to_the_same_file(recorder: Recorder, tmp_path: Path) -> None:
    """A process that is killed while it waits for a reply, twice."""

    def slowly(sent: dict[str, Any], n: int) -> Body:
        reply = by_query(sent, n)
        return Body(reply.data, before=0.3)

    with Ollama(slowly) as ollama:
        command = [
            sys.executable, "-m", "ingest", "record", "answers", "--contexts", "run", "--split", "test", "--model", MODEL, "--host", ollama.host,
            "--out", str(recorder.out), "--no-load", "--recorded-at", "2026-01-01T00:00:00Z", "--trials", "4",
        ]  # fmt: skip
        environment = os.environ | {"ASSAY_WAREHOUSE": str(recorder.warehouse.path)}
        partial = recorder.out / "answers.jsonl.partial"
        for n in (2, 5):
            process = subprocess.Popen(command, cwd=PROJECT, env=environment, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 60
            while not (partial.exists() and len(lines(partial)) >= n) and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert not (recorder.out / "manifest.json").exists() and 1 <= len(lines(partial)) < 12
        done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0 and "tasks are recorded already; going on" in done.stdout, done.stderr
    killed = {p.name: p.read_bytes() for p in recorder.out.iterdir()}
    recorder.out = tmp_path / "at once"
    assert recorder.run(
        "answers", by_query, "--no-load", "--recorded-at", "2026-01-01T00:00:00Z", "--trials", "4"
    ) == 0  # fmt: skip
    assert {p.name: p.read_bytes() for p in recorder.out.iterdir()} == killed


def test_interrupted_it_says_how_to_go_on(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    from ingest.record.server import Server

    asked = Server.chat
    n = 0

    def chat(self: Server, *args: Any, **more: Any) -> Any:
        nonlocal n
        n += 1
        if n == 2:
            raise KeyboardInterrupt
        return asked(self, *args, **more)

    monkeypatch.setattr(Server, "chat", chat)
    assert recorder.run("answers", by_query, "--no-load") == 130
    assert "the same command goes on after 1 tasks" in recorder.complained
    assert recorder.run("answers", by_query, "--no-load") == 0 and len(recorder.rows()) == 3

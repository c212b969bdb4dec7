"""Asking a server: what it says well, says badly and doesn't say is each a reply, with its bytes."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from conftest import SHARED
from ollama_faults import DIGEST, MODEL, Body, Ollama, calls, in_turn, said

from ingest.errors import CannotRun
from ingest.record.server import Reply, Server

SENT = [{"role": "user", "content": "hello"}]


@contextmanager
def asking(*bodies: Body, timeout: float = 5, retries: int = 0) -> Iterator[tuple[Server, Ollama]]:
    with Ollama(in_turn(*bodies)) as ollama:
        server = Server(ollama.host, timeout=timeout, retries=retries, backoff=0.01)
        try:
            yield server, ollama
        finally:
            server.close()


def one(*bodies: Body, timeout: float = 5, retries: int = 0) -> Reply:
    with asking(*bodies, timeout=timeout, retries=retries) as (server, _):
        return server.chat(MODEL, SENT, options={"seed": 1}, think=False)


def test_a_reply_is_kept_as_it_came() -> None:
    body = said("é\u2028 {", eval_count=9)
    reply = one(body)
    assert reply.body is not None and reply.body.encode() == body.data
    assert (reply.content, reply.error, reply.attempts) == ("é\u2028 {", None, 1)
    assert (reply.prompt_tokens, reply.answer_tokens, reply.duration_ms, reply.done_reason) == (
        400,
        9,
        2.5,
        "stop",
    )


def test_what_is_sent() -> None:
    schema = {"type": "object", "properties": {"cited": {"type": "array"}}}
    with asking(said("{}")) as (server, ollama):
        server.chat(
            MODEL, SENT, options={"num_ctx": 99, "temperature": 0.0, "seed": 3}, think=False, schema=schema
        )
    [sent] = ollama.sent
    assert sent["options"] == {"num_ctx": 99, "temperature": 0.0, "seed": 3}
    assert sent["format"] == schema and sent["messages"] == SENT
    assert sent["stream"] is False and sent["think"] is False


@pytest.mark.parametrize("key", ["prompt_eval_count", "eval_count", "total_duration", "done_reason"])
def test_a_count_that_is_missing_is_unknown(key: str) -> None:
    reply = one(said("x", **{key: None}))
    given = {
        "prompt_eval_count": reply.prompt_tokens,
        "eval_count": reply.answer_tokens,
        "total_duration": reply.duration_ms,
        "done_reason": reply.done_reason,
    }
    assert reply.error is None and reply.content == "x"
    assert [name for name, value in given.items() if value is None] == [key]


@pytest.mark.parametrize("wrong", ["12", -1, 1.5, True, [3]])
def test_a_count_that_is_none_is_unknown(wrong: Any) -> None:
    reply = one(said("x", prompt_eval_count=wrong))
    assert reply.prompt_tokens is None and reply.content == "x"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (Body(b'{"error":"model not found"}', 404), "status 404: model not found"),
        (Body(b'{"error":"bad request"}', 400), "status 400: bad request"),
        (Body(b'{"error":"it broke"}', 200), "status 200: it broke"),
        (Body(b"", 200), "the reply is no JSON object (was it cut?)"),
        (Body(b"<html>", 200), "the reply is no JSON object (was it cut?)"),
        (Body(b"[1]", 200), "the reply is no JSON object (was it cut?)"),
        (Body(b"\xff\xfe{}", 200), "the reply is no JSON object (was it cut?)"),
        (Body(b"[" * 100_000, 200), "the reply is no JSON object (was it cut?)"),
        (Body(b'{"done": true}', 200), "the reply has no message"),
        (Body(b'{"message": "hello", "done": true}', 200), "the reply has no message"),
    ],
)  # fmt: skip
def test_a_reply_that_is_none_is_an_error_with_its_bytes(body: Body, error: str) -> None:
    reply = one(body)
    assert reply.error == error and reply.body == body.data.decode("utf-8", "replace")


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_busy_server_is_asked_again(status: int) -> None:
    busy = Body(b'{"error":"busy"}', status)
    reply = one(busy, busy, said("now"), retries=3)
    assert (reply.content, reply.error, reply.attempts) == ("now", None, 3)
    reply = one(busy, retries=2)
    assert (reply.error, reply.attempts) == (f"status {status}: busy", 3)


@pytest.mark.parametrize("status", [400, 404, 422])
def test_what_another_attempt_can_not_help_is_asked_once(status: int) -> None:
    with asking(Body(b'{"error":"no"}', status), retries=3) as (server, ollama):
        assert server.chat(MODEL, SENT, options={}, think=False).attempts == 1
    assert len(ollama.sent) == 1


@pytest.mark.parametrize("fault", [Body(said("x").data, is_cut=True), Body(b"", is_dropped=True)])
def test_a_connection_that_breaks_off_is_tried_again(fault: Body) -> None:
    reply = one(fault, said("whole"), retries=1)
    assert (reply.content, reply.attempts) == ("whole", 2)
    reply = one(fault, retries=1)
    assert reply.error is not None and reply.error.startswith("connection: ") and reply.attempts == 2
    assert reply.is_unreachable and reply.body is None


@pytest.mark.parametrize("slow", [Body(said("x").data, before=1.5), Body(said("x").data, between=1.5)])
def test_a_slow_reply_is_given_up(slow: Body) -> None:
    reply = one(slow, timeout=0.5)
    assert reply.error == "no reply within 0.5 s" and not reply.is_unreachable
    assert one(slow, said("fast"), timeout=0.5, retries=1).content == "fast"


def test_a_thought_is_no_part_of_the_content() -> None:
    reply = one(said("", message={"role": "assistant", "content": "yes", "thinking": "hm"}))
    assert reply.content == "yes" and "hm" in str(reply.body)


@pytest.mark.parametrize("arguments", ['{"query": "lamp"}', "lamp", None, 3, ["lamp"], {"query": {"a": 1}}])
def test_tool_calls_come_as_they_were_sent(arguments: Any) -> None:
    reply = one(calls(("search", arguments)))
    assert reply.error is None
    assert reply.message["tool_calls"] == [{"function": {"name": "search", "arguments": arguments}}]


def test_a_tool_call_without_arguments_comes_as_it_was_sent() -> None:
    reply = one(calls({"function": {"name": "search"}}))
    assert reply.error is None and reply.message["tool_calls"] == [{"function": {"name": "search"}}]


def test_nobody_answers() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host = f"http://127.0.0.1:{taken.getsockname()[1]}"
    server = Server(host, timeout=2, retries=1, backoff=0.01)
    reply = server.chat(MODEL, SENT, options={}, think=False)
    assert reply.is_unreachable and reply.attempts == 2
    with pytest.raises(CannotRun, match=r"no Ollama server answers at .*ollama serve.*--host"):
        server.model(MODEL)
    server.close()


def test_the_model_is_pinned_by_what_the_server_says() -> None:
    with asking(said("x")) as (server, _):
        model = server.model(MODEL)
        assert (model.name, model.digest, model.licence, model.server) == (
            MODEL,
            f"sha256:{DIGEST}",
            "MIT",
            "0.99.0",
        )
        assert model.details == {"family": "tiny"}
        with pytest.raises(CannotRun, match=r"has no model 'huge' \(it has tiny:1\). Run: ollama pull huge"):
            server.model("huge")


def bodies() -> list[Any]:
    folder = SHARED / "ollama" / "plain"
    found = [p for p in sorted(folder.glob("*chat*")) if not p.name.endswith(".request.json")]
    return [pytest.param(p, id=p.stem) for p in found]


@pytest.mark.skipif(not (SHARED / "ollama" / "plain").is_dir(), reason="the recorded bodies aren't here")
def test_there_are_recorded_bodies() -> None:
    assert len(bodies()) >= 6


@pytest.mark.parametrize("path", bodies())
def test_bodies_that_real_servers_sent(path: Any) -> None:
    data = path.read_bytes()
    reply = one(Body(data.strip(), 404 if b'"error"' in data[:12] else 200))
    assert reply.body == data.strip().decode()
    if path.suffix == ".ndjson":
        # A stream where one reply was asked for: no reply, and not the first word alone.
        assert reply.error is not None and reply.content == ""
        return
    whole = json.loads(data)
    if "error" in whole:
        assert reply.error == f"status 404: {whole['error']}"
        return
    assert reply.error is None and reply.message == whole["message"]
    assert reply.content == whole["message"]["content"]
    assert (
        reply.prompt_tokens == whole.get("prompt_eval_count") and reply.answer_tokens == whole["eval_count"]
    )
    assert reply.duration_ms == whole["total_duration"] / 1e6

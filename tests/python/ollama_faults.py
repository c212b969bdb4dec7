"""A loopback server that speaks Ollama's paths and replies what a test says, in the way that a test says: for what a real server seldom does."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "tiny:1"
DIGEST = "ab" * 32


@dataclass(frozen=True)
class Body:
    """One reply to ``/api/chat``: its bytes, its status, and how it comes."""

    data: bytes
    status: int = 200
    #: Seconds before the first byte, and between its two halves.
    before: float = 0.0
    between: float = 0.0
    #: Promise all bytes, send half of them, hang up.
    is_cut: bool = False
    #: Hang up without a byte.
    is_dropped: bool = False


def said(content: str | dict[str, Any], **more: Any) -> Body:
    """A reply in Ollama's form with this content; `more` replaces its keys, and None takes one out."""
    text = content if isinstance(content, str) else json.dumps(content)
    whole: dict[str, Any] = {
        "model": MODEL, "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": text}, "done": True,
        "done_reason": "stop", "total_duration": 2_500_000, "prompt_eval_count": 400, "eval_count": 7,
    }  # fmt: skip
    return Body(json.dumps({k: v for k, v in (whole | more).items() if v is not None}).encode())


def calls(*made: tuple[str, Any] | Any, **more: Any) -> Body:
    """A reply that calls tools: pairs of name and arguments, or calls as they are."""
    found = [
        {"function": {"name": one[0], "arguments": one[1]}} if isinstance(one, tuple) else one for one in made
    ]
    return said("", message={"role": "assistant", "content": "", "tool_calls": found}, **more)


class Ollama:
    """The server, as a context manager. `reply` gives the body of each chat call, from what was sent and the call's number (from 1)."""

    def __init__(self, reply: Callable[[dict[str, Any], int], Body], licence: str = "MIT\nmore") -> None:
        self.sent: list[dict[str, Any]] = []
        self.version, self.digest = "0.99.0", DIGEST
        ollama = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

            def _write(self, body: Body) -> None:
                time.sleep(body.before)
                if body.is_dropped:
                    # A reset, which no client can take for an end.
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                    self.close_connection = True
                    return
                self.send_response(body.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body.data)))
                self.end_headers()
                half = len(body.data) // 2
                try:
                    self.wfile.write(body.data[:half])
                    self.wfile.flush()
                    time.sleep(body.between)
                    if body.is_cut:
                        self.close_connection = True
                        return
                    self.wfile.write(body.data[half:])
                except OSError:
                    self.close_connection = True

            def do_GET(self) -> None:
                known: dict[str, Any] = {
                    "/api/version": {"version": ollama.version},
                    "/api/tags": {"models": [{"name": MODEL, "model": MODEL, "digest": ollama.digest}]},
                }
                self._write(
                    Body(json.dumps(known.get(self.path, {})).encode(), 200 if self.path in known else 404)
                )

            def do_POST(self) -> None:
                sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path == "/api/show":
                    about = {"license": licence, "details": {"family": "tiny", "parent_model": ""}}
                    self._write(Body(json.dumps(about).encode()))
                    return
                ollama.sent.append(sent)
                self._write(reply(sent, len(ollama.sent)))

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.host = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Ollama:
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def in_turn(*bodies: Body) -> Callable[[dict[str, Any], int], Body]:
    """These replies one after the other; the last one for ever."""
    return lambda sent, n: bodies[min(n, len(bodies)) - 1]

"""A server that speaks Ollama's API, through the ``ollama`` client, with what the client throws away: the reply's bytes, and what failed.

A call that can't be made is tried again with twice the wait each time: no connection, no answer in time, a connection that broke off, a reply that is no
JSON, status 429 and 5xx. What still fails, and any other status, is a `Reply` with an error, never an exception: the recording goes on.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from ingest.errors import CannotRun
from ingest.retrieve.base import library, versions

_TRIED_AGAIN = (429, *range(500, 600))


@dataclass(frozen=True)
class Reply:
    """What came back of one call: the body as it came, the message in it, or why there is none.

    Token counts are null where the server gave none; the duration is the server's own, in milliseconds.
    """

    body: str | None
    message: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    attempts: int = 1
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    duration_ms: float | None = None
    done_reason: str | None = None
    #: Whether nobody answered at all.
    is_unreachable: bool = False

    @property
    def content(self) -> str:
        """The message's text; empty where there is none."""
        given = self.message.get("content")
        return given if isinstance(given, str) else ""


@dataclass(frozen=True)
class Model:
    """A model as the server has it; `details` are what the server says of its kind and size."""

    name: str
    digest: str
    licence: str | None
    details: Mapping[str, Any]
    server: str


class _Keeping(httpx.BaseTransport):
    """A transport that reads each response whole, before a deadline, and keeps its bytes."""

    def __init__(self, timeout: float) -> None:
        self._inner = httpx.HTTPTransport()
        self._timeout = timeout
        self.body: bytes | None = None
        self.status = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.body, self.status = None, 0
        deadline = time.monotonic() + self._timeout
        response = self._inner.handle_request(request)
        parts = []
        try:
            for part in response.iter_raw():
                parts.append(part)
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout("the reply took too long", request=request)
        finally:
            response.close()
        kept = [
            (k, v)
            for k, v in response.headers.raw
            if k.lower() not in (b"content-length", b"transfer-encoding")
        ]
        whole = httpx.Response(response.status_code, headers=kept, content=b"".join(parts), request=request)
        self.body, self.status = whole.read(), response.status_code
        return whole

    def close(self) -> None:
        self._inner.close()


class Server:
    """The server at `host` (else ``OLLAMA_HOST``, else Ollama's usual place).

    `timeout` is how long one call may take, in seconds; `retries` how often it is tried again, after `backoff` seconds and twice as
    long each time.
    """

    def __init__(
        self, host: str | None, *, timeout: float = 300, retries: int = 3, backoff: float = 1.0
    ) -> None:
        self._ollama = library("ollama")
        self._transport = _Keeping(timeout)
        self._client = self._ollama.Client(host=host, timeout=timeout, transport=self._transport)
        self._timeout, self._retries, self._backoff = timeout, retries, backoff
        self.host = str(self._client._client.base_url)

    def close(self) -> None:
        """Let the connection go."""
        self._client._client.close()

    def model(self, name: str) -> Model:
        """What the server says of a model. Raises CannotRun where no server answers, or it hasn't the model."""
        version = self._looked_up("GET", "/api/version", None).get("version")
        known = self._looked_up("GET", "/api/tags", None).get("models") or []
        wanted = (name, name if ":" in name else f"{name}:latest")
        fitting = next(
            (m for m in known if isinstance(m, dict) and m.get("model", m.get("name")) in wanted), None
        )
        if fitting is None:
            has = (
                ", ".join(
                    sorted(str(m.get("model", m.get("name"))) for m in known if isinstance(m, dict))[:10]
                )
                or "none"
            )
            raise CannotRun(
                f"the server at {self.host} has no model {name!r} (it has {has}). Run: ollama pull {name}"
            )
        about = self._looked_up("POST", "/api/show", {"model": name})
        licence = next(
            (line.strip() for line in str(about.get("license") or "").splitlines() if line.strip()), None
        )
        digest = str(fitting.get("digest") or "").removeprefix("sha256:")
        details = about.get("details") if isinstance(about.get("details"), dict) else {}
        return Model(
            str(fitting.get("model", fitting.get("name"))), f"sha256:{digest}", licence,
            {k: v for k, v in dict(details or {}).items() if v}, str(version or "unknown"),
        )  # fmt: skip

    def _looked_up(self, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        try:
            given = self._client._client.request(method, path, json=body)
            found = given.json()
        except (httpx.HTTPError, ConnectionError) as error:
            said = " ".join(str(error).split())[:100] or type(error).__name__
            raise CannotRun(
                f"no Ollama server answers at {self.host} ({said}). Start it (ollama serve), or say where it is with --host or OLLAMA_HOST."
            ) from None
        except ValueError:
            found = None
        if not isinstance(found, dict) or given.status_code >= 400:
            why = found.get("error") if isinstance(found, dict) else f"status {given.status_code}"
            raise CannotRun(
                f"the server at {self.host} gives no answer of Ollama's to {path} ({why}). Is it an Ollama server?"
            )
        return found

    def chat(
        self, model: str, messages: Sequence[Mapping[str, Any]], *, options: Mapping[str, Any], think: bool,
        schema: Mapping[str, Any] | None = None, tools: Sequence[Mapping[str, Any]] = (),
    ) -> Reply:  # fmt: skip
        """One chat call, not streamed."""
        call = lambda: self._client.chat(  # noqa: E731
            model=model,
            messages=_sendable(messages),
            tools=list(tools) or None,
            stream=False,
            think=think,
            format=schema,
            options=dict(options),
        )
        reply = self._once(call)
        attempts = 1
        while reply.error is not None and attempts <= self._retries and reply.done_reason == "failed":
            time.sleep(self._backoff * 2 ** (attempts - 1))
            reply = self._once(call)
            attempts += 1
        return Reply(
            **{
                **reply.__dict__,
                "attempts": attempts,
                "done_reason": None if reply.done_reason == "failed" else reply.done_reason,
            }
        )

    def _once(self, call: Callable[[], Any]) -> Reply:
        """One attempt; ``done_reason`` is "failed" where another may do better."""
        transport = self._transport
        transport.body, transport.status = None, 0
        try:
            call()
        except httpx.TimeoutException:
            return Reply(None, error=f"no reply within {self._timeout:g} s", done_reason="failed")
        except (httpx.HTTPError, ConnectionError) as error:
            said = " ".join(str(error).split()).split(". ")[0][:200] or type(error).__name__
            return Reply(None, error=f"connection: {said}", done_reason="failed", is_unreachable=True)
        except (self._ollama.ResponseError, ValueError, TypeError, RecursionError):
            # What the client can't take (a status, a list, tool calls of another form) stands in the bytes.
            pass
        return _read(transport.body, transport.status)


def _sendable(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Messages without what is no Unicode (half a character that a model wrote, say): each such place is a question mark."""
    found: list[dict[str, Any]] = json.loads(
        json.dumps(list(messages), ensure_ascii=False).encode("utf-8", "replace")
    )
    return found


def _read(body: bytes | None, status: int) -> Reply:
    text = None if body is None else body.decode("utf-8", "replace")
    try:
        found = None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if status >= 400 or (isinstance(found, dict) and "error" in found):
        said = found.get("error") if isinstance(found, dict) else (text or "").strip()[:200]
        return Reply(
            text, error=f"status {status}: {said}", done_reason="failed" if status in _TRIED_AGAIN else None
        )
    if not isinstance(found, dict):
        return Reply(text, error="the reply is no JSON object (was it cut?)", done_reason="failed")
    message = found.get("message")
    nanoseconds = found.get("total_duration")
    return Reply(
        text,
        message if isinstance(message, dict) else {},
        None if isinstance(message, dict) else "the reply has no message",
        prompt_tokens=_count(found.get("prompt_eval_count")),
        answer_tokens=_count(found.get("eval_count")),
        duration_ms=nanoseconds / 1_000_000
        if isinstance(nanoseconds, int) and not isinstance(nanoseconds, bool)
        else None,
        done_reason=found.get("done_reason") if isinstance(found.get("done_reason"), str) else None,
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def client_versions() -> dict[str, str]:
    """The versions of the libraries that ask."""
    return versions(("ollama", "httpx"))

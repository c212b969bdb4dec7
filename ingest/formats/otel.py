"""OpenTelemetry spans of models, tools and retrievers: the GenAI conventions, and OpenInference (Phoenix).

Reads OTLP's JSON (``resourceSpans``; an export, or one a line), a JSON list or JSONL of spans (OpenInference, Vercel's SDK), and Phoenix's Parquet. Attributes may
be flat (``retrieval.documents.0.document.id``) or nested; a retriever's query and documents may be the GenAI conventions' (``gen_ai.retrieval.query.text``,
``gen_ai.retrieval.documents``). A span's kind is ``openinference.span.kind``, else ``gen_ai.operation.name`` (``execute_tool``; ``chat`` and its
like), else ``ai.operationId`` (``ai.toolCall``). A tool's name is ``tool.name``, ``gen_ai.tool.name`` or ``ai.toolCall.name``.

What becomes a search, a result, the query and the answer: `ingest/formats/_spans.py` (searches of a tool called something with search, retrieve, lookup or find;
``--set search_tools=["name"]`` says otherwise). A collection is made of what the traces show (``"seen"``, no judgments), unless ``--collection`` names one that has the
questions by their text. Two recordings: the traces with their searches, and the answers with what was found as their context. ``line`` is the span's number of the trace's first.

Not known: whether the model read what a search found, picks, prompts where the exporter left them out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from ingest.formats._json import document
from ingest.formats._said import decoded
from ingest.formats._seen import first_bytes, jsonl
from ingest.formats._spans import Refuse, Span, find_spans
from ingest.formats.base import Found, Options
from ingest.sqltext import literal

NAME = "otel"
SUMMARY = "OpenTelemetry and OpenInference spans: OTLP JSON, JSON, JSONL, Phoenix's Parquet"

_INPUT = (
    "input.value",
    "gen_ai.retrieval.query.text",
    "gen_ai.tool.call.arguments",
    "ai.toolCall.args",
    "gen_ai.input.messages",
    "gen_ai.prompt",
    "ai.prompt.messages",
    "ai.prompt",
)
_OUTPUT = (
    "output.value",
    "gen_ai.tool.call.result",
    "ai.toolCall.result",
    "gen_ai.output.messages",
    "gen_ai.completion",
    "ai.response.text",
)
_TOOL = ("tool.name", "gen_ai.tool.name", "ai.toolCall.name")
_CALL = ("tool_call.id", "gen_ai.tool.call.id", "ai.toolCall.id")


def recognise(path: Path) -> bool:
    """Whether the beginning of a file has spans."""
    if not path.is_file() or not path.name.removesuffix(".gz").endswith((".json", ".jsonl")):
        return False
    start = first_bytes(path)
    return '"resourceSpans"' in start or (
        '"attributes"' in start
        and ('"spanContext"' in start or '"span_id"' in start or '"parent_id"' in start)
    )


def find(path: Path, options: Options) -> list[Found]:
    """The collection, the traces and the answers of an export."""
    return find_spans(path, options, NAME, _spans)


def _spans(path: Path, refuse: Refuse) -> Iterator[Span]:
    for number, span in enumerate(_raw(path, refuse), start=1):
        try:
            yield _normalised(number, span)
        except (KeyError, TypeError, ValueError) as error:
            refuse(
                number,
                f"a span with a trace and an ID was expected ({error!r})",
                json.dumps(span, default=str)[:1000],
            )


def _raw(path: Path, refuse: Refuse) -> Iterator[dict[str, Any]]:
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        yield from _parquet(path)
    elif name.endswith(".jsonl"):
        for _, entry in jsonl(path, refuse):
            yield from _unpacked(entry)
    else:
        for key, part in document(path, lambda key: key in (None, "resourceSpans")):
            if isinstance(part, dict):
                yield from _unpacked({"resourceSpans": [part]} if key == "resourceSpans" else part)


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    """Phoenix's spans, a batch at a time; its columns are flat."""
    import duckdb

    rows = duckdb.connect().execute(
        f"select cast(to_json(spans) as varchar) from read_parquet({literal(str(path))}) as spans"
    )
    while batch := rows.fetchmany(1000):
        for (text,) in batch:
            found = json.loads(text)
            attributes = {
                k.removeprefix("attributes."): v
                for k, v in found.items()
                if k.startswith("attributes.") and v is not None
            }
            yield {**found, "attributes": attributes}


def _unpacked(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "resourceSpans" not in entry:
        yield entry
        return
    for resource in entry.get("resourceSpans") or []:
        for scope in resource.get("scopeSpans") or resource.get("instrumentationLibrarySpans") or []:
            yield from scope.get("spans") or []


def _value(value: Any) -> Any:
    """A value of OTLP's, which names its type."""
    if not isinstance(value, dict):
        return value
    for key in ("stringValue", "boolValue", "doubleValue"):
        if key in value:
            return value[key]
    if "intValue" in value:
        return int(value["intValue"])
    if "arrayValue" in value:
        return [_value(v) for v in value["arrayValue"].get("values", [])]
    if "kvlistValue" in value:
        return {kv["key"]: _value(kv.get("value")) for kv in value["kvlistValue"].get("values", [])}
    return value


def _flat(attributes: Any) -> dict[str, Any]:
    """Attributes by their whole names, from a list, nested objects or as they are."""
    if isinstance(attributes, list):
        return {a["key"]: _value(a.get("value")) for a in attributes}
    flat: dict[str, Any] = {}

    def walk(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(f"{prefix}.{key}" if prefix else str(key), inner)
        flat[prefix] = value

    walk("", attributes or {})
    return flat


def _first(attributes: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((attributes[k] for k in keys if attributes.get(k) is not None), None)


def _documents(attributes: dict[str, Any]) -> list[Any] | None:
    """The documents of a retriever, from a list or from numbered attributes."""
    given = decoded(_first(attributes, ("retrieval.documents", "gen_ai.retrieval.documents")))
    if isinstance(given, list):
        return [_document(d) for d in given]
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        parts = key.split(".")
        if (
            key.startswith("retrieval.documents.")
            and len(parts) >= 5
            and parts[2].isdecimal()
            and parts[3] == "document"
        ):
            found.setdefault(int(parts[2]), {})[".".join(parts[4:])] = value
    return [found[n] for n in sorted(found)] if found else None


def _document(given: Any) -> Any:
    """A document of a list: under ``document``, or with that before each of its keys, as Phoenix's Parquet has it."""
    if not isinstance(given, dict):
        return given
    if isinstance(given.get("document"), dict):
        return given["document"]
    return {key.removeprefix("document."): value for key, value in given.items()}


def _normalised(number: int, span: dict[str, Any]) -> Span:
    attributes = _flat(span.get("attributes"))
    context = span.get("context") or span.get("spanContext") or {}
    trace_id = (
        span.get("traceId")
        or context.get("trace_id")
        or context.get("traceId")
        or span.get("context.trace_id")
        or span.get("trace_id")
    )
    span_id = (
        span.get("spanId")
        or context.get("span_id")
        or context.get("spanId")
        or span.get("context.span_id")
        or span.get("span_id")
    )
    if not trace_id or not span_id:
        raise KeyError("trace or span ID")
    parent_of = span.get("parentSpanContext") or {}
    parent = span.get("parentSpanId") or span.get("parent_id") or parent_of.get("spanId")
    name = str(_first(attributes, _TOOL) or span.get("name") or "")
    error = _error(span)
    return Span(
        line=number, trace_id=str(trace_id), span_id=str(span_id), parent_id=str(parent) if parent else None, name=name,
        start=_start(span), kind=_kind(attributes), input=_first(attributes, _INPUT), output=_first(attributes, _OUTPUT),
        documents=_documents(attributes), error=error, call_id=_first(attributes, _CALL),
    )  # fmt: skip


def _kind(attributes: dict[str, Any]) -> str:
    declared = str(attributes.get("openinference.span.kind") or "").upper()
    operation = str(attributes.get("gen_ai.operation.name") or attributes.get("ai.operationId") or "")
    if declared == "RETRIEVER" or operation in ("retrieval", "retrieve", "search"):
        return "retriever"
    if declared == "TOOL" or operation in ("execute_tool", "ai.toolCall"):
        return "tool"
    is_model = (
        declared == "LLM"
        or operation in ("chat", "text_completion", "generate_content")
        or operation.startswith("ai.")
    )
    return "model" if is_model else "other"


def _start(span: dict[str, Any]) -> int:
    """When a span began, in nanoseconds; 0 where it doesn't say."""
    given = span.get("startTimeUnixNano") or span.get("start_time") or span.get("startTime") or 0
    if isinstance(given, list) and len(given) == 2:
        return int(given[0]) * 1_000_000_000 + int(given[1])
    if isinstance(given, str) and not given.isdecimal():
        return int(datetime.fromisoformat(given).timestamp() * 1_000_000) * 1000
    return int(given)


def _error(span: dict[str, Any]) -> str | None:
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else span.get("status_code")
    if code in (2, "2", "ERROR", "STATUS_CODE_ERROR"):
        message = status.get("message") if isinstance(status, dict) else span.get("status_message")
        return str(message or "error")
    return None

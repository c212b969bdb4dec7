"""From spans to searches and answers: what OpenTelemetry, OpenInference, TruLens and Langfuse exports have in common.

A format normalises each of its spans to a `Span`. They are staged in DuckDB and read back a trace at a time, ordered by when they began and, where
times tie, by their place in the file; one trace is held in Python.

A span is a **search** where it is a retriever's, or a tool's whose name matches ``search``, ``retriev``, ``lookup`` or ``find``
(``--set search_tools=["name"]`` names them instead). One inside another search is part of it. Its text is its input: a text, or the first of
``query``, ``q``, ``search_query``, ``user_query``, ``keywords``, ``question``, ``input`` in its arguments, which may be an object or JSON text. Arguments that are absent, empty or cut are unknown.
Its results are the IDs of its documents, in order, with their scores; a document without an ID is known by its text. Output that can't be read is
unknown, never empty. A span with an error is an attempt that failed, and so is one call's ID twice.

The **query** is the root span's input: a text, its question, or the last message of a user; else that of the first model call. A trace without one that
searched nothing is passed over, one that searched goes to quarantine. The **answer** is the root span's output, else that of the last model call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb

from ingest.errors import BadInput, shown
from ingest.files import Given, SourceFile
from ingest.formats._said import asked, document, listed, said, searched
from ingest.formats._seen import answers_recording, ignoring, refusing, seen_collection, stem, text_id
from ingest.formats.base import Found, Options, fill_records, from_records
from ingest.formats.marked import query_of
from ingest.staging import Load
from ingest.warehouse import connect_scratch

Refuse = Callable[[int, str, str], None]

OWN = ("search_tools",)
SEARCHES = re.compile(r"search|retriev|lookup|find", re.IGNORECASE)


@dataclass(frozen=True)
class Span:
    """One span: where it stands, whose it is, and what it was given and gave. `kind` is retriever, tool, model or other."""

    line: int
    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    start: int
    kind: str
    input: Any = None
    output: Any = None
    documents: list[Any] | None = None
    error: str | None = None
    call_id: str | None = None


@dataclass
class Trace:
    """One trace as it was recorded."""

    line: int
    trace_id: str
    query: str | None
    searches: list[dict[str, Any]] = field(default_factory=list)
    documents: list[dict[str, str]] = field(default_factory=list)
    answer: str | None = None


def find_spans(
    path: Path, options: Options, format_name: str, spans: Callable[[Path, Refuse], Iterator[Span]]
) -> list[Found]:
    """The collection of what traces show (unless one is named), their searches, and their answers where there are any."""
    tools = options.own("search_tools")
    if tools is not None and (not isinstance(tools, list) or not all(isinstance(t, str) for t in tools)):
        raise BadInput(f"{path}: search_tools must be a list of names, not {shown(tools)}.")

    def traces(refuse: Refuse) -> Iterator[Trace]:
        return _traces(path, spans, tools, refuse)

    n_traces, n_answered = _counted(traces)
    name = options.name or stem(path)
    found: list[Found] = []
    if options.collection is None:
        found.append(
            seen_collection(
                path,
                format_name,
                name,
                options,
                lambda: _queries(traces),
                lambda: _documents(traces),
                own=OWN,
                fields=("text",),
            )
        )
    collection = options.collection or name
    recording = f"{name}-traces"
    given = {"recording": recording, "kind": "traces", "collection": collection}
    files: dict[str, Given] = {"traces": from_records(path, _rows(traces, options.collection))}
    found.append(
        Found(path, format_name, "recording", recording, options.described(path, given, OWN), files, (path,))
    )
    if n_answered:
        found.append(
            answers_recording(
                path, format_name, f"{name}-answers", collection, options, _answers(traces, options.collection),
                {"citations": "not_asked"}, OWN,
            )
        )  # fmt: skip
    if not n_traces:
        raise BadInput(f"{path}: no trace with a span stands in it. Name an export of spans.")
    return found


_Traces = Callable[[Refuse], Iterator[Trace]]


def _counted(traces: _Traces) -> tuple[int, int]:
    """How many traces there are, and how many have an answer and found something."""
    n, answered = 0, 0
    for trace in traces(ignoring):
        n += 1
        answered += trace.answer is not None and bool(trace.documents)
    return n, answered


def _traces(
    path: Path, spans: Callable[[Path, Refuse], Iterator[Span]], tools: list[str] | None, refuse: Refuse
) -> Iterator[Trace]:
    """Traces in the order in which they first stand in the file; their spans are sorted in a scratch database, beside the warehouse."""
    with connect_scratch() as con:
        fill_records(con, "spans", ((span.line, asdict(span)) for span in spans(path, refuse)))
        rows = con.execute(
            """
            with spans as (select line, text, cast(text as json) as j from spans),
            numbered as (
                select line, text, cast(j ->> 'start' as hugeint) as start, min(line) over (partition by j ->> 'trace_id') as first
                from spans
            )
            select text from numbered order by first, start, line
            """
        )
        ordered = (_span(text) for (text,) in _fetched(rows))
        for _, group in groupby(ordered, lambda span: span.trace_id):
            yield _assembled(list(group), tools)


def _span(text: str) -> Span:
    return Span(**{"parent_id": None, **json.loads(text)})


def _fetched(rows: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while block := rows.fetchmany(1000):
        yield from block


def _is_search(span: Span, tools: list[str] | None) -> bool:
    if tools is not None:
        return span.name in tools
    return span.kind == "retriever" or (span.kind == "tool" and bool(SEARCHES.search(span.name)))


def _assembled(spans: list[Span], tools: list[str] | None) -> Trace:
    by_id = {span.span_id: span for span in spans}
    root = next((s for s in spans if s.parent_id is None or s.parent_id not in by_id), spans[0])
    trace = Trace(min(s.line for s in spans), spans[0].trace_id, asked(root.input))
    for span in spans:
        if not _is_search(span, tools) or _inside(span, by_id, tools):
            continue
        documents = span.documents if span.documents is not None else listed(span.output)
        search: dict[str, Any] = {"call_id": span.call_id, "error": span.error}
        text = searched(span.input)
        if text is not None:
            search["query"] = text
        if documents is not None:
            found = [document(d) for d in documents]
            search["results"] = [d["doc_id"] for d, _ in found]
            search["scores"] = [score for _, score in found]
            trace.documents += [d for d, _ in found]
        elif span.error is not None:
            search["results"] = []
        trace.searches.append({k: v for k, v in search.items() if v is not None})
    models = [s for s in spans if s.kind == "model" and said(s.output) is not None]
    trace.answer = said(root.output) or (said(models[-1].output) if models else None)
    if trace.query is None:
        trace.query = next(
            (q for s in spans if s.kind == "model" and (q := asked(s.input)) is not None), None
        )
    return trace


def _inside(span: Span, by_id: dict[str, Span], tools: list[str] | None) -> bool:
    """Whether a span stands inside of another search."""
    seen, parent = {span.span_id}, span.parent_id
    while parent is not None and parent in by_id and parent not in seen:
        if _is_search(by_id[parent], tools):
            return True
        seen.add(parent)
        parent = by_id[parent].parent_id
    return False


def _queries(traces: _Traces) -> Iterator[tuple[int, dict[str, Any]]]:
    for trace in traces(ignoring):
        if trace.query is not None:
            yield trace.line, {"query_id": text_id(trace.query), "query": trace.query}


def _documents(traces: _Traces) -> Iterator[tuple[int, dict[str, Any]]]:
    for trace in traces(ignoring):
        for one in trace.documents:
            yield trace.line, one


def _known(
    load: Load, source: SourceFile, traces: _Traces, collection: str | None, keeps: bool
) -> Iterator[tuple[Trace, str, int]]:
    """Traces with their query's ID and their trial of it; those without one go to quarantine where that is kept."""
    refuse, trials = refusing(load, source) if keeps else ignoring, dict[str, int]()
    for trace in traces(refuse):
        query_id = None
        if trace.query is not None:
            query_id = text_id(trace.query) if collection is None else query_of(load, collection, trace.query)
        if trace.query is None and not trace.searches:
            # A call that asked nothing and searched nothing is no task.
            continue
        if query_id is None:
            why = (
                "the trace has no question"
                if trace.query is None
                else f"not just one query of {collection!r} has this text"
            )
            refuse(trace.line, why, trace.query or trace.trace_id)
            continue
        trials[query_id] = trials.get(query_id, 0) + 1
        yield trace, query_id, trials[query_id]


def _rows(traces: _Traces, collection: str | None) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        for trace, query_id, trial in _known(load, source, traces, collection, True):
            yield trace.line, {
                "trace_id": trace.trace_id, "query_id": query_id, "retriever": "traced", "trial": trial, "searches": trace.searches,
                "extra": {"answer": trace.answer} if trace.answer else None,
            }  # fmt: skip

    return records


def _answers(traces: _Traces, collection: str | None) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        for trace, query_id, trial in _known(load, source, traces, collection, True):
            known = all("results" in search for search in trace.searches)
            ids = [doc for search in trace.searches for doc in search.get("results", [])]
            yield trace.line, {
                "query_id": query_id, "context": "traced", "trial": trial, "context_ids": list(dict.fromkeys(ids)) if known else None,
                "answer": trace.answer,
            }  # fmt: skip

    return records

"""Traces of the WANDS search agent of cheat-at-search: a JSON object a trace, with ``steps`` of searches and picks and faces as feedback.

Each search is an event with the model call that made it as its step, its ``top_k`` and category beside; a rejected search has its error and known,
empty results. ``picks`` are picks (a round that the harness refused is an empty one with its error, and doesn't count), the faces that answered them feedback, shown before
the next step. The agent saw grades while it worked (``judgments_shown``). ``--collection`` names the collection; a trace's query is that of just one query
there with its text. Traces of one query are its trials. The queries asked are those of the file.

Without ``--collection`` one is made of the file: its queries, and the documents that were found and picked (``"seen"``, no judgments: a sad face stands for irrelevant and for
unjudged alike). ``line`` is the trace's line; events keep their order in ``seq``.

Not known: the model's digest, when it was recorded, how large the catalog was.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.files import Given, SourceFile
from ingest.formats._seen import (
    asked_lines,
    first_object,
    ignoring,
    jsonl,
    refusing,
    seen_collection,
    stem,
    text_id,
)
from ingest.formats.base import Found, Options, from_records
from ingest.formats.marked import query_of
from ingest.staging import Load

NAME = "wands_agent"
SUMMARY = "cheat-at-search's agent traces: steps of searches, picks and faces"

_RETRIEVER = "search_wayfair"


def recognise(path: Path) -> bool:
    """Whether the first line has steps and final picks."""
    first = first_object(path)
    return isinstance(first.get("steps"), list) and "final_picks" in first


def find(path: Path, options: Options) -> list[Found]:
    """The traces, and the collection that they show."""
    name = options.name or stem(path)
    found = []
    if options.collection is None:
        found.append(
            seen_collection(
                path, NAME, name, options, lambda: _queries(path), lambda: _documents(path), fields=()
            )
        )
    collection = options.collection or name
    recording = f"{name}-agent"
    model = next((t.get("model") for _, t in _traces(path, ignoring) if t.get("model")), None)
    given = {
        "recording": recording, "kind": "traces", "collection": collection, "model": model, "judgments_shown": True,
        "asked": "the queries of the file",
    }  # fmt: skip
    files: dict[str, Given] = {
        "traces": from_records(path, _events(path, options.collection)),
        "asked": asked_lines(path, lambda load: _asked(load, path, options.collection)),
    }
    found.append(Found(path, NAME, "recording", recording, options.described(path, given), files, (path,)))
    return found


def _traces(path: Path, refuse: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, trace in jsonl(path, refuse):
        if (
            isinstance(trace.get("query"), str)
            and isinstance(trace.get("steps"), list)
            and trace.get("trace_id")
        ):
            yield line, trace
        else:
            refuse(line, "a trace with trace_id, query and steps was expected", json.dumps(trace)[:1000])


def _queries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, trace in _traces(path, ignoring):
        yield line, {"query_id": text_id(trace["query"]), "query": trace["query"]}


def _documents(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, trace in _traces(path, ignoring):
        for step in trace["steps"]:
            for one in [*(step.get("results") or []), *(step.get("picks") or [])]:
                if isinstance(one, dict) and one.get("id") is not None:
                    yield line, {"doc_id": str(one["id"])}


def _query_id(load: Load, collection: str | None, query: str) -> str | None:
    return text_id(query) if collection is None else query_of(load, collection, query)


def _asked(load: Load, path: Path, collection: str | None) -> Iterator[tuple[int, str | None]]:
    for line, trace in _traces(path, ignoring):
        yield line, _query_id(load, collection, trace["query"])


def _events(path: Path, collection: str | None) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        refuse, trials = refusing(load, source), Counter[str]()
        for line, trace in _traces(path, refuse):
            query_id = _query_id(load, collection, trace["query"])
            if query_id is None:
                refuse(line, f"not just one query of {collection!r} has this text", trace["query"])
                continue
            trials[query_id] += 1
            about = {
                "trace_id": trace["trace_id"],
                "query_id": query_id,
                "retriever": _RETRIEVER,
                "trial": trials[query_id],
            }
            for seq, event in enumerate(_of_trace(trace["steps"]), start=1):
                yield line, {**about, "seq": seq, **event}

    return records


def _of_trace(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The events of a trace. A pick's step is the model call before it."""
    call: int | None = None
    usage: dict[str, Any] = {}
    for step in steps:
        kind = step.get("type")
        if kind == "model_call":
            call = step.get("n")
            usage = {k: step[k] for k in ("input_tokens", "output_tokens") if step.get(k) is not None}
        elif kind == "search":
            results = step.get("results")
            event: dict[str, Any] = {
                "event": "search",
                "step": step.get("model_call"),
                "query": step.get("query"),
            }
            if isinstance(results, list):
                event["results"] = [str(r.get("id")) for r in results]
                event["scores"] = [r.get("score") for r in results]
            extra = {k: step[k] for k in ("category", "top_k") if step.get(k) is not None}
            yield {**event, "error": step.get("error"), "extra": extra or None}
        elif kind == "harness_error":
            # A round whose picks the harness didn't take; it wrote down what was wrong, not what they were.
            yield {
                "event": "pick",
                "step": call,
                "picked": [],
                "error": step.get("message"),
                "extra": usage or None,
            }
        elif kind == "picks":
            picks = step.get("picks") or []
            yield {
                "event": "pick", "step": call, "picked": [str(p.get("id")) for p in picks],
                "extra": {"attempt": step.get("attempt"), **usage},
            }  # fmt: skip
            faces = " ".join(str(p["feedback"]) for p in picks if p.get("feedback"))
            if faces:
                yield {"event": "feedback", "step": call, "text": faces}

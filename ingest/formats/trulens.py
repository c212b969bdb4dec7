"""TruLens's OpenTelemetry spans as CSV, one span a row (``record``, ``record_attributes``, ``start_timestamp``, ``trace``).

A span of type ``retrieval`` becomes a search: ``query_text`` its text, ``retrieved_contexts`` its results, each known by its text, for TruLens writes down no IDs. The
record's root has the question and the answer. One retrieval inside another is part of it. What else: `ingest/formats/_spans.py`. ``line`` is the row of the
record's first span.

A collection is made of what the records show (``"seen"``, no judgments), unless ``--collection`` names one that has the questions by their text.

Not known: documents' IDs, scores of retrieval, prompts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ingest.formats._csv import csv_rows, header_of
from ingest.formats._spans import Refuse, Span, find_spans
from ingest.formats.base import Found, Options

NAME = "trulens"
SUMMARY = "TruLens's OpenTelemetry spans as CSV"

_KEY = "ai.observability."
_KINDS = {"retrieval": "retriever", "generation": "model"}


def recognise(path: Path) -> bool:
    """Whether a CSV file's header has a span's record, attributes and trace."""
    if not path.is_file() or not path.name.removesuffix(".gz").endswith(".csv"):
        return False
    return {"record", "record_attributes", "start_timestamp", "trace"} <= set(header_of(path))


def find(path: Path, options: Options) -> list[Found]:
    """The collection, the traces and the answers of an export."""
    return find_spans(path, options, NAME, _spans)


def _object(text: str) -> dict[str, Any]:
    found = ast.literal_eval(text)
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def _spans(path: Path, refuse: Refuse) -> Iterator[Span]:
    for number, row in csv_rows(path, refuse):
        try:
            attributes, trace = _object(row["record_attributes"]), _object(row["trace"])
            name = str(_object(row["record"]).get("name") or "")
            record = str(attributes.get(f"{_KEY}record_id") or trace["trace_id"])
            kind = str(attributes.get(f"{_KEY}span_type") or "")
            start = datetime.fromisoformat(row["start_timestamp"]).replace(tzinfo=UTC)
        except (KeyError, TypeError, ValueError, SyntaxError, MemoryError, RecursionError) as error:
            refuse(number, f"a span was expected ({error!r})", str(row)[:1000])
            continue
        about = f"{_KEY}{kind}."
        contexts, parent = attributes.get(f"{about}retrieved_contexts"), trace.get("parent_id")
        yield Span(
            number, record, str(trace.get("span_id")), None if not parent else str(parent), name,
            int(start.timestamp() * 1_000_000) * 1000, _KINDS.get(kind, "other"),
            attributes.get(f"{about}query_text") if kind == "retrieval" else attributes.get(f"{about}input"),
            attributes.get(f"{about}output"),
            [{"text": str(c)} for c in contexts] if isinstance(contexts, list) else None,
        )  # fmt: skip

"""Langfuse's exports: JSON of a trace with its observations, or a list of such.

An observation of type RETRIEVER, or of type TOOL or SPAN whose name says that it searches, becomes a search; GENERATION is a model's call. What becomes a
search's text and results, the query and the answer: `ingest/formats/_spans.py`. A level of ERROR is an attempt that failed. Observations are ordered by when they
began, then by their place in the file.

A collection is made of what the traces show (``"seen"``, no judgments), unless ``--collection`` names one that has the questions by their text. ``line`` is the number of the
trace's first observation in the file.

Not known: whether the model read what a search found, picks, judgments (Langfuse's scores are kept in no table: most come from models).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from ingest.formats._json import objects
from ingest.formats._seen import first_bytes
from ingest.formats._spans import Refuse, Span, find_spans
from ingest.formats.base import Found, Options

NAME = "langfuse"
SUMMARY = "Langfuse's JSON exports: a trace with its observations"

_KINDS = {"RETRIEVER": "retriever", "TOOL": "tool", "SPAN": "tool", "GENERATION": "model"}


def recognise(path: Path) -> bool:
    """Whether a JSON file begins as a trace with observations."""
    if not path.is_file() or not path.name.removesuffix(".gz").endswith(".json"):
        return False
    start = first_bytes(path)
    return (
        '"projectId"' in start
        and '"trace"' in start
        and ('"observations"' in start or '"sessionId"' in start)
    )


def find(path: Path, options: Options) -> list[Found]:
    """The collection, the traces and the answers of an export."""
    return find_spans(path, options, NAME, _spans)


def _spans(path: Path, refuse: Refuse) -> Iterator[Span]:
    number = 0
    for entry in objects(path):
        trace = entry.get("trace", entry) if isinstance(entry, dict) else {}
        observations = (
            entry.get("observations") or trace.get("observations") or [] if isinstance(entry, dict) else []
        )
        trace_id = trace.get("id") if isinstance(trace, dict) else None
        number += 1
        if trace_id is None or not isinstance(observations, list):
            refuse(number, "a trace with an ID and observations was expected", json.dumps(entry)[:1000])
            continue
        root = f"trace {trace_id}"
        yield Span(
            number, str(trace_id), root, None, str(trace.get("name") or ""), _time(trace.get("timestamp")), "other",
            trace.get("input"), trace.get("output"),
        )  # fmt: skip
        for one in observations:
            number += 1
            if not isinstance(one, dict) or one.get("id") is None:
                refuse(number, "an observation with an ID was expected", json.dumps(one)[:1000])
                continue
            yield Span(
                number, str(trace_id), str(one["id"]), str(one.get("parentObservationId") or root), str(one.get("name") or ""),
                _time(one.get("startTime")), _KINDS.get(str(one.get("type")), "other"), one.get("input"), one.get("output"), None,
                str(one.get("statusMessage") or "error") if one.get("level") == "ERROR" else None,
            )  # fmt: skip


def _time(value: Any) -> int:
    """Nanoseconds; 0 where there is no time that can be read."""
    try:
        return int(datetime.fromisoformat(str(value)).timestamp() * 1_000_000) * 1000
    except ValueError:
        return 0

"""open-rag-eval's CSV (Vectara): a row a passage, and the answer with ``[1, 2]`` on the first row of a query's run.

Columns ``query_id``, ``query``, ``query_run``, ``passage_id`` (``[1]``), ``passage``, ``generated_answer``. The rows of one query and run are one
answer, its passages in the rows' order; ``query_run`` is the trial. A passage's document is its text: the ID is the first 16
hexadecimal digits of the sha256 of it, so that equal passages are one document; ``passage_ids`` are the numbers. ``[n]`` in the
answer is the passage with that number, whatever its row; a number without a passage stays ``[n]``.

A collection is made of queries and passages, unless ``--collection`` names one that has the queries' IDs. ``line`` is the row's number.

Not known: judgments, prompts, which retriever chose the passages, and where a passage comes from.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from ingest.files import SourceFile
from ingest.formats._csv import csv_rows, header_of
from ingest.formats._marks import cited_in
from ingest.formats._seen import (
    answers_recording,
    ignoring,
    refusing,
    seen_collection,
    stem,
    text_id,
)
from ingest.formats.base import Found, Options
from ingest.formats.marked import notice_unresolved
from ingest.staging import Load

NAME = "open_rag_eval"
SUMMARY = "open-rag-eval's CSV: a row a passage, answers that cite them as [1, 2]"

_COLUMNS = ("query_id", "query", "query_run", "passage_id", "passage", "generated_answer")


def recognise(path: Path) -> bool:
    """Whether a CSV file's header has the six columns."""
    if not path.name.removesuffix(".gz").endswith(".csv"):
        return False
    return set(_COLUMNS) <= {column.strip() for column in header_of(path)}


def find(path: Path, options: Options) -> list[Found]:
    """The collection of queries and passages, and the answers."""
    name = options.name or stem(path)
    found = []
    if options.collection is None:
        found.append(
            seen_collection(
                path,
                NAME,
                name,
                options,
                lambda: _queries(path),
                lambda: _documents(path),
                fields=("passage",),
            )
        )
    found.append(
        answers_recording(
            path, NAME, f"{name}-answers", options.collection or name, options, _answers(path),
            {"citations": "text", "ids_in_text": False},
        )
    )  # fmt: skip
    return found


def _rows(path: Path, refuse: Any) -> Iterator[tuple[int, dict[str, str]]]:
    for number, fields in csv_rows(path, refuse):
        row = {column.strip(): value for column, value in fields.items()}
        run = row["query_run"].strip()
        if not row["query_id"].strip():
            refuse(number, "query_id is empty", str(row))
        elif not (run.isascii() and run.isdecimal()) or int(run) < 1:
            refuse(number, f"query_run must be a whole number, 1 or higher, not {run!r}", str(row))
        else:
            yield number, row


def _queries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, row in _rows(path, ignoring):
        yield number, {"query_id": row["query_id"], "query": row["query"]}


def _documents(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, row in _rows(path, ignoring):
        if row["passage_id"].strip():
            yield number, {"doc_id": text_id(row["passage"]), "passage": row["passage"]}


def _answers(path: Path) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        unresolved = 0
        by_answer = groupby(
            _rows(path, refusing(load, source)), lambda row: (row[1]["query_id"], row[1]["query_run"])
        )
        for (query_id, run), group in by_answer:
            rows = list(group)
            passages = [row for _, row in rows if row["passage_id"].strip()]
            numbers = [row["passage_id"].strip().strip("[]") for row in passages]
            ids = [text_id(row["passage"]) for row in passages]
            by_number = dict(zip(reversed(numbers), reversed(ids), strict=True))
            answer = next((row["generated_answer"] for _, row in rows if row["generated_answer"]), "")
            cited = [
                (by_number[c.number], True)
                if c.number in by_number
                else (f"[{c.number}]" if c.number else c.value, False)
                for c in cited_in(answer, [], 1) or []
            ]
            unresolved += sum(not is_resolved for _, is_resolved in cited)
            yield (
                rows[0][0],
                {
                    "query_id": query_id,
                    "context": "passages",
                    "trial": int(run),
                    "context_ids": ids,
                    "passage_ids": numbers,
                    "answer": answer,
                    "cited": [value for value, _ in cited],
                },
            )
        notice_unresolved(load, source, unresolved)

    return records

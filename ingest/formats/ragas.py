"""Ragas's evaluation data sets, JSONL or CSV: a row a question, with its contexts, its answer and its reference.

``user_input`` is the query; ``response`` the answer; ``retrieved_context_ids`` (or, without them, ``retrieved_contexts``, each known by its text) the context, whose texts
are those of ``retrieved_contexts``; ``reference_context_ids`` (or ``reference_contexts``) become judgments of grade 1, and nobody wrote down what
isn't relevant (``positive_only``). Old names are read too: ``question``, ``contexts``, ``answer`` (say ``--format ragas``).

Gives a collection made of the file (unless ``--collection`` names one that has the queries by their text), and a recording: answers where there are
responses, else contexts. Rows with the same question are trials of one query. In CSV, lists are JSON or Python's own writing of lists. A text without an ID
has the first 16 hexadecimal digits of its sha256 for one. Nobody asked these answers for citations. ``line`` is the row.

Not known: what is irrelevant, scores of retrieval, prompts, models. ``reference`` is a written answer, no judgment of a document, and is kept beside.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.files import Given, SourceFile
from ingest.formats._csv import csv_rows, header_of
from ingest.formats._seen import (
    answers_recording,
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

NAME = "ragas"
SUMMARY = "Ragas's evaluation sets as JSONL or CSV: reference IDs become judgments"

_QUERY = ("user_input", "question")
_ANSWER = ("response", "answer")
_IDS = ("retrieved_context_ids",)
_TEXTS = ("retrieved_contexts", "contexts")
_REFERENCE_IDS = ("reference_context_ids",)
_REFERENCE_TEXTS = ("reference_contexts",)


def _is_csv(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".csv")


def recognise(path: Path) -> bool:
    """Whether the first row has a question and its retrieved contexts."""
    if not path.is_file():
        return False
    keys = set(header_of(path) if _is_csv(path) else first_object(path))
    return "user_input" in keys and bool(keys & {*_IDS, *_TEXTS, *_REFERENCE_IDS})


def find(path: Path, options: Options) -> list[Found]:
    """The collection of what a file shows, and its answers or contexts."""
    name = options.name or stem(path)
    found = []
    has_answers = any(_first(row, _ANSWER) is not None for _, _, row in _rows(path, ignoring))
    has_contexts = any(_context(row)[0] is not None for _, _, row in _rows(path, ignoring))
    if options.collection is None:
        one = seen_collection(
            path, NAME, name, options, lambda: _queries(path), lambda: _documents(path),
            {"grades": {"1": "reference"}, "exact_grade": 1, "judgments": "positive_only"},
        )  # fmt: skip
        one.files["qrels"] = from_records(
            path, _judgments(path, keeps=not has_answers and not has_contexts), f"{path.name}: judgments"
        )
        found.append(one)
    collection = options.collection or name
    if has_answers:
        found.append(
            answers_recording(
                path, NAME, f"{name}-answers", collection, options, _recorded(path, options.collection, True),
                {"citations": "not_asked"},
            )
        )  # fmt: skip
    elif has_contexts:
        recording = f"{name}-contexts"
        described = options.described(
            path, {"recording": recording, "kind": "contexts", "collection": collection}
        )
        files: dict[str, Given] = {"contexts": from_records(path, _recorded(path, options.collection, False))}
        found.append(Found(path, NAME, "recording", recording, described, files, (path,)))
    return found


def _first(row: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((row[key] for key in keys if row.get(key) is not None), None)


def _list(value: Any) -> list[Any] | None:
    """A list, from JSON or from Python's writing of one; None where it is absent. Raises ValueError for anything else."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            try:
                value = ast.literal_eval(value)
            except (SyntaxError, MemoryError, RecursionError) as error:
                raise ValueError(str(error)) from None
    if not isinstance(value, list):
        raise ValueError("no list")
    return value


def _entries(path: Path, refuse: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    if not _is_csv(path):
        yield from jsonl(path, refuse)
        return
    for number, row in csv_rows(path, refuse):
        # An empty field of CSV says nothing.
        yield number, {key: value for key, value in row.items() if value != ""}


def _rows(path: Path, refuse: Any) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Line, query ID and row, with its lists read. Queries are numbered as they first come."""
    seen: dict[str, str] = {}
    for line, row in _entries(path, refuse):
        question = _first(row, _QUERY)
        if not isinstance(question, str):
            refuse(line, "user_input must be a text", str(row))
            continue
        try:
            lists = {k: _list(row.get(k)) for k in (*_IDS, *_TEXTS, *_REFERENCE_IDS, *_REFERENCE_TEXTS)}
        except ValueError:
            refuse(line, "contexts and their IDs must be lists", str(row))
            continue
        # One ID a question: of a thousand questions Python holds a thousand digests, not the rows.
        query_id = seen.setdefault(text_id(question), f"q{len(seen) + 1:03d}")
        yield line, query_id, {**row, **lists, "question": question}


def _context(
    row: dict[str, Any], ids: tuple[str, ...] = _IDS, texts: tuple[str, ...] = _TEXTS
) -> tuple[list[Any] | None, list[Any] | None]:
    """IDs and texts of a context; IDs made of texts where there are none."""
    given, said = _first(row, ids), _first(row, texts)
    if given is None and said is not None:
        given = [text_id(str(text)) for text in said]
    return given, said


def _queries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, query_id, row in _rows(path, ignoring):
        yield line, {"query_id": query_id, "query": row["question"]}


def _documents(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, _, row in _rows(path, ignoring):
        for names in ((_IDS, _TEXTS), (_REFERENCE_IDS, _REFERENCE_TEXTS)):
            ids, texts = _context(row, *names)
            known = texts if texts is not None and len(texts) == len(ids or []) else [""] * len(ids or [])
            for doc_id, text in zip(ids or [], known, strict=True):
                yield line, {"doc_id": str(doc_id), "text": str(text)}


def _judgments(path: Path, keeps: bool) -> Any:
    """Judgments, numbered; where nothing was recorded this reading `keeps` the rows that can't be read."""

    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        number = 0
        for _, query_id, row in _rows(path, refusing(load, source) if keeps else ignoring):
            for doc_id in _context(row, _REFERENCE_IDS, _REFERENCE_TEXTS)[0] or []:
                number += 1
                yield number, {"query_id": query_id, "doc_id": doc_id, "grade": 1}

    return records


def _recorded(path: Path, collection: str | None, with_answers: bool) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        refuse, trials = refusing(load, source), Counter[str]()
        for line, query_id, row in _rows(path, refuse):
            if collection is not None:
                known = query_of(load, collection, row["question"])
                if known is None:
                    refuse(line, f"not just one query of {collection!r} has this text", row["question"])
                    continue
                query_id = known
            ids, texts = _context(row)
            if ids is not None and texts is not None and len(ids) != len(texts):
                refuse(line, "retrieved_context_ids and retrieved_contexts differ in length", str(row))
                continue
            trials[query_id] += 1
            extra = {k: row[k] for k in ("reference", "reference_answer") if row.get(k) is not None}
            recorded = {
                "query_id": query_id,
                "context": "retrieved",
                "trial": trials[query_id],
                "extra": extra or None,
            }
            if with_answers:
                yield line, {**recorded, "context_ids": ids, "answer": _first(row, _ANSWER)}
            else:
                yield line, {**recorded, "doc_ids": ids}

    return records

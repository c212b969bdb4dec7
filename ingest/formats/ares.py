"""ARES's labelled sets: TSV with ``Query``, ``Document``, ``Answer`` and labels of people.

``Context_Relevance_Label`` (1 or 0) becomes a judgment of the document for the query, ``Answer_Faithfulness_Label`` a label of support by ``person`` (1 is supported, 0
unsupported); ``Answer_Relevance_Label`` is no judgment of a document and is kept beside. Each row is an answer with one document for context; rows of one query are its
trials. Queries and documents are known by their texts: the ID is the first 16 hexadecimal digits of the sha256. A pair that two rows label differently refuses the
collection, as everywhere.

``line`` is the row's number. Not known: which system answered, prompts, other documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.errors import BadInput
from ingest.files import SourceFile
from ingest.formats._csv import csv_rows, header_of
from ingest.formats._seen import (
    answers_recording,
    ignoring,
    refusing,
    seen_collection,
    stem,
    text_id,
)
from ingest.formats.base import Found, Options, from_records
from ingest.staging import Load

NAME = "ares"
SUMMARY = "ARES's TSV: labels of context relevance become judgments, of faithfulness support"

_COLUMNS = ("Query", "Document", "Answer")
_RELEVANT, _FAITHFUL, _TO_THE_POINT = (
    "Context_Relevance_Label",
    "Answer_Faithfulness_Label",
    "Answer_Relevance_Label",
)


def recognise(path: Path) -> bool:
    """Whether a TSV file's header has the columns."""
    if not path.is_file() or not path.name.removesuffix(".gz").endswith(".tsv"):
        return False
    header = header_of(path, "\t")
    return set(_COLUMNS) <= set(header) and bool({_RELEVANT, _FAITHFUL} & set(header))


def find(path: Path, options: Options) -> list[Found]:
    """The collection, and the answers with their labels of support."""
    if options.collection is not None:
        raise BadInput(
            f"{path}: ARES's rows make their own collection, for their IDs are made of texts. Leave --collection out."
        )
    name = options.name or stem(path)
    given = {"grades": {"1": "relevant", "0": "not relevant"}, "exact_grade": 1}
    collection = seen_collection(
        path, NAME, name, options, lambda: _queries(path), lambda: _documents(path), given
    )
    collection.files["qrels"] = from_records(
        path, lambda load, source: _judgments(path), f"{path.name}: judgments"
    )
    support = from_records(path, lambda load, source: _support(path), f"{path.name}: labels")
    return [
        collection,
        answers_recording(
            path,
            NAME,
            f"{name}-answers",
            name,
            options,
            _answers(path),
            {"citations": "not_asked"},
            files={"support": support},
        ),
    ]


def _label(row: dict[str, str], column: str) -> int | None:
    """1 or 0; None where the row has no label. Raises ValueError for anything else."""
    text = (row.get(column) or "").strip()
    if text in ("", "nan"):
        return None
    number = float(text)
    if number not in (0, 1):
        raise ValueError(f"{column} must be 1 or 0, not {text}")
    return int(number)


def _rows(path: Path, refuse: Any) -> Iterator[tuple[int, int, str, dict[str, str]]]:
    """Row, trial, query's ID and the row."""
    trials: Counter[str] = Counter()
    for number, row in csv_rows(path, refuse, "\t"):
        try:
            for column in (_RELEVANT, _FAITHFUL):
                _label(row, column)
        except ValueError as error:
            refuse(number, str(error), str(row))
            continue
        query_id = text_id(row["Query"])
        trials[query_id] += 1
        yield number, trials[query_id], query_id, row


def _queries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, _, query_id, row in _rows(path, ignoring):
        yield number, {"query_id": query_id, "query": row["Query"]}


def _documents(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, _, _, row in _rows(path, ignoring):
        yield number, {"doc_id": text_id(row["Document"]), "text": row["Document"]}


def _judgments(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, _, query_id, row in _rows(path, ignoring):
        grade = _label(row, _RELEVANT)
        if grade is not None:
            yield number, {"query_id": query_id, "doc_id": text_id(row["Document"]), "grade": grade}


def _answers(path: Path) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, trial, query_id, row in _rows(path, refusing(load, source)):
            extra = {_TO_THE_POINT: row[_TO_THE_POINT]} if row.get(_TO_THE_POINT) else None
            yield number, {
                "query_id": query_id, "context": "context", "trial": trial, "context_ids": [text_id(row["Document"])],
                "answer": row["Answer"], "extra": extra,
            }  # fmt: skip

    return records


def _support(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, trial, query_id, row in _rows(path, ignoring):
        label = _label(row, _FAITHFUL)
        if label is not None:
            yield number, {
                "query_id": query_id, "context": "context", "trial": trial, "doc_ids": [text_id(row["Document"])], "judge": "person",
                "label": "supported" if label else "unsupported",
            }  # fmt: skip

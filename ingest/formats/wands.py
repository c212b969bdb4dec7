"""WANDS, Wayfair's data: ``product.csv``, ``query.csv`` and ``label.csv``, which are separated by tabs
and quoted as CSV is.

Fields are ``name``, ``product_class``, ``category`` (the column ``category hierarchy``), ``description`` and ``attributes`` (``product_features`` as it stands:
``key : value`` between bars, repeated and empty keys and all). Labels Exact, Partial and
Irrelevant are the grades 2, 1 and 0; exact is 2. Ratings and counts, and a query's class, are kept beside.

``--set sample=100`` keeps 100 queries: those whose sha256 of ``<seed>:<query_id>`` is lowest, and their labels; the catalog stays whole.
``--set train=50`` gives the 50 of them that are lowest by the sha256 of ``<seed>:split:<query_id>`` the split ``train``, the others ``test``; without it all are
``test``. ``--set seed=1`` is the default. Adding queries moves none that is there past another.
``line`` is the row.

A ``label.csv`` may also be ``label_*.csv``; its columns go by their names. Not known: which products nobody looked at.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ingest.errors import BadInput, shown
from ingest.files import Given, SourceFile
from ingest.formats._csv import csv_rows, header_of
from ingest.formats._seen import ignoring, refusing
from ingest.formats.base import Found, Options, from_records
from ingest.staging import Load

NAME = "wands"
SUMMARY = "WANDS: product.csv, query.csv and label.csv, separated by tabs"

_OWN = ("sample", "train", "seed")
_FIELDS = {
    "name": "product_name", "product_class": "product_class", "category": "category hierarchy",
    "description": "product_description", "attributes": "product_features",
}  # fmt: skip
_BESIDE = ("rating_count", "average_rating", "review_count")
_LABELS = {"exact": 2, "partial": 1, "irrelevant": 0}


def _file(folder: Path, name: str, columns: tuple[str, ...]) -> Path | None:
    """The file of that name whose header has the columns."""
    for path in [folder / f"{name}.csv", *sorted(folder.glob(f"{name}_*.csv"))]:
        if path.is_file() and set(columns) <= set(header_of(path, "\t")):
            return path
    return None


def _files(folder: Path) -> tuple[Path | None, Path | None, Path | None]:
    return (
        _file(folder, "product", ("product_id", "product_name", "category hierarchy")),
        _file(folder, "query", ("query_id", "query")),
        _file(folder, "label", ("query_id", "product_id", "label")),
    )


def recognise(path: Path) -> bool:
    """Whether this is a folder with products and queries of WANDS."""
    return path.is_dir() and None not in _files(path)


def find(path: Path, options: Options) -> list[Found]:
    """The collection."""
    products, queries, labels = _files(path)
    if products is None or queries is None or labels is None:
        raise BadInput(
            f"{path}: product.csv, query.csv and label.csv, separated by tabs, must all stand here."
        )
    numbers = {
        key: options.own(key, default) for key, default in (("sample", None), ("train", None), ("seed", 1))
    }
    for key, value in numbers.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise BadInput(f"{path}: {key} must be a whole number, 0 or higher, not {shown(value)}.")
    name = options.name or path.resolve().name
    described = options.described(
        path,
        {
            "collection": name, "licence": "MIT", "source": "wayfair/WANDS",
            "fields": list(_FIELDS),
            "grades": {"2": "exact", "1": "partial", "0": "irrelevant"}, "exact_grade": 2, "catalog": "whole",
        },
        _OWN,
    )  # fmt: skip
    draw = _Draw(queries, numbers["sample"], numbers["train"], int(numbers["seed"] or 0))
    files: dict[str, Given] = {
        "catalog": from_records(products, _catalog(products)),
        "queries": from_records(queries, draw.queries),
        "qrels": from_records(labels, draw.labels(labels)),
    }
    return [Found(path, NAME, "collection", name, described, files, (products, queries, labels))]


def _catalog(path: Path) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, row in csv_rows(path, refusing(load, source), "\t"):
            beside = {key: row[key] for key in _BESIDE if row.get(key)}
            yield (
                line,
                {
                    "doc_id": row["product_id"],
                    **{field: row.get(column, "") for field, column in _FIELDS.items()},
                    **beside,
                },
            )

    return records


class _Draw:
    """Which queries are kept, and in which split they are; their IDs alone are held."""

    def __init__(self, path: Path, sample: int | None, train: int | None, seed: int) -> None:
        self._path, self._sample, self._train, self._seed = path, sample, train, seed

    def _lowest(self, ids: Iterable[str], salt: str, most: int) -> frozenset[str]:
        def place(query_id: str) -> tuple[str, str]:
            return hashlib.sha256(f"{self._seed}:{salt}{query_id}".encode()).hexdigest(), query_id

        return frozenset(heapq.nsmallest(most, ids, key=place))

    def _all(self) -> Iterator[str]:
        return (row["query_id"] for _, row in csv_rows(self._path, ignoring, "\t"))

    def _kept(self) -> frozenset[str] | None:
        """The IDs of the queries that are kept; None for all."""
        return None if self._sample is None else self._lowest(self._all(), "", self._sample)

    def queries(self, load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        """The queries, with their split and class."""
        kept = self._kept()
        train = frozenset[str]()
        if self._train is not None:
            train = self._lowest(kept if kept is not None else self._all(), "split:", self._train)
        for line, row in csv_rows(self._path, refusing(load, source), "\t"):
            if kept is None or row["query_id"] in kept:
                yield (
                    line,
                    {
                        "query_id": row["query_id"],
                        "query": row["query"],
                        "split": "train" if row["query_id"] in train else "test",
                        "query_class": row.get("query_class") or None,
                    },
                )

    def labels(self, path: Path) -> Any:
        """The labels of the queries that are kept; a label of none of the three kinds goes to quarantine."""

        def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
            kept, refuse = self._kept(), refusing(load, source)
            for line, row in csv_rows(path, refuse, "\t"):
                grade = _LABELS.get(row["label"].strip().lower())
                if grade is None:
                    said = row["label"].strip() or "nothing"
                    refuse(line, f"the label must be Exact, Partial or Irrelevant, not {said}", row["label"])
                elif kept is None or row["query_id"] in kept:
                    yield (
                        line,
                        {"query_id": row["query_id"], "doc_id": row["product_id"], "grade": grade},
                    )

        return records

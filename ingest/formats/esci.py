"""Amazon's Shopping Queries data (ESCI): its Parquet files, or OpenSearch's JSON of judgments.

**Parquet**, in a folder: ``*examples*.parquet`` (``query_id``, ``query``, ``product_id``, ``esci_label``, ``product_locale``, ``split``) and
``*products*.parquet`` (``product_id``, ``product_title``, ``product_description``, ``product_bullet_point``, ``product_brand``, ``product_color``,
``product_locale``). ``--set locale=us`` (the default) chooses the language; ``--set version=small`` keeps the rows of the reduced task
(``small_version`` is 1).

**OpenSearch's JSON** (Search Relevance Workbench): ``judgmentRatings`` with ratings as text ("100.000"), in a file or in a folder beside
``products.jsonl`` (``asin`` or ``_id``, ``title``, ``brand``, ``color``, ``bullet_points``, ``description``). Queries there have no IDs: they are made, ``q001`` and
on in the file's order; ``--set keep=even`` or ``odd`` keeps every second query, from the first or the second on. The catalog is the products that are there
and judged; without a file of them, the IDs that are judged.

Grades: Exact (E, 100) is 3, Substitute (S, 10) 2, Complement (C, 1) 1, Irrelevant (I, 0) 0; exact is 3. ``--set split=test`` gives the JSON's queries
that split. ``line`` is the row, or the query's number. Not known: which products nobody showed the judges.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ingest.errors import BadInput, shown
from ingest.files import Given, SourceFile
from ingest.formats._json import entries
from ingest.formats._seen import first_bytes, jsonl, refusing, stem
from ingest.formats.base import Found, Options, from_records, from_sql
from ingest.sqltext import literal
from ingest.staging import Load

NAME = "esci"
SUMMARY = "Amazon's Shopping Queries: the Parquet files, or OpenSearch's JSON of judgments"

_FIELDS = ("title", "brand", "color", "bullet_points", "description")
_GRADES = {"3": "exact", "2": "substitute", "1": "complement", "0": "irrelevant"}
_RATINGS = {100.0: 3, 10.0: 2, 1.0: 1, 0.0: 0}
_OWN = ("locale", "version", "keep", "split")


def recognise(path: Path) -> bool:
    """Whether this is a file of judgment ratings, or a folder with one or with the Parquet files."""
    if path.is_file():
        return path.name.endswith((".json", ".json.gz")) and '"judgmentRatings"' in first_bytes(path)
    return path.is_dir() and (_parquet(path, "examples") is not None or _json_file(path) is not None)


def _parquet(folder: Path, what: str) -> Path | None:
    return next(iter(sorted(folder.glob(f"*{what}*.parquet"))), None)


def _json_file(folder: Path) -> Path | None:
    return next((p for p in sorted(folder.glob("*.json*")) if recognise(p)), None)


def find(path: Path, options: Options) -> list[Found]:
    """The collection."""
    examples = _parquet(path, "examples") if path.is_dir() else None
    if examples is not None:
        return [_of_parquet(path, examples, options)]
    ratings = _json_file(path) if path.is_dir() else path
    if ratings is None:
        raise BadInput(f"{path}: neither *examples*.parquet nor a JSON file of judgmentRatings stands here.")
    products = next((p for p in (path / "products.jsonl", path / "products.jsonl.gz") if p.is_file()), None)
    return [_of_json(path, ratings, products, options)]


def _described(path: Path, name: str, fields: list[str], options: Options) -> Any:
    given = {
        "collection": name, "licence": "Apache-2.0", "source": "Amazon Shopping Queries (ESCI)", "fields": fields,
        "grades": _GRADES, "exact_grade": 3, "catalog": "seen", "judgments": "graded",
    }  # fmt: skip
    return options.described(path, given, _OWN)


def _of_parquet(folder: Path, examples: Path, options: Options) -> Found:
    products = _parquet(folder, "products")
    if products is None:
        raise BadInput(f"{folder}: {examples.name} is here, and *products*.parquet is not. Put it beside.")
    name = options.name or folder.resolve().name
    locale = str(options.own("locale", "us"))
    version = options.own("version", "large")
    if version not in ("small", "large"):
        raise BadInput(f"{folder}: version must be small or large, not {shown(version)}.")
    small = " and small_version = 1" if version == "small" else ""
    rows = (
        "select file_row_number + 1 as line, * exclude (file_row_number)"
        f" from read_parquet({literal(str(examples))}, file_row_number = true) where product_locale = {literal(locale)}{small}"
    )
    catalog = f"""
        select p.file_row_number + 1 as line, cast(json_object(
            'doc_id', p.product_id, 'title', coalesce(p.product_title, ''), 'brand', coalesce(p.product_brand, ''),
            'color', coalesce(p.product_color, ''), 'bullet_points', coalesce(p.product_bullet_point, ''),
            'description', coalesce(p.product_description, '')
        ) as varchar) as text
        from read_parquet({literal(str(products))}, file_row_number = true) as p
        where p.product_locale = {literal(locale)} and p.product_id in (select product_id from ({rows}))
    """
    queries = f"""
        select min(line) as line, cast(json_object('query_id', cast(query_id as varchar), 'query', query, 'split', split) as varchar) as text
        from ({rows}) group by query_id, query, split
    """
    qrels = f"""
        select line, cast(json_object('query_id', cast(query_id as varchar), 'doc_id', product_id, 'grade',
            case esci_label when 'E' then json '3' when 'S' then json '2' when 'C' then json '1' when 'I' then json '0'
            else to_json(esci_label) end) as varchar) as text
        from ({rows})
    """
    files: dict[str, Given] = {
        "catalog": from_sql(products, lambda load, source: catalog),
        "queries": from_sql(examples, lambda load, source: queries, f"{examples.name}: queries"),
        "qrels": from_sql(examples, lambda load, source: qrels),
    }
    return Found(
        folder,
        NAME,
        "collection",
        name,
        _described(folder, name, list(_FIELDS), options),
        files,
        (examples, products),
    )


def _of_json(path: Path, ratings: Path, products: Path | None, options: Options) -> Found:
    name = options.name or (path.resolve().name if path.is_dir() else stem(path))
    keep = options.own("keep", "all")
    if keep not in ("all", "even", "odd"):
        raise BadInput(f"{path}: keep must be all, even or odd, not {shown(keep)}.")
    split = options.own("split")
    judged = _Ratings(ratings, str(keep))
    files: dict[str, Given] = {
        "catalog": from_records(
            products or ratings,
            (lambda load, source: _products(products, judged, load, source))
            if products
            else (lambda load, source: judged.documents()),
            None if products else f"{ratings.name}: products",
        ),
        "queries": from_records(
            ratings, lambda load, source: judged.queries(split), f"{ratings.name}: queries"
        ),
        "qrels": from_records(ratings, judged.judgments),
    }
    fields = list(_FIELDS) if products else []
    sources = (ratings,) if products is None else (ratings, products)
    return Found(path, NAME, "collection", name, _described(path, name, fields, options), files, sources)


class _Ratings:
    """The queries of a file of judgment ratings, with their numbers, one at a time."""

    def __init__(self, path: Path, keep: str) -> None:
        self._path, self._keep = path, keep

    def _entries(self) -> Iterator[tuple[int, str, str, list[Any]]]:
        first, step = {"all": (0, 1), "even": (0, 2), "odd": (1, 2)}[self._keep]
        given = islice(entries(self._path, ("judgmentRatings",)), first, None, step)
        for n, entry in enumerate(given, start=1):
            ratings = entry.get("ratings") if isinstance(entry, dict) else None
            if not isinstance(ratings, list) or not isinstance(entry.get("query"), str):
                raise BadInput(
                    f"{self._path}: judgmentRatings must be queries, each with its text and ratings, not {shown(entry)}. Put that right."
                )
            yield n, f"q{n:03d}", entry["query"], ratings

    def queries(self, split: object) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, query_id, query, _ in self._entries():
            yield number, {"query_id": query_id, "query": query, "split": split}

    def judged(self) -> set[str]:
        return {
            str(r["docId"])
            for _, _, _, ratings in self._entries()
            for r in ratings
            if isinstance(r, dict) and _is_id(r.get("docId"))
        }

    def documents(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, doc_id in enumerate(sorted(self.judged()), start=1):
            yield number, {"doc_id": doc_id}

    def judgments(self, load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        row = 0
        for _, query_id, _, ratings in self._entries():
            for rating in ratings:
                row += 1
                given = rating if isinstance(rating, dict) else {}
                grade = _grade(given.get("rating"))
                if grade is None or not _is_id(given.get("docId")):
                    refusing(load, source)(
                        row, "a rating must have a docId, and be 100, 10, 1 or 0", json.dumps(rating)
                    )
                else:
                    yield row, {"query_id": query_id, "doc_id": given["docId"], "grade": grade}


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and bool(str(value).strip())


def _grade(rating: Any) -> int | None:
    """The grade of a rating; None for what is none."""
    if isinstance(rating, bool):
        return None
    try:
        return _RATINGS.get(float(rating))
    except (TypeError, ValueError, OverflowError):
        return None


def _products(
    path: Path, ratings: _Ratings, load: Load, source: SourceFile
) -> Iterator[tuple[int, dict[str, Any]]]:
    judged = ratings.judged()
    for line, product in jsonl(path, refusing(load, source)):
        doc_id = next((product[k] for k in ("asin", "_id", "product_id") if product.get(k) is not None), None)
        if doc_id is None:
            refusing(load, source)(line, "a product has neither asin nor _id", str(product))
            continue
        if str(doc_id) not in judged:
            continue
        category = product.get("category")
        rest = {
            "category": " / ".join(map(str, category)) if isinstance(category, list) else category,
            "price": product.get("price"),
        }
        yield (
            line,
            {
                "doc_id": doc_id,
                **{field: product.get(field) or "" for field in _FIELDS},
                **{k: v for k, v in rest.items() if v is not None},
            },
        )

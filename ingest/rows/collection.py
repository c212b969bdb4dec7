"""A collection's files, in the keys of the recording format, into the raw tables."""

from __future__ import annotations

from pathlib import Path

from ingest.describe import Described
from ingest.errors import BadInput
from ingest.files import Given, SourceFile
from ingest.keys import Key
from ingest.staging import Load
from ingest.tables.collection import add_documents, add_judgments, add_queries

_QUERY_KEYS = (
    Key("query_id", "id", required=True),
    Key("query", "text", required=True),
    Key("split", "scalar"),
    Key("earlier_turns", "texts"),
)
_JUDGMENT_KEYS = (
    Key("query_id", "id", required=True),
    Key("doc_id", "id", required=True),
    Key("grade", "grade", required=True),
)


def load_collection(load: Load, described: Described, files: dict[str, Given]) -> dict[str, object]:
    """Load a collection's rows from its catalog, queries and qrels.

    Returns the row of ``collections`` without its load and digest.
    """
    fields = described.names("fields") or []
    if described.given.get("fields") is None:
        raise BadInput(
            f"{described.path}: the key 'fields' is not there. List the catalog's text fields; [] for none."
        )
    grades = described.grades()
    exact_grade = described.whole("exact_grade")
    catalog = described.one_of("catalog", ("whole", "seen"), "whole")
    judged = described.one_of("judgments", ("graded", "positive_only"), "graded")

    # Fields have columns by place: names that differ only in case would be one column otherwise.
    columns = [f"text_{i}" for i in range(len(fields))]
    keys: tuple[Key, ...] = (Key("doc_id", "id", required=True),)
    keys += tuple(Key(f, "scalar", column=c) for f, c in zip(fields, columns, strict=True))
    source = load.typed(files["catalog"], keys, "catalog_rows_typed")
    _refuse_absent_fields(load, source, fields)
    n_documents = add_documents(load, source, "catalog_rows_typed", fields, columns)
    source = load.typed(files["queries"], _QUERY_KEYS, "queries_typed")
    n_queries = add_queries(load, source, "queries_typed")
    qrels = files["qrels"]
    if isinstance(qrels, Path) and qrels.name.removesuffix(".gz").endswith(".txt"):
        source = _stage_trec_judgments(load, qrels)
    else:
        source = load.typed(qrels, _JUDGMENT_KEYS, "judgments_typed")
    n_judgments = add_judgments(load, source, "judgments_typed", set(grades))
    if n_judgments and exact_grade is None:
        raise BadInput(
            f"{described.path}: the key 'exact_grade' is not there, and {source.name} has judgments. "
            + ("Add" if described.is_read else "Say with `--set exact_grade=2`, or another grade,")
            + " the lowest grade that counts as exact."
        )
    for position, field in enumerate(fields, start=1):
        load.con.execute(
            "insert into assay_raw.collection_fields values (?, ?, ?, ?)",
            [load.name, position, field, len(f"{field}:".split())],
        )
    for grade, label in grades.items():
        load.con.execute(
            "insert into assay_raw.collection_grades values (?, ?, ?)", [load.name, grade, label]
        )
    for table in ("catalog_rows_typed", "queries_typed", "judgments_typed"):
        load.con.execute(f"drop table {table}")
    return {
        "collection": load.name,
        "licence": described.text("licence"),
        "source": described.text("source"),
        "exact_grade": exact_grade,
        "catalog": catalog,
        "judgments": judged,
        "n_documents": n_documents,
        "n_queries": n_queries,
        "n_judgments": n_judgments,
        "description": described.as_json(),
    }


def _refuse_absent_fields(load: Load, source: SourceFile, fields: list[str]) -> None:
    if not source.columns or not source.n_lines:
        return
    absent = [f for f in fields if f not in source.columns]
    if absent:
        raise BadInput(
            f"{source.path}, line 1: the column {absent[0]!r} is not there, and collection.json lists it in 'fields'. "
            f"The columns are {', '.join(map(repr, source.columns))}. Name it so, or take it out of 'fields'."
        )


def _stage_trec_judgments(load: Load, path: Path) -> SourceFile:
    """TREC's four columns: query, iteration, document, grade."""
    source = load.lines(path, "judgment_lines")
    load.con.execute(
        """
        create or replace temp table judgments_typed as
        with columns as (
            select line, text, string_split(regexp_replace(trim(text, ' \t\r'), '\\s+', ' ', 'g'), ' ') as c
            from judgment_lines
        )
        select
            line, c[1] as query_id, c[3] as doc_id, try_cast(c[4] as bigint) as grade,
            case
                when len(c) != 4 then 'a line of qrels has four columns, this one has ' || len(c) || ': ' || left(text, 60)
                when try_cast(c[4] as bigint) is null then 'the grade must be a whole number, not ' || left(c[4], 40)
            end as problem
        from columns
        """
    )
    load.quarantine_where(source, "judgments_typed", "problem is not null", "problem")
    load.con.execute("drop table judgment_lines")
    return source

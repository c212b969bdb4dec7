"""BEIR's folders: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/*.tsv``; and results as a dictionary in JSON.

A corpus has ``_id``, ``title`` and ``text``; queries ``_id`` and ``text``; each file of qrels is a split, named by it: three columns with a tab,
under a header or not. Columns go by their names where a header has them (``query-id``, ``corpus-id``, ``score``, and what
other sets call them); four columns are TREC's. A query's split is that of the file that judges it; one that two files judge, or none, has
none. Other keys are kept beside.

A results file, ``{"query": {"document": score}}``, is a contexts recording: load it with ``--collection``. The order is by score, then by
document, both descending, as trec_eval has it; ``line`` is the query's number in the file.

BEIR says no more than grades: where there is any besides 0 and 1, say from which on one is exact (``--set exact_grade=2``).
Not known: a run's retriever (``--set retriever=NAME``, else the file's name), what a grade means.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from ctypes import c_float
from pathlib import Path
from typing import Any

from ingest.errors import BadInput, shown
from ingest.files import Given, SourceFile, open_plain
from ingest.formats._json import document
from ingest.formats._seen import first_bytes, stem, text_id
from ingest.formats.base import (
    Found,
    Options,
    from_records,
    from_sql,
    judgments_of,
    quarantine_sql,
    staged_lines,
)
from ingest.sqltext import literal
from ingest.staging import Load

NAME = "beir"
SUMMARY = "BEIR's corpus.jsonl, queries.jsonl and qrels/*.tsv; results in JSON with --collection"

_OWN = ("retriever",)
_QUERY_NAMES = ("query-id", "query_id", "queryid", "qid", "query")
_DOC_NAMES = ("corpus-id", "corpus_id", "doc-id", "doc_id", "docid", "document-id", "pid", "did")
_GRADE_NAMES = ("score", "relevance", "label", "grade", "rel", "judgment")


def _file(folder: Path, name: str) -> Path | None:
    return next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)


def _qrels(folder: Path) -> list[Path]:
    inner = folder / "qrels"
    return (
        sorted(p for p in inner.iterdir() if p.name.removesuffix(".gz").endswith(".tsv"))
        if inner.is_dir()
        else []
    )


def recognise(path: Path) -> bool:
    """Whether this is a folder with a corpus and queries, or a dictionary of results."""
    if path.is_dir():
        return _file(path, "corpus.jsonl") is not None and _file(path, "queries.jsonl") is not None
    if not path.name.removesuffix(".gz").endswith(".json"):
        return False
    return _is_results(first_bytes(path, 1 << 20))


def _is_results(start: str) -> bool:
    """Whether a text begins as ``{"q": {"d": 1.5``."""
    decoder = json.JSONDecoder()
    rest = start.lstrip()
    try:
        for mark in ("{", "{"):
            if not rest.startswith(mark):
                return False
            key, end = decoder.raw_decode(rest[1:].lstrip())
            rest = rest[1:].lstrip()[end:].lstrip()
            if not isinstance(key, str) or not rest.startswith(":"):
                return False
            rest = rest[1:].lstrip()
        value, _ = decoder.raw_decode(rest)
    except ValueError:
        return False
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def find(path: Path, options: Options) -> list[Found]:
    """The collection of a folder, or the recording of a results file."""
    return [_collection(path, options)] if path.is_dir() else [_results(path, options)]


def _collection(folder: Path, options: Options) -> Found:
    corpus, queries, qrels = _file(folder, "corpus.jsonl"), _file(folder, "queries.jsonl"), _qrels(folder)
    if corpus is None or queries is None:
        raise BadInput(f"{folder}: corpus.jsonl and queries.jsonl must both stand here. Put them there.")
    name = options.name or folder.resolve().name
    grades = _grades(qrels)
    described = options.described(
        folder,
        {
            "collection": name,
            "fields": ["title", "text"],
            "grades": {},
            "exact_grade": 1 if grades <= {"0", "1", "-1"} else None,
            "catalog": "whole",
            "judgments": judgments_of(grades),
        },
        _OWN,
    )
    files: dict[str, Given] = {
        "catalog": from_sql(corpus, _documents),
        "queries": from_sql(queries, lambda load, source: _queries(load, source, qrels)),
        "qrels": from_sql(
            qrels[0] if qrels else corpus,
            lambda load, source: _judgments(load, source, qrels),
            _name_of(qrels),
        ),
    }
    return Found(folder, NAME, "collection", name, described, files, (corpus, queries, *qrels))


def _name_of(qrels: list[Path]) -> str:
    return "qrels/" + (qrels[0].name if len(qrels) == 1 else "*.tsv")


def _columns(path: Path) -> tuple[list[int], bool]:
    """The places of query, document and grade in a file of qrels, from 1, and whether its first line is a header."""
    with open_plain(path) as stream:
        first = stream.readline(10_000).decode("utf-8-sig", "replace").rstrip("\r\n").lower()
    columns = [c.strip().strip('"') for c in first.split("\t")]
    named = [_place(columns, names) for names in (_QUERY_NAMES, _DOC_NAMES, _GRADE_NAMES)]
    if all(named):
        return named, True
    return ([1, 3, 4] if len(columns) == 4 else [1, 2, 3]), not _is_grade(columns[-1])


def _grades(qrels: list[Path]) -> set[str]:
    found: set[str] = set()
    for path in qrels:
        place = _columns(path)[0][2] - 1
        with open_plain(path) as stream:
            for line in stream:
                columns = line.decode("utf-8", "replace").rstrip("\r\n").split("\t")
                if len(columns) > place and _is_grade(columns[place]):
                    found.add(columns[place].strip().removesuffix(".0"))
    return found


def _documents(load: Load, source: SourceFile) -> str:
    """Documents with their ``_id`` under our name for it; what is no JSON object is left for the parser of lines to say."""
    staged_lines(load, source, "beir_lines")
    return """
        select line, case
            when json_valid(text) and json_type(text) = 'OBJECT' then cast(json_merge_patch(
                text, json_object('_id', null, 'doc_id', json_extract(text, '$._id'))
            ) as varchar)
            else text
        end as text
        from beir_lines
    """


def _queries(load: Load, source: SourceFile, qrels: list[Path]) -> str:
    """Queries with the split of the one file that judges them."""
    staged_lines(load, source, "beir_queries")
    judged = " union all ".join(
        f"select distinct query_id, {literal(stem(path))} as split from ({_staged(load, source, path, keeps=False)})"
        for path in qrels
    )
    load.con.execute(
        "create or replace temp table beir_splits as select query_id, min(split) as split"
        f" from ({judged or 'select null as query_id, null as split'}) group by query_id having count(*) = 1"
    )
    return """
        select q.line, case
            when json_valid(q.text) and json_type(q.text) = 'OBJECT' then cast(json_merge_patch(
                q.text,
                json_object(
                    '_id', null, 'text', null, 'query_id', json_extract(q.text, '$._id'), 'query', json_extract(q.text, '$.text'),
                    'split', s.split
                )
            ) as varchar)
            else q.text
        end as text
        from beir_queries as q
        left join beir_splits as s on s.query_id = case when json_valid(q.text) then q.text ->> '$._id' end
    """


def _judgments(load: Load, source: SourceFile, qrels: list[Path]) -> str:
    """Judgments of every file; lines are counted on from one file to the next."""
    parts, before = [], 0
    for path in qrels:
        parts.append(f"select * from ({_staged(load, source, path, before)})")
        source.parts.append((before, path))
        before += _n_lines(path)
    rows = (
        " union all ".join(parts)
        or "select 0 as line, null as query_id, null as doc_id, null as grade where false"
    )
    return (
        "select line, cast(json_object('query_id', query_id, 'doc_id', doc_id, 'grade', grade) as varchar) as text"
        f" from ({rows})"
    )


def _table(path: Path) -> str:
    """The name of the table in which a file of qrels is staged."""
    return f"beir_qrels_{text_id(path.name)}"


def _n_lines(path: Path) -> int:
    with open_plain(path) as stream:
        return sum(1 for _ in stream)


def _staged(load: Load, source: SourceFile, path: Path, before: int = 0, *, keeps: bool = True) -> str:
    """One file of qrels as line, query_id, doc_id and grade; lines that break it go to quarantine."""
    number = _table(path)
    staged_lines(load, source, number, path, before=before, keeps=keeps)
    (q, d, g), is_header = _columns(path)
    load.con.execute(
        f"""
        create or replace temp table {number}_columns as
        with split as (select line, text, string_split(rtrim(text, chr(13)), chr(9)) as c from {number}
            {f"where line > (select min(line) from {number})" if is_header else ""})
        select line, text, c[{q}] as query_id, c[{d}] as doc_id, c[{g}] as grade,
            case
                when len(c) < {max(q, d, g)} then 'a line of qrels has {max(q, d, g)} columns with a tab between, this one has ' || len(c)
                when try_cast(trim(c[{g}]) as decimal(38, 6)) is null
                    or try_cast(trim(c[{g}]) as decimal(38, 6)) != try_cast(try_cast(trim(c[{g}]) as decimal(38, 6)) as bigint)
                    then 'the grade of a line of qrels must be a whole number, not ' || left(c[{g}], 40)
            end as reason
        from split
        """
    )
    if keeps:
        quarantine_sql(
            load, source, f"select line, reason, text from {number}_columns where reason is not null"
        )
    return f"select line, query_id, doc_id, cast(cast(trim(grade) as decimal(38, 6)) as bigint) as grade from {number}_columns where reason is null"


def _place(columns: list[str], names: tuple[str, ...]) -> int:
    """The place of the column that has one of the names, from 1; 0 where none has."""
    return next((columns.index(name) + 1 for name in names if name in columns), 0)


def _is_grade(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _results(path: Path, options: Options) -> Found:
    if options.collection is None:
        raise BadInput(f"{path}: say which collection these results are of, with --collection NAME.")
    name = options.name or stem(path)
    retriever = options.own("retriever", stem(path))
    if not isinstance(retriever, str) or not retriever.strip():
        raise BadInput(f"{path}: retriever must be a name, not {shown(retriever)}.")
    described = options.described(
        path, {"recording": name, "kind": "contexts", "collection": options.collection}, _OWN
    )
    files: dict[str, Given] = {"contexts": from_records(path, _lists(path, retriever))}
    return Found(path, NAME, "recording", name, described, files, (path,))


def _lists(path: Path, retriever: str) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, (query, scores) in enumerate(document(path, lambda key: key is None), start=1):
            if query is None:
                raise BadInput(
                    f"{path}: results are an object of queries, each with its documents and scores."
                )
            is_scored = isinstance(scores, dict) and all(
                isinstance(s, (int, float)) and not isinstance(s, bool) and math.isfinite(s)
                for s in scores.values()
            )
            if not is_scored:
                load.quarantine_line(
                    source, number, "a query's documents must each have a number", f"{query}: {scores}"
                )
                continue
            # trec_eval keeps scores in four bytes: what is equal there is a tie.
            docs = sorted(scores, key=lambda d: (c_float(scores[d]).value, d), reverse=True)
            yield (
                number,
                {
                    "query_id": query,
                    "context": retriever,
                    "doc_ids": docs,
                    "scores": [scores[doc] for doc in docs],
                },
            )

    return records

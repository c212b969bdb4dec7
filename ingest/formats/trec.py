"""TREC's files: topics, qrels, runs, and the documents where they lie beside them.

Reads a folder, or one run file with ``--collection``. In a folder, files are known by their names and first lines:

- topics (``topic`` or ``quer`` in the name): tagged (``<top>``, ``<num>``, ``<title>``, ``<desc>``, ``<narr>``), two columns with a tab,
  or CAsT's JSON of conversations, whose turns become queries with ``earlier_turns``;
- qrels (``qrel`` in the name): four columns, the last the grade; ``--set relevance_column=5`` names another. A comment is
  refused with its line;
- documents (``doc``, ``corpus`` or ``collection`` in the name): tagged (``<DOC>``, ``<DOCNO>``) or two columns with a tab. Without any, the
  catalog is what the qrels and runs name, ``"seen"``;
- runs (six columns): a recording each, named by the file, its tag the retriever. The order is trec_eval's, by score;
  ``--set order=rank`` takes the file's own ranks, which may contradict it.

``--set split=test`` gives every query that split. The query is the title; the other fields are kept beside it. Some old collections (Cranfield) number their qrels by the topics' order, not by the number
that is printed: ``--set number=order``. Qrels say no more than grades: where there is any besides 0 and 1, say from which on one is exact
(``--set exact_grade=2``). Where no grade is 0 or less nobody wrote down what isn't relevant (``positive_only``); -1 is unjudged.

A text with a CSV writer's quotes around it (it holds a tab or a quote, and every quote is doubled) is read without them.
``line`` is the line where a topic or document begins. Not known: what a grade means, splits, a run's depth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ingest.errors import BadInput, shown
from ingest.files import Given, Lines, SourceFile, open_plain
from ingest.formats._json import objects
from ingest.formats._seen import first_bytes, refusing, stem
from ingest.formats._trec import grades_of, is_qrels, is_run, judgments_sql, run_lines, tagged
from ingest.formats.base import Found, Options, from_records, from_sql, judgments_of, staged_lines
from ingest.staging import Load

NAME = "trec"
SUMMARY = "TREC's topics, qrels and runs, in a folder; or one run with --collection"

_OWN = ("number", "relevance_column", "order")
_DOCS = re.compile(r"doc|corpus|collection", re.IGNORECASE)
_TOPICS = re.compile(r"topic|quer", re.IGNORECASE)
_NOT_DATA = re.compile(r"licen[cs]e|readme|provenance|\.md$", re.IGNORECASE)


def recognise(path: Path) -> bool:
    """Whether this is a run, or a folder with qrels and topics or runs."""
    if path.is_file():
        return is_run(path)
    kinds = {kind for kind, _ in _kinds(path)} if path.is_dir() else set()
    return "qrels" in kinds and bool(kinds & {"topics", "run"})


def _kinds(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.is_symlink() or _NOT_DATA.search(path.name):
            continue
        if "qrel" in path.name.lower() and is_qrels(path):
            yield "qrels", path
        elif is_run(path):
            yield "run", path
        elif _TOPICS.search(path.name) and _is_text_or_json(path, "<top", '"turn"'):
            yield "topics", path
        elif _DOCS.search(path.name) and _is_text_or_json(path, "<doc", ""):
            yield "docs", path


def _is_text_or_json(path: Path, tag: str, key: str) -> bool:
    start = first_bytes(path)
    if key and start.lstrip().startswith(("[", "{")):
        return key in start
    return tag in start.lower() or all("\t" in line for line in start.split("\n")[:3] if line.strip())


def find(path: Path, options: Options) -> list[Found]:
    """The collection of a folder, and a recording a run."""
    if path.is_file():
        if options.collection is None:
            raise BadInput(f"{path}: say which collection this run is of, with --collection NAME.")
        return [_run(path, options.name or stem(path), options.collection, options)]
    files: dict[str, list[Path]] = {"qrels": [], "run": [], "topics": [], "docs": []}
    for kind, file in _kinds(path):
        files[kind].append(file)
    for kind in ("qrels", "topics", "docs"):
        if len(files[kind]) > 1:
            names = " and ".join(f.name for f in files[kind][:2])
            raise BadInput(
                f"{path}: {names} both look like {kind}, and only one can count. Leave one in the folder."
            )
    name = options.name or path.resolve().name
    found = []
    if options.collection is None:
        if not files["qrels"]:
            raise BadInput(
                f"{path}: no qrels stand here. Put them there, or name the collection with --collection."
            )
        found.append(_collection(path, name, options, files))
    for run in files["run"]:
        found.append(_run(run, f"{name}-{stem(run)}", options.collection or name, options))
    return found


def _column(path: Path, options: Options) -> int | None:
    column = options.own("relevance_column")
    if column is not None and (isinstance(column, bool) or not isinstance(column, int) or column < 3):
        raise BadInput(f"{path}: relevance_column must be a whole number, 3 or higher, not {shown(column)}.")
    return column


def _collection(folder: Path, name: str, options: Options, files: dict[str, list[Path]]) -> Found:
    [qrels] = files["qrels"]
    column = _column(qrels, options)
    by_order = options.own("number", "printed")
    if by_order not in ("printed", "order"):
        raise BadInput(f"{folder}: number must be printed or order, not {shown(by_order)}.")
    grades = grades_of(qrels, column)
    given: dict[str, Any] = {
        "collection": name,
        "fields": ["text"] if files["docs"] else [],
        "grades": {},
        "exact_grade": 1 if grades <= {"-1", "0", "1"} else None,
        "catalog": "whole" if files["docs"] else "seen",
        "judgments": judgments_of(grades),
    }
    topics = files["topics"][0] if files["topics"] else None
    docs = files["docs"][0] if files["docs"] else None
    split = options.own("split")
    roles: dict[str, Given] = {
        "qrels": from_sql(qrels, lambda load, source: judgments_sql(load, source, column)),
        "queries": Lines(qrels, _queries_of_qrels(column), f"{qrels.name}: queries")
        if topics is None
        else from_records(topics, _topics(topics, by_order == "order", split)),
        "catalog": Lines(qrels, _seen_documents(files["run"], column), f"{qrels.name}: documents")
        if docs is None
        else from_records(docs, _documents(docs)),
    }
    sources = tuple(p for p in (qrels, topics, docs) if p is not None)
    if docs is None:
        sources += tuple(files["run"])
    described = options.described(folder, given, (*_OWN, "split"))
    return Found(folder, NAME, "collection", name, described, roles, sources)


def _run(path: Path, name: str, collection: str, options: Options) -> Found:
    given = {
        "recording": name,
        "kind": "contexts",
        "collection": collection,
        "order": options.own("order", "score"),
    }
    described = options.described(path, given, ("number", "relevance_column"))
    # What describes the collection alone says nothing of a run.
    for key in ("exact_grade", "grades", "catalog", "judgments", "licence", "source"):
        described.given.pop(key, None)
    return Found(path, NAME, "recording", name, described, {"run": Lines(path, run_lines)}, (path,))


def _topics(path: Path, by_order: bool, split: str | None) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, record in read(load, source):
            yield line, {**record, "split": split}

    def read(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        start = first_bytes(path)
        if start.lstrip().startswith(("[", "{")):
            yield from _conversations(path, refusing(load, source))
        elif "<top" in start.lower():
            blocks = tagged(path, ("top", "topic"), refusing(load, source))
            for number, (line, fields) in enumerate(blocks, start=1):
                printed = re.sub(r"(?i)^\s*number\s*:?", "", fields.get("num", "")).strip()
                rest = {
                    k: v
                    for k, v in (("description", fields.get("desc")), ("narrative", fields.get("narr")))
                    if v
                }
                title = fields.get("title") or fields.get("desc") or ""
                if not printed and not by_order:
                    refusing(load, source)(line, "the topic has no number", title)
                    continue
                # A title that the lines break is one text.
                yield (
                    line,
                    {
                        "query_id": str(number) if by_order else printed,
                        "query": " ".join(title.split()),
                        **rest,
                    },
                )
        else:
            yield from _two_columns(path, load, source, "query_id", "query", by_order)

    return records


def _two_columns(
    path: Path, load: Load, source: SourceFile, key: str, value: str, by_order: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    with open_plain(path) as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                refusing(load, source)(number, f"not UTF-8: {error.reason}", raw.decode("utf-8", "replace"))
                continue
            if not line.strip():
                continue
            name, tab, text = line.partition("\t")
            if not tab:
                refusing(load, source)(number, "two columns with a tab between were expected", line)
                continue
            yield number, {key: str(number) if by_order else name, value: _unquoted(text)}


def _unquoted(text: str) -> str:
    """The text without a CSV writer's quotes: those around it where it holds a tab or a quote, and every quote is doubled."""
    inner = text[1:-1]
    needs = '""' in inner or "\t" in inner
    if len(text) > 1 and text[0] == text[-1] == '"' and needs and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return text


def _conversations(
    path: Path, refuse: Callable[[int, str, str], None]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """CAsT: the turns of conversations, each a query after those before it; ``line`` counts them."""
    number = 0
    for topic in objects(path):
        if not isinstance(topic, dict) or not isinstance(topic.get("turn"), list):
            refuse(number + 1, "a conversation with its turns was expected", json.dumps(topic)[:1000])
            continue
        earlier: list[str] = []
        for turn in topic["turn"]:
            number += 1
            said = str(turn.get("raw_utterance", ""))
            rewrites = {
                "manual_rewrite": turn.get("manual_rewritten_utterance"),
                "automatic_rewrite": turn.get("automatic_rewritten_utterance"),
            }
            yield (
                number,
                {
                    "query_id": f"{topic.get('number')}_{turn.get('number')}",
                    "query": said,
                    "earlier_turns": list(earlier),
                    **{k: v for k, v in rewrites.items() if v is not None},
                },
            )
            earlier.append(said)


def _documents(path: Path) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        if "<doc" in first_bytes(path).lower():
            for line, fields in tagged(path, ("doc",), refusing(load, source)):
                doc_id = fields.pop("docno", "").strip()
                if not doc_id:
                    refusing(load, source)(line, "the document has no DOCNO", "")
                    continue
                yield (
                    line,
                    {"doc_id": doc_id, "text": "\n".join(text for text in fields.values() if text.strip())},
                )
        else:
            yield from _two_columns(path, load, source, "doc_id", "text")

    return records


def _queries_of_qrels(column: int | None) -> Any:
    """Without topics, queries are those that are judged, and have no text."""

    def fill(load: Load, source: SourceFile, table: str) -> None:
        judged = judgments_sql(load, source, column, keeps=False)
        load.con.execute(
            f"""create or replace temp table {table} as
            select min(line) as line, cast(json_object('query_id', text ->> 'query_id', 'query', '') as varchar) as text
            from (select line, cast(text as json) as text from ({judged})) group by text ->> 'query_id'"""
        )
        source.n_lines = load.count(f"select count(*) from {table}")

    return fill


def _seen_documents(runs: list[Path], column: int | None) -> Any:
    """Without documents, the catalog is the IDs that qrels and runs name."""

    def fill(load: Load, source: SourceFile, table: str) -> None:
        judged = judgments_sql(load, source, column, keeps=False)
        load.con.execute(
            f"create or replace temp table {table}_ids as select line, cast(text as json) ->> 'doc_id' as doc_id from ({judged})"
        )
        for run in runs:
            staged_lines(load, source, "seen_run", run, keeps=False)
            load.con.execute(
                f"insert into {table}_ids select line, string_split(regexp_replace(trim(text), '\\s+', ' ', 'g'), ' ')[3] from seen_run"
            )
        load.con.execute(
            f"""create or replace temp table {table} as
            select min(line) as line, cast(json_object('doc_id', doc_id) as varchar) as text
            from {table}_ids where doc_id is not null group by doc_id"""
        )
        source.n_lines = load.count(f"select count(*) from {table}")

    return fill

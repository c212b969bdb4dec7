"""What the formats of whole answers have in common: a collection of what a file shows, made from the file itself.

Such a file names no collection. Where the user names one (``--collection``), its queries and documents are used and only the
recordings are read. Else a collection is made from the file: every query, every document (its text the distinct texts that
stand for it anywhere, in order, a blank line between two), ``catalog`` "seen" and no judgments.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ingest.errors import shown
from ingest.files import Lines, SourceFile, open_plain
from ingest.formats._json import entries
from ingest.formats.base import Found, Options, from_records, stage_records
from ingest.sqltext import literal
from ingest.staging import Load

#: A line of a file with what it says, or None where it can't be read, which is quarantined when it is loaded.
Entries = Iterator[tuple[int, dict[str, Any]]]


def first_bytes(path: Path, most: int = 65536) -> str:
    """The beginning of a file as text, for recognising it; empty where it can't be read."""
    if not path.is_file():
        return ""
    try:
        with open_plain(path) as stream:
            return stream.read(most).decode("utf-8-sig", "replace")
    except (OSError, EOFError):
        return ""


def first_object(path: Path) -> dict[str, Any]:
    """The object on a JSONL file's first line; empty where there is none."""
    for line in first_bytes(path, 4 << 20).split("\n"):
        if line.strip():
            try:
                found = json.loads(line)
            except ValueError:
                return {}
            return found if isinstance(found, dict) else {}
    return {}


def stem(path: Path) -> str:
    """A file's name without its endings, for the name of what it holds."""
    return re.sub(r"(\.(jsonl?|csv|tsv|parquet|txt|run|gz))+$", "", path.name) or path.name


def jsonl(path: Path, refuse: Callable[[int, str, str], None]) -> Entries:
    """The objects of a JSONL file with their lines; `refuse(line, reason, text)` gets each that can't be read."""
    with open_plain(path) as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                if not text:
                    continue
                entry = json.loads(text, parse_constant=_no_constant)
            except (ValueError, RecursionError) as error:
                refuse(
                    number,
                    f"this is not valid JSON (is the line cut?): {error}",
                    raw[:10_000].decode("utf-8", "replace"),
                )
                continue
            if isinstance(entry, dict):
                yield number, entry
            else:
                refuse(number, "this is not a JSON object", text)


def json_entries(path: Path, keys: tuple[str, ...], refuse: Callable[[int, str, str], None]) -> Entries:
    """The objects of a JSON file: of the list that it is, or that stands under one of `keys`; their number is the line."""
    for number, entry in enumerate(entries(path, keys), start=1):
        if isinstance(entry, dict):
            yield number, entry
        else:
            refuse(number, "this is not a JSON object", json.dumps(entry)[:1000])


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number of JSON")


def refusing(load: Load, source: SourceFile) -> Callable[[int, str, str], None]:
    """What keeps an unreadable line in quarantine."""

    def refuse(line: int, reason: str, text: str) -> None:
        load.quarantine_line(source, line, reason, text)

    return refuse


def ignoring(line: int, reason: str, text: str) -> None:
    """What passes over an unreadable line: some other reading of the file keeps it."""


def is_utf8(text: str) -> bool:
    """Whether a text that was decoded with ``surrogateescape`` was UTF-8."""
    return not any("\udc80" <= c <= "\udcff" for c in text)


def shown_bytes(text: str) -> str:
    """Such a text for a message: each byte that was no UTF-8 as the replacement character."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def text_id(*texts: str) -> str:
    """The ID of a document that has none: the first 16 hexadecimal digits of the sha256 of its text."""
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def seen_collection(
    path: Path,
    format_name: str,
    name: str,
    options: Options,
    queries: Callable[[], Iterable[tuple[int, Mapping[str, Any]]]],
    documents: Callable[[], Iterable[tuple[int, Mapping[str, Any]]]],
    given: Mapping[str, Any] | None = None,
    own: Iterable[str] = (),
    fields: tuple[str, ...] = ("text",),
    gathers: bool = False,
) -> Found:
    """The collection of what a file shows. Queries and documents may come again and again; the first of each stays.

    A document's fields are gathered: its distinct texts, in the order of their lines, with a blank line between two. That one
    ID stands for several texts is warned of, unless the format `gathers` passages.
    """
    described = options.described(
        path,
        {"collection": name, "fields": list(fields), "catalog": "seen", "grades": {}, **(given or {})},
        own,
    )

    def fill_queries(load: Load, source: SourceFile, table: str) -> None:
        _stage_once(load, source, table, queries(), "query_id")

    def fill_documents(load: Load, source: SourceFile, table: str) -> None:
        stage_records(load, source, f"{table}_all", documents())
        source.n_lines = 0
        said = " union all ".join(
            f"select doc_id, line, nth, {i} as field, coalesce(text ->> {literal('$.' + json.dumps(field))}, '') as said from numbered"
            for i, field in enumerate(fields)
        )
        texts = ", ".join(
            f"{literal(field)}, coalesce(string_agg(said, chr(10) || chr(10) order by place)"
            f" filter (where field = {i} and said != ''), '')"
            for i, field in enumerate(fields)
        )
        load.con.execute(
            f"""
            create or replace temp table {table}_gathered as
            with numbered as (
                select line, cast(text as json) as text, cast(text as json) ->> 'doc_id' as doc_id, row_number() over () as nth
                from {table}_all
            ),
            all_said as (
                {said or "select doc_id, line, nth, 0 as field, '' as said from numbered"}
            ),
            distinct_said as (
                select doc_id, field, said, min(line) as line, min(nth) as place from all_said group by all
            )
            select
                min(line) as line, doc_id, count(*) filter (where field = 0 and said != '') as n_texts,
                cast(json_object('doc_id', doc_id{", " + texts if texts else ""}) as varchar) as text
            from distinct_said group by doc_id
            """
        )
        load.con.execute(f"create or replace temp table {table} as select line, text from {table}_gathered")
        source.n_lines = load.count(f"select count(*) from {table}")
        several = load.first(f"select count(*), min(doc_id) from {table}_gathered where n_texts > 1")
        if several is not None and several[0] and not gathers:
            load.notice(
                "several_texts", source.name, int(str(several[0])),
                f"{several[0]} IDs stand for more than one text, such as {shown(several[1])}; they count as one document each",
            )  # fmt: skip
        load.con.execute(f"drop table {table}_gathered")
        load.con.execute(f"drop table {table}_all")

    files = {
        "catalog": Lines(path, fill_documents, f"{path.name}: documents"),
        "queries": Lines(path, fill_queries, f"{path.name}: queries"),
        "qrels": from_records(path, lambda load, source: (), f"{path.name}: judgments"),
    }
    return Found(path, format_name, "collection", name, described, dict(files), (path,))


def _stage_once(
    load: Load, source: SourceFile, table: str, records: Iterable[tuple[int, Mapping[str, Any]]], key: str
) -> None:
    """Stage records, of those with the same key and the same content only the first."""
    stage_records(load, source, f"{table}_all", records)
    load.con.execute(
        f"create or replace temp table {table} as select min(line) as line, text from {table}_all group by text"
    )
    load.con.execute(f"drop table {table}_all")
    source.n_lines = load.count(f"select count(*) from {table}")


def answers_recording(
    path: Path,
    format_name: str,
    name: str,
    collection: str,
    options: Options,
    answers: Callable[[Load, SourceFile], Iterable[tuple[int, Mapping[str, Any]]]],
    given: Mapping[str, Any] | None = None,
    own: Iterable[str] = (),
    files: Mapping[str, Lines] | None = None,
) -> Found:
    """A recording of answers that a file holds; `given` are keys of its manifest, `files` others of its files."""
    described = options.described(
        path, {"recording": name, "kind": "answers", "collection": collection, **(given or {})}, own
    )
    lines = from_records(path, answers, None if not files else f"{path.name}: answers")
    return Found(
        path, format_name, "recording", name, described, {"answers": lines, **(files or {})}, (path,)
    )


def asked_lines(path: Path, ids: Callable[[Load], Iterable[tuple[int, str | None]]]) -> Lines:
    """The queries that were asked, where a file says it by what it holds; those without an ID are passed over."""

    def fill(load: Load, source: SourceFile, table: str) -> None:
        once = {query_id: line for line, query_id in ids(load) if query_id is not None}
        stage_records(load, source, table, ((line, {"q": query_id}) for query_id, line in once.items()))
        load.con.execute(f"update {table} set text = cast(text as json) ->> 'q'")

    return Lines(path, fill, f"{path.name}: asked")

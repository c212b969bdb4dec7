"""Answers whose citations stand in their text (``[3]``, ``[3, 5]``, ``【3】``, ``(ID 38685)``, ``[doc_12]``), as JSONL.

A line has the keys of an answers recording (``query_id``, ``context``, ``context_ids``, ``answer``, …) and no ``cited``: that is read
off ``answer`` by the grammar of `ingest/formats/_marks.py`. ``--set base=1`` (or 0) says that a number is a place in
``context_ids``, counted from there; without it a number is an ID. ``--collection`` names the collection. What stands in the
text and resolves to no document is kept as it stands and counted; it is never guessed.

Beside ``query_id`` a query may be named by its text alone (``query`` or ``question``), where the collection has just one with it.
Not recognised by itself: say ``--format marked``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.errors import BadInput
from ingest.files import SourceFile
from ingest.formats._marks import cited_in, declared_base
from ingest.formats._seen import answers_recording, jsonl, refusing, stem
from ingest.formats.base import Found, Options
from ingest.sqltext import literal
from ingest.staging import Load

NAME = "marked"
SUMMARY = "answers as JSONL whose citations stand in the text as [3], 【3】, (ID 38685) or [doc_12]"

_OWN = ("base",)


def recognise(path: Path) -> bool:
    """Never: any answers could be such."""
    return False


def find(path: Path, options: Options) -> list[Found]:
    """The one recording of a file."""
    if options.collection is None:
        raise BadInput(f"{path}: say which collection these answers are of, with --collection NAME.")
    base = declared_base(options.own("base"), str(path))
    return [
        answers_recording(
            path, NAME, options.name or stem(path), options.collection, options, _answers(path, base, options.collection),
            {"citations": "text", "ids_in_text": False}, _OWN,
        )
    ]  # fmt: skip


def _answers(path: Path, base: int | None, collection: str) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        refuse = refusing(load, source)
        unresolved = 0
        for line, entry in jsonl(path, refuse):
            answer, ids = entry.get("answer"), entry.get("context_ids")
            if "cited" in entry:
                refuse(
                    line,
                    "'cited' stands in it, and would be read off the text: take one of the two",
                    str(entry),
                )
                continue
            if answer is not None and not isinstance(answer, str):
                refuse(line, "answer must be a text", str(entry))
                continue
            if "query_id" not in entry:
                text = next(
                    (entry.pop(k) for k in ("query", "question") if isinstance(entry.get(k), str)), None
                )
                query_id = None if text is None else query_of(load, collection, text)
                if query_id is None:
                    refuse(
                        line,
                        f"no query_id, and not just one query of {collection!r} has this text",
                        str(entry),
                    )
                    continue
                entry["query_id"] = query_id
            known = [str(i) for i in ids if isinstance(i, (str, int))] if isinstance(ids, list) else []
            cited = cited_in(answer, known, base)
            unresolved += sum(not c.is_resolved for c in cited or [])
            yield line, {**entry, "cited": None if cited is None else [c.value for c in cited]}
        notice_unresolved(load, source, unresolved)

    return records


def query_of(load: Load, collection: str, text: str) -> str | None:
    """The ID of the one query of a collection that has this text; None where there is none, or more than one."""
    rows = load.con.execute(
        f"select query_id from assay_raw.queries where collection = {literal(collection)} and query = ? limit 2",
        [text],
    ).fetchall()
    return str(rows[0][0]) if len(rows) == 1 else None


def notice_unresolved(load: Load, source: SourceFile, unresolved: int) -> None:
    """Note citations in the text that stand for no document of the context."""
    load.notice(
        "unresolved_citation", source.name, unresolved,
        f"{unresolved} citations in the text resolve to no document of their context; they are kept as they stand",
    )  # fmt: skip

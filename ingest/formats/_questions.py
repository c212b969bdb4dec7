"""Files with an entry a question: its documents, and an answer whose citations are places among them. What differs is names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.errors import BadInput, shown
from ingest.files import SourceFile
from ingest.formats._marks import cited_in
from ingest.formats._seen import (
    Entries,
    answers_recording,
    ignoring,
    refusing,
    seen_collection,
    stem,
    text_id,
)
from ingest.formats.base import Found, Options
from ingest.formats.marked import notice_unresolved, query_of
from ingest.staging import Load

#: What gets the line, the reason and the text of an entry that can't be read.
Refuse = Callable[[int, str, str], None]


@dataclass(frozen=True)
class Shape:
    """How a format names things; of several keys the first that is there counts.

    `fields` are a document's texts. `base` is the number of the first document in a citation; None where answers cite nothing.
    """

    format: str
    entries: Callable[[Path, Refuse], Entries]
    question: tuple[str, ...]
    query_id: tuple[str, ...]
    docs: str
    doc_id: tuple[str, ...]
    fields: tuple[str, ...]
    answer: tuple[str, ...]
    base: int | None
    #: Whether IDs may be of one question alone, which ``--set ids=local`` says.
    may_be_local: bool = False


_OWN = ("ids",)


def find_questions(path: Path, options: Options, shape: Shape) -> list[Found]:
    """The collection of what a file shows, unless the user names one, and the recording of its answers."""
    name = options.name or stem(path)
    is_local = _is_local(path, options, shape)
    found = []
    if options.collection is None:
        found.append(
            seen_collection(
                path, shape.format, name, options, lambda: _queries(path, shape), lambda: _documents(path, shape, is_local),
                own=_OWN, fields=shape.fields,
            )
        )  # fmt: skip
    cites = (
        {"citations": "text", "ids_in_text": False} if shape.base is not None else {"citations": "not_asked"}
    )
    found.append(
        answers_recording(
            path, shape.format, f"{name}-answers", options.collection or name, options,
            _answers(path, shape, options.collection, is_local), cites, _OWN,
        )
    )  # fmt: skip
    return found


def _is_local(path: Path, options: Options, shape: Shape) -> bool:
    said = options.own("ids")
    if said is None or (shape.may_be_local and said in ("local", "global")):
        return bool(said == "local")
    raise BadInput(
        f"{path}: ids={shown(said)}: "
        + ("it must be local or global." if shape.may_be_local else f"this is no setting of {shape.format}.")
    )


def _first(entry: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _entries(path: Path, shape: Shape, refuse: Refuse) -> Iterator[tuple[int, str, str, dict[str, Any]]]:
    """Number, query ID, question and entry. A query without an ID has its entry's number for one."""
    for number, entry in shape.entries(path, refuse):
        question, given = _first(entry, shape.question), _first(entry, shape.query_id)
        if not isinstance(question, str) or not isinstance(entry.get(shape.docs), list):
            refuse(number, f"an entry with {shape.question[0]!r} and {shape.docs!r} was expected", str(entry))
        elif not all(isinstance(doc, dict) for doc in entry[shape.docs]):
            refuse(number, f"each of {shape.docs!r} must be an object", str(entry))
        elif isinstance(given, (bool, float, list, dict)):
            refuse(number, f"{shape.query_id[0]} must be a text or a whole number", str(entry))
        else:
            yield number, str(number if given is None else given), question, entry


def _docs(entry: dict[str, Any], shape: Shape, prefix: str = "") -> list[dict[str, str]]:
    docs = []
    for doc in entry[shape.docs]:
        texts = {field: str(doc.get(field) or "") for field in shape.fields}
        given = _first(doc, shape.doc_id)
        doc_id = text_id(*texts.values()) if given is None or not str(given).strip() else prefix + str(given)
        docs.append({"doc_id": doc_id, **texts})
    return docs


def _queries(path: Path, shape: Shape) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, query_id, question, _ in _entries(path, shape, ignoring):
        yield number, {"query_id": query_id, "query": question}


def _documents(path: Path, shape: Shape, is_local: bool) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, query_id, _, entry in _entries(path, shape, ignoring):
        for doc in _docs(entry, shape, f"{query_id}:" if is_local else ""):
            yield number, doc


def _answers(path: Path, shape: Shape, collection: str | None, is_local: bool) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        refuse, unresolved = refusing(load, source), 0
        for number, query_id, question, entry in _entries(path, shape, refuse):
            prefix = f"{query_id}:" if is_local else ""
            if collection is not None:
                known = query_of(load, collection, question)
                if known is None:
                    refuse(number, f"not just one query of {collection!r} has this text", question)
                    continue
                query_id = known
            answer = _first(entry, shape.answer)
            if answer is not None and not isinstance(answer, str):
                refuse(number, f"{shape.answer[0]} must be a text", str(entry))
                continue
            ids = [doc["doc_id"] for doc in _docs(entry, shape, prefix)]
            cited = None if shape.base is None else cited_in(answer, ids, shape.base)
            unresolved += sum(not c.is_resolved for c in cited or [])
            yield (
                number,
                {
                    "query_id": query_id,
                    "context": shape.docs,
                    "context_ids": ids,
                    "answer": answer,
                    "cited": None if cited is None else [c.value for c in cited],
                },
            )
        notice_unresolved(load, source, unresolved)

    return records

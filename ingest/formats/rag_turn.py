"""Turns of cheat-at-search's RAG notebook: a JSON object (or a list of them) with a question, its context and an answer that cites ``(ID 38685)``.

``query`` is the question, ``search_query`` what the model searched for (``searched_as``), ``context`` the documents in order (``rank``, ``product_id``, ``score``, ``title``), ``answer`` the
answer. What it cites is read off its text by the grammar of `ingest/formats/_marks.py`; ``cited_ids_in_order`` is kept beside, as are scores and the category.
Turns of one question are its trials.

A collection is made of questions and documents (``"seen"``, no judgments), unless ``--collection`` names one that has just one query with the question's text, or
none: such a turn goes to quarantine. ``line`` is the turn's number. The retriever is ``search``; ``--set retriever=NAME`` gives another name.

Not known: the model's digest, options, when it was recorded, how the context was retrieved.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.errors import BadInput, shown
from ingest.files import SourceFile
from ingest.formats._json import objects
from ingest.formats._marks import cited_in
from ingest.formats._seen import (
    answers_recording,
    asked_lines,
    first_bytes,
    ignoring,
    refusing,
    seen_collection,
    stem,
    text_id,
)
from ingest.formats.base import Found, Options
from ingest.formats.marked import query_of
from ingest.staging import Load

NAME = "rag_turn"
SUMMARY = "cheat-at-search's RAG turns: a question, ten products, an answer citing (ID n)"

_OWN = ("retriever",)


def recognise(path: Path) -> bool:
    """Whether a JSON file begins as such a turn."""
    if not path.is_file() or not path.name.removesuffix(".gz").endswith(".json"):
        return False
    start = first_bytes(path)
    return all(f'"{key}"' in start for key in ("query", "search_query", "context", "product_id"))


def find(path: Path, options: Options) -> list[Found]:
    """The answers, and the collection that they show."""
    retriever = options.own("retriever", "search")
    if not isinstance(retriever, str) or not retriever.strip():
        raise BadInput(f"{path}: retriever must be a name, not {shown(retriever)}.")
    name = options.name or stem(path)
    turns = [turn for _, turn in _turns(path, ignoring)]
    found = []
    if options.collection is None:
        found.append(
            seen_collection(
                path, NAME, name, options, lambda: _queries(path), lambda: _documents(path), own=_OWN, fields=("title",)
            )
        )  # fmt: skip
    given = {
        "model": next((t["model"] for t in turns if isinstance(t.get("model"), str)), None),
        "results_shown": max((len(t["context"]) for t in turns), default=None),
        "citations": "text", "citation_form": "(ID {id})", "ids_in_text": False, "asked": "the questions of the file",
    }  # fmt: skip
    found.append(
        answers_recording(
            path, NAME, f"{name}-answers", options.collection or name, options, _answers(path, retriever, options.collection), given, _OWN,
            {"asked": asked_lines(path, lambda load: _asked(load, path, options.collection))},
        )
    )  # fmt: skip
    return found


def _turns(path: Path, refuse: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, turn in enumerate(objects(path), start=1):
        context = turn.get("context") if isinstance(turn, dict) else None
        is_turn = (
            isinstance(context, list)
            and isinstance(turn.get("query"), str)
            and isinstance(turn.get("answer"), (str, type(None)))
            and all(isinstance(d, dict) and isinstance(d.get("product_id"), (str, int)) for d in context)
        )
        if is_turn:
            yield number, turn
        else:
            refuse(
                number, "a turn with query, context and answer was expected", json.dumps(turn, default=str)
            )


def _queries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, turn in _turns(path, ignoring):
        yield number, {"query_id": text_id(turn["query"]), "query": turn["query"]}


def _documents(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, turn in _turns(path, ignoring):
        for one in turn["context"]:
            yield number, {"doc_id": str(one["product_id"]), "title": str(one.get("title") or "")}


def _query_id(load: Load, collection: str | None, query: str) -> str | None:
    return text_id(query) if collection is None else query_of(load, collection, query)


def _asked(load: Load, path: Path, collection: str | None) -> Iterator[tuple[int, str | None]]:
    for number, turn in _turns(path, ignoring):
        yield number, _query_id(load, collection, turn["query"])


def _answers(path: Path, retriever: str, collection: str | None) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        refuse, trials = refusing(load, source), Counter[str]()
        for number, turn in _turns(path, refuse):
            query = turn["query"]
            query_id = _query_id(load, collection, query)
            if query_id is None:
                refuse(number, f"not just one query of {collection!r} has this text", query)
                continue
            trials[query_id] += 1
            ids = [str(one["product_id"]) for one in turn["context"]]
            cited = cited_in(turn.get("answer"), ids, None)
            extra = {
                "category": turn.get("category"),
                "scores": [one.get("score") for one in turn["context"]],
                "cited_ids_in_order": turn.get("cited_ids_in_order"),
            }
            yield (
                number,
                {
                    "query_id": query_id,
                    "context": retriever,
                    "trial": trials[query_id],
                    "searched_as": turn.get("search_query"),
                    "context_ids": ids,
                    "answer": turn.get("answer"),
                    "cited": None if cited is None else [c.value for c in cited],
                    "extra": {key: value for key, value in extra.items() if value is not None},
                },
            )

    return records

"""Answers of TREC's RAG track, one JSON object a line: references, and sentences that cite them by place.

Reads both years' forms: 2024 (``topic_id``, ``topic``, ``run_id`` beside ``references`` and ``answer``) and 2025 (the same under ``metadata``
as ``narrative_id``, ``narrative``, ``run_id``). A recording for each ``run_id`` in the file, named by it. ``references`` are the context, in
their order; ``cited`` are the references that the sentences cite, sentence by sentence, repeats and all. A citation that is the
ID of a reference counts as that; a place that is none stays ``[n]``. The answer's text is its sentences with a space between.

A collection is made of topics and references, unless ``--collection`` names one whose query IDs are the topics'.

Not known: the documents' text, judgments (load qrels as a collection, and name it), what was read besides the references:
the context is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.errors import BadInput
from ingest.files import SourceFile
from ingest.formats._seen import (
    answers_recording,
    first_object,
    ignoring,
    jsonl,
    refusing,
    seen_collection,
    stem,
)
from ingest.formats.base import Found, Options
from ingest.formats.marked import notice_unresolved
from ingest.staging import Load

NAME = "trec_rag"
SUMMARY = "answers of TREC's RAG track: references, and sentences with citation places"


def recognise(path: Path) -> bool:
    """Whether the first line has references and an answer in sentences."""
    first = first_object(path)
    return isinstance(first.get("references"), list) and isinstance(first.get("answer"), list)


def find(path: Path, options: Options) -> list[Found]:
    """The collection of topics and references, and a recording a run."""
    runs = sorted({run for _, run, _, _, _ in _entries(path, ignoring)})
    if not runs:
        raise BadInput(f"{path}: no answer stands in it. Name a file of answers, one a line.")
    name = options.name or stem(path)
    found = []
    if options.collection is None:
        found.append(
            seen_collection(
                path, NAME, name, options, lambda: _queries(path), lambda: _documents(path), fields=()
            )
        )
    for run in runs:
        found.append(
            answers_recording(
                path, NAME, run if len(runs) > 1 or options.name is None else f"{name}-answers",
                options.collection or name, options, _answers(path, run),
                {"ids_in_text": False, "context_is": "reported"},
            )
        )  # fmt: skip
    return found


def _entries(path: Path, refuse: Any) -> Iterator[tuple[int, str, str, str | None, dict[str, Any]]]:
    """Line, run, topic's ID and text, and the entry."""
    for line, entry in jsonl(path, refuse):
        about = entry["metadata"] if isinstance(entry.get("metadata"), dict) else entry
        ids = [about.get(k) for k in ("topic_id", "narrative_id", "query_id", "qid")]
        topic_id = next((str(i) for i in ids if isinstance(i, (str, int)) and not isinstance(i, bool)), None)
        texts = [about.get(k) for k in ("topic", "narrative", "query", "title")]
        text = next((t for t in texts if isinstance(t, str)), None)
        run, references, answer = about.get("run_id"), entry.get("references"), entry.get("answer")
        if topic_id is None:
            refuse(line, "neither topic_id nor narrative_id stands in it", str(entry))
        elif not isinstance(run, str) or not run.strip():
            refuse(line, "run_id is not there", str(entry))
        elif not isinstance(references, list) or not all(isinstance(r, (str, int)) for r in references):
            refuse(line, "references must be a list of IDs", str(entry))
        elif not isinstance(answer, list) or not all(_is_sentence(s) for s in answer):
            refuse(line, "answer must be a list of sentences, each with text and citations", str(entry))
        else:
            yield line, run, topic_id, text, entry


def _is_sentence(sentence: Any) -> bool:
    return (
        isinstance(sentence, dict)
        and isinstance(sentence.get("text"), str)
        and isinstance(sentence.get("citations") or [], list)
    )


def _queries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, _, topic_id, text, _ in _entries(path, ignoring):
        yield line, {"query_id": topic_id, "query": text or ""}


def _documents(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, _, _, _, entry in _entries(path, ignoring):
        for reference in entry["references"]:
            yield line, {"doc_id": str(reference)}


def _cited(citation: Any, references: list[str]) -> tuple[Any, bool]:
    """What is cited, and whether it is one of the references."""
    if isinstance(citation, int) and not isinstance(citation, bool):
        is_place = 0 <= citation < len(references)
        return (references[citation] if is_place else f"[{citation}]"), is_place
    return citation, citation in references


def _answers(path: Path, run: str) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        unresolved = 0
        for line, its_run, topic_id, _, entry in _entries(path, refusing(load, source)):
            if its_run != run:
                continue
            references = [str(r) for r in entry["references"]]
            cited = [_cited(c, references) for s in entry["answer"] for c in s.get("citations") or []]
            unresolved += sum(not is_resolved for _, is_resolved in cited)
            yield (
                line,
                {
                    "query_id": topic_id,
                    "context": run,
                    "context_ids": references,
                    "answer": " ".join(sentence["text"] for sentence in entry["answer"]),
                    "cited": [value for value, _ in cited],
                    "extra": {"sentences": [s.get("citations") or [] for s in entry["answer"]]},
                },
            )
        notice_unresolved(load, source, unresolved)

    return records

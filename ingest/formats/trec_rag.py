"""Answers of TREC's RAG track, one JSON object a line: references, and sentences that cite them by place.

Reads both years' forms: 2024 (``topic_id``, ``topic``, ``run_id`` beside ``references`` and ``answer``) and 2025 (the same under ``metadata``
as ``narrative_id``, ``narrative``, ``run_id``). A recording for each ``run_id`` in the file, named by it. ``references`` are the context, in
their order; ``cited`` are the references that the sentences cite, sentence by sentence, repeats and all. A citation that is the
ID of a reference counts as that; a place that is none stays ``[n]``. The answer's text is its sentences with a space between.

Labels of support stand beside the answers where the track's evaluation wrote them down: ``support_eval``, an entry a sentence, with ``citations`` and a label
for each of the first of them in ``eval_scores`` (FS, PS or NS: full, partial or no support). The judge is named by the key of its replies
(``gpt-4o_responses``), else by ``--set judge=person``, or who it was. A label's ``line`` is its number in the file. A citation that got no label has none.

A collection is made of topics and references, unless ``--collection`` names one whose query IDs are the topics'.

Not known: the documents' text, judgments (load qrels as a collection, and name it), what was read besides the references:
the context is reported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.errors import BadInput, shown
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
from ingest.formats.base import Found, Options, from_records
from ingest.formats.marked import notice_unresolved
from ingest.staging import Load

NAME = "trec_rag"
SUMMARY = "answers of TREC's RAG track: references, and sentences with citation places"


_OWN = ("judge",)
_LABELS = {"FS": "supported", "PS": "partly", "NS": "unsupported"}


def recognise(path: Path) -> bool:
    """Whether the first line has references and an answer in sentences."""
    first = first_object(path)
    return isinstance(first.get("references"), list) and isinstance(first.get("answer"), list)


def find(path: Path, options: Options) -> list[Found]:
    """The collection of topics and references, and a recording a run."""
    judge = options.own("judge")
    if judge is not None and (not isinstance(judge, str) or not judge.strip()):
        raise BadInput(f"{path}: judge must be a name, not {shown(judge)}.")
    has_labels = {(run, "support_eval" in entry) for _, run, _, _, entry in _entries(path, ignoring)}
    runs, labelled = sorted({run for run, _ in has_labels}), {run for run, has in has_labels if has}
    if not runs:
        raise BadInput(f"{path}: no answer stands in it. Name a file of answers, one a line.")
    name = options.name or stem(path)
    found = []
    if options.collection is None:
        found.append(
            seen_collection(
                path,
                NAME,
                name,
                options,
                lambda: _queries(path),
                lambda: _documents(path),
                own=_OWN,
                fields=(),
            )
        )
    for run in runs:
        found.append(
            answers_recording(
                path, NAME, run if len(runs) > 1 or options.name is None else f"{name}-answers",
                options.collection or name, options, _answers(path, run),
                {"ids_in_text": False, "context_is": "reported"}, _OWN,
                {"support": from_records(path, _support(path, run, judge), f"{path.name}: labels")} if run in labelled else None,
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


def _support(path: Path, run: str, judge: str | None) -> Any:
    """A label for each citation that the track's evaluation labelled; entries that it doesn't explain go to quarantine."""

    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        number, refuse = 0, refusing(load, source)
        for line, its_run, topic_id, _, entry in _entries(path, ignoring):
            if its_run != run:
                continue
            references = [str(r) for r in entry["references"]]
            given = entry.get("support_eval")
            for one in given if isinstance(given, list) else []:
                number += 1
                read = _labels(one, judge)
                if read is None:
                    refuse(
                        number,
                        f"an entry of support_eval on line {line} must have an answer, citations, eval_scores of FS, PS or NS, and a judge",
                        json.dumps(one),
                    )
                    continue
                who, labels = read
                number -= 1
                for citation, label in labels:
                    number += 1
                    yield number, {
                        "query_id": topic_id, "context": run, "claim": one["answer"], "doc_ids": [_cited(citation, references)[0]],
                        "judge": who, "label": label,
                    }  # fmt: skip

    return records


def _labels(entry: Any, judge: str | None) -> tuple[str, list[tuple[Any, str]]] | None:
    """Who judged, and the citations that have a label with it; None for what can't be read."""
    if not isinstance(entry, dict) or not isinstance(entry.get("answer"), str):
        return None
    citations, scores = entry.get("citations"), entry.get("eval_scores")
    named = next((key.removesuffix("_responses") for key in entry if key.endswith("_responses")), judge)
    if not isinstance(citations, list) or not isinstance(scores, list) or len(scores) > len(citations):
        return None
    if named is None or any(score is not None and score not in _LABELS for score in scores):
        return None
    return named, [
        (c, _LABELS[score]) for c, score in zip(citations, scores, strict=False) if score is not None
    ]

"""ExpertQA's answers (``lfqa/*.jsonl``): questions, several systems' answers with ``[n]``, and experts' labels of each claim.

Reads a collection, unless ``--collection`` names one that has the questions (by their text), and one recording for each system in
the file. A document is a URL, its text the distinct passages that stand as evidence for it anywhere in the file. Query
IDs are made here, ``q001`` and on in the file's order; the split is what the file's name ends in. Each question counts
as asked of the systems that answered it.

``cited`` are the ``[n]`` of the text as the URL of source n, repeats and all; a number without a source stays ``[n]``.
``passage_ids`` are the sources' numbers, ``context_texts`` the passage that stands as evidence for a source where one does.
A claim's label becomes support by ``person``: Complete is supported, Partial partly, Incomplete and Missing unsupported;
N/A and none are left out. The systems that name their sources after or without reading them (``gpt4``, ``post_hoc_*``)
have a reported context.

Not known: prompts, models' digests, what a source's page said where nobody copied a passage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ingest.errors import BadInput
from ingest.files import SourceFile
from ingest.formats._marks import cited_in
from ingest.formats._seen import (
    Entries,
    answers_recording,
    asked_lines,
    first_object,
    ignoring,
    jsonl,
    refusing,
    seen_collection,
    stem,
)
from ingest.formats.base import Found, Options, from_records
from ingest.staging import Load

NAME = "expertqa"
SUMMARY = "ExpertQA's lfqa files: answers with [n], and experts' labels of their claims"

_SOURCE = re.compile(r"\[(\d+)\]\s*(\S+)\s*(.*)", re.DOTALL)
_LABELS = {
    "Complete": "supported",
    "Partial": "partly",
    "Incomplete": "unsupported",
    "Missing": "unsupported",
}
_SPLITS = ("train", "val", "test")


def recognise(path: Path) -> bool:
    """Whether the first line is a question with answers by system."""
    first = first_object(path)
    answers = first.get("answers")
    return (
        "question" in first
        and isinstance(answers, dict)
        and any(isinstance(a, dict) and "answer_string" in a for a in answers.values())
    )


def find(path: Path, options: Options) -> list[Found]:
    """The collection of the questions, and a recording a system."""
    name = options.name or stem(path)
    collection = options.collection or name
    split = next((s for s in _SPLITS if stem(path).endswith(f"_{s}")), None)
    systems = sorted({system for _, _, entry in _questions(path, ignoring) for system in _systems(entry)})
    if not systems:
        raise BadInput(f"{path}: no answer stands in it. Name a file of ExpertQA's lfqa folder.")
    found = []
    if options.collection is None:
        found.append(
            seen_collection(
                path, NAME, name, options, lambda: _queries(path, split), lambda: _documents(path),
                {"licence": "MIT", "source": "ExpertQA"}, gathers=True,
            )
        )  # fmt: skip
    for system in systems:
        reported = system == "gpt4" or system.startswith("post_hoc")
        given = {
            "citations": "text",
            "ids_in_text": False,
            "context_is": "reported" if reported else "read",
            "asked": "the questions that it answered",
            "split": split,
        }
        files = {
            "support": from_records(path, _support(path, system), f"{path.name}: labels"),
            "asked": asked_lines(path, _asked(path, system)),
        }
        found.append(
            answers_recording(
                path, NAME, f"{name}-{system.replace('_', '-')}", collection, options,
                _answers(path, system), given, files=files,
            )
        )  # fmt: skip
    return found


def _questions(path: Path, refuse: Any) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Lines with the query's ID, which counts the questions."""
    for number, (line, entry) in enumerate(_valid(jsonl(path, refuse), refuse), start=1):
        yield line, f"q{number:03d}", entry


def _valid(entries: Entries, refuse: Any) -> Entries:
    for line, entry in entries:
        if isinstance(entry.get("question"), str) and isinstance(entry.get("answers"), dict):
            yield line, entry
        else:
            refuse(line, "a question with answers was expected", str(entry)[:1000])


def _systems(entry: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {system: said for system, said in entry["answers"].items() if isinstance(said, dict)}


def _sources(texts: Any) -> list[tuple[str, str, str]]:
    """Number, URL and passage of what stands as ``[n] URL`` and a passage."""
    found = (_SOURCE.match(text) for text in texts or [] if isinstance(text, str))
    return [(m[1], m[2], m[3]) for m in found if m]


def _claims(said: dict[str, Any]) -> list[dict[str, Any]]:
    return [claim for claim in said.get("claims") or [] if isinstance(claim, dict)]


def _queries(path: Path, split: str | None) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, query_id, entry in _questions(path, ignoring):
        yield (
            line,
            {
                "query_id": query_id,
                "query": entry["question"],
                "split": split,
                **{
                    k: v
                    for k, v in (entry.get("metadata") or {}).items()
                    if k not in ("query_id", "query", "split")
                },
            },
        )


def _documents(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, _, entry in _questions(path, ignoring):
        for said in _systems(entry).values():
            evidence = [found for claim in _claims(said) for found in _sources(claim.get("evidence"))]
            for number, url, _ in _sources(said.get("attribution")):
                yield line, {"doc_id": url, "text": ""}
                for _, other, passage in (found for found in evidence if found[0] == number):
                    yield line, {"doc_id": other, "text": passage}
            for _, url, passage in evidence:
                yield line, {"doc_id": url, "text": passage}


def _answers(path: Path, system: str) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, query_id, entry in _questions(path, refusing(load, source)):
            said = _systems(entry).get(system)
            if said is None:
                continue
            sources = _sources(said.get("attribution"))
            passages: dict[str, str] = {}
            for claim in _claims(said):
                for number, _, passage in _sources(claim.get("evidence")):
                    if passage:
                        passages.setdefault(number, passage)
            texts = [passages.get(number) for number, _, _ in sources]
            # Sources are numbered as they stand; a number that is skipped has no place.
            by_number = {number: url for number, url, _ in sources}
            cited = cited_in(said.get("answer_string"), [], 1)
            yield (
                line,
                {
                    "query_id": query_id,
                    "context": system,
                    "context_ids": [url for _, url, _ in sources],
                    "passage_ids": [number for number, _, _ in sources],
                    "context_texts": texts if any(texts) else None,
                    "answer": said.get("answer_string"),
                    "cited": (cited and [by_number.get(c.number or "", c.value) for c in cited])
                    or (None if cited is None else []),
                    "extra": {
                        "cited_passages": [c.number for c in cited or [] if c.number is not None],
                        "usefulness": said.get("usefulness"),
                    },
                },
            )

    return records


def _support(path: Path, system: str) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        row = 0
        for _, query_id, entry in _questions(path, ignoring):
            for claim in _claims(_systems(entry).get(system) or {}):
                label = _LABELS.get(claim.get("support") or "")
                if label is None:
                    continue
                row += 1
                yield (
                    row,
                    {
                        "query_id": query_id,
                        "context": system,
                        "claim": claim.get("claim_string"),
                        "doc_ids": list(dict.fromkeys(url for _, url, _ in _sources(claim.get("evidence")))),
                        "judge": "person",
                        "label": label,
                    },
                )

    return records


def _asked(path: Path, system: str) -> Callable[[Load], Iterator[tuple[int, str]]]:
    def ids(load: Load) -> Iterator[tuple[int, str]]:
        for line, query_id, entry in _questions(path, ignoring):
            if system in _systems(entry):
                yield line, query_id

    return ids

"""ScholarQABench's answers (OpenScholar): ``input``, ``output`` and ``ctxs``, cited as ``[0]``, ``[1]`` from 0.

Reads JSONL, or JSON with a list as it is or under ``data``. Citations are places in ``ctxs``, counted from 0 as OpenScholar
writes them. A collection is made of what the file shows, unless ``--collection`` names one that has the questions by their
text. A document's ID is its ``id``, ``corpus_id`` or ``paper_id``; without one the first 16 hexadecimal digits of the sha256 of title and
text. A question's is its ``id``, ``question_id`` or ``case_id``; without one its number in the file.

Not known: judgments, prompts, digests.
"""

from __future__ import annotations

from pathlib import Path

from ingest.formats._questions import Refuse, Shape, find_questions
from ingest.formats._seen import Entries, first_bytes, json_entries, jsonl
from ingest.formats.base import Found, Options

NAME = "scholarqa"
SUMMARY = "ScholarQABench's answers: ctxs, and an output that cites them as [0], from 0"


def _is_jsonl(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".jsonl")


def _entries(path: Path, refuse: Refuse) -> Entries:
    return jsonl(path, refuse) if _is_jsonl(path) else json_entries(path, ("data",), refuse)


_SHAPE = Shape(
    format=NAME,
    entries=_entries,
    question=("input", "question"),
    query_id=("id", "question_id", "case_id"),
    docs="ctxs",
    doc_id=("id", "corpus_id", "paper_id"),
    fields=("title", "text"),
    answer=("output",),
    base=0,
)


def recognise(path: Path) -> bool:
    """Whether the beginning of a JSON or JSONL file has an input with ctxs and an output."""
    is_json = _is_jsonl(path) or path.name.removesuffix(".gz").endswith(".json")
    start = first_bytes(path, 1 << 20) if is_json else ""
    return '"ctxs"' in start and '"output"' in start and ('"input"' in start or '"question"' in start)


def find(path: Path, options: Options) -> list[Found]:
    """The collection of what was shown, and the answers."""
    return find_questions(path, options, _SHAPE)

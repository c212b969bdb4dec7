"""ALCE's files: questions, the documents that were read, and an answer that cites them as ``[1][2]``.

Reads result files (``{"data": [{"question", "docs": [{"id", "title", "text"}], "output"}]}``, or the list alone) and prompt files,
whose ``demos`` have a written ``answer`` in the output's place. Citations are places in ``docs``, counted from 1.

A collection is made of what the file shows, unless ``--collection`` names one that has the questions by their text. A document's ID
is its ``id``; without one the first 16 hexadecimal digits of the sha256 of title and text. A question's is its ``sample_id``,
``id`` or ``qampari_id``; without one its number in the file. ``line`` is the entry's number. The file is read whole.

Not known: judgments (a model checks ALCE's answers, not people), prompts, digests.
"""

from __future__ import annotations

from pathlib import Path

from ingest.formats._questions import Shape, find_questions
from ingest.formats._seen import first_bytes, json_entries
from ingest.formats.base import Found, Options

NAME = "alce"
SUMMARY = "ALCE's result and prompt files: docs, and an output that cites them as [1][2]"

_SHAPE = Shape(
    format=NAME,
    entries=lambda path, refuse: json_entries(path, ("data", "demos"), refuse),
    question=("question",),
    query_id=("sample_id", "id", "qampari_id"),
    docs="docs",
    doc_id=("id",),
    fields=("title", "text"),
    answer=("output", "answer"),
    base=1,
)


def recognise(path: Path) -> bool:
    """Whether the beginning of a JSON file has questions with docs and an output, or demos."""
    start = first_bytes(path) if path.name.removesuffix(".gz").endswith(".json") else ""
    return ('"demos"' in start and '"doc_prompt"' in start) or all(
        f'"{key}"' in start for key in ("docs", "question", "output")
    )


def find(path: Path, options: Options) -> list[Found]:
    """The collection of what was shown, and the answers."""
    return find_questions(path, options, _SHAPE)

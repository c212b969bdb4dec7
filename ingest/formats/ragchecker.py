"""RAGChecker's inputs (``{"results": [{"query_id", "query", "response", "retrieved_context": [{"doc_id", "text"}]}]}``).

A collection is made of what the file shows, unless ``--collection`` names one that has the queries by their text. Nobody asked these
answers for citations. ``gt_answer`` is a written answer, no judgment of a document, and isn't kept; nor are a model's claims and
labels in a file of outputs: no model judges here. Where IDs number the documents of one query alone ("000" stands for another
text in another query, which is warned of), ``--set ids=local`` makes them ``<query_id>:<doc_id>``. ``line`` is the entry's number. The file is read whole.

Not known: judgments, which model answered, prompts, digests.
"""

from __future__ import annotations

from pathlib import Path

from ingest.formats._questions import Shape, find_questions
from ingest.formats._seen import first_bytes, json_entries
from ingest.formats.base import Found, Options

NAME = "ragchecker"
SUMMARY = "RAGChecker's inputs: queries, responses and their retrieved contexts"

_SHAPE = Shape(
    format=NAME,
    entries=lambda path, refuse: json_entries(path, ("results",), refuse),
    question=("query",),
    query_id=("query_id",),
    docs="retrieved_context",
    doc_id=("doc_id",),
    fields=("text",),
    answer=("response",),
    base=None,
    may_be_local=True,
)


def recognise(path: Path) -> bool:
    """Whether the beginning of a JSON file has results with a retrieved context."""
    start = first_bytes(path) if path.name.removesuffix(".gz").endswith(".json") else ""
    return '"results"' in start and '"retrieved_context"' in start


def find(path: Path, options: Options) -> list[Found]:
    """The collection of what was shown, and the answers."""
    return find_questions(path, options, _SHAPE)

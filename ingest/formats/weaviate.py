"""Runs of Weaviate's query-agent benchmark: ``trial-1.json`` and on, each ``{"metadata": …, "queries": [{"query_id", "question", …}]}``.

Reads a trial, a folder of one agent's trials, or a folder of such folders. A folder of trials is a recording: traces where any query has
``searches``, whose texts are there and whose results were never written down (unknown, not empty); else contexts, the retriever being the folder's name. ``retrieved_ids``
are what was picked, or retrieved, in order; whether a query that picked nothing failed isn't said. ``trial_number`` is the trial.

``ground_truth_ids`` become judgments of grade 1 (``positive_only``) of a collection made from all the files, unless ``--collection`` names one that has the query
IDs. ``line`` is the query's number in its trial, trials one after the other.

Not known: the model, prompts, what a search returned, the documents' text.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.errors import BadInput
from ingest.files import Given, SourceFile
from ingest.formats._json import document, entries
from ingest.formats._seen import first_bytes, ignoring, refusing, seen_collection
from ingest.formats.base import Found, Options, from_records
from ingest.staging import Load

NAME = "weaviate"
SUMMARY = "runs of Weaviate's query-agent benchmark: trial-*.json with questions and searches"


def _is_trial(path: Path) -> bool:
    if not path.is_file() or not path.name.endswith(".json"):
        return False
    start = first_bytes(path)
    return '"ground_truth_ids"' in start and '"retrieved_ids"' in start and '"queries"' in start


def _trials(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if _is_trial(path) else []
    return sorted(p for p in path.iterdir() if _is_trial(p)) if path.is_dir() else []


def _runs(path: Path) -> dict[str, list[Path]]:
    """The trials by the agent's name: the folder's, or that of each folder in it."""
    own = _trials(path)
    if own:
        return {path.resolve().parent.name if path.is_file() else path.resolve().name: own}
    if not path.is_dir():
        return {}
    return {p.name: found for p in sorted(path.iterdir()) if p.is_dir() and (found := _trials(p))}


def recognise(path: Path) -> bool:
    """Whether trials stand here, or in folders here."""
    return bool(_runs(path))


def find(path: Path, options: Options) -> list[Found]:
    """The collection of all questions, and a recording a folder of trials."""
    runs = _runs(path)
    if not runs:
        raise BadInput(
            f"{path}: no trial of the benchmark stands here. Name a trial-1.json or a folder of such."
        )
    name = options.name or path.resolve().stem
    everything = [trial for trials in runs.values() for trial in trials]
    found = []
    if options.collection is None:
        one = seen_collection(
            everything[0], NAME, name, options, lambda: _queries(everything), lambda: _documents(everything),
            {"grades": {"1": "relevant"}, "exact_grade": 1, "judgments": "positive_only"}, fields=(),
        )  # fmt: skip
        one.files["qrels"] = from_records(
            everything[0], lambda load, source: _judgments(everything), f"{everything[0].name}: judgments"
        )
        found.append(dataclasses.replace(one, path=path, sources=tuple(everything)))
    for agent, trials in runs.items():
        found.append(_recording(path, f"{name}-{agent}", options.collection or name, agent, trials, options))
    return found


def _recording(
    path: Path, name: str, collection: str, agent: str, trials: list[Path], options: Options
) -> Found:
    about = [_about(trial) for trial in trials]
    has_searches = any("searches" in query for _, _, query in _entries(trials, ignoring))
    longest = max((len(q["retrieved_ids"]) for _, _, q in _entries(trials, ignoring)), default=0)
    given: dict[str, Any] = {
        "recording": name,
        "kind": "traces" if has_searches else "contexts",
        "collection": collection,
        "agent": about[0].get("agent_name"),
        "options": {k: about[0][k] for k in ("mode", "effort", "filtering") if k in about[0]} or None,
        "recorded_at": max((str(a["timestamp"]) for a in about if a.get("timestamp")), default=None),
        "max_recommendations" if has_searches else "results_shown": longest or None,
    }
    role = "traces" if has_searches else "contexts"
    files: dict[str, Given] = {role: from_records(trials[0], _rows(agent, trials, has_searches), role)}
    return Found(path, NAME, "recording", name, options.described(path, given), files, tuple(trials))


def _about(path: Path) -> dict[str, Any]:
    """What a trial's file says of itself."""
    about = {
        key: part for key, part in document(path, lambda key: key in (None, "queries")) if key != "queries"
    }
    metadata = about.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _entries(trials: list[Path], refuse: Any) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Number, trial and query."""
    number = 0
    for place, path in enumerate(trials, start=1):
        trial = _about(path).get("trial_number")
        for query in entries(path, ("queries",)):
            number += 1
            if not isinstance(query, dict) or not isinstance(query.get("retrieved_ids"), list):
                refuse(
                    number, "a query with query_id and retrieved_ids was expected", json.dumps(query)[:1000]
                )
            elif not isinstance(query.get("query_id"), (str, int)) or not isinstance(
                query.get("question"), str
            ):
                refuse(number, "a query must have a query_id and a question", json.dumps(query)[:1000])
            else:
                yield number, trial if isinstance(trial, int) and trial > 0 else place, query


def _queries(trials: list[Path]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, _, query in _entries(trials, ignoring):
        yield number, {"query_id": str(query["query_id"]), "query": query["question"]}


def _documents(trials: list[Path]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, _, query in _entries(trials, ignoring):
        for doc_id in [*(query.get("ground_truth_ids") or []), *query["retrieved_ids"]]:
            yield number, {"doc_id": str(doc_id)}


def _judgments(trials: list[Path]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each judgment once: every trial repeats them."""
    number, seen = 0, set[str]()
    for _, _, query in _entries(trials, ignoring):
        if str(query["query_id"]) in seen:
            continue
        seen.add(str(query["query_id"]))
        for doc_id in query.get("ground_truth_ids") or []:
            number += 1
            yield number, {"query_id": query["query_id"], "doc_id": doc_id, "grade": 1}


def _rows(agent: str, trials: list[Path], has_searches: bool) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, trial, query in _entries(trials, refusing(load, source)):
            if not has_searches:
                yield number, {
                    "query_id": query["query_id"], "context": agent, "trial": trial, "doc_ids": query["retrieved_ids"],
                    "duration_ms": _milliseconds(query),
                }  # fmt: skip
                continue
            searches = query.get("searches")
            row: dict[str, Any] = {"query_id": query["query_id"], "retriever": agent, "trial": trial}
            if searches is not None:
                row["searches"] = [_search(search) for search in searches]
            seconds = query.get("time_taken")
            yield (
                number,
                {
                    **row,
                    "picked": query["retrieved_ids"],
                    "extra": {"duration_s": seconds} if seconds else None,
                },
            )

    return records


def _search(search: Any) -> dict[str, Any]:
    if not isinstance(search, dict):
        return {}
    extra = {k: v for k, v in search.items() if k not in ("query", "collection") and v is not None}
    found: dict[str, Any] = {"extra": extra} if extra else {}
    if isinstance(search.get("query"), str):
        found["query"] = search["query"]
    return found


def _milliseconds(query: dict[str, Any]) -> float | None:
    seconds = query.get("time_taken")
    return seconds * 1000 if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) else None

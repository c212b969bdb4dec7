"""BrowseComp-Plus's runs: a JSON file a query, in a folder (``query_id``, ``status``, ``retrieved_docids``, ``result``).

``result`` holds what happened in order: a ``tool_call`` of a search (``tool_name`` with search, retriev, lookup or find in it; its ``arguments`` an object or JSON text, its ``output`` a list of
documents with ``docid`` and ``score``, or JSON text of one) is a search, another tool's call an event by its name; the last ``output_text`` is the answer. What the answer cites
in brackets is what was picked, by the grammar of `ingest/formats/_marks.py`: ``[A-12]`` is the ID A-12, and no digit inside it is another. A run whose status isn't
``completed`` didn't finish.

``--collection`` names the collection that has the query IDs; without it one is made of the files, whose queries have no text. A folder is a recording, named by it. ``line`` is
the file's place among the folder's, by name.

Not known: queries' texts, documents' texts, prompts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.errors import BadInput
from ingest.files import Given, SourceFile
from ingest.formats._marks import cited_in
from ingest.formats._said import searched
from ingest.formats._seen import first_bytes, ignoring, refusing, seen_collection, stem
from ingest.formats._spans import SEARCHES
from ingest.formats.base import Found, Options, from_records
from ingest.staging import Load

NAME = "browsecomp_plus"
SUMMARY = "BrowseComp-Plus's runs: a JSON file a query, with search calls and a cited answer"


def _is_run(path: Path) -> bool:
    if not path.is_file() or path.is_symlink() or not path.name.endswith(".json"):
        return False
    start = first_bytes(path)
    return '"query_id"' in start and '"retrieved_docids"' in start


def _runs(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if _is_run(path) else []
    return sorted(p for p in path.glob("*.json") if _is_run(p)) if path.is_dir() else []


def recognise(path: Path) -> bool:
    """Whether this is such a file, or a folder with one."""
    return _is_run(path) or (path.is_dir() and any(_is_run(p) for p in path.glob("*.json")))


def find(path: Path, options: Options) -> list[Found]:
    """The traces of a folder, and the collection that they show."""
    runs = _runs(path)
    if not runs:
        raise BadInput(f"{path}: no run stands here: a JSON file with query_id and retrieved_docids.")
    name = options.name or (path.resolve().name if path.is_dir() else stem(path))
    found = []
    if options.collection is None:
        one = seen_collection(
            runs[0], NAME, name, options, lambda: _queries(runs), lambda: _documents(runs), fields=()
        )
        found.append(Found(path, NAME, "collection", name, one.described, one.files, tuple(runs)))
    model = next(
        (
            e.get("metadata", {}).get("model")
            for _, e in _entries(runs, ignoring)
            if isinstance(e.get("metadata"), dict)
        ),
        None,
    )
    recording = f"{name}-traces"
    given = {
        "recording": recording,
        "kind": "traces",
        "collection": options.collection or name,
        "model": model,
    }
    files: dict[str, Given] = {"traces": from_records(runs[0], _events(runs), "runs")}
    found.append(
        Found(path, NAME, "recording", recording, options.described(path, given), files, tuple(runs))
    )
    return found


def _entries(runs: list[Path], refuse: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, path in enumerate(runs, start=1):
        try:
            entry = json.loads(path.read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError) as error:
            refuse(number, f"{path.name}: this is not valid JSON: {error}", "")
            continue
        is_run = (
            isinstance(entry, dict)
            and isinstance(entry.get("query_id"), (str, int))
            and isinstance(entry.get("result"), list)
        )
        if is_run:
            yield number, entry
        else:
            refuse(
                number, f"{path.name}: a run with query_id and result was expected", json.dumps(entry)[:1000]
            )


def _list(output: Any) -> list[dict[str, Any]] | None:
    """The documents of a search; None where they are unknown."""
    if isinstance(output, str):
        try:
            output = json.loads(output)
        except (ValueError, RecursionError):
            return None
    is_list = isinstance(output, list) and all(
        isinstance(d, dict) and isinstance(d.get("docid"), (str, int)) for d in output
    )
    return output if is_list else None


def _searches(entry: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]] | None]]:
    for step in entry["result"]:
        if (
            isinstance(step, dict)
            and step.get("type") == "tool_call"
            and SEARCHES.search(str(step.get("tool_name")))
        ):
            yield step, _list(step.get("output"))


def _queries(runs: list[Path]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, entry in _entries(runs, ignoring):
        yield number, {"query_id": str(entry["query_id"]), "query": ""}


def _documents(runs: list[Path]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, entry in _entries(runs, ignoring):
        for _, found in _searches(entry):
            for one in found or []:
                yield number, {"doc_id": str(one["docid"])}
        for doc_id in entry.get("retrieved_docids") or []:
            yield number, {"doc_id": str(doc_id)}


def _events(runs: list[Path]) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        trials: dict[str, int] = {}
        for number, entry in _entries(runs, refusing(load, source)):
            query_id = str(entry["query_id"])
            trials[query_id] = trials.get(query_id, 0) + 1
            about = {
                "trace_id": f"{query_id}/{trials[query_id]}", "query_id": query_id, "retriever": "search", "trial": trials[query_id],
            }  # fmt: skip
            for seq, event in enumerate(_of_run(entry), start=1):
                yield number, {**about, "seq": seq, **event}

    return records


def _of_run(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a run."""
    answer = None
    for step in entry["result"]:
        if not isinstance(step, dict):
            continue
        if step.get("type") == "output_text":
            given = step.get("output")
            answer = "\n".join(map(str, given)) if isinstance(given, list) else given
        elif step.get("type") == "tool_call":
            if not SEARCHES.search(str(step.get("tool_name"))):
                yield {"event": str(step.get("tool_name"))}
                continue
            found = _list(step.get("output"))
            event: dict[str, Any] = {"event": "search", "query": searched(step.get("arguments"))}
            if found is not None:
                event["results"] = [str(d["docid"]) for d in found]
                event["scores"] = [d.get("score") for d in found]
            yield event
    if entry.get("status") == "completed" and isinstance(answer, str):
        known = [str(d) for d in entry.get("retrieved_docids") or []]
        cited = cited_in(answer, known, None) or []
        yield {
            "event": "pick",
            "picked": list(dict.fromkeys(c.value for c in cited)),
            "extra": {"answer": answer},
        }
    else:
        yield {"event": "end", "extra": {"status": entry.get("status")}}

"""Episodes of ReAct on WebShop: a JSON object a trace, with ``steps`` of searches, thoughts and clicks.

A search has the products of its first page. A click on a product (an ID in capitals and digits of ten places) opens it, ``Buy Now`` ends the task with the
product that was opened last; any other click is kept as one, thoughts are not. A search or click that the shop called invalid has the error that it printed. ``final_pick``
says what was bought; without a ``Buy Now`` the task didn't finish. The shop's score stands in the last event, null where none was printed.

A ``catalog_seen.jsonl`` beside the traces (``product_id``, ``title``, ``price``) is the collection's catalog; without it, the products that the traces name (``"seen"``, no
judgments). Each episode is a query of its own, the instruction its text. With ``--collection`` the query is that of just one query with this text.

Not known: what a product's page said besides, later pages of results, the model's digest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.files import Given, SourceFile
from ingest.formats._seen import first_object, ignoring, jsonl, refusing, seen_collection, stem
from ingest.formats.base import Found, Options, from_records
from ingest.formats.marked import query_of
from ingest.staging import Load

NAME = "webshop"
SUMMARY = "ReAct's WebShop episodes: searches, clicks and what was bought"

_PRODUCT = re.compile(r"[A-Z0-9]{10}")
_FIELDS = ("title", "price")


def recognise(path: Path) -> bool:
    """Whether the first line is an episode, or that of traces.jsonl in a folder."""
    first = first_object(_traces_file(path))
    return isinstance(first.get("steps"), list) and "instruction" in first


def _traces_file(path: Path) -> Path:
    return path / "traces.jsonl" if path.is_dir() else path


def find(path: Path, options: Options) -> list[Found]:
    """The collection of episodes and products, and the traces."""
    traces = _traces_file(path)
    catalog = traces.parent / "catalog_seen.jsonl"
    name = options.name or (path.resolve().name if path.is_dir() else stem(path))
    found = []
    if options.collection is None:
        one = seen_collection(
            traces, NAME, name, options, lambda: _queries(traces), lambda: _documents(traces),
            fields=_FIELDS if catalog.is_file() else (),
        )  # fmt: skip
        sources: tuple[Path, ...] = (traces,)
        if catalog.is_file():
            one.files["catalog"] = from_records(
                catalog, lambda load, source: _products(catalog, load, source)
            )
            sources = (traces, catalog)
        found.append(Found(path, NAME, "collection", name, one.described, one.files, sources))
    recording = f"{name}-agent"
    given = {
        "recording": recording, "kind": "traces", "collection": options.collection or name, "max_recommendations": 1,
        "shown_fields": list(_FIELDS) if options.collection is None and catalog.is_file() else None,
    }  # fmt: skip
    files: dict[str, Given] = {"traces": from_records(traces, _events(traces, options.collection))}
    found.append(
        Found(path, NAME, "recording", recording, options.described(traces, given), files, (traces,))
    )
    return found


def _episodes(path: Path, refuse: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, episode in jsonl(path, refuse):
        if (
            isinstance(episode.get("instruction"), str)
            and isinstance(episode.get("steps"), list)
            and episode.get("trace_id")
        ):
            yield line, episode
        else:
            refuse(
                line,
                "an episode with trace_id, instruction and steps was expected",
                json.dumps(episode)[:1000],
            )


def _queries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, episode in _episodes(path, ignoring):
        yield line, {"query_id": str(episode["trace_id"]), "query": episode["instruction"]}


def _documents(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, episode in _episodes(path, ignoring):
        for step in episode["steps"]:
            for doc_id in [*(step.get("results") or []), *([step["target"]] if _is_product(step) else [])]:
                yield line, {"doc_id": str(doc_id)}


def _products(path: Path, load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, product in jsonl(path, refusing(load, source)):
        if product.get("product_id") is None:
            refusing(load, source)(line, "a product has no product_id", json.dumps(product)[:1000])
            continue
        rest = {k: v for k, v in product.items() if k != "product_id"}
        yield line, {"doc_id": product["product_id"], **rest}


def _is_product(step: dict[str, Any]) -> bool:
    return step.get("type") == "click" and bool(_PRODUCT.fullmatch(str(step.get("target", ""))))


def _events(path: Path, collection: str | None) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        refuse = refusing(load, source)
        for line, episode in _episodes(path, refuse):
            query_id: str | None = str(episode["trace_id"])
            if collection is not None:
                query_id = query_of(load, collection, episode["instruction"])
            if query_id is None:
                refuse(line, f"not just one query of {collection!r} has this text", episode["instruction"])
                continue
            about = {"trace_id": episode["trace_id"], "query_id": query_id, "retriever": "webshop"}
            for seq, event in enumerate(_of_episode(episode), start=1):
                yield line, {**about, "seq": seq, **event}

    return records


def _of_episode(episode: dict[str, Any]) -> Iterator[dict[str, Any]]:
    bought = episode.get("final_pick")
    for step in episode["steps"]:
        error = "Invalid action!" if step.get("invalid") else None
        if step.get("type") == "search":
            results = step.get("results")
            total = step.get("total_results")
            yield {
                "event": "search", "query": step.get("query"), "results": results, "error": error,
                "extra": {"results_found": total} if total is not None else None,
            }  # fmt: skip
        elif _is_product(step) and error is None:
            yield {"event": "open", "doc_id": step["target"]}
        elif step.get("type") == "click":
            yield {"event": "click", "target": step.get("target"), "error": error}
            if str(step.get("target")).lower() == "buy now" and error is None and bought is not None:
                yield {"event": "pick", "picked": [bought]}
    yield {"event": "end", "extra": {"reward": episode.get("score")}}

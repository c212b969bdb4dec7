"""Make the example store's collection and the scripted recordings on it, in the native format.

    python examples/scripted/make_store.py [FOLDER]

FOLDER, ``examples`` by default, gets ``store/collection``, ``scripted/scripted-answers`` and ``scripted/scripted-agent``.

Everything follows from the seed and the rules in these modules, so a second run writes the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import assistant
from assistant import answer, plant_answer_faults, plant_trace_faults, trace
from catalog import make_judgments, make_products, make_queries
from retrievers import K1, B, Bm25, Chance, Semantic

EXAMPLES = Path(__file__).resolve().parents[1]
SEED = "store 1"
SHOWN = 5
RECORDED_AT = "2026-11-15T10:00:00Z"
FIELDS = ["name", "product_class", "category", "description", "attributes"]
RETRIEVERS = {
    "bm25": f"BM25, k1 {K1}, b {B}, unstemmed, whole products; ties by doc_id ascending",
    "semantic": "a stand-in for embeddings: cosine of hashed character trigrams after a table of synonyms; no model",
    "random": "five products drawn at random, seeded by the query",
}
ANSWER_PROMPT = (
    "You help shoppers at an online store. Using only the products below, answer the shopper. Recommend up to three products "
    "that fit, cite each by its ID as in (ID 1001), and say plainly if none of them fits."
)


def write_lines(path: Path, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Write JSONL; returns what a manifest says of the file."""
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return {"sha256": hashlib.sha256(data).hexdigest(), "rows": len(rows)}


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a description for people to read."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def script_digest() -> str:
    """What stands for a model's digest: the sha256 of the assistant's rules."""
    return "sha256:" + hashlib.sha256(Path(assistant.__file__).read_bytes()).hexdigest()


def manifest(
    kind: str, name: str, notes: list[str], files: dict[str, Any], retrievers: dict[str, str], **more: Any
) -> dict[str, Any]:
    """A recording's manifest."""
    return {
        "recording": name,
        "kind": kind,
        "collection": "store",
        "split": "test",
        "model": "scripted",
        "model_digest": script_digest(),
        "model_licence": "Apache-2.0",
        "options": {"num_ctx": 8192, "temperature": 0, "seed": 1, "think": False},
        **more,
        "retrievers": retrievers,
        "recorded_at": RECORDED_AT,
        "results_shown": SHOWN,
        "max_recommendations": assistant.MOST,
        "notes": ["No model wrote this: " + " ".join((assistant.__doc__ or "").split()), *notes],
        "files": files,
    }


def main(folder: Path) -> None:
    """Write everything below the folder."""
    products = make_products(SEED)
    queries = make_queries(SEED, products)
    by_id = {p.doc_id: p for p in products}
    tools: dict[str, Bm25 | Semantic] = {"bm25": Bm25(products), "semantic": Semantic(products)}
    chance = Chance(products, SEED)
    lists = {
        (name, q.query_id): [d for d, _ in tool.search(q.text, 10)]
        for name, tool in tools.items()
        for q in queries
    }
    retrieved = {
        q.query_id: list(dict.fromkeys(d for name in tools for d in lists[name, q.query_id])) for q in queries
    }
    judgments = make_judgments(SEED, products, queries, retrieved)

    collection, scripted = folder / "store" / "collection", folder / "scripted"
    files = {
        "catalog.jsonl": write_lines(
            collection / "catalog.jsonl", [{"doc_id": p.doc_id} | p.texts for p in products]
        ),
        "queries.jsonl": write_lines(
            collection / "queries.jsonl",
            [{"query_id": q.query_id, "query": q.text, "split": q.split} for q in queries],
        ),
        "qrels.jsonl": write_lines(
            collection / "qrels.jsonl", [{"query_id": q, "doc_id": d, "grade": g} for q, d, g in judgments]
        ),
    }
    write_json(
        collection / "collection.json",
        {
            "collection": "store",
            "licence": "Apache-2.0",
            "source": "made by examples/scripted/make_store.py: products, queries and grades by rule, no real store and no real judges",
            "fields": FIELDS,
            "grades": {"2": "exact", "1": "partial", "0": "irrelevant"},
            "exact_grade": 2,
            "catalog": "whole",
            "judgments": "graded",
            "files": files,
        },
    )

    tests = [q for q in queries if q.split == "test"]
    order = [q.query_id for q in tests]
    answers = {
        (name, q.query_id): answer(
            q.query_id, q.text, name,
            lists[name, q.query_id][:SHOWN] if name in tools else [d for d, _ in chance.search(q.text, SHOWN)], by_id,
        )
        for name in RETRIEVERS
        for q in tests
    }  # fmt: skip
    notes = plant_answer_faults(answers, order, by_id)
    pinned = {
        "answers.jsonl": write_lines(scripted / "scripted-answers" / "answers.jsonl", list(answers.values()))
    }
    write_json(
        scripted / "scripted-answers" / "manifest.json",
        manifest(
            "answers", "scripted-answers", notes, pinned, RETRIEVERS,
            prompts=ANSWER_PROMPT,
            schemas={"answer": {"type": "object", "properties": {"answer": {"type": "string"}, "cited": {"type": "array", "items": {"type": "string"}}}}},
            floor=["random"],
            ids_in_text=True,
            citation_form="(ID {id})",
        ),
    )  # fmt: skip

    traces = {
        (name, q.query_id): trace(q.query_id, q.text, name, tool, by_id, SHOWN)
        for name, tool in tools.items()
        for q in tests
    }
    notes = plant_trace_faults(traces, order, by_id)
    pinned = {
        "traces.jsonl": write_lines(scripted / "scripted-agent" / "traces.jsonl", list(traces.values()))
    }
    write_json(
        scripted / "scripted-agent" / "manifest.json",
        manifest(
            "traces", "scripted-agent", notes, pinned, {name: RETRIEVERS[name] for name in tools},
            prompts={
                "system": "Find products for the shopper with the search tool, then reply with the IDs of the three that fit best.",
                "tool": "Search the store's catalog. Returns the top 5 products: ID, name, class and attributes.",
            },
            schemas={"search": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}},
            max_searches=3,
            shown_fields=["name", "product_class", "attributes"],
            answers_recording="scripted-answers",
        ),
    )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES)

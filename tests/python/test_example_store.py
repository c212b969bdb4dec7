"""The example store: the same bytes again, and every kind of thing at least once, read from the files alone."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT

STORE = PROJECT / "examples" / "store"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (STORE / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def grades() -> dict[tuple[str, str], int]:
    return {(j["query_id"], j["doc_id"]): j["grade"] for j in lines("collection/qrels.jsonl")}


def test_the_script_makes_these_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, STORE / "make_store.py", tmp_path], check=True)
    made = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert len(made) == 8
    for name, data in made.items():
        assert (STORE / name).read_bytes() == data, name
        assert len(data) < 1 << 20
    assert sum(map(len, made.values())) < 3_000_000


@pytest.mark.parametrize("folder", ["collection", "store-answers", "store-agent"])
def test_files_are_pinned(folder: str) -> None:
    described = next(p for p in (STORE / folder).iterdir() if p.name in ("collection.json", "manifest.json"))
    for name, pin in json.loads(described.read_text())["files"].items():
        data = (STORE / folder / name).read_bytes()
        assert pin == {"sha256": hashlib.sha256(data).hexdigest(), "rows": data.count(b"\n")}


def test_shape_of_the_collection(grades: dict[tuple[str, str], int]) -> None:
    queries = lines("collection/queries.jsonl")
    assert sorted(q["split"] for q in queries) == ["test"] * 30 + ["train"] * 50
    assert len({d["doc_id"] for d in lines("collection/catalog.jsonl")}) == 1000
    assert set(grades.values()) == {0, 1, 2}
    judged = {q for q, _ in grades}
    exact = {q for (q, _), g in grades.items() if g == 2}
    tests = {q["query_id"] for q in queries if q["split"] == "test"}
    assert len(tests - judged) == 1 and len((tests & judged) - exact) == 1


def test_every_kind_of_answer_occurs(grades: dict[tuple[str, str], int]) -> None:
    answers = lines("store-answers/answers.jsonl")
    catalog = {d["doc_id"] for d in lines("collection/catalog.jsonl")}
    assert len(answers) == 90
    found: set[str] = set()
    for row in answers:
        context, cited = row["context_ids"], row.get("cited")
        held = any(grades.get((row["query_id"], d)) == 2 for d in context)
        if any((row["query_id"], d) not in grades for d in context):
            found.add("unjudged in context")
        if cited is None or "error" in row:
            found.add("broken, error" if "error" in row else "broken, no list")
            continue
        ids = [c for c in cited if isinstance(c, str) and c.isdigit()]
        found.add(f"{'abstained' if not cited else 'answered'}, {'held' if held else 'none held'}")
        found |= {"outside"} if any(c in catalog and c not in context for c in ids) else set()
        found |= {"unknown"} if any(c not in catalog for c in ids) else set()
        found |= {"malformed"} if len(ids) < len(cited) else set()
        found |= {"repeated"} if len(set(ids)) < len(ids) else set()
        found |= {"too many"} if len(set(ids)) > 3 else set()
        named = {d for d in context if f"(ID {d})" in row["answer"]}
        found |= {"differ"} if named != set(ids) & set(context) else set()
        found |= {"unjudged cited"} if any((row["query_id"], c) not in grades for c in ids) else set()
    assert found == {
        "unjudged in context", "broken, error", "broken, no list", "abstained, held", "abstained, none held", "answered, held",
        "answered, none held", "outside", "unknown", "malformed", "repeated", "too many", "differ", "unjudged cited",
    }  # fmt: skip


def test_every_kind_of_trace_occurs(grades: dict[tuple[str, str], int]) -> None:
    typed = {q["query_id"]: q["query"] for q in lines("collection/queries.jsonl")}
    contexts = {(a["query_id"], a["context"]): a["context_ids"] for a in lines("store-answers/answers.jsonl")}
    traces = lines("store-agent/traces.jsonl")
    assert len(traces) == 60
    found: set[str] = set()
    firsts: dict[str, set[str]] = {}
    for trace in traces:
        searches, picked = trace["searches"], trace.get("picked")
        returned = {d for s in searches for d in s.get("results", [])}
        first = next(s for s in searches if "results" in s)
        found.add("as typed" if first["query"] == typed[trace["query_id"]] else "reworded")
        found.add(
            "first is context"
            if first["results"] == contexts[trace["query_id"], trace["retriever"]]
            else "first differs"
        )
        firsts.setdefault(trace["query_id"], set()).add(first["query"])
        steps = [s["step"] for s in searches]
        assert set(steps) == set(range(1, len(set(steps)) + 1)), "steps are counted without a gap"
        calls = {s.get("call_id", i) for i, s in enumerate(searches)}
        found |= {"retried"} if len(calls) < len(searches) else set()
        found |= {"refused"} if searches[-1].get("error") else set()
        found.add("later search" if len(calls) > 1 else "one search")
        if picked is None:
            found.add("unfinished")
            continue
        found |= {"never returned"} if any(p.isdigit() and p not in returned for p in picked) else set()
        found |= {"malformed"} if any(not p.isdigit() for p in picked) else set()
        found |= {"fewer"} if len(set(picked)) < 3 else set()
        found |= {"repeated"} if len(set(picked)) < len(picked) else set()
        found |= {"unjudged"} if any((trace["query_id"], p) not in grades for p in picked) else set()
    assert found == {
        "as typed", "reworded", "first is context", "first differs", "retried", "refused", "later search", "one search",
        "unfinished", "never returned", "malformed", "fewer", "repeated", "unjudged",
    }  # fmt: skip
    assert sum(len(queries) > 1 for queries in firsts.values()) == 1, "one pair of first searches differs"


@pytest.mark.parametrize("folder", ["store-answers", "store-agent"])
def test_manifest_names_the_retrievers_of_its_rows(folder: str) -> None:
    described = json.loads((STORE / folder / "manifest.json").read_text(encoding="utf-8"))
    (name,) = described["files"]
    rows = lines(f"{folder}/{name}")
    assert set(described["retrievers"]) == {row.get("retriever") or row["context"] for row in rows}

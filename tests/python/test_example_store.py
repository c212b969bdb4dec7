"""The example store and the scripted recordings on it, read from the files alone: the same bytes again, every kind of thing at least once,
and recordings of a real model that hold together."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT

EXAMPLES = PROJECT / "examples"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def grades() -> dict[tuple[str, str], int]:
    return {(j["query_id"], j["doc_id"]): j["grade"] for j in lines("store/collection/qrels.jsonl")}


def test_the_script_makes_these_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, EXAMPLES / "scripted" / "make_store.py", tmp_path], check=True)
    made = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert len(made) == 8
    for name, data in made.items():
        assert (EXAMPLES / name).read_bytes() == data, name
        assert len(data) < 1 << 20
    assert sum(map(len, made.values())) < 3_000_000


FOLDERS = sorted(
    str(p.parent.relative_to(EXAMPLES))
    for name in ("collection.json", "manifest.json")
    for p in EXAMPLES.rglob(name)
)


def test_there_are_these_folders() -> None:
    store = ("agent", "answers", "bm25", "random", "semantic")
    assert [
        "scripted/scripted-agent", "scripted/scripted-answers", "store/collection", *(f"store/store-{name}" for name in store)
    ] == FOLDERS  # fmt: skip


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_are_pinned(folder: str) -> None:
    described = next(
        p for p in (EXAMPLES / folder).iterdir() if p.name in ("collection.json", "manifest.json")
    )
    for name, pin in json.loads(described.read_text())["files"].items():
        data = (EXAMPLES / folder / name).read_bytes()
        assert pin == {"sha256": hashlib.sha256(data).hexdigest(), "rows": data.count(b"\n")}
        assert len(data) < 1 << 20


def test_shape_of_the_collection(grades: dict[tuple[str, str], int]) -> None:
    queries = lines("store/collection/queries.jsonl")
    assert sorted(q["split"] for q in queries) == ["test"] * 30 + ["train"] * 50
    assert len({d["doc_id"] for d in lines("store/collection/catalog.jsonl")}) == 1000
    assert set(grades.values()) == {0, 1, 2}
    judged = {q for q, _ in grades}
    exact = {q for (q, _), g in grades.items() if g == 2}
    tests = {q["query_id"] for q in queries if q["split"] == "test"}
    assert len(tests - judged) == 1 and len((tests & judged) - exact) == 1


def test_every_kind_of_answer_occurs(grades: dict[tuple[str, str], int]) -> None:
    answers = lines("scripted/scripted-answers/answers.jsonl")
    catalog = {d["doc_id"] for d in lines("store/collection/catalog.jsonl")}
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
    typed = {q["query_id"]: q["query"] for q in lines("store/collection/queries.jsonl")}
    contexts = {
        (a["query_id"], a["context"]): a["context_ids"]
        for a in lines("scripted/scripted-answers/answers.jsonl")
    }
    traces = lines("scripted/scripted-agent/traces.jsonl")
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


@pytest.mark.parametrize("folder", ["scripted/scripted-answers", "scripted/scripted-agent"])
def test_manifest_names_the_retrievers_of_its_rows(folder: str) -> None:
    described = json.loads((EXAMPLES / folder / "manifest.json").read_text(encoding="utf-8"))
    (name,) = described["files"]
    rows = lines(f"{folder}/{name}")
    assert set(described["retrievers"]) == {row.get("retriever") or row["context"] for row in rows}


def test_the_recorded_answers_are_a_models_own() -> None:
    """Each line is what its raw reply says, on the contexts that the manifest names, with the server's own counts."""
    described = json.loads((EXAMPLES / "store" / "store-answers" / "manifest.json").read_text())
    assert described["model"] == "smollm2:135m" and re.fullmatch(
        "sha256:[0-9a-f]{64}", described["model_digest"]
    )
    rows = lines("store/store-answers/answers.jsonl")
    assert len(rows) == 90
    contexts: dict[tuple[str, str], list[str]] = {}
    for name in ("bm25", "semantic", "random"):
        for run in lines(f"store/store-{name}/contexts.jsonl"):
            contexts[run["query_id"], name] = run["doc_ids"][: described["results_shown"]]
    for row in rows:
        assert row["context_ids"] == contexts[row["query_id"], row["context"]]
        whole = json.loads(row["raw"])
        assert row["prompt_tokens"] == whole["prompt_eval_count"] < described["options"]["num_ctx"]
        if "error" not in row:
            said = json.loads(whole["message"]["content"])
            assert (row["cited"], row["answer"]) == (said["cited"], said["answer"])


def test_the_recorded_traces_are_a_models_own() -> None:
    described = json.loads((EXAMPLES / "store" / "store-agent" / "manifest.json").read_text())
    assert described["model"] == "smollm2:135m" and described["answers_recording"] == "store-answers"
    events = lines("store/store-agent/traces.jsonl")
    assert sum(e["event"] == "end" for e in events) == 60
    calls: dict[tuple[str, int], dict[str, Any]] = {
        (e["trace_id"], e["step"]): json.loads(e["extra"]["raw"])["message"] for e in events if e["event"] == "model_call" and "error" not in e
    }  # fmt: skip
    assert any(e["event"] == "search" for e in events)
    for event in events:
        if event["event"] == "search":
            made = [
                c["function"].get("arguments") for c in calls[event["trace_id"], event["step"]]["tool_calls"]
            ]
            assert event["query"] is None or {"query": event["query"]} in made
        if event["event"] == "pick" and "error" not in event:
            assert json.loads(calls[event["trace_id"], event["step"]]["content"])["picked"] == event["picked"]


def test_the_store_stays_small() -> None:
    assert sum(p.stat().st_size for p in EXAMPLES.rglob("*") if p.is_file()) < 3_000_000

"""The whole road on real recordings, beside computations of their own from the same files."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval
from conftest import SHARED, Warehouse, dbt

NATIVE = SHARED / "native"
pytestmark = pytest.mark.skipif(not NATIVE.is_dir(), reason="the real data is not beside the project")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Every native set in one warehouse, built with all tests."""
    warehouse = Warehouse(tmp_path_factory.mktemp("real") / "warehouse.duckdb")
    warehouse.load(NATIVE)
    dbt(warehouse, "build")
    return warehouse


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def test_counts_are_those_of_the_files(real: Warehouse) -> None:
    """Rows by recording, as the data's own README states them."""
    assert real.rows("select count(*) from assay_raw.quarantine") == [(0,)]
    stated = {
        "wands-agent": ("searches", 93), "webshop-agent": ("searches", 121), "weaviate-biology-effort-medium": ("searches", 482),
        "expertqa-bing-chat": ("answers", 49), "expertqa-rr-gs-gpt4": ("support", 220), "noveleval-google": ("contexts", 21),
    }  # fmt: skip
    for recording, (table, n) in stated.items():
        assert real.rows(f"select count(*) from assay_raw.{table} where recording_id = '{recording}'") == [
            (n,)
        ]
    assert real.rows("select sum(n_errors) from assay.assay_traces where recording_id = 'wands-agent'") == [
        (6,)
    ]


# Ranking measures


MEASURES = {"precision": "P", "recall": "recall", "ndcg": "ndcg_cut", "ap": "map_cut", "hit": "success"}


@pytest.mark.parametrize("recording", ["esci-bm25", "noveleval-google", "cast2021-runs"])
def test_trec_eval_agrees_query_by_query(real: Warehouse, recording: str) -> None:
    manifest = json.loads((NATIVE / recording / "manifest.json").read_text())
    collection = NATIVE / manifest["collection"]
    exact = json.loads((collection / "collection.json").read_text())["exact_grade"]
    qrels: dict[str, dict[str, int]] = {}
    for row in lines(collection / "qrels.jsonl"):
        qrels.setdefault(row["query_id"], {})[row["doc_id"]] = row["grade"]
    runs: dict[str, dict[str, dict[str, float]]] = {}
    if (NATIVE / recording / "run.txt").exists():
        for line in (NATIVE / recording / "run.txt").read_text().splitlines():
            query, _, doc, _, score, tag = line.split()
            runs.setdefault(tag, {}).setdefault(query, {})[doc] = float(score)
    else:
        for row in lines(NATIVE / recording / "contexts.jsonl"):
            # trec_eval sorts by score again: the list's own order must be the score.
            scores = {doc: -float(rank) for rank, doc in enumerate(row["doc_ids"], start=1)}
            runs.setdefault(row["context"], {})[row["query_id"]] = scores
    cuts = "1,3,5,10"
    wanted = {f"{m}.{cuts}" for m in MEASURES.values()}
    compared = 0
    for tag, run in runs.items():
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, wanted, relevance_level=exact)
        for query, values in evaluator.evaluate(run).items():
            for ours, theirs in MEASURES.items():
                for k in (1, 3, 5, 10):
                    [(value,)] = [(v,) for v in [VALUES(real, recording).get((tag, query, ours, k))]]
                    expected = values[f"{theirs}_{k}"]
                    if value is None:
                        assert expected == 0
                    else:
                        assert value == pytest.approx(expected, abs=1e-12)
                    compared += 1
        # trec_eval knows no rr at k: it is that of the list cut at k.
        for k in (1, 3, 5, 10):
            cut = {
                q: dict(sorted(d.items(), key=lambda i: (i[1], i[0]), reverse=True)[:k])
                for q, d in run.items()
            }
            evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}, relevance_level=exact)
            for query, values in evaluator.evaluate(cut).items():
                value = VALUES(real, recording).get((tag, query, "rr", k))
                assert (value or 0.0) == pytest.approx(values["recip_rank"], abs=1e-12)
    assert compared >= 20 * 4 * len(MEASURES)


_CACHE: dict[str, dict[tuple[Any, ...], Any]] = {}


def VALUES(real: Warehouse, recording: str) -> dict[tuple[Any, ...], Any]:
    """(retriever, query, measure, k) to value, of one recording."""
    if recording not in _CACHE:
        rows = real.rows(
            f"select retriever, query_id, measure, k, value from assay.assay_scores where recording_id = '{recording}'"
        )
        _CACHE[recording] = {tuple(row[:4]): row[4] for row in rows}
    return _CACHE[recording]


# Traces


def words(text: str | None) -> set[str]:
    """Runs of letters, marks and digits, from the definition, character by character."""
    text = unicodedata.normalize("NFC", text or "").lower()
    kept = "".join(
        c if unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd" else " " for c in text
    )
    return set(kept.split(" ")) - {""}


def provenance(recording: str) -> tuple[Counter[str], dict[str, list[str]]]:
    """Added words of later searches by origin, and each trace's picks, straight from the files."""
    folder = NATIVE / recording
    manifest = json.loads((folder / "manifest.json").read_text())
    collection = NATIVE / manifest["collection"]
    fields = json.loads((collection / "collection.json").read_text())["fields"]
    docs = {d["doc_id"]: d for d in lines(collection / "catalog.jsonl")}
    queries = {q["query_id"]: q["query"] for q in lines(collection / "queries.jsonl")}
    shown_fields = manifest.get("shown_fields", fields)
    traces: dict[str, list[dict[str, Any]]] = {}
    for event in lines(folder / "traces.jsonl"):
        traces.setdefault(event["trace_id"], []).append(event)
    counts: Counter[str] = Counter()
    picks: dict[str, list[str]] = {}
    for name, events in traces.items():
        events.sort(key=lambda e: e["seq"])
        first_of: dict[Any, int] = {}
        for i, event in enumerate(events):
            event["at"] = (
                first_of.setdefault(("step", event["step"]), i) if event.get("step") is not None else i
            )
        said = words(queries[events[0]["query_id"]])
        is_first = True
        for event in events:
            if event["event"] == "pick" and event.get("error") is None:
                picks[name] = event["picked"]
            if event["event"] != "search":
                continue
            added = words(event["query"]) - said
            if not is_first:
                shown: set[str] = set()
                unknown = False
                for earlier in events:
                    if earlier["at"] >= event["at"]:
                        continue
                    if earlier["event"] == "search" and earlier.get("error") is None:
                        for doc in earlier["results"]:
                            unknown |= doc not in docs
                            shown |= {w for f in shown_fields for w in words(docs.get(doc, {}).get(f))}
                    elif earlier["event"] == "open":
                        unknown |= earlier["doc_id"] not in docs
                        shown |= {w for f in fields for w in words(docs.get(earlier["doc_id"], {}).get(f))}
                    elif earlier["event"] == "feedback":
                        shown |= words(earlier["text"])
                counts["searches"] += 1
                counts["added"] += len(added)
                counts["shown"] += len(added & shown)
                counts["undecidable"] += len(added - shown) if unknown else 0
            said |= words(event["query"])
            is_first = False
    return counts, picks


@pytest.mark.parametrize("recording", ["wands-agent", "webshop-agent"])
def test_where_added_words_came_from(real: Warehouse, recording: str) -> None:
    counts, picks = provenance(recording)
    [found] = real.rows(
        "select sum(n_later_searches), sum(n_words_added), sum(n_words_shown), sum(n_words_undecidable), sum(n_picks)"
        f" from assay.assay_traces where recording_id = '{recording}' and not is_missing"
    )
    assert counts["searches"] > 0
    expected = (
        counts["searches"],
        counts["added"],
        counts["shown"],
        counts["undecidable"],
        sum(map(len, picks.values())),
    )
    assert tuple(int(n) for n in found) == expected


def test_unrecorded_results_leave_words_undecidable(real: Warehouse) -> None:
    name = "weaviate-biology-effort-medium"
    [(added, shown, undecidable, new)] = real.rows(
        "select sum(n_words_added), sum(n_words_shown), sum(n_words_undecidable), sum(n_words_new)"
        f" from assay.assay_traces where recording_id = '{name}'"
    )
    assert (added > 0 and (shown, new) == (0, 0)) or (shown, new, undecidable) == (
        0,
        added - undecidable,
        undecidable,
    )
    assert real.rows(
        f"select count(*) from assay.assay_traces where recording_id = '{name}' and not has_searches"
    ) == [(1,)]
    assert real.rows(
        f"select count(first_search_precision) from assay.assay_traces where recording_id = '{name}'"
    ) == [(0,)]


def test_no_judgments_no_failures(real: Warehouse) -> None:
    rows = real.rows(
        "select count(*), count(exact_share), count(is_abstained) from assay.assay_answers where recording_id like 'expertqa-%'"
    )
    assert rows == [(217, 0, 217)]


def test_citations_outside_what_was_given(real: Warehouse) -> None:
    """One answer cites [49] and [50], which it was not given; the catalog there is what was seen."""
    found = real.rows(
        "select cited from assay.fct_assay__citations where recording_id = 'expertqa-rr-gs-gpt4' and citation_class = 'outside_context'"
    )
    assert sorted(found) == [("[49]",), ("[50]",)]
    assert re.fullmatch(r"\[\d+\]", found[0][0])

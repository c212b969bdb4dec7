"""Inputs that other tools get wrong, through the whole road: folders in, marts out. One build serves all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import Warehouse, dbt, write_collection, write_recording

HOSTILE = {"D1": "O'Neil\";--", "D2": "50%_off", "D3": "a#b", "D4": "NULL", "q": "nan"}


def answer(query: str, context: list[Any], cited: Any, **more: Any) -> dict[str, Any]:
    row = {"query_id": query, "context": "x", "context_ids": context, "answer": "", "cited": cited}
    return {k: v for k, v in (row | more).items() if v is not ...}


def lists(*rows: tuple[str, str, list[str]]) -> list[dict[str, Any]]:
    return [{"query_id": q, "context": c, "doc_ids": d} for q, c, d in rows]


def repeats(root: Path, name: str, ids: dict[str, str]) -> list[Path]:
    """Case 1, under given IDs: context D1, D1, D2, D3; exact D1, D4."""
    d = {key: ids.get(key, key) for key in ("D1", "D2", "D3", "D4", "q")}
    qrels = [(d["q"], d["D1"], 1), (d["q"], d["D4"], 1), (d["q"], d["D2"], 0), (d["q"], d["D3"], 0)]
    context = [d["D1"], d["D1"], d["D2"], d["D3"]]
    return [
        write_collection(root / name, name, [d[k] for k in ("D1", "D2", "D3", "D4")], [d["q"]], qrels),
        write_recording(root / f"{name}-r", f"{name}-r", "contexts", lists((d["q"], "x", context)), name),
    ]


def ties(root: Path) -> list[Path]:
    """Case 2: two documents with one score, in both orders."""
    folders = [write_collection(root / "ties", "ties", ["a", "b"], ["q"], [("q", "a", 1), ("q", "b", 0)])]
    for name, order in (("ties-ab", "ab"), ("ties-ba", "ba")):
        folder = root / name
        folder.mkdir()
        (folder / "run.txt").write_text(
            "".join(f"q Q0 {d} {i} 1.5 t\n" for i, d in enumerate(order, start=1))
        )
        manifest = {"recording": name, "kind": "contexts", "collection": "ties"}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        folders.append(folder)
    return folders


def missing(root: Path) -> list[Path]:
    """Case 3: three asked, two present with .6 and .4. Case 4: a query with nothing exact judged."""
    docs = [f"d{i}" for i in range(10)]
    qrels = [("q1", d, int(i < 3)) for i, d in enumerate(docs[:5])] + [
        ("q2", d, int(i < 2)) for i, d in enumerate(docs[:5])
    ]
    qrels += [("q3", "d0", 1), ("none", "d0", 0)]
    queries = [
        {"query_id": q, "query": q, "split": s}
        for q, s in (("q1", "a"), ("q2", "a"), ("q3", "a"), ("none", "b"))
    ]
    rows = lists(("q1", "x", docs[:5]), ("q2", "x", docs[:5]))
    full = lists(*((q, "x", docs[:5]) for q in ("q1", "q2", "q3")))
    return [
        write_collection(root / "missing", "missing", docs, queries, qrels),
        write_recording(root / "missing-r", "missing-r", "contexts", rows, "missing", split="a"),
        write_recording(root / "missing-full", "missing-full", "contexts", full, "missing", split="a"),
        write_recording(
            root / "none-r", "none-r", "contexts", lists(("none", "x", ["d0", "d1"])), "missing", split="b"
        ),
    ]


def citations(root: Path) -> list[Path]:
    """Cases 10, 11 and 12: numbers that are no citations, lists of every kind, the four cells."""
    queries = [f"q{i}" for i in range(1, 7)]
    qrels = [(q, "120", 1) for q in queries] + [(q, "130", 0) for q in queries]
    kinds = [[], None, ..., ["none"], [""]]
    return [
        write_collection(root / "cite", "cite", ["120", "130", "140"], queries, qrels),
        write_recording(
            root / "cite-text", "cite-text", "answers",
            [answer("q1", ["120", "130"], ["120"], answer='The 48" desk (2019) fits [120]')], "cite",
        ),
        write_recording(
            root / "cite-lists", "cite-lists", "answers",
            [answer(f"q{i}", ["120"], cited) for i, cited in enumerate(kinds, start=1)], "cite",
        ),
        write_recording(
            root / "cite-cells", "cite-cells", "answers",
            [
                answer("q1", ["120"], ["120"]), answer("q2", ["120"], []),
                answer("q3", ["130"], ["130"]), answer("q4", ["130"], []),
            ], "cite",
        ),
    ]  # fmt: skip


def differences(root: Path) -> list[Path]:
    """Cases 13 and 14: pairs whose differences are chosen, as precision@10 or @1 of two retrievers."""
    docs = [f"d{i}" for i in range(20)]
    queries = [f"q{i:02}" for i in range(20)]
    qrels = [(q, d, 1) for q in queries for d in docs[:10]] + [(q, d, 0) for q in queries for d in docs[10:]]
    folders = [write_collection(root / "diff", "diff", docs, queries, qrels)]
    tenth = lists(*((q, "high", ["d0"]) for q in queries), *((q, "low", ["d10"]) for q in queries))
    folders.append(
        write_recording(root / "diff-20", "diff-20", "contexts", tenth, "diff", recorded_at="2026-02-01")
    )
    for n in (5, 6):
        (root / f"asked-{n}").mkdir()
        some = lists(*((q, "high", ["d0"]) for q in queries[:n]), *((q, "low", ["d10"]) for q in queries[:n]))
        folder = write_recording(
            root / f"diff-{n}",
            f"diff-{n}",
            "contexts",
            some,
            "diff",
            recorded_at="2026-02-01",
            asked="asked.txt",
        )
        (folder / "asked.txt").write_text("\n".join(queries[:n]) + "\n")
        folders.append(folder)
    return folders


def retried(root: Path) -> list[Path]:
    """Case 15: one call, an error and then a success; case 19: no words and unknown words."""
    base = {
        "trace_id": "t",
        "query_id": "q",
        "retriever": "x",
        "event": "search",
        "query": "lamp",
        "call_id": "c",
    }
    rows = [
        base | {"seq": 1, "error": "timeout"},
        base | {"seq": 2, "results": ["a", "b", "c", "d", "e"]},
        {"query_id": "q", "retriever": "y", "searches": [{"query": ""}, {"results": ["a"]}], "picked": []},
    ]
    return [
        write_collection(root / "retry", "retry", list("abcde"), ["q"], [("q", "a", 1)]),
        write_recording(root / "retry-r", "retry-r", "traces", rows, "retry"),
    ]


PLANS = [
    # comparison_id, family, planned_on, recording_id, measure, k
    ("twenty tenths", "twenty", "2026-01-01", "diff-20", "precision", 10),
    ("twenty zeros", "zeros", "2026-01-01", "diff-20", "judged", 10),
    ("five", "five", "2026-01-01", "diff-5", "precision", 1),
    ("six", "six", "2026-01-01", "diff-6", "precision", 1),
    ("six of two", "two", "2026-01-01", "diff-6", "precision", 1),
    ("not recorded", "two", "2026-01-01", "nowhere", "precision", 1),
    ("late", "late", "2026-02-01", "diff-6", "precision", 1),
    ("never planned", "never", None, "diff-6", "precision", 1),
]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    root = tmp_path_factory.mktemp("cases")
    warehouse = Warehouse(root / "warehouse.duckdb")
    folders = repeats(root, "plain", {}) + repeats(root, "hostile", HOSTILE) + ties(root) + missing(root)
    folders += citations(root) + differences(root) + retried(root)
    warehouse.load(*folders)
    dbt(warehouse, "build")
    # Plans of the tests' own, beside those of the seed.
    con = duckdb.connect(str(warehouse.path))
    con.execute("set search_path = 'assay'")
    for comparison, family, planned_on, recording, measure, k in PLANS:
        con.execute(
            "insert into planned_comparisons by name select ? as comparison_id, ? as family, cast(? as date) as planned_on,"
            " ? as recording_id, 'high' as retriever, 'low' as baseline_retriever, ? as measure, ? as k",
            [comparison, family, planned_on, recording, measure, k],
        )
    con.execute(
        "insert into planned_comparisons by name select 'missing' as comparison_id, 'm' as family, date '2026-01-01' as planned_on,"
        " 'missing-full' as recording_id, 'x' as retriever, 'precision' as measure, 5 as k, 'missing-r' as baseline_recording_id"
    )
    con.close()
    dbt(warehouse, "run", "--select", "fct_assay__planned_comparisons+")
    return warehouse


@pytest.mark.parametrize("recording", ["plain-r", "hostile-r"])
def test_repeats_count_once(cases: Warehouse, recording: str) -> None:
    """Cases 1 and 9."""
    [scores] = cases.rows(
        f"select precision, recall, hit, rr from assay.assay_context_scores where recording_id = '{recording}' and k = 5"
    )
    assert scores == (1 / 5, 1 / 2, 1.0, 1.0)
    [context] = cases.rows(
        f"select n_repeated, n_exact, n_unjudged from assay.assay_contexts where recording_id = '{recording}'"
    )
    assert context == (1, 1, 0)
    ids = dict(
        cases.rows(
            f"select measure, value from assay.assay_scores where recording_id = '{recording}' and measure like 'id_%'"
        )
    )
    assert ids == {"id_precision": 1 / 3, "id_recall": 1 / 2}
    [(highest,)] = cases.rows(f"select max(value) from assay.assay_scores where recording_id = '{recording}'")
    assert highest <= 1


def test_tied_rows_give_one_result_in_any_order(cases: Warehouse) -> None:
    """Case 2: trec_eval's order puts b before a; the ways to break the tie give precision@1 of 0 and 1."""
    for recording in ("ties-ab", "ties-ba"):
        ranked = cases.rows(
            f"select doc_id from assay.fct_assay__context_documents where recording_id = '{recording}' order by rank"
        )
        assert ranked == [("b",), ("a",)]
        [ranges] = cases.rows(
            "select precision_low, precision_high, precision_expected from assay.assay_tie_ranges"
            f" where recording_id = '{recording}' and k = 1"
        )
        assert ranges == (0.0, 1.0, 0.5)


def test_a_missing_query_counts_as_zero(cases: Warehouse) -> None:
    """Case 3."""
    [summary] = cases.rows(
        "select n_queries, n_missing, n_undefined, mean from assay.assay_summary"
        " where recording_id = 'missing-r' and measure = 'precision' and k = 5"
    )
    assert summary[:3] == (3, 1, 0)
    assert summary[3] == pytest.approx(1 / 3, abs=1e-15)
    [comparison] = cases.rows(
        "select status, is_established, n_missing, n_pairs from assay.assay_comparisons where comparison_id = 'missing'"
    )
    assert comparison == ("incomplete", False, 1, 2)


def test_no_exact_judged_leaves_recall_undefined(cases: Warehouse) -> None:
    """Case 4."""
    [scores] = cases.rows(
        "select precision, recall, ap, judged from assay.assay_context_scores where recording_id = 'none-r' and k = 5"
    )
    assert scores == (0.0, None, None, 1 / 2)
    [summary] = cases.rows(
        "select n_undefined, mean from assay.assay_summary where recording_id = 'none-r' and measure = 'recall' and k = 5"
    )
    assert summary == (1, None)


def test_numbers_are_no_citations(cases: Warehouse) -> None:
    """Case 10."""
    assert cases.rows(
        "select has_text_and_field_difference from assay.assay_answers where recording_id = 'cite-text' and not is_missing"
    ) == [(False,)]


def test_lists_of_citations(cases: Warehouse) -> None:
    """Case 11: [], null, absent, ["none"], [""]."""
    found = cases.rows(
        "select is_abstained, is_broken, n_malformed from assay.assay_answers where recording_id = 'cite-lists' and not is_missing order by query_id"
    )
    assert found == [
        (True, False, 0),
        (False, True, 0),
        (False, True, 0),
        (False, False, 1),
        (False, False, 1),
    ]
    [summary] = cases.rows(
        "select n_queries, n_missing, n_broken from assay.assay_summary where recording_id = 'cite-lists' and measure = 'exact_share'"
    )
    assert summary == (6, 1, 2)


def test_the_four_cells(cases: Warehouse) -> None:
    """Case 12."""
    found = cases.rows(
        "select is_abstained, n_exact_in_context > 0, count(*) from assay.assay_answers"
        " where recording_id = 'cite-cells' and not is_missing group by all order by all"
    )
    assert found == [(False, False, 1), (False, True, 1), (True, False, 1), (True, True, 1)]


def comparison(cases: Warehouse, name: str, columns: str) -> tuple[Any, ...]:
    [row] = cases.rows(f"select {columns} from assay.assay_comparisons where comparison_id = '{name}'")
    return row


def test_degenerate_differences(cases: Warehouse) -> None:
    """Case 13."""
    found = comparison(
        cases,
        "twenty tenths",
        "mean_difference, p_value, interval_low, interval_high, t_test_p, wins, n_pairs",
    )
    assert found[0] == pytest.approx(0.1, abs=1e-15)
    assert found[1:] == (2 / 2**20, found[0], found[0], None, 20, 20)
    found = comparison(cases, "twenty zeros", "mean_difference, p_value, is_established, ties")
    assert found == (0.0, 1.0, False, 20)


def test_thresholds(cases: Warehouse) -> None:
    """Case 14."""
    columns = "p_value, status, is_established, threshold"
    assert comparison(cases, "five", columns) == (0.0625, "cannot reach", False, 0.05)
    assert comparison(cases, "six", columns) == (0.03125, "established", True, 0.05)
    assert comparison(cases, "six of two", columns) == (0.03125, "cannot reach", False, 0.025)
    assert comparison(cases, "late", "is_planned, is_established") == (False, False)
    assert comparison(cases, "never planned", "is_planned, is_established") == (False, False)


def test_a_retried_call_is_one_search(cases: Warehouse) -> None:
    """Cases 15 and 19."""
    found = cases.rows(
        "select retriever, n_searches, n_attempts, n_errors, n_searches_without_words, is_finished from assay.assay_traces"
        " where recording_id = 'retry-r' order by retriever"
    )
    assert found == [("x", 1, 2, 1, 0, False), ("y", 2, 2, 0, 1, True)]

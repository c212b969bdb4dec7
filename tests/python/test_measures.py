"""The measures against independent right values: trec_eval's code, fractions from the definitions, SciPy."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest
import pytrec_eval
from conftest import Warehouse, write_collection, write_recording
from dbt_build import run_dbt
from scipy import stats

EXACT = 2
CUTOFFS = [1, 3, 5, 10, 40]
RETRIEVERS = ["bm25", "semantic", "random"]
CATALOG = [f"d{i}" for i in range(60)]
#: The correlations read every score, and the scores every mart that they come from.
WHAT = ["--select", "+assay_correlations", "assay_measures", "--indirect-selection", "cautious"]
#: Judged, and retrieved now and then, but not in the catalog.
STRANGERS = [f"s{i}" for i in range(8)]

Key = tuple[str, str]


#: Answers by query: the text, the rest of the line, and the measures that are not 0. The context is a, b and
#: NULL, of which a is exact.
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "abstains": ("", {"cited": []}, {"abstained": 1}),
    "broken, null": ("a", {"cited": None}, {}),
    "broken, absent": ("a", {}, {}),
    "broken, error": ("a", {"cited": ["a"], "error": "timeout"}, {}),
    "missing": ("", {}, {}),
    "none": ("", {"cited": ["none"]}, {"malformed": 1}),
    "blank": ("", {"cited": [""]}, {"malformed": 1}),
    "no IDs": ("", {"cited": [True, 1.5, {"id": "a"}, None, " N/A "]}, {"malformed": 1}),
    "exact": ("a", {"cited": ["a"]}, {"exact_share": 1, "exact_share_high": 1, "grounded_exact_share": 1}),
    "twice": (
        "a and b",
        {"cited": ["a", "b", "a"]},
        {"exact_share": 0.5, "exact_share_high": 1, "grounded_exact_share": 0.5, "repeated": 1},
    ),
    "named NULL": ("NULL", {"cited": ["NULL"]}, {"exact_share_high": 1}),
    "outside": ("", {"cited": ["c"]}, {"exact_share_high": 1, "outside_context": 1}),
    "unknown": ("", {"cited": ["z"]}, {"unknown_id": 1}),
    "too many": (
        "a, b and NULL",
        {"cited": ["a", "b", "NULL"]},
        {"exact_share": 1 / 3, "exact_share_high": 1, "grounded_exact_share": 1 / 3, "too_many": 1},
    ),
    "differs": (
        "b",
        {"cited": ["a"]},
        {"exact_share": 1, "exact_share_high": 1, "grounded_exact_share": 1, "text_and_field_difference": 1},
    ),
}


class Made(NamedTuple):
    """A random collection with two recordings of it, and the warehouse built from them."""

    warehouse: Warehouse
    qrels: dict[str, dict[str, int]]
    lists: dict[Key, list[str]]
    cited: dict[Key, list[str]]


def judged_grade(grades: dict[str, int], doc: str) -> int | None:
    """A document's grade; None where nobody judged it, which -1 says too."""
    grade = grades.get(doc)
    return None if grade == -1 else grade


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    draw = random.Random(20260301)
    folder = tmp_path_factory.mktemp("measures")
    queries = [f"q{i}" for i in range(80)]
    qrels: dict[str, dict[str, int]] = {}
    for query in queries[:-2]:  # nobody judged the last two
        pool = draw.sample(CATALOG + STRANGERS, draw.randint(1, 40))
        qrels[query] = {d: draw.choice([-1, 0, 0, 1, 2, 3, 100]) for d in pool}
    qrels["q0"] = {"d1": -1}  # pooled, judged by nobody
    qrels["q1"] = {"d1": 1, "d2": 0}  # nothing exact
    lists: dict[Key, list[str]] = {}
    cited: dict[Key, list[str]] = {}
    for query in queries:
        for retriever in RETRIEVERS:
            # With repeats under one retriever, without under the two that trec_eval can read.
            pool = CATALOG + STRANGERS
            n = draw.choice([0, 1, 4, 5, 10, 30, 50])
            lists[query, retriever] = (
                draw.choices(pool, k=n) if retriever == "random" else draw.sample(pool, n)
            )
            cited[query, retriever] = draw.choices(
                lists[query, retriever] + ["d1", "nobody", "none"], k=draw.randint(0, 4)
            )
    write_collection(
        folder / "c",
        docs=CATALOG,
        queries=queries,
        qrels=[(q, d, g) for q, grades in qrels.items() for d, g in grades.items()],
        exact_grade=EXACT,
    )
    rows: list[Any] = [
        {"query_id": q, "context": r, "context_ids": ids, "answer": "", "cited": cited[q, r]}
        for (q, r), ids in lists.items()
    ]
    write_recording(folder / "answers", "answers", "answers", rows, floor=["random"])
    write_collection(
        folder / "cases",
        "cases",
        docs=[*"abcdef", "NULL"],
        queries=list(CASES),
        qrels=[(q, "a", 1) for q in CASES],
    )
    rows = [
        {"query_id": q, "context": "bm25", "context_ids": ["a", "b", "NULL"], "answer": text, **more}
        for q, (text, more, _) in CASES.items()
        if q != "missing"
    ]
    write_recording(
        folder / "cases answered", "cases answered", "answers", rows, "cases", max_recommendations=2
    )
    warehouse = Warehouse(folder / "warehouse.duckdb")
    warehouse.load(folder / "c", folder / "answers", folder / "cases", folder / "cases answered")
    run_dbt(
        warehouse.path,
        "build",
        *WHAT,
        "--exclude-resource-type",
        "unit_test",
        variables={"assay_cutoffs": CUTOFFS},
    )
    return Made(warehouse, qrels, lists, cited)


def values(made: Made, measure: str) -> dict[tuple[str, str, int | None], float | None]:
    """A measure's values by query, retriever and cutoff."""
    rows = made.warehouse.rows(
        "select query_id, retriever, k, value from assay.assay_scores "
        f"where measure = '{measure}' and recording_id = 'answers'"
    )
    assert len(rows) == len(made.lists) * (len(CUTOFFS) if rows[0][2] is not None else 1)
    return {(q, r, k): v for q, r, k, v in rows}


@pytest.mark.parametrize(
    ("measure", "theirs", "is_exact_needed"),
    [
        ("precision", "P_{k}", False),
        ("recall", "recall_{k}", True),
        ("ndcg", "ndcg_cut_{k}", False),
        ("ap", "map_cut_{k}", True),
        ("hit", "success_{k}", True),
        ("rr", "recip_rank", True),
    ],
)
def test_trec_eval_agrees(made: Made, measure: str, theirs: str, is_exact_needed: bool) -> None:
    cuts = ",".join(map(str, CUTOFFS))
    evaluator = pytrec_eval.RelevanceEvaluator(
        made.qrels,
        {
            f"P.{cuts}",
            f"recall.{cuts}",
            f"ndcg_cut.{cuts}",
            f"map_cut.{cuts}",
            f"success.{cuts}",
            "recip_rank",
        },
        relevance_level=EXACT,
    )
    ours = values(made, measure)
    compared = 0
    for retriever in ("bm25", "semantic"):
        for k in CUTOFFS:
            # Ranks as scores keep the list's order; reciprocal rank has no cutoff, so the list is cut for it.
            depth = k if measure == "rr" else None
            run = {
                q: {d: float(-i) for i, d in enumerate(ids[:depth])}
                for (q, r), ids in made.lists.items()
                if r == retriever and ids
            }
            for query, right in evaluator.evaluate(run).items():
                grades = [g for g in made.qrels[query].values() if g != -1]
                ideal = max(grades, default=0) >= EXACT if is_exact_needed else max(grades, default=0) > 0
                value = ours[query, retriever, k]
                if not grades or (measure != "precision" and not ideal):
                    assert value is None
                else:
                    assert value == pytest.approx(right[theirs.format(k=k)], abs=1e-12)
                    compared += 1
    assert compared > 500


def right_fraction(measure: str, grades: dict[str, int], ids: list[str], k: int) -> Fraction | None:
    """The value from the definition, over sets and lists in plain Python; None where it is undefined."""
    judged = {d: g for d, g in grades.items() if g != -1}
    exact = {d for d, g in judged.items() if g >= EXACT}
    if not judged:
        return None
    first = [d if d not in ids[:i] else None for i, d in enumerate(ids)]  # a repeat holds nothing

    def precision_at(i: int) -> Fraction:
        return Fraction(sum(d in exact for d in first[:i]), i)

    hits = [precision_at(i) for i, d in enumerate(first[:k], start=1) if d in exact]
    held = set(ids[:k])
    catalog = set(CATALOG)
    match measure:
        case "precision":
            return precision_at(k)
        case "recall":
            return Fraction(len(held & exact), len(exact)) if exact else None
        case "recall_reachable":
            return Fraction(len(held & exact & catalog), len(exact & catalog)) if exact & catalog else None
        case "context_precision":
            return sum(hits, Fraction()) / len(hits) if hits else Fraction()
        case "ap":
            return sum(hits, Fraction()) / len(exact) if exact else None
        case "judged":
            return Fraction(len(held & set(judged)), len(held)) if held else None
        case "rr":
            place = next((i for i, d in enumerate(first[:k], start=1) if d in exact), None)
            return None if not exact else Fraction(1, place) if place else Fraction()
        case "hit":
            return Fraction(bool(held & exact)) if exact else None
        case "precision_high":
            return Fraction(len(held & exact) + len((held & catalog) - set(judged)), k)
        case "precision_condensed":
            condensed = [f for f, d in zip(first, ids, strict=True) if d in judged]
            return Fraction(sum(d in exact for d in condensed[:k]), k)
        case "id_precision":
            return Fraction(len(set(ids) & exact), len(set(ids))) if ids else None
        case "id_recall":
            return Fraction(len(set(ids) & exact), len(exact)) if exact else None
    raise AssertionError(measure)


@pytest.mark.parametrize(
    "measure",
    [
        *("precision", "recall", "recall_reachable", "context_precision", "ap", "judged", "rr", "hit"),
        *("precision_high", "precision_condensed", "id_precision", "id_recall"),
    ],
)
def test_fractions_from_the_definitions(made: Made, measure: str) -> None:
    rows = made.warehouse.rows(
        "select query_id, retriever, k, numerator, denominator, value from assay.assay_scores "
        f"where measure = '{measure}' and recording_id = 'answers'"
    )
    assert rows
    for query, retriever, k, numerator, denominator, value in rows:
        right = right_fraction(measure, made.qrels.get(query, {}), made.lists[query, retriever], k or 1)
        if right is None:
            assert (numerator, denominator, value) == (None, None, None)
        elif k == 40 and measure in ("ap", "context_precision"):
            # Beyond 30 the sum has 15 decimal places and is no fraction.
            assert (numerator, denominator) == (None, None)
            assert value == pytest.approx(float(right), abs=1e-12)
        else:
            assert Fraction(numerator, denominator) == right
            assert value == numerator / denominator


def test_ndcg_of_lists_with_repeats(made: Made) -> None:
    for (query, retriever, k), value in values(made, "ndcg").items():
        assert k is not None
        ids, grades = made.lists[query, retriever], made.qrels.get(query, {})
        gains = [max(grades.get(d, 0), 0) * (d not in ids[:i]) for i, d in enumerate(ids)]
        best = sorted((max(g, 0) for g in grades.values()), reverse=True)
        dcg, ideal = (
            math.fsum(g / math.log2(i + 2) for i, g in enumerate(gain[:k])) for gain in (gains, best)
        )
        assert value is None if ideal == 0 else value == pytest.approx(dcg / ideal, abs=1e-12)


def test_exact_shares(made: Made) -> None:
    shares, grounded, high = (
        values(made, m) for m in ("exact_share", "grounded_exact_share", "exact_share_high")
    )
    for (query, retriever), items in made.cited.items():
        grades = {d: g for d, g in made.qrels.get(query, {}).items() if g != -1}
        key = query, retriever, None
        if not grades:
            assert (shares[key], grounded[key], high[key]) == (None, None, None)
            continue
        cited = set(items) - {"none"}
        exact = {d for d in cited if grades.get(d, 0) >= EXACT}
        n = max(len(cited), 1)
        assert shares[key] == len(exact) / n
        assert grounded[key] == len(exact & set(made.lists[query, retriever])) / n
        assert high[key] == (len(exact) + len((cited & set(CATALOG)) - set(grades))) / n


@pytest.mark.parametrize("query", CASES)
def test_answers_case_by_case(made: Made, query: str) -> None:
    rows = made.warehouse.rows(
        "select measure, value, is_missing, is_broken "
        "from assay.assay_scores join assay.assay_measures using (measure) "
        f"where recording_id = 'cases answered' and query_id = '{query}' and grain = 'answer'"
    )
    assert len(rows) == 10
    expected = CASES[query][2]
    for measure, value, is_missing, is_broken in rows:
        assert value == expected.get(measure, 0), measure
        assert (is_missing, is_broken) == (query == "missing", query.startswith("broken"))


@pytest.mark.parametrize("retriever", ["bm25", "random", "(all)"])
def test_spearman_is_scipys(made: Made, retriever: str) -> None:
    rows = made.warehouse.rows(
        "select measure, k, n, spearman from assay.assay_correlations "
        f"where retriever = '{retriever}' and recording_id = 'answers'"
    )
    assert len(rows) == 11 * len(CUTOFFS) + 2
    shares = values(made, "exact_share")
    for measure, k, n, spearman in rows:
        scores = values(made, measure)
        # (all) leaves out random, which the recording calls a floor.
        chosen = [r for r in RETRIEVERS if r == retriever or (retriever == "(all)" and r != "random")]
        pairs = [
            (scores[q, r, k], shares[q, r, None])
            for q, r in made.lists
            if r in chosen and scores[q, r, k] is not None and shares[q, r, None] is not None
        ]
        assert n == len(pairs) > 0
        assert spearman == pytest.approx(
            float(stats.spearmanr(*zip(*pairs, strict=True)).statistic), abs=1e-12
        )


def test_marts_and_long_table_agree(made: Made) -> None:
    for measure in ("precision", "recall", "ndcg", "ap", "precision_condensed"):
        assert made.warehouse.rows(
            f"select count(*) from assay.assay_scores s "
            "join assay.assay_context_scores m using (recording_id, query_id, retriever, trial, k) "
            f"where s.measure = '{measure}' and s.value is distinct from m.{measure}"
        ) == [(0,)]


def test_the_same_bytes_in_any_row_order(made: Made, tmp_path: Path) -> None:
    def everything(path: Path) -> list[list[tuple[Any, ...]]]:
        with duckdb.connect(str(path), read_only=True) as con:
            return [
                con.execute(f"select * from assay.{t} order by all").fetchall()
                for t in ("assay_context_scores", "assay_answers", "assay_scores", "assay_correlations")
            ]

    shuffled = tmp_path / "warehouse.duckdb"
    shuffled.write_bytes(made.warehouse.path.read_bytes())
    with duckdb.connect(str(shuffled)) as con:
        for table in ("context_documents", "judgments", "contexts", "answer_citations"):
            con.execute(f"create table t as select * from assay_raw.{table} order by hash({table}) desc")
            con.execute(f"delete from assay_raw.{table}")
            con.execute(f"insert into assay_raw.{table} select * from t")
            con.execute("drop table t")
    run_dbt(shuffled, "run", *WHAT, variables={"assay_cutoffs": CUTOFFS})
    assert repr(everything(shuffled)) == repr(everything(made.warehouse.path))

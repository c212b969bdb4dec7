"""Ties, floors and ceilings against an enumeration of tie orders and SciPy's hypergeometric distribution."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import Warehouse, write_collection, write_recording
from dbt_build import run_dbt
from scipy import stats

CATALOG = [f"d{i}" for i in range(12)]
#: Judged exact, and not in the catalog.
STRANGER = "s"
CUTOFFS = [1, 3, 5]
QUERIES = [f"q{i}" for i in range(12)]


def _lists(seed: int) -> tuple[dict[str, list[tuple[str, int]]], dict[str, set[str]]]:
    """Lists of (document, score) in the order of few scores, and the exact documents of each query."""
    draw = random.Random(seed)
    lists, exact = {}, {}
    for query in QUERIES:
        docs = draw.sample(CATALOG, 7)
        scores = sorted((draw.randint(1, 3) for _ in docs), reverse=True)
        lists[query] = list(zip(docs, scores, strict=True))
        exact[query] = set(draw.sample([*CATALOG, STRANGER], draw.randint(1, 5)))
    return lists, exact


def _held(ranked: list[tuple[str, int]], exact: set[str], k: int) -> list[int]:
    """Exact documents among the first k, for every order of the list that its scores allow."""
    groups = [[d for d, _ in g] for _, g in itertools.groupby(ranked, key=lambda p: p[1])]
    orders = itertools.product(*(list(itertools.permutations(g)) for g in groups if g))
    return [sum(d in exact for d in list(itertools.chain(*order))[:k]) for order in orders]


def test_ties_floors_and_ceilings_agree_with_enumeration(tmp_path: Path, warehouse: Warehouse) -> None:
    """Every number equals the fraction that the definition gives."""
    lists, exact = _lists(7)
    qrels: list[Any] = [(q, d, 1) for q in QUERIES for d in sorted(exact[q])]
    collection = write_collection(tmp_path / "c", docs=CATALOG, queries=QUERIES, qrels=qrels)
    rows = [
        {"query_id": q, "context": "x", "doc_ids": [d for d, _ in ranked], "scores": [s for _, s in ranked]}
        for q, ranked in lists.items()
    ]
    recording = write_recording(tmp_path / "r", "r", "contexts", rows)
    warehouse.load(collection, recording)
    what = ["--select", "+assay_tie_ranges", "+assay_floors"]
    run_dbt(warehouse.path, "run", *what, variables={"assay_cutoffs": CUTOFFS})

    seen = 0
    (schema,) = warehouse.rows(
        "select table_schema from information_schema.tables where table_name = 'assay_tie_ranges'"
    )[0]
    for row in warehouse.rows(
        "select query_id, k, precision_low, precision_high, precision_expected, recall_low, recall_high,"
        f" recall_expected, is_tie_crossing from {schema}.assay_tie_ranges"
    ):
        query, k = row[:2]
        held = _held(lists[query], exact[query], k)
        mean = Fraction(sum(held), len(held))
        n = len(exact[query])
        expected = [v / d for d in (k, n) for v in (Fraction(min(held)), Fraction(max(held)), mean)]
        assert [*row[2:8]] == [float(v) for v in expected], (query, k)
        assert row[8] == (lists[query][k - 1][1] == lists[query][k][1])
        seen += 1
    assert seen == len(QUERIES) * len(CUTOFFS)

    floors = warehouse.rows(
        "select query_id, k, precision_floor, precision_ceiling, recall_floor, recall_ceiling"
        f" from {schema}.assay_floors"
    )
    assert len(floors) == len(QUERIES) * len(CUTOFFS)
    for query, k, *values in floors:
        n, within = len(exact[query]), len(exact[query] - {STRANGER})
        drawn = float(stats.hypergeom(len(CATALOG), within, k).mean())
        best = min(k, within)
        assert values == pytest.approx([drawn / k, best / k, drawn / n, best / n], abs=1e-12)

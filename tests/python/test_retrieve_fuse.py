"""Random draws and reciprocal rank fusion: what must hold for any input."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

from conftest import Warehouse, write_collection, write_recording
from hypothesis import given
from hypothesis import strategies as st
from test_retrieve import lists, manifest, run

from ingest.retrieve.fuse import fused
from ingest.retrieve.loaded import Placed, Run
from ingest.retrieve.random import draw

RUNS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=2, max_size=4)
PLACES = {doc_id: place for place, doc_id in enumerate("hgfedcba")}


@given(seed=st.integers(), query=st.text(max_size=20), n=st.integers(0, 60), of=st.integers(1, 50))
def test_a_draw_is_of_different_documents_and_a_shorter_one_is_its_beginning(
    seed: int, query: str, n: int, of: int
) -> None:
    found = draw(seed, query, of, n)
    assert len(found) == len(set(found)) == min(n, of)
    assert all(0 <= place < of for place in found)
    assert draw(seed, query, of, n // 2) == found[: min(n // 2, of)]


def test_every_document_is_drawn_equally_often() -> None:
    # 6,000 draws of 2 of 6: each document at each place expects 1,000, with a standard deviation of 29.
    firsts, seconds = Counter[int](), Counter[int]()
    for i in range(6000):
        first, second = draw(1, f"query {i}", 6, 2)
        firsts[first] += 1
        seconds[second] += 1
    assert all(abs(counts[place] - 1000) < 5 * 29 for counts in (firsts, seconds) for place in range(6))


def test_adding_a_query_changes_no_other_draw(tmp_path: Path, warehouse: Warehouse) -> None:
    docs = [str(i) for i in range(40)]
    warehouse.load(write_collection(tmp_path / "c", docs=docs, queries=["b", "d"]))
    assert run(warehouse, "random") == 0
    before = lists(warehouse, "random")
    warehouse.load(write_collection(tmp_path / "c", docs=docs, queries=["a", "b", "c", "d"]))
    assert run(warehouse, "random") == 0
    after = lists(warehouse, "random")
    assert len(after) == 4 and {key: after[key] for key in before} == before
    assert len({tuple(found) for found in after.values()}) == 4
    assert manifest(warehouse, "random")["floor"] == ["random"]
    assert run(warehouse, "random", "--seed", "2") == 0
    assert lists(warehouse, "random") != after


def placed(found: list[list[str]]) -> list[Placed]:
    return [
        Placed(Run(i, f"r{i}", "x"), list(range(1, len(docs) + 1)), docs, None)
        for i, docs in enumerate(found)
    ]


@given(found=RUNS, constant=st.integers(0, 100))
def test_fusion_is_the_sum_of_reciprocal_ranks(found: list[list[str]], constant: int) -> None:
    doc_ids, scores = fused(placed(found), constant, PLACES, 99)
    expected = {
        doc_id: sum(Fraction(1, constant + run.index(doc_id) + 1) for run in found if doc_id in run)
        for doc_id in {doc_id for run in found for doc_id in run}
    }
    assert dict(zip(doc_ids, scores, strict=True)) == {d: float(total) for d, total in expected.items()}
    assert doc_ids == sorted(doc_ids, key=lambda d: (-float(expected[d]), PLACES[d]))


@given(found=RUNS, data=st.data())
def test_the_order_of_the_runs_does_not_matter(found: list[list[str]], data: st.DataObject) -> None:
    other = data.draw(st.permutations(found))
    assert fused(placed(found), 60, PLACES, 99) == fused(placed(other), 60, PLACES, 99)


@given(found=RUNS, depth=st.integers(1, 8))
def test_a_shallower_fusion_is_the_beginning(found: list[list[str]], depth: int) -> None:
    doc_ids, scores = fused(placed(found), 60, PLACES, 99)
    assert fused(placed(found), 60, PLACES, depth) == (doc_ids[:depth], scores[:depth])


def test_loaded_runs_are_fused(tmp_path: Path, warehouse: Warehouse) -> None:
    warehouse.load(write_collection(tmp_path / "c", docs=list("abcd"), queries=["q", "r", "s"]))
    rows = [
        {"query_id": "q", "context": "x", "doc_ids": ["a", "b", "a", "c"]},
        {"query_id": "q", "context": "y", "doc_ids": ["c", "b"]},
        {"query_id": "r", "context": "x", "doc_ids": []},
    ]
    warehouse.load(write_recording(tmp_path / "m:1", "m:1", "contexts", rows))
    assert run(warehouse, "fuse", "m:1:x", "m:1:y") == 0
    found = dict(
        warehouse.rows("select doc_id, score from assay_raw.context_documents where recording_id = 'c-fuse'")
    )
    # The second place of a is no place of its own, and c stays at 4.
    assert found == {
        "a": float(Fraction(1, 61)),
        "b": float(Fraction(2, 62)),
        "c": float(Fraction(1, 64) + Fraction(1, 61)),
    }
    assert lists(warehouse, "fuse") == {("q", 1): ["b", "c", "a"], ("r", 1): []}
    runs = manifest(warehouse, "fuse")["retrieval"]["runs"]
    assert [(one["recording"], one["retriever"]) for one in runs] == [("m:1", "x"), ("m:1", "y")]

"""Retrieval on real collections, beside bm25s, wordllama, numpy and ir_measures, each called directly on the same files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SHARED, Warehouse, dbt

NATIVE = SHARED / "native"
pytestmark = pytest.mark.skipif(not NATIVE.is_dir(), reason="the real data is not beside the project")

COLLECTIONS = ("vaswani", "esci", "wands")
ESCI_UNITS = ("whole", "title", "description", "sentences", "sentences+fields")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def texts_of(collection: str, fields: list[str] | None = None) -> dict[str, str]:
    """Each document's text from the files: its values, a line each, in the order of the fields."""
    description = json.loads((NATIVE / collection / "collection.json").read_text())
    of = fields or description["fields"]
    found = {}
    for row in lines(NATIVE / collection / "catalog.jsonl"):
        text = "\n".join(str(row[f]) for f in of if row.get(f))
        if text:
            found[str(row["doc_id"])] = text
    return found


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The collections, with both retrievers' runs of each and every unit of esci, and the marts of their scores."""
    folder = tmp_path_factory.mktemp("retrieved")
    warehouse = Warehouse(folder / "warehouse.duckdb")
    warehouse.load(*(NATIVE / name for name in COLLECTIONS), NATIVE / "esci-bm25", NATIVE / "wands-agent")

    def retrieve(method: str, name: str, *args: str) -> None:
        assert (
            warehouse.run("retrieve", method, *args, "--k", "10", "--name", name, "--out", folder / name) == 0
        )

    for collection in COLLECTIONS:
        for method in ("bm25", "semantic"):
            retrieve(method, f"{collection} {method}", "--collection", collection)
    for unit in ESCI_UNITS:
        retrieve("bm25", f"esci unit {unit}", "--collection", "esci", "--unit", unit)
    retrieve("bm25", "esci as recorded", "--collection", "esci", "--split", "test", "--depth", "20")
    retrieve("bm25", "wands agent", "--collection", "wands", "--queries", "agent")
    dbt(warehouse, "run", "--select", "+assay_context_scores", "+assay_tie_ranges")
    return warehouse


def run_file(warehouse: Warehouse, recording: str) -> dict[str, dict[str, float]]:
    """A recording's contexts.jsonl as a run: the list's own order is the score, so that nothing breaks ties again."""
    rows = lines(warehouse.path.parent / recording / "contexts.jsonl")
    return {row["query_id"]: {d: -float(i) for i, d in enumerate(row["doc_ids"])} for row in rows}


@pytest.mark.parametrize("collection", COLLECTIONS)
@pytest.mark.parametrize("method", ["bm25", "semantic"])
def test_ir_measures_agrees(real: Warehouse, collection: str, method: str) -> None:
    import ir_measures

    exact = json.loads((NATIVE / collection / "collection.json").read_text())["exact_grade"]
    qrels: dict[str, dict[str, int]] = {}
    for row in lines(NATIVE / collection / "qrels.jsonl"):
        qrels.setdefault(str(row["query_id"]), {})[str(row["doc_id"])] = row["grade"]
    ks = (1, 5, 10)
    measures = {
        "precision": ir_measures.P(rel=exact), "recall": ir_measures.R(rel=exact), "ndcg": ir_measures.nDCG,
        "ap": ir_measures.AP(rel=exact), "hit": ir_measures.Success(rel=exact),
    }  # fmt: skip
    wanted = {str(m @ k): (name, k) for name, m in measures.items() for k in ks}
    found = ir_measures.iter_calc(
        [m @ k for m in measures.values() for k in ks], qrels, run_file(real, f"{collection} {method}")
    )
    theirs = {(metric.query_id, *wanted[str(metric.measure)]): metric.value for metric in found}
    compared, above = 0, 0
    for name in measures:
        rows = real.rows(
            f"select query_id, k, {name} from assay.assay_context_scores"
            f" where recording_id = '{collection} {method}' and is_asked and {name} is not null"
        )
        assert rows
        for query_id, k, value in rows:
            if query_id not in qrels or k not in ks:
                continue
            assert value == pytest.approx(theirs[(query_id, name, k)], abs=1e-9), (query_id, name, k)
            compared += 1
            above += value > 0
    assert compared >= 5 * 3 * 10 and above > compared / 20


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_bm25s_called_directly_gives_the_same_scores(real: Warehouse, collection: str) -> None:
    import bm25s

    texts = texts_of(collection)
    ids = list(texts)
    index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    index.index(
        bm25s.tokenize(list(texts.values()), stopwords="en", show_progress=False), show_progress=False
    )
    queries = {str(q["query_id"]): q["query"] for q in lines(NATIVE / collection / "queries.jsonl")}
    compared = 0
    for row in lines(real.path.parent / f"{collection} bm25" / "contexts.jsonl"):
        [words] = bm25s.tokenize(
            [queries[row["query_id"]]], stopwords="en", return_ids=False, show_progress=False
        )
        scores = dict(
            zip(ids, (index.get_scores(words) if words else np.zeros(len(ids))).tolist(), strict=True)
        )
        assert row["scores"] == [scores[doc_id] for doc_id in row["doc_ids"]]
        best = sorted((score for score in scores.values() if score > 0), reverse=True)[:100]
        assert row["scores"] == best
        compared += len(best)
    assert compared > 1000


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_wordllama_and_numpy_called_directly_give_the_same_scores(real: Warehouse, collection: str) -> None:
    import wordllama

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    texts = texts_of(collection)
    vectors = model.embed(list(texts.values()), norm=True).astype(np.float64)
    at = {doc_id: i for i, doc_id in enumerate(texts)}
    queries = {str(q["query_id"]): q["query"] for q in lines(NATIVE / collection / "queries.jsonl")}
    rows = lines(real.path.parent / f"{collection} semantic" / "contexts.jsonl")[:40]
    asked = model.embed([queries[row["query_id"]] for row in rows], norm=True).astype(np.float64)
    for row, cosines in zip(rows, asked @ vectors.T, strict=True):
        assert np.abs(np.array(row["scores"]) - cosines[[at[d] for d in row["doc_ids"]]]).max() < 1e-6
        left_out = np.delete(cosines, [at[d] for d in row["doc_ids"]])
        assert len(row["doc_ids"]) == 100 and left_out.max() <= row["scores"][-1] + 1e-6


def test_the_recorded_run_of_others_comes_out_the_same(real: Warehouse) -> None:
    """esci-bm25 was recorded with bm25s elsewhere: the same documents, order and scores."""
    columns = "query_id, rank, doc_id, score from assay_raw.context_documents"
    theirs = real.rows(
        f"select {columns} where recording_id = 'esci-bm25' and retriever = 'bm25 all text' order by all"
    )
    ours = real.rows(f"select {columns} where recording_id = 'esci as recorded' order by all")
    assert ours == theirs and len(ours) == 1500


def test_every_unit_of_esci_is_measured(real: Warehouse) -> None:
    rows = real.rows(
        "select retriever, count(*), count(precision), avg(precision) from assay.assay_context_scores"
        " where recording_id like 'esci unit %' and k = 5 group by all"
    )
    assert {unit: (n, defined) for unit, n, defined, _ in rows} == {unit: (75, 75) for unit in ESCI_UNITS}
    assert len({mean for *_, mean in rows}) == len(ESCI_UNITS)
    # A document whose description is empty is not found by it, nor by its sentences; with the other fields it is.
    without = (
        "select count(*) from assay_raw.context_documents as d where recording_id = 'esci unit {}' and not exists ("
        "select 1 from assay_raw.document_fields as f"
        " where f.collection = 'esci' and f.field = 'description' and f.doc_id = d.doc_id)"
    )
    assert [real.rows(without.format(unit))[0][0] for unit in ("description", "sentences")] == [0, 0]
    assert real.rows(without.format("sentences+fields"))[0][0] > 0
    # The two units hold the same words for a document without a description, and differ for others.
    assert (
        real.rows(
            "select count(*) from assay.assay_tie_ranges where is_tie_crossing and recording_id = 'esci unit title'"
        )[0][0]
        > 0
    )


def test_agents_searches_are_run(real: Warehouse) -> None:
    stated = {
        (str(row["query_id"]), row["query"])
        for row in lines(NATIVE / "wands-agent" / "traces.jsonl")
        if row.get("event") == "search"
    }
    rows = real.rows(
        "select query_id, searched_as from assay_raw.contexts where recording_id = 'wands agent'"
    )
    assert set(rows) == stated and len(rows) == len(stated)

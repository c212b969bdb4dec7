"""What is loaded, written in others' formats: read back it is the same, and trec_eval gets our figures from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import pytrec_eval
from conftest import SHARED, Warehouse, write_collection, write_recording

needs_data = pytest.mark.skipif(not SHARED.exists(), reason="the real data is not here")


@pytest.fixture
def loaded(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    warehouse.load(
        write_collection(
            tmp_path / "c",
            docs=[{"doc_id": d, "name": f"name {d}", "about": f"about\n{d}"} for d in ("a", "B2", "007")],
            queries=[{"query_id": "q1", "query": "one\ttwo", "split": "test"}, {"query_id": "q2", "query": 'says "so"'}],
            qrels=[("q1", "a", 2), ("q1", "B2", 0), ("q2", "007", 2)],
            fields=["name", "about"],
            exact_grade=2,
        ),
        write_recording(
            tmp_path / "r", "r", "answers",
            [
                # The order contradicts the scores and the IDs, and one document is repeated.
                {"query_id": "q1", "context": "bm25 all", "context_ids": ["B2", "a", "B2"], "answer": "take a", "cited": ["a"]},
                {"query_id": "q2", "context": "bm25 all", "context_ids": [], "answer": "", "cited": []},
            ],
        ),
        write_recording(tmp_path / "x", "x", "contexts", [{"query_id": "q1", "context": "s", "doc_ids": ["007", "a", "B2"], "scores": [1, 1, 1]}]),
    )  # fmt: skip
    return warehouse


def test_trec(loaded: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert loaded.run("export", "trec", "--collection", "c", out) == 0
    said = capsys.readouterr().out
    assert "1 repeats can't be written" in said and "1 empty lists can't be written" in said
    assert (out / "qrels.txt").read_text() == "q1 0 B2 0\nq1 0 a 2\nq2 0 007 2\n"
    assert (out / "topics.tsv").read_text() == 'q1\tone two\nq2\tsays "so"\n'
    assert (out / "r.bm25_all.run").read_text() == "q1 Q0 B2 1 2 bm25_all\nq1 Q0 a 2 1 bm25_all\n"
    assert (out / "x.s.run").read_text() == "q1 Q0 007 1 3 s\nq1 Q0 a 2 2 s\nq1 Q0 B2 3 1 s\n"
    again = Warehouse(tmp_path / "again.duckdb")
    assert again.run("load", "--name", "c", "--set", "exact_grade=2", out) == 0
    for table in ("judgments",):
        columns = "query_id, doc_id, grade"
        assert again.rows(f"select {columns} from assay_raw.{table} order by all") == loaded.rows(
            f"select {columns} from assay_raw.{table} order by all"
        )
    lists = (
        "select query_id, rank, doc_id from assay_raw.context_documents where retriever = 's' order by all"
    )
    assert again.rows(lists) == loaded.rows(lists)


def test_beir(loaded: Warehouse, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert loaded.run("export", "beir", "--collection", "c", out) == 0
    assert json.loads((out / "results" / "r.bm25_all.json").read_text()) == {
        "q1": {"B2": 2, "a": 1},
        "q2": {},
    }
    again = Warehouse(tmp_path / "again.duckdb")
    assert again.run("load", "--name", "c", "--set", "exact_grade=2", out) == 0
    for select in (
        "select query_id, query, split from assay_raw.queries",
        "select query_id, doc_id, grade from assay_raw.judgments",
        "select doc_id from assay_raw.documents",
    ):
        assert again.rows(f"{select} order by all") == [
            tuple("all" if v is None else v for v in row) for row in loaded.rows(f"{select} order by all")
        ]
    assert again.rows("select value from assay_raw.document_fields where doc_id = 'a' order by field") == [
        ("about\na",),
        ("name a",),
    ]
    assert again.run("load", "--collection", "c", "--set", "retriever=s", out / "results" / "x.s.json") == 0
    lists = (
        "select query_id, rank, doc_id from assay_raw.context_documents where retriever = 's' order by all"
    )
    assert again.rows(lists) == loaded.rows(lists)


def test_ragas(loaded: Warehouse, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert loaded.run("export", "ragas", "--collection", "c", "--recording", "r", out) == 0
    assert [p.name for p in out.iterdir()] == ["r.bm25_all.jsonl"]
    rows = [json.loads(line) for line in (out / "r.bm25_all.jsonl").read_text().splitlines()]
    assert rows[0] == {
        "user_input": "one\ttwo", "retrieved_context_ids": ["B2", "a", "B2"],
        "retrieved_contexts": ["name B2\nabout\nB2", "name a\nabout\na", "name B2\nabout\nB2"],
        "reference_context_ids": ["a"], "response": "take a", "query_id": "q1",
    }  # fmt: skip
    assert rows[1]["retrieved_context_ids"] == [] and rows[1]["response"] == ""
    again = Warehouse(tmp_path / "again.duckdb")
    again.load(out / "r.bm25_all.jsonl")
    lists = "select rank, doc_id from assay_raw.context_documents where recording_id != 'x' order by all"
    assert again.rows(lists) == loaded.rows(lists)
    assert again.rows("select answer from assay_raw.answers order by query_id") == [("take a",), ("",)]
    assert again.rows("select doc_id from assay_raw.judgments order by 1") == [("007",), ("a",)]


def test_refusals(loaded: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    for args, said in (
        (("trec", "--collection", "nope", tmp_path / "o"), "no collection 'nope' is loaded"),
        (("trec", "--collection", "c", "--recording", "nope", tmp_path / "o"), "no recording 'nope'"),
        (("csv", "--collection", "c", tmp_path / "o"), "'csv' can't be written"),
        (("trec", "--collection", "c", tmp_path / "full"), "something stands here already"),
    ):
        assert loaded.run("export", *args) == 1
        assert said in capsys.readouterr().err
    loaded.load(write_collection(tmp_path / "w", "w", docs=["a b"], queries=["q"], qrels=[("q", "a b", 1)]))
    assert loaded.run("export", "trec", "--collection", "w", tmp_path / "o2") == 1
    assert "split at white space" in capsys.readouterr().err


@needs_data
def test_trec_eval_has_our_order_back(warehouse: Warehouse, tmp_path: Path) -> None:
    """94 lists of this recording hold tied scores: with those trec_eval would sort otherwise."""
    warehouse.load(SHARED / "native" / "esci", SHARED / "native" / "esci-bm25")
    out = tmp_path / "out"
    assert warehouse.run("export", "trec", "--collection", "esci", out) == 0
    qrels: dict[str, dict[str, int]] = {}
    for line in (out / "qrels.txt").read_text().splitlines():
        query, _, doc, grade = line.split(" ")
        qrels.setdefault(query, {})[doc] = int(grade)
    run: dict[str, dict[str, float]] = {}
    for line in (out / "esci-bm25.bm25_all_text.run").read_text().splitlines():
        query, _, doc, _, score, _ = line.split(" ")
        run.setdefault(query, {})[doc] = float(score)
    found = pytrec_eval.RelevanceEvaluator(qrels, {"P_5"}, relevance_level=3).evaluate(run)
    rows = warehouse.rows(
        "select query_id, count(*) filter (where grade >= 3) from assay_raw.context_documents as d"
        " left join (select distinct query_id, doc_id, grade from assay_raw.judgments) using (query_id, doc_id)"
        " where retriever = 'bm25 all text' and rank <= 5 group by 1"
    )
    assert len(rows) == 75
    assert {q: found[q]["P_5"] for q, _ in rows} == {q: n / 5 for q, n in rows}

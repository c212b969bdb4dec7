"""What breaks a foreign format: it is quarantined with the source's own line, or refused in words; nothing disappears silently."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from conftest import Warehouse, write_collection, write_lines

QUARANTINE = "select file, line, reason from assay_raw.quarantine order by all"
JUDGMENTS = "select query_id, doc_id, grade from assay_raw.judgments order by all"


def test_ragas_of_references_alone_keeps_broken_lines(warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    rows = [{"user_input": f"q{i}?", "reference_context_ids": ["a"]} for i in range(60)]
    write_lines(path, rows)
    with path.open("a") as out:
        out.write('{"user_input": "cut\n')
    warehouse.load(path)
    assert [row[:2] for row in warehouse.rows(QUARANTINE)] == [("set.jsonl: judgments", 61)]


def trec(folder: Path, topics: bytes, qrels: str, docs: bytes | None = None) -> Path:
    folder.mkdir()
    (folder / "topics.txt").write_bytes(topics)
    (folder / "qrels.txt").write_text(qrels)
    if docs is not None:
        (folder / "docs.trec").write_bytes(docs)
    return folder


def test_trec_blocks_that_aren_t_closed_are_kept(warehouse: Warehouse, tmp_path: Path) -> None:
    topics = b"<top>\n<num>9\n<title>lost\n<top>\n<num>0\n<title>zero\n</top>\n" + b"".join(
        b"<top><num>%d</num><title>t</title></top>\n" % i for i in range(1, 61)
    )
    docs = (
        b"".join(b"<DOC><DOCNO>d%d</DOCNO>x</DOC>\n" % i for i in range(60))
        + b"<DOC>\n<DOCNO>last</DOCNO>\ncut"
    )
    warehouse.load(trec(tmp_path / "t", topics, "0 0 d1 1\n1 0 d2 0\n", docs))
    assert warehouse.rows(QUARANTINE) == [
        ("docs.trec", 61, "the block that begins here isn't closed with </doc>"),
        ("topics.txt", 1, "the block that begins here isn't closed with </top>"),
    ]
    assert warehouse.rows("select n_documents, n_queries from assay_raw.collections") == [(60, 61)]


def test_trec_bytes_that_are_no_utf8_are_kept(warehouse: Warehouse, tmp_path: Path) -> None:
    docs = (
        b"".join(b"<DOC><DOCNO>d%d</DOCNO>x</DOC>\n" % i for i in range(60))
        + b"<DOC><DOCNO>\xe9</DOCNO>x</DOC>\n"
    )
    topics = b"<top><num>1</num><title>caf\xc3\xa9</title></top>\n"
    warehouse.load(trec(tmp_path / "t", topics, "1 0 d1 1\n1 0 d2 0\n", docs))
    assert warehouse.rows(QUARANTINE) == [("docs.trec", 61, "the block that begins here isn't UTF-8")]
    assert warehouse.rows("select query from assay_raw.queries") == [("café",)]


@pytest.mark.parametrize(
    ("grades", "judged"), [((1, 2), "positive_only"), ((1, -1), "positive_only"), ((0, 1), "graded")]
)
def test_trec_and_beir_agree_on_what_is_judged(
    warehouse: Warehouse, tmp_path: Path, grades: tuple[int, int], judged: str
) -> None:
    qrels = f"1 0 a {grades[0]}\n1 0 b {grades[1]}\n"
    beir = beir_folder(tmp_path / "b", {"test": f"1\ta\t{grades[0]}\n1\tb\t{grades[1]}\n"})
    for folder in (trec(tmp_path / "t", b"1\tq\n", qrels), beir):
        assert warehouse.run("load", "--set", "exact_grade=1", folder) == 0
    assert warehouse.rows("select distinct judgments from assay_raw.collections") == [(judged,)]


def test_trec_relevance_column_without_topics(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    (folder / "qrels.txt").write_text("1 0 a 7 1\n2 0 b 7 0\n")
    (folder / "a.run").write_text("1 Q0 a 1 1 tag\n")
    assert warehouse.run("load", "--set", "relevance_column=5", folder) == 0
    assert warehouse.rows(JUDGMENTS) == [("1", "a", 1), ("2", "b", 0)]
    assert warehouse.rows("select query_id from assay_raw.queries order by 1") == [("1",), ("2",)]


def test_the_grade_that_is_exact_can_be_said(
    warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert warehouse.run("load", trec(tmp_path / "t", b"1\tq\n", "1 0 a 2\n1 0 b 0\n")) == 1
    assert "--set exact_grade=2" in capsys.readouterr().err


def beir_folder(folder: Path, qrels: dict[str, str]) -> Path:
    (folder / "qrels").mkdir(parents=True)
    write_lines(folder / "corpus.jsonl", [{"_id": "a"}, {"_id": "b", "title": "T", "text": "x"}])
    write_lines(folder / "queries.jsonl", [{"_id": "1", "text": "one"}, {"_id": "2", "text": "two"}])
    for name, text in qrels.items():
        (folder / "qrels" / f"{name}.tsv").write_text(text)
    return folder


def test_beir_lines_are_those_of_their_files(
    warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = "query-id\tcorpus-id\tscore\n"
    good = "".join("1\ta\t1\n" for _ in range(60))
    folder = beir_folder(
        tmp_path / "b", {"dev": header + good + "1\tb\tno\n", "test": header + "2\ta\t0\n2\tb\tmaybe\n"}
    )
    warehouse.load(folder)
    assert [row[:2] for row in warehouse.rows(QUARANTINE)] == [("qrels/dev.tsv", 62), ("qrels/test.tsv", 3)]
    # A line with an ID alone is a document.
    assert warehouse.rows("select doc_id from assay_raw.documents order by 1") == [("a",), ("b",)]
    (folder / "qrels" / "test.tsv").write_text(header + "2\ta\t0\n1\ta\t0\n")
    assert warehouse.run("load", folder) == 1
    said = capsys.readouterr().err
    assert f"{folder}/qrels/test.tsv, line 3: query '1' and document 'a' have two grades" in said
    assert f"see {folder}/qrels/dev.tsv, line 2" in said


def test_beir_results_tie_where_trec_eval_s_scores_do(warehouse: Warehouse, tmp_path: Path) -> None:
    """trec_eval keeps a score in four bytes, and breaks ties by the document, descending."""
    warehouse.load(beir_folder(tmp_path / "b", {"test": "1\ta\t1\n"}))
    results = tmp_path / "dense.json"
    results.write_text(json.dumps({"1": {"a": 0.1000000001, "b": 0.1}, "2": {"a": 0.11, "b": 0.1}}))
    assert warehouse.run("load", "--collection", "b", results) == 0
    assert warehouse.rows(
        "select query_id, list(doc_id order by rank) from assay_raw.context_documents group by 1 order by 1"
    ) == [("1", ["b", "a"]), ("2", ["a", "b"])]


def test_beir_export_refuses_what_a_line_can_t_hold(
    warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse.load(
        write_collection(tmp_path / "w", "w", docs=["a\tb"], queries=["q"], qrels=[("q", "a\tb", 1)])
    )
    assert warehouse.run("export", "beir", "--collection", "w", tmp_path / "o") == 1
    assert "split at tabs" in capsys.readouterr().err


def test_esci_ratings_without_a_document_or_a_number(warehouse: Warehouse, tmp_path: Path) -> None:
    ratings = [
        {"docId": f"B{i}", "rating": "100.000"} for i in range(60)
    ] + [{"docId": None, "rating": "10.000"}, {"docId": "B1", "rating": True}, "B2"]  # fmt: skip
    path = tmp_path / "ratings.json"
    path.write_text(json.dumps({"judgmentRatings": [{"query": "a", "ratings": ratings}]}))
    warehouse.load(path)
    assert [row[1] for row in warehouse.rows(QUARANTINE)] == [61, 62, 63]
    assert warehouse.rows("select n_documents, n_judgments from assay_raw.collections") == [(60, 60)]


def test_esci_parquet_rows_are_the_file_s(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "esci"
    folder.mkdir()
    con = duckdb.connect()
    con.execute(
        f"""copy (select 'q' as query, 1 as query_id, 'P' || i as product_id, if(i < 3, 'es', 'us') as product_locale,
            if(i = 70, 'X', 'E') as esci_label, 'test' as split from range(1, 71) t(i)) to '{folder / "examples.parquet"}'"""
    )
    con.execute(
        f"""copy (select 'P' || i as product_id, 't' as product_title, '' as product_description, '' as product_bullet_point,
            '' as product_brand, '' as product_color, if(i < 3, 'es', 'us') as product_locale from range(1, 71) t(i))
            to '{folder / "products.parquet"}'"""
    )
    warehouse.load(folder)
    assert [row[1] for row in warehouse.rows(QUARANTINE)] == [70]
    assert warehouse.rows("select min(line), max(line) from assay_raw.judgments") == [(3, 69)]


def test_wands_rows_are_the_file_s(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "wands"
    folder.mkdir()
    (folder / "product.csv").write_text(
        "product_id\tproduct_name\tcategory hierarchy\tproduct_description\n1\tone\t\t\n" + "2\ttwo\n" + '3\t"three\nlines"\t\t\n'
        + "".join(f"{i}\tn\t\t\n" for i in range(4, 60))
    )  # fmt: skip
    (folder / "query.csv").write_text("query_id\tquery\n1\tq\n")
    (folder / "label.csv").write_bytes(
        b"id\tquery_id\tproduct_id\tlabel\n" + b"".join(b"%d\t1\t%d\tExact\n" % (i, i) for i in range(4, 60))
        + b"9\t1\t\xff\tExact\n" + b"9\t1\t3\tNo\n"
    )  # fmt: skip
    warehouse.load(folder)
    assert warehouse.rows(QUARANTINE) == [
        ("label.csv", 57, "the row isn't UTF-8"),
        ("label.csv", 58, "the label must be Exact, Partial or Irrelevant, not No"),
        ("product.csv", 2, "the row has another number of columns than the header: 2, not 4"),
    ]
    assert warehouse.rows(
        "select value from assay_raw.document_fields where doc_id = '3' and field = 'name'"
    ) == [("three\nlines",)]


def test_csv_bytes_that_are_no_utf8_are_kept(warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "set.csv"
    path.write_bytes(
        b"user_input,retrieved_context_ids,response\n"
        + b"q?,[],r\n" * 60
        + b"caf\xe9?,[],r\n"
        + b"short,[]\n"
    )
    warehouse.load(path)
    assert [row[1:] for row in warehouse.rows(QUARANTINE)] == [
        (61, "the row isn't UTF-8"),
        (62, "the row has another number of columns than the header: 2, not 3"),
    ]

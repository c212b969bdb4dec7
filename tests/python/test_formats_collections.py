"""Formats of collections and runs: TREC, BEIR, ESCI, WANDS and Ragas, on small files and on real ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import duckdb
import pytest
from conftest import SHARED, Warehouse, write_collection, write_lines
from raw_tables import differences

from ingest.formats import format_of
from ingest.load import find

needs_data = pytest.mark.skipif(not SHARED.exists(), reason="the real data is not here")


def recognised(path: Path) -> str | None:
    found = format_of(path, None)
    return None if found is None else found.NAME


# TREC

TOPICS = """<top>
<num> Number: 301
<title> International
Organized Crime

<desc> Description:
Identify organizations.
<narr> Narrative:
A relevant document.
</top>
<top><num>302</num><title>Poliomyelitis</title></top>
"""


@pytest.fixture
def trec(tmp_path: Path) -> Path:
    folder = tmp_path / "adhoc"
    folder.mkdir()
    (folder / "topics.txt").write_text(TOPICS)
    (folder / "qrels.txt").write_bytes(b"301 0 FT911-1 1\r\n301 0 a#b 0\r\n302\tQ0\tFT911-2 \t1\r\n")
    (folder / "docs.trec").write_text(
        "<DOC>\n<DOCNO> FT911-1 </DOCNO>\n<TITLE>One</TITLE>\nbody\n</DOC>\n<DOC><DOCNO>FT911-2</DOCNO>two</DOC>\n"
    )
    # The rank column says otherwise than the scores.
    (folder / "best.run").write_text("301 Q0 FT911-1 2 5.5 tag\n301 Q0 FT911-2 1 1.5 tag\n302 Q0 x 1 0 tag\n")
    return folder


def test_trec_folder(warehouse: Warehouse, trec: Path) -> None:
    assert recognised(trec) == "trec" and recognised(trec / "best.run") == "trec"
    warehouse.load(trec)
    assert warehouse.rows("select query_id, query, extra from assay_raw.queries order by 1") == [
        ("301", "International Organized Crime", '{"description":"Identify organizations.","narrative":"A relevant document."}'),
        ("302", "Poliomyelitis", None),
    ]  # fmt: skip
    assert warehouse.rows("select query_id, doc_id, grade from assay_raw.judgments order by all") == [
        ("301", "FT911-1", 1), ("301", "a#b", 0), ("302", "FT911-2", 1),
    ]  # fmt: skip
    assert warehouse.rows("select doc_id, value from assay_raw.document_fields order by 1") == [
        ("FT911-1", "One\nbody"), ("FT911-2", "two"),
    ]  # fmt: skip
    assert warehouse.rows("select recording_id, collection from assay_raw.recordings") == [
        ("adhoc-best", "adhoc")
    ]
    assert warehouse.rows("select query_id, rank, doc_id, run_rank from assay_raw.context_documents order by 1, 2") == [
        ("301", 1, "FT911-1", 2), ("301", 2, "FT911-2", 1), ("302", 1, "x", 1),
    ]  # fmt: skip


def test_trec_run_by_its_own_ranks(warehouse: Warehouse, trec: Path) -> None:
    assert warehouse.run("load", "--set", "order=rank", trec) == 0
    ranked = "select doc_id from assay_raw.context_documents where query_id = '301' order by rank"
    assert warehouse.rows(ranked) == [("FT911-2",), ("FT911-1",)]


def test_trec_queries_by_their_order(warehouse: Warehouse, trec: Path) -> None:
    """Cranfield prints numbers that its qrels don't go by."""
    (trec / "qrels.txt").write_bytes(b"1 0 FT911-1 1\r\n2 0 FT911-2 1\r\n")
    (trec / "best.run").unlink()
    assert warehouse.run("load", "--set", "number=order", trec) == 0
    assert warehouse.rows("select query_id, query from assay_raw.queries order by 1")[1] == (
        "2",
        "Poliomyelitis",
    )


def test_trec_without_topics_and_documents(warehouse: Warehouse, trec: Path) -> None:
    for name in ("topics.txt", "docs.trec"):
        (trec / name).unlink()
    warehouse.load(trec)
    assert warehouse.rows("select query_id, query from assay_raw.queries order by 1") == [
        ("301", ""),
        ("302", ""),
    ]
    docs = [d for (d,) in warehouse.rows("select doc_id from assay_raw.documents order by 1")]
    assert docs == ["FT911-1", "FT911-2", "a#b", "x"]
    assert warehouse.rows("select catalog from assay_raw.collections") == [("seen",)]


def test_trec_two_columns_gz_and_a_writer_s_quotes(warehouse: Warehouse, trec: Path) -> None:
    (trec / "topics.txt").unlink()
    with gzip.open(trec / "queries.tsv.gz", "wt") as out:
        out.write('301\tsays "so"\n302\t"says ""so"""\n')
    warehouse.load(trec)
    assert warehouse.rows("select query from assay_raw.queries") == [('says "so"',)] * 2


@pytest.mark.parametrize(
    ("text", "settings", "said"),
    [
        ("# a comment\n301 0 a 1\n", [], "qrels.txt, line 1: a comment"),
        ("301 0 a 2\n301 0 b 1\n", [], "the key 'exact_grade' is not there"),
        ("301 0 a 1 3\n", ["relevance_column=two"], "relevance_column must be a whole number"),
        ("301 0 a 1\n", ["number=nth"], "number must be printed or order"),
        ("999 0 a 1\n", [], "'999' is not a query of the collection"),
    ],
)
def test_trec_refusals(
    warehouse: Warehouse,
    trec: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    settings: list[str],
    said: str,
) -> None:
    (trec / "qrels.txt").write_text(text)
    flags = [part for one in settings for part in ("--set", one)]
    assert warehouse.run("load", "--format", "trec", *flags, trec) == 1
    assert said in capsys.readouterr().err
    assert not warehouse.path.exists() or warehouse.rows("select count(*) from assay_raw.collections") == [
        (0,)
    ]


def test_trec_another_relevance_column_and_broken_lines(warehouse: Warehouse, trec: Path) -> None:
    lines = [f"301 0 d{i} 0 1" for i in range(60)]
    (trec / "qrels.txt").write_text("\n".join([*lines, "301 0 short", "301 0 d 0 no"]) + "\n")
    assert warehouse.run("load", "--format", "trec", "--set", "relevance_column=5", trec) == 0
    assert warehouse.rows("select distinct grade from assay_raw.judgments") == [(1,)]
    assert warehouse.rows("select file, line from assay_raw.quarantine order by 2") == [
        ("qrels.txt", 61),
        ("qrels.txt", 62),
    ]


@needs_data
@pytest.mark.parametrize(
    ("source", "native", "settings", "besides"),
    [
        ("vaswani", ["vaswani"], [], set()),
        # The native folder names its grades, and holds both runs in one recording.
        ("noveleval", ["noveleval"], ["exact_grade=2"], set()),
        ("cast2021", ["cast2021", "cast2021-runs"], ["exact_grade=4", "split=test"], {"recording_id"}),
        ("esci_us", ["esci"], ["split=test"], set()),
    ],
)
def test_raw_collections_are_their_native_conversions(
    tmp_path: Path, source: str, native: list[str], settings: list[str], besides: set[str]
) -> None:
    raw, converted = Warehouse(tmp_path / "raw.duckdb"), Warehouse(tmp_path / "native.duckdb")
    flags = [part for one in settings for part in ("--set", one)]
    assert raw.run("load", "--name", native[0], *flags, SHARED / source) == 0
    converted.load(*(SHARED / "native" / n for n in native))
    found = differences(raw, converted, frozenset(besides))
    found.pop("collection_grades", None)
    if besides:
        found.pop("recordings")
    assert found == {}
    assert raw.rows("select count(*) from assay_raw.quarantine") == [(0,)]


@needs_data
@pytest.mark.parametrize("qrels", ["qrels.test", "qrels.rel_level"])
def test_trec_eval_s_own_files(warehouse: Warehouse, tmp_path: Path, qrels: str) -> None:
    folder = tmp_path / "te"
    folder.mkdir()
    for name in (qrels, "results.test"):
        (folder / name).write_bytes((SHARED / "trec_eval_test" / name).read_bytes())
    assert warehouse.run("load", "--set", "exact_grade=1", folder) == 0
    assert warehouse.rows("select n_judgments, n_queries from assay_raw.collections") == [(3681, 3)]
    assert warehouse.rows("select count(*) from assay_raw.context_documents") == [(1500,)]


@needs_data
@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        ("qrels.comments.123", "qrels.comments.123, line 2: a comment, '# a comment'"),
        ("qrels.123", "qrels.123, line 3807: query '301' and document 'CR93H-2899' have two grades"),
    ],
)
def test_what_trec_eval_passes_over_is_refused(
    warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str], qrels: str, said: str
) -> None:
    folder = tmp_path / "te"
    folder.mkdir()
    for name in (qrels, "results.test"):
        (folder / name).write_bytes((SHARED / "trec_eval_test" / name).read_bytes())
    assert warehouse.run("load", "--set", "exact_grade=1", folder) == 1
    assert said in capsys.readouterr().err


# BEIR


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact"
    (folder / "qrels").mkdir(parents=True)
    write_lines(
        folder / "corpus.jsonl",
        [
            {"_id": "MED-10", "title": "T", "text": "x", "metadata": {"url": "u"}},
            {"_id": 7, "title": "", "text": "y"},
        ],
    )
    write_lines(
        folder / "queries.jsonl",
        [{"_id": "1", "text": "a"}, {"_id": "2", "text": "b", "metadata": {}}, {"_id": "3", "text": "c"}],
    )
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\tMED-10\t1\n1\t7\t0\n")
    (folder / "qrels" / "train.tsv").write_text("2\tMED-10\t1.0\n")
    return folder


def test_beir_folder(warehouse: Warehouse, beir: Path) -> None:
    assert recognised(beir) == "beir"
    warehouse.load(beir)
    assert warehouse.rows("select query_id, query, split from assay_raw.queries order by 1") == [
        ("1", "a", "test"), ("2", "b", "train"), ("3", "c", None),
    ]  # fmt: skip
    assert warehouse.rows("select query_id, doc_id, grade from assay_raw.judgments order by all") == [
        ("1", "7", 0), ("1", "MED-10", 1), ("2", "MED-10", 1),
    ]  # fmt: skip
    assert warehouse.rows("select doc_id, field, value from assay_raw.document_fields order by all") == [
        ("7", "text", "y"), ("MED-10", "text", "x"), ("MED-10", "title", "T"),
    ]  # fmt: skip
    assert warehouse.rows("select extra from assay_raw.documents order by doc_id desc") == [
        ('{"metadata":{"url":"u"}}',),
        (None,),
    ]


def test_beir_columns_go_by_their_names(warehouse: Warehouse, beir: Path) -> None:
    (beir / "qrels" / "train.tsv").unlink()
    (beir / "qrels" / "test.tsv").write_text(
        "score\tdoc_id\tquery_id\n1\tMED-10\t1\n0\t7\t1\nno\t7\t2\n" + "0\t7\t3\n" * 60
    )
    warehouse.load(beir)
    assert warehouse.rows("select distinct query_id, doc_id, grade from assay_raw.judgments order by all") == [
        ("1", "7", 0), ("1", "MED-10", 1), ("3", "7", 0),
    ]  # fmt: skip
    assert warehouse.rows("select file, line from assay_raw.quarantine") == [("qrels/test.tsv", 4)]


def test_beir_results(
    warehouse: Warehouse, beir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse.load(beir)
    results = tmp_path / "dense.json"
    results.write_text(json.dumps({"1": {"7": 0.5, "MED-10": 2}, "2": {"7": 1, "MED-10": 1}}))
    assert recognised(results) == "beir"
    assert warehouse.run("load", results) == 1 and "--collection" in capsys.readouterr().err
    assert warehouse.run("load", "--collection", "scifact", results) == 0
    assert warehouse.rows("select query_id, list(doc_id order by rank), list(score order by rank) from assay_raw.context_documents group by 1 order by 1") == [
        ("1", ["MED-10", "7"], [2.0, 0.5]), ("2", ["MED-10", "7"], [1.0, 1.0]),
    ]  # fmt: skip
    assert warehouse.rows("select distinct retriever from assay_raw.contexts") == [("dense",)]


# ESCI


def test_esci_json_without_products(warehouse: Warehouse, tmp_path: Path) -> None:
    ratings = [
        {
            "query": "a ”",
            "ratings": [{"docId": "0142420956", "rating": "100.000"}, {"docId": "B1", "rating": "10.000"}],
        },
        {"query": "b", "ratings": [{"docId": "B1", "rating": "1.000"}, {"docId": "B2", "rating": "0.000"}]},
        {"query": "c", "ratings": [{"docId": "B3", "rating": "100.000"}]},
    ]
    path = tmp_path / "ratings.json"
    path.write_text(json.dumps({"name": "n", "judgmentRatings": ratings}))
    assert recognised(path) == "esci"
    warehouse.load(path)
    assert warehouse.rows("select query_id, doc_id, grade from assay_raw.judgments order by all") == [
        ("q001", "0142420956", 3), ("q001", "B1", 2), ("q002", "B1", 1), ("q002", "B2", 0), ("q003", "B3", 3),
    ]  # fmt: skip
    assert warehouse.rows("select query from assay_raw.queries where query_id = 'q001'") == [("a ”",)]
    assert warehouse.run("load", "--set", "keep=even", path) == 0
    assert warehouse.rows("select query_id, query from assay_raw.queries order by 1") == [
        ("q001", "a ”"),
        ("q002", "c"),
    ]


def test_esci_parquet(warehouse: Warehouse, tmp_path: Path) -> None:
    con = duckdb.connect()
    folder = tmp_path / "esci"
    folder.mkdir()
    examples = "shopping_queries_dataset_examples.parquet"
    con.execute(
        f"""copy (select * from (values
            (1, 'desk', 10, 'P1', 'us', 'E', 1, 'train'), (2, 'desk', 10, 'P2', 'us', 'S', 1, 'train'),
            (3, 'lamp', 11, 'P1', 'us', 'I', 0, 'test'), (4, 'mesa', 12, 'P9', 'es', 'C', 1, 'test')
        ) t(example_id, query, query_id, product_id, product_locale, esci_label, small_version, split)) to '{folder / examples}'"""
    )
    con.execute(
        f"""copy (select * from (values
            ('P1', 'Desk', 'd', null, 'B', 'red', 'us'), ('P2', 'Table', null, 'b', null, null, 'us'), ('P3', 'x', '', '', '', '', 'us'), ('P9', 'Mesa', '', '', '', '', 'es')
        ) t(product_id, product_title, product_description, product_bullet_point, product_brand, product_color, product_locale))
        to '{folder / "shopping_queries_dataset_products.parquet"}'"""
    )
    assert recognised(folder) == "esci"
    warehouse.load(folder)
    assert warehouse.rows("select query_id, query, split from assay_raw.queries order by 1") == [
        ("10", "desk", "train"),
        ("11", "lamp", "test"),
    ]
    assert warehouse.rows("select query_id, doc_id, grade from assay_raw.judgments order by all") == [
        ("10", "P1", 3),
        ("10", "P2", 2),
        ("11", "P1", 0),
    ]
    assert warehouse.rows("select doc_id from assay_raw.documents order by 1") == [("P1",), ("P2",)]
    assert warehouse.run("load", "--set", "locale=es", folder) == 0
    assert warehouse.rows("select query_id, doc_id, grade from assay_raw.judgments") == [("12", "P9", 1)]
    assert warehouse.run("load", "--set", "version=small", folder) == 0
    assert warehouse.rows("select n_queries from assay_raw.collections") == [(1,)]


# WANDS


@pytest.fixture
def wands(tmp_path: Path) -> Path:
    folder = tmp_path / "wands"
    folder.mkdir()
    product = "product_id\tproduct_name\tproduct_class\tcategory hierarchy\tproduct_description\tproduct_features\trating_count\taverage_rating\treview_count\n"
    product += "0\tbed 48 '' w\tBed Frames|Beds\tFurniture / Bedroom\t\ta : 1| : no|a:2\t\t\t\n"
    product += '1\t"a 48"" desk"\t\t\tgood , deep\t\t5.0\t4.5\t3.0\n'
    (folder / "product.csv").write_text(product)
    (folder / "query.csv").write_text(
        "query_id\tquery\tquery_class\n" + "".join(f"{i}\tquery {i}\t\n" for i in range(20))
    )
    (folder / "label.csv").write_text(
        "id\tquery_id\tproduct_id\tlabel\n0\t0\t0\tExact\n1\t0\t1\tPartial\n2\t1\t1\tIrrelevant\n"
        + "".join(f"{i}\t{i}\t1\tExact\n" for i in range(2, 20))
    )
    return folder


def test_wands(warehouse: Warehouse, wands: Path) -> None:
    assert recognised(wands) == "wands"
    warehouse.load(wands)
    assert warehouse.rows("select doc_id, field, value from assay_raw.document_fields order by all") == [
        ("0", "attributes", "a : 1| : no|a:2"), ("0", "category", "Furniture / Bedroom"), ("0", "name", "bed 48 '' w"),
        ("0", "product_class", "Bed Frames|Beds"), ("1", "description", "good , deep"), ("1", "name", 'a 48" desk'),
    ]  # fmt: skip
    assert warehouse.rows(
        "select doc_id, grade from assay_raw.judgments where query_id in ('0', '1') order by all"
    ) == [("0", 2), ("1", 0), ("1", 1)]
    assert warehouse.rows("select distinct split from assay_raw.queries") == [("test",)]


def test_wands_samples_are_seeded_and_stable(warehouse: Warehouse, wands: Path, tmp_path: Path) -> None:
    def drawn(*settings: str) -> list[tuple[str, str]]:
        flags = [part for one in settings for part in ("--set", one)]
        assert warehouse.run("load", *flags, wands) == 0
        return warehouse.rows("select query_id, split from assay_raw.queries order by 1")

    ten = drawn("sample=10", "train=4")
    assert len(ten) == 10 and sorted(s for _, s in ten).count("train") == 4
    assert warehouse.rows("select count(distinct query_id) from assay_raw.judgments") == [(10,)]
    assert {q for q, _ in drawn("sample=5")} < {q for q, _ in ten}
    assert {q for q, _ in drawn("sample=10", "seed=2")} != {q for q, _ in ten}
    # A query more takes at most one query's place.
    with (wands / "query.csv").open("a") as out:
        out.write("99\tanother\t\n")
    assert len({q for q, _ in ten} - {q for q, _ in drawn("sample=10", "train=4")}) <= 1


def test_wands_rows_that_break_it_are_kept(warehouse: Warehouse, wands: Path) -> None:
    with (wands / "label.csv").open("a") as out:
        out.write("30\t3\t0\tMaybe\n")
    warehouse.load(wands)
    assert warehouse.rows("select file, line, reason from assay_raw.quarantine") == [
        ("label.csv", 22, "the label must be Exact, Partial or Irrelevant, not Maybe")
    ]


@needs_data
def test_real_wands(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.load(SHARED / "wands")
    assert warehouse.rows("select n_documents, n_queries, n_judgments from assay_raw.collections") == [
        (1236, 480, 100)
    ]
    assert warehouse.rows("select grade, count(*) from assay_raw.judgments group by 1 order by 1") == [
        (0, 23),
        (1, 63),
        (2, 14),
    ]
    native = Warehouse(tmp_path / "native.duckdb")
    native.load(SHARED / "native" / "wands")
    documents = "select doc_id, field, value from assay_raw.document_fields order by all"
    assert warehouse.rows(documents) == native.rows(documents)


# Ragas


def test_ragas_jsonl(warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    write_lines(
        path,
        [
            {"user_input": "q?", "retrieved_contexts": ["x", "y"], "retrieved_context_ids": ["a", 2], "reference_context_ids": [2, "c"], "response": "r", "reference": "gold"},
            {"user_input": "q?", "retrieved_contexts": [], "retrieved_context_ids": [], "response": ""},
            {"user_input": "other?", "retrieved_context_ids": ["a"]},
        ],
    )  # fmt: skip
    assert recognised(path) == "ragas"
    warehouse.load(path)
    assert warehouse.rows("select query_id, doc_id, grade from assay_raw.judgments order by all") == [
        ("q001", "2", 1),
        ("q001", "c", 1),
    ]
    assert warehouse.rows("select judgments, exact_grade from assay_raw.collections") == [
        ("positive_only", 1)
    ]
    assert warehouse.rows("select query_id, trial, answer, has_cited from assay_raw.answers order by all") == [
        ("q001", 1, "r", False), ("q001", 2, "", False), ("q002", 1, None, False),
    ]  # fmt: skip
    assert warehouse.rows("select query_id, trial, list(doc_id order by rank) from assay_raw.context_documents group by 1, 2 order by 1, 2") == [
        ("q001", 1, ["a", "2"]), ("q002", 1, ["a"]),
    ]  # fmt: skip
    assert warehouse.rows("select citations from assay_raw.recordings") == [("not_asked",)]


def test_ragas_csv_without_ids_or_answers(warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "set.csv"
    path.write_text(
        'user_input,retrieved_contexts,reference_contexts\nq?,"[\'x\', \'it\'\'s\']","[""x""]"\nr?,not a list,\n'
        + "s?,[],\n" * 60
    )
    warehouse.load(path)
    [(docs, texts)] = warehouse.rows(
        "select list(doc_id order by rank), count(*) from assay_raw.context_documents"
    )
    assert texts == 2 and all(len(d) == 16 for d in docs)
    assert warehouse.rows("select doc_id from assay_raw.judgments") == [(docs[0],)]
    assert warehouse.rows("select kind from assay_raw.recordings") == [("contexts",)]
    assert warehouse.rows("select line from assay_raw.quarantine where kind = 'recording'") == [(2,)]


def test_ragas_on_a_collection_that_is_there(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.load(write_collection(tmp_path / "c", docs=["a"], queries=[{"query_id": "7", "query": "q?"}]))
    path = tmp_path / "set.jsonl"
    write_lines(path, [{"user_input": "q?", "retrieved_context_ids": ["a"], "response": "r"}])
    assert warehouse.run("load", "--collection", "c", path) == 0
    assert warehouse.rows(
        "select collection, query_id from assay_raw.recordings join assay_raw.answers using (recording_id)"
    ) == [("c", "7")]


def test_formats_don_t_take_each_other_for_themselves(trec: Path, beir: Path, wands: Path) -> None:
    assert [f.format for path in (trec, beir, wands) for f in find([path])] == [
        "trec",
        "trec",
        "beir",
        "wands",
    ]

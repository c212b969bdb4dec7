"""Formats of answers whose citations stand in the text: the grammar, and each format on small files and on real ones."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED, Warehouse, write_collection, write_lines
from raw_tables import differences

from ingest.formats import format_of, formats
from ingest.formats._marks import cited_in


def values(text: str, ids: list[str], base: int | None = None) -> list[str]:
    return [c.value for c in cited_in(text, ids, base) or []]


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("one [3]", ["c"]),
        ("lists [3, 1] and [2;1]", ["c", "a", "b", "a"]),
        ("lenticular 【3】 and 【2†source】", ["c", "b"]),
        ("side by side [1][2][1]", ["a", "b", "a"]),
        ("labels [doc_2], [Document 1], (ID: 3), [^1], [source 2]", ["b", "a", "c", "a", "b"]),
        ("no place [4] and [0]", ["[4]", "[0]"]),
        ("a range is not a place [1-3]", ["[1-3]"]),
        ("words [sic], [see above], [citation needed], [], [ ]", []),
        ("parentheses (2019) and (see 3) are none", []),
        ("a long number [99999999999999999999]", ["[99999999999999999999]"]),
        ("a link [text](https://x.org/2019)", []),
        ("nested [[2]]", ["b"]),
    ],
)
def test_numbers_are_places_where_a_base_is_declared(text: str, cited: list[str]) -> None:
    assert values(text, ["a", "b", "c"], 1) == cited


def test_base_zero_counts_from_zero() -> None:
    assert values("[0] and [2] and [3]", ["a", "b", "c"], 0) == ["a", "c", "[3]"]


@pytest.mark.parametrize(
    ("text", "ids", "cited"),
    [
        ('The 48" desk (2019) fits [120]', ["120", "130"], ["120"]),
        ("[A-12] of https://x.org/2019/a", ["A-12", "12", "2019"], ["A-12"]),
        ("(ID 38685) and (IDs: 1, 38685)", ["38685", "1"], ["38685", "1", "38685"]),
        ("[doc_12] is one ID", ["doc_12", "12"], ["doc_12"]),
        ("[doc_12] is the ID 12", ["12"], ["12"]),
        ("an ID with a comma [rep,_1992]", ["rep,_1992"], ["rep,_1992"]),
        ("a URL with commas [https://x.org/a,b;c]", ["https://x.org/a,b;c"], ["https://x.org/a,b;c"]),
        ("IDs without digits [alpha, beta] and not [gamma]", ["alpha", "beta"], ["alpha", "beta"]),
        ("an ID from outside [77]", ["1"], ["77"]),
        ("007 is not 7 [007]", ["7"], ["007"]),
    ],
)
def test_numbers_are_ids_without_a_base(text: str, ids: list[str], cited: list[str]) -> None:
    assert values(text, ids) == cited


def test_no_text_cites_nothing_that_is_known() -> None:
    assert cited_in(None, ["a"], 1) is None
    assert cited_in("", ["a"], 1) == []


def test_every_format_is_found_and_recognises_no_other(tmp_path: Path) -> None:
    files = {
        "expertqa": _expertqa(tmp_path / "rand_val.jsonl"),
        "alce": _alce(tmp_path / "alce.json"),
        "scholarqa": _scholarqa(tmp_path / "scholar.jsonl"),
        "ragchecker": _ragchecker(tmp_path / "checker.json"),
        "trec_rag": _trec_rag(tmp_path / "rag.jsonl"),
        "open_rag_eval": _open_rag_eval(tmp_path / "eval.csv"),
        "native": write_collection(tmp_path / "c"),
    }
    assert set(files) | {"marked"} <= set(formats())
    for name, path in files.items():
        found = format_of(path, None)
        assert found is not None and name == found.NAME
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    assert format_of(empty, None) is None


def _expertqa(path: Path) -> Path:
    claims = [
        {"claim_string": "c1 [1].", "evidence": ["[1] https://a,b\n\nfirst"], "support": "Complete"},
        {
            "claim_string": "c2 [1][2].",
            "evidence": ["[1] https://a,b\n\nsecond", "[2] https://a,b"],
            "support": "Missing",
        },
        {"claim_string": "c3", "evidence": [], "support": "N/A"},
    ]
    answer = {
        "answer_string": "c1 [1]. c2 [1][2]. c3 [9]",
        "attribution": ["[1] https://a,b", "[2] https://a,b ", "[3] https://c"],
        "claims": claims,
    }
    other = {"answer_string": "no source", "attribution": [], "claims": []}
    write_lines(
        path,
        [
            {"question": "why?", "answers": {"bing_chat": answer}, "metadata": {"field": "x"}},
            {"question": "how?", "answers": {"gpt4": other}},
        ],
    )
    return path


def test_expertqa(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.load(_expertqa(tmp_path / "rand_val.jsonl"))
    assert warehouse.rows("select query_id, query, split from assay_raw.queries order by 1") == [
        ("q001", "why?", "val"),
        ("q002", "how?", "val"),
    ]
    assert warehouse.rows("select doc_id, value from assay_raw.document_fields") == [
        ("https://a,b", "first\n\nsecond")
    ]
    assert warehouse.rows("select recording_id, context_is from assay_raw.recordings order by 1") == [
        ("rand_val-bing-chat", "read"),
        ("rand_val-gpt4", "reported"),
    ]
    assert warehouse.rows(
        "select rank, doc_id, first_rank, passage_id, text from assay_raw.context_documents order by 1"
    ) == [
        (1, "https://a,b", 1, "1", "first"),
        (2, "https://a,b", 1, "2", None),
        (3, "https://c", 3, "3", None),
    ]
    assert [c for (c,) in warehouse.rows("select cited from assay_raw.answer_citations order by position")] == [
        "https://a,b", "https://a,b", "https://a,b", "[9]",
    ]  # fmt: skip
    assert warehouse.rows("select claim, judge, label from assay_raw.support order by line") == [
        ("c1 [1].", "person", "supported"),
        ("c2 [1][2].", "person", "unsupported"),
    ]
    # Each question was asked of the one system that answered it.
    assert warehouse.rows("select recording_id, query_id from assay_raw.asked_queries order by 1") == [
        ("rand_val-bing-chat", "q001"),
        ("rand_val-gpt4", "q002"),
    ]


@pytest.mark.skipif(not SHARED.exists(), reason="the real data is not here")
def test_expertqa_is_its_native_conversion(tmp_path: Path) -> None:
    raw, native = Warehouse(tmp_path / "raw.duckdb"), Warehouse(tmp_path / "native.duckdb")
    assert raw.run("load", "--name", "expertqa", SHARED / "expertqa" / "rand_val.jsonl") == 0
    native.load(*sorted((SHARED / "native").glob("expertqa*")))
    assert differences(raw, native) == {}
    assert raw.rows("select count(*) from assay_raw.answers") == [(217,)]
    assert raw.rows("select count(*) from assay_raw.quarantine") == [(0,)]


def _alce(path: Path) -> Path:
    docs = [{"id": "d7", "title": "T", "text": "x"}, {"title": "U", "text": "y"}]
    data = [
        {"question": "q?", "docs": docs, "output": "A [1][2] and [3]."},
        {"question": "r?", "docs": [], "output": ""},
    ]
    path.write_text(json.dumps({"args": {}, "data": data}))
    return path


def test_alce(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.load(_alce(tmp_path / "alce.json"))
    docs = [d for (d,) in warehouse.rows("select doc_id from assay_raw.context_documents order by rank")]
    assert docs[0] == "d7" and len(docs[1]) == 16
    assert [
        c for (c,) in warehouse.rows("select cited from assay_raw.answer_citations order by position")
    ] == [
        *docs,
        "[3]",
    ]
    # Nothing was read for the second, which is known, and its answer is empty, which is known too.
    assert warehouse.rows(
        "select has_documents, answer, has_cited from assay_raw.contexts join assay_raw.answers using (recording_id, query_id)"
        " where query_id = '2'"
    ) == [(True, "", True)]
    assert warehouse.rows(
        "select observed, check_name from assay_raw.checks where check_name = 'unresolved_citation'"
    ) == [(1, "unresolved_citation")]


def _scholarqa(path: Path) -> Path:
    ctxs = [{"corpus_id": 5, "title": "T", "text": "x"}, {"corpus_id": 6, "title": "U", "text": "y"}]
    write_lines(path, [{"id": "s1", "input": "q?", "output": "From zero [0], [1], [2].", "ctxs": ctxs}])
    return path


def test_scholarqa_counts_from_zero(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.load(_scholarqa(tmp_path / "scholar.jsonl"))
    assert warehouse.rows("select list(cited order by position) from assay_raw.answer_citations") == [
        (["5", "6", "[2]"],)
    ]


def _ragchecker(path: Path) -> Path:
    context = [{"doc_id": "000", "text": "x"}, {"doc_id": "001", "text": "y"}]
    result = {
        "query_id": "0",
        "query": "q?",
        "gt_answer": "g",
        "response": "r [1]",
        "retrieved_context": context,
    }
    path.write_text(json.dumps({"results": [result]}))
    return path


def test_ragchecker_asked_for_no_citations(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.load(_ragchecker(tmp_path / "checker.json"))
    assert warehouse.rows("select citations from assay_raw.recordings") == [("not_asked",)]
    assert warehouse.rows("select list(doc_id order by rank) from assay_raw.context_documents") == [
        (["000", "001"],)
    ]
    assert warehouse.rows("select count(*) from assay_raw.answer_citations") == [(0,)]


def test_ragchecker_ids_of_one_query_alone(warehouse: Warehouse, tmp_path: Path) -> None:
    results = [
        {
            "query_id": q,
            "query": q,
            "response": "",
            "retrieved_context": [{"doc_id": "000", "text": f"text of {q}"}],
        }
        for q in ("a", "b")
    ]
    (tmp_path / "x.json").write_text(json.dumps({"results": results}))
    warehouse.load(tmp_path / "x.json")
    assert warehouse.rows(
        "select file, observed from assay_raw.checks where check_name = 'several_texts'"
    ) == [("x.json: documents", 1)]
    assert warehouse.run("load", "--set", "ids=local", tmp_path / "x.json") == 0
    assert warehouse.rows("select doc_id, value from assay_raw.document_fields order by 1") == [
        ("a:000", "text of a"),
        ("b:000", "text of b"),
    ]
    assert warehouse.rows("select query_id, doc_id from assay_raw.context_documents order by 1") == [
        ("a", "a:000"),
        ("b", "b:000"),
    ]
    assert warehouse.run("load", "--set", "ids=mine", tmp_path / "x.json") == 1


def _trec_rag(path: Path) -> Path:
    answer = [
        {"text": "One.", "citations": [1, 0]},
        {"text": "Two.", "citations": [2, "d2", "d9"]},
        {"text": "Three."},
    ]
    write_lines(
        path,
        [
            {"run_id": "a", "topic_id": "2024-1", "topic": "t", "references": ["d1", "d2"], "answer": answer},
            {
                "metadata": {"run_id": "b", "narrative_id": 7, "narrative": "n", "team_id": "x"},
                "references": [],
                "answer": [],
            },
        ],
    )
    return path


def test_trec_rag_of_both_years(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.load(_trec_rag(tmp_path / "rag.jsonl"))
    assert warehouse.rows("select query_id, query from assay_raw.queries order by 1") == [
        ("2024-1", "t"),
        ("7", "n"),
    ]
    assert warehouse.rows("select recording_id, answer from assay_raw.answers order by 1") == [
        ("a", "One. Two. Three."),
        ("b", ""),
    ]
    assert warehouse.rows("select list(cited order by position) from assay_raw.answer_citations") == [
        (["d2", "d1", "[2]", "d2", "d9"],)
    ]


def test_trec_rag_lines_that_break_the_format_are_kept(
    warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"run_id": "a", "topic": "t", "references": ["d1"], "answer": []}
    lines: list[Any] = [{**good, "topic_id": str(i)} for i in range(30)]
    lines += ['{"run_id": "a", "topic_id": "x", "refer', {**good, "topic_id": "y", "answer": "no sentences"}]
    write_lines(tmp_path / "rag.jsonl", lines)
    warehouse.load(tmp_path / "rag.jsonl")
    kept = warehouse.rows(
        "select line, reason from assay_raw.quarantine where kind = 'recording' order by line"
    )
    assert [line for line, _ in kept] == [31, 32]
    assert "not valid JSON" in kept[0][1] and "list of sentences" in kept[1][1]
    assert warehouse.rows("select n_lines, n_loaded, n_quarantined from assay_raw.recordings") == [
        (32, 30, 2)
    ]


def _open_rag_eval(path: Path) -> Path:
    rows = [
        ("query_id", "query", "query_run", "passage_id", "passage", "generated_answer"),
        ("q1", "Q?", "1", "[1]", "same", "A\nnew line [1, 2] and [4]"),
        ("q1", "Q?", "1", "[2]", "other", ""),
        ("q1", "Q?", "2", "[1]", "same", "B [1]"),
    ]
    with path.open("w", encoding="utf-8-sig", newline="") as out:
        csv.writer(out).writerows(rows)
    return path


def test_open_rag_eval(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.load(_open_rag_eval(tmp_path / "eval.csv"))
    first, second = (
        d for (d,) in warehouse.rows("select doc_id from assay_raw.document_fields order by value desc")
    )
    assert warehouse.rows("select trial, answer from assay_raw.answers order by 1") == [
        (1, "A\nnew line [1, 2] and [4]"),
        (2, "B [1]"),
    ]
    assert warehouse.rows(
        "select trial, list(cited order by position) from assay_raw.answer_citations group by 1 order by 1"
    ) == [(1, [first, second, "[4]"]), (2, [first])]


def test_marked_answers_on_a_collection(
    warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse.load(
        write_collection(
            tmp_path / "c",
            docs=["38685", "12"],
            queries=[
                {"query_id": "1", "query": "desk"},
                {"query_id": "2", "query": "two"},
                {"query_id": "3", "query": "two"},
            ],
        )
    )
    answers = tmp_path / "answers.jsonl"
    write_lines(
        answers,
        [
            {"query_id": "1", "context": "r", "context_ids": [12, "38685"], "answer": "(ID 38685) [12] [5]"},
            *(
                {"query": "desk", "context": f"r{i}", "context_ids": ["12"], "answer": "[12]"}
                for i in range(20)
            ),
            {"query": "two", "context": "r", "context_ids": ["12"], "answer": "[12]"},
        ],
    )
    assert warehouse.run("load", "--format", "marked", answers) == 1
    assert "say which collection" in capsys.readouterr().err
    assert warehouse.run("load", "--format", "marked", "--collection", "c", "--set", "base=3", answers) == 1
    assert "base must be 0 or 1" in capsys.readouterr().err
    assert warehouse.run("load", "--format", "marked", "--collection", "c", answers) == 0
    assert warehouse.rows(
        "select list(cited order by position) from assay_raw.answer_citations where query_id = '1' and retriever = 'r'"
    ) == [(["38685", "12", "5"],)]
    assert warehouse.rows("select line, reason from assay_raw.quarantine") == [
        (22, "no query_id, and not just one query of 'c' has this text")
    ]
    assert warehouse.run("load", "--format", "marked", "--collection", "c", "--set", "base=1", answers) == 0
    assert warehouse.rows(
        "select list(cited order by position) from assay_raw.answer_citations where query_id = '1' and retriever = 'r'"
    ) == [(["[38685]", "[12]", "[5]"],)]


@pytest.mark.skipif(not SHARED.exists(), reason="the real data is not here")
@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("alce_prompts/asqa_default.json", (20, 4, 4)),
        ("alce_prompts/eli5_default.json", (20, 4, 4)),
        ("alce_prompts/qampari_default.json", (None, 4, 4)),
        ("ragchecker/checking_inputs.json", (7, 2, 2)),
        ("open_rag_eval_csv/test_csv_connector.csv", (None, 6, 7)),
        ("open_rag_eval_csv/tests_csv_results.csv", (None, 6, 7)),
    ],
)
def test_real_files_load(warehouse: Warehouse, path: str, counts: tuple[int | None, int, int]) -> None:
    warehouse.load(SHARED / path)
    found = warehouse.rows(
        "select (select count(*) from assay_raw.context_documents), (select count(*) from assay_raw.queries),"
        " (select count(*) from assay_raw.answers)"
    )[0]
    assert found[1:] == counts[1:]
    if counts[0] is not None:
        assert found[0] == counts[0]
    assert warehouse.rows("select count(*) from assay_raw.quarantine") == [(0,)]


def test_ares_labels_are_judgments_and_support(warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "nq.tsv"
    rows = [
        "Query\tDocument\tAnswer\tContext_Relevance_Label\tAnswer_Faithfulness_Label\tAnswer_Relevance_Label"
    ]
    rows += [
        "q?\tfirst\ta\t1\t1.0\t1",
        "q?\tsecond\tb\t0\t0\t",
        "r?\tfirst\tc\t\t\t1",
        "s?\tx\td\tmaybe\t1\t1",
    ]
    rows += [f"t{i}?\tx\td\t1\t1\t1" for i in range(60)]
    path.write_text("\n".join(rows) + "\n")
    found = format_of(path, None)
    assert found is not None and found.NAME == "ares"
    warehouse.load(path)
    assert warehouse.rows(
        "select query, value, grade from assay_raw.judgments join assay_raw.queries using (query_id)"
        " join assay_raw.document_fields using (doc_id) where query in ('q?', 'r?') order by all"
    ) == [("q?", "first", 1), ("q?", "second", 0)]
    assert warehouse.rows(
        "select query, trial, judge, label from assay_raw.support join assay_raw.queries using (query_id)"
        " where query in ('q?', 'r?') order by all"
    ) == [("q?", 1, "person", "supported"), ("q?", 2, "person", "unsupported")]
    assert warehouse.rows("select line, reason from assay_raw.quarantine where kind = 'recording'") == [
        (4, "could not convert string to float: 'maybe'")
    ]


def test_trec_rag_s_labels_of_support(warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "rag.jsonl"
    entry = {
        "topic_id": "1", "topic": "t", "run_id": "r", "references": ["a", "b"],
        "answer": [{"text": "One.", "citations": [1, 0, 0]}, {"text": "Two.", "citations": []}],
        "support_eval": [
            {"answer": "One.", "citations": [1, 0, 0], "eval_scores": ["FS", None, "NS"], "gpt-4o_responses": ["Full Support", "?", "No Support"]},
            {"answer": "Two.", "citations": [], "eval_scores": []},
            {"answer": "Odd.", "citations": [0], "eval_scores": ["XX"]},
        ],
    }  # fmt: skip
    write_lines(path, [entry])
    assert warehouse.run("load", "--set", "judge=person", path) == 0
    assert warehouse.rows("select file, line from assay_raw.quarantine") == [("rag.jsonl: labels", 3)]
    entry["support_eval"][2]["eval_scores"] = ["PS"]  # type: ignore[index]
    write_lines(path, [entry])
    assert warehouse.run("load", "--set", "judge=person", path) == 0
    labels = """
        select query_id, retriever, claim, judge, label, doc_id
        from assay_raw.support join assay_raw.support_documents using (recording_id, line) order by line
    """
    assert warehouse.rows(labels) == [
        ("1", "r", "One.", "gpt-4o", "supported", "b"),
        ("1", "r", "One.", "gpt-4o", "unsupported", "a"),
        ("1", "r", "Odd.", "person", "partly", "a"),
    ]

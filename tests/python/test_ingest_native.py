"""What the native format's loader keeps, and what it refuses and how."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Warehouse, write_collection, write_lines, write_recording

DOCS = ["120", "130", "a", "b"]
QUERIES = ["q1", "q2"]


def answer(query: str = "q1", **more: Any) -> dict[str, Any]:
    return {
        "query_id": query,
        "context": "bm25",
        "context_ids": ["120", "130"],
        "answer": "",
        "cited": [],
    } | more


@pytest.fixture
def loaded(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    warehouse.load(write_collection(tmp_path / "c", docs=DOCS, queries=QUERIES, qrels=[("q1", "a", 1)]))
    return warehouse


# What is kept


def test_ids_are_text_and_numbers_are_the_same_as_their_digits(warehouse: Warehouse, tmp_path: Path) -> None:
    write_collection(
        tmp_path / "c",
        docs=[{"doc_id": 8171}, "007", "7", "12 ", "012"],
        queries=[{"query_id": 1, "query": "x"}],
    )
    warehouse.load(tmp_path / "c")
    assert {r[0] for r in warehouse.rows("select doc_id from assay_raw.documents")} == {
        "8171",
        "007",
        "7",
        "12 ",
        "012",
    }


def test_300_000_ids_stay_apart(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "c", queries=QUERIES)
    (folder / "catalog.jsonl").unlink()
    (folder / "catalog.csv").write_text("doc_id\n" + "\n".join(str(i) for i in range(1, 300_000)) + "\n007\n")
    warehouse.load(folder)
    assert warehouse.rows("select count(distinct doc_id) from assay_raw.documents") == [(300_000,)]
    assert warehouse.rows("select count(*) from assay_raw.documents where doc_id in ('007', '7')") == [(2,)]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_bytes_of_tables_are_kept(warehouse: Warehouse, tmp_path: Path, ending: str) -> None:
    folder = write_collection(tmp_path / "c", queries=QUERIES, fields=["text"])
    (folder / "catalog.jsonl").unlink()
    text = 'a tab\tand a "quote"\nand a lone newline' if ending == "csv" else 'a "quote" and ’   end'
    quoted = '"' + text.replace('"', '""') + '"' if ending == "csv" else text
    between = "," if ending == "csv" else "\t"
    first = '"rep,_1992"' if ending == "csv" else "rep,_1992"
    raw = f"\ufeffdoc_id{between}text\r\n{first}{between}{quoted}\r\nNULL{between}NULL\r\nempty{between}\r\n"
    (folder / f"catalog.{ending}").write_bytes(raw.encode())
    warehouse.load(folder)
    assert warehouse.rows("select doc_id from assay_raw.documents order by 1") == [
        ("NULL",),
        ("empty",),
        ("rep,_1992",),
    ]
    assert warehouse.rows("select doc_id, value from assay_raw.document_fields order by 1") == [
        ("NULL", "NULL"), ("rep,_1992", text),
    ]  # fmt: skip


def test_bytes_of_lines_are_kept(warehouse: Warehouse, tmp_path: Path) -> None:
    text = 'tab\t quote" newline\n return\r\u2028 sep \x1f unit \\ 日本'
    folder = write_collection(
        tmp_path / "c", docs=[{"doc_id": "d", "text": text}], queries=QUERIES, fields=["text"]
    )
    lines = (folder / "catalog.jsonl").read_text()
    (folder / "catalog.jsonl").write_bytes(b"\xef\xbb\xbf" + lines.replace("\n", "\r\n").encode() + b"\r\n")
    warehouse.load(folder)
    assert warehouse.rows("select value from assay_raw.document_fields") == [(text,)]


def test_hostile_ids_are_ids(warehouse: Warehouse, tmp_path: Path) -> None:
    ids = ["O'Neil\";--", "50%_off", "a#b", "NULL", "nan", "x\ny", "{id}", "\\1", "$1"]
    folder = write_collection(
        tmp_path / "c'; drop table x;--", "c'; --", docs=ids, queries=ids, qrels=[(i, i, 1) for i in ids]
    )
    recording = write_recording(
        tmp_path / "r",
        "r'\";--",
        "answers",
        [answer(i, context_ids=ids, cited=[i], answer=f"see {i} now") for i in ids],
        "c'; --",
    )
    warehouse.load(folder, recording)
    assert {r[0] for r in warehouse.rows("select doc_id from assay_raw.answer_citations")} == set(ids)
    named = warehouse.rows(
        "select query_id, doc_id from assay_raw.context_documents where is_in_text order by 1"
    )
    assert named == sorted((i, i) for i in ids)


def test_gz_is_read(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "c", docs=DOCS, queries=QUERIES)
    plain = folder / "catalog.jsonl"
    (folder / "catalog.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    warehouse.load(folder)
    assert warehouse.rows("select count(*) from assay_raw.documents") == [(len(DOCS),)]


def test_words_and_pieces(warehouse: Warehouse, tmp_path: Path) -> None:
    text = '48" Track, cafe\u0301 CAFÉ x_y\u00a0z'
    folder = write_collection(
        tmp_path / "c", docs=[{"doc_id": "d 1", "text": text}], queries=QUERIES, fields=["text"]
    )
    warehouse.load(folder)
    words = {r[0] for r in warehouse.rows("select word from assay_raw.document_words")}
    assert words == {"48", "track", "café", "x", "y", "z"}
    # 'ID: d 1' has three pieces; 'text:' one; the text those of str.split.
    assert warehouse.rows("select n_id_words, n_words from assay_raw.documents") == [
        (3, 3 + 1 + len(text.split()))
    ]


def test_a_number_in_a_text_is_no_citation(loaded: Warehouse, tmp_path: Path) -> None:
    rows = [answer(answer='The 48" desk (2019) fits [120]', cited=["120"])]
    loaded.load(write_recording(tmp_path / "r", "r", "answers", rows))
    named = loaded.rows("select doc_id from assay_raw.context_documents where is_in_text")
    assert named == [("120",)]


@pytest.mark.parametrize(
    ("text", "ids", "found"),
    [
        ("MED-10 and MED-10 MED-10", ["10", "MED-10"], ["MED-10"]),
        ("10 10, MED-10", ["10", "MED-10"], ["10", "MED-10"]),
        ("x10 10x é10 10é", ["10"], []),
        ("10", ["10"], ["10"]),
        ("(10)(11)", ["10", "11"], ["10", "11"]),
        ("a+b a.b axb", ["a.b"], ["a.b"]),
        ("Ab", ["ab"], []),
        ("", ["10"], []),
    ],
)
def test_ids_in_text(loaded: Warehouse, tmp_path: Path, text: str, ids: list[str], found: list[str]) -> None:
    loaded.load(write_recording(tmp_path / "r", "r", "answers", [answer(context_ids=ids, answer=text)]))
    named = loaded.rows("select doc_id from assay_raw.context_documents where is_in_text order by 1")
    assert [r[0] for r in named] == sorted(found)


def test_ids_in_text_by_form(loaded: Warehouse, tmp_path: Path) -> None:
    rows = [answer(answer="sizes 130, (ID 120).")]
    loaded.load(write_recording(tmp_path / "r", "r", "answers", rows, citation_form="(ID {id})"))
    assert loaded.rows("select doc_id from assay_raw.context_documents where is_in_text") == [("120",)]


def test_citations_are_kept_whatever_they_are(loaded: Warehouse, tmp_path: Path) -> None:
    rows = [answer(cited=["120", 130, None, True, 1.5, "", "none", {"a": 1}]), answer("q2", cited=None)]
    loaded.load(write_recording(tmp_path / "r", "r", "answers", rows))
    assert loaded.rows("select cited, doc_id from assay_raw.answer_citations order by position") == [
        ("120", "120"), ("130", "130"), (None, None), ("true", None), ("1.5", None), ("", ""), ("none", "none"), ('{"a":1}', None),
    ]  # fmt: skip
    assert loaded.rows("select query_id, has_cited from assay_raw.answers order by 1") == [
        ("q1", True),
        ("q2", False),
    ]


def test_absent_and_empty_contexts_differ(loaded: Warehouse, tmp_path: Path) -> None:
    rows = [answer(context_ids=[]), answer("q2", context_ids=None)]
    loaded.load(write_recording(tmp_path / "r", "r", "answers", rows))
    assert loaded.rows("select query_id, has_documents from assay_raw.contexts order by 1") == [
        ("q1", True),
        ("q2", False),
    ]


def test_repeats_keep_their_first_place(loaded: Warehouse, tmp_path: Path) -> None:
    rows = [{"query_id": "q1", "context": "bm25", "doc_ids": ["a", "a", "b", "a"]}]
    loaded.load(write_recording(tmp_path / "r", "r", "contexts", rows))
    assert loaded.rows("select rank, first_rank from assay_raw.context_documents order by 1") == [
        (1, 1),
        (2, 1),
        (3, 3),
        (4, 1),
    ]


def test_extra_keys_are_kept_and_counted(loaded: Warehouse, tmp_path: Path) -> None:
    rows = [answer(mood={"x": None}, extra={"y": 1}), answer("q2", extra={"y": 2})]
    loaded.load(write_recording(tmp_path / "r", "r", "answers", rows))
    extras = [json.loads(r[0]) for r in loaded.rows("select extra from assay_raw.answers order by query_id")]
    assert extras == [{"y": 1, "mood": {"x": None}}, {"y": 2}]
    noticed = loaded.rows(
        "select check_name, observed from assay_raw.checks where check_name = 'extra_keys' and status = 'failed'"
    )
    assert noticed == [("extra_keys", 1)]


# Runs


def test_a_run_is_ordered_as_trec_eval_does(loaded: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    # 1.00000001 and 1.0 are one 4-byte float; then the higher doc_id stands first. The rank column contradicts.
    (folder / "run.txt").write_text(
        "q1 Q0 a 1 1.00000001 t\nq1\tQ0  b 2 1.0 t\r\nq1 Q0 120 3 7e0 t\nq1 Q0 a 1 2 u\n"
    )
    manifest = {"recording": "r", "kind": "contexts", "collection": "c"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    loaded.load(folder)
    ranked = "select doc_id, run_rank from assay_raw.context_documents where retriever = 't' order by rank"
    assert loaded.rows(ranked) == [("120", 3), ("b", 2), ("a", 1)]
    (folder / "manifest.json").write_text(json.dumps(manifest | {"order": "rank"}))
    loaded.load(folder)
    assert loaded.rows(ranked) == [("a", 1), ("b", 2), ("120", 3)]


def test_a_run_that_repeats_a_document_is_refused(
    loaded: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    (folder / "run.txt").write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq1 Q0 a 3 0 t\n")
    (folder / "manifest.json").write_text(
        json.dumps({"recording": "r", "kind": "contexts", "collection": "c"})
    )
    assert loaded.run("load", folder) == 1
    assert "run.txt, line 3: document 'a' stands twice for query 'q1'" in capsys.readouterr().err


# Traces


def searches(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    return warehouse.rows(
        "select search, query, has_results, n_attempts, n_errors, step_at from assay_raw.searches order by trace_id, search"
    )


def test_a_retried_call_is_one_search(loaded: Warehouse, tmp_path: Path) -> None:
    nested = {
        "query_id": "q1", "retriever": "bm25", "picked": ["a"],
        "searches": [
            {"query": "x", "call_id": "c1", "attempt": 1, "error": "timeout"},
            {"query": "x", "call_id": "c1", "attempt": 2, "results": ["120", "130", "a", "b", "d5"]},
        ],
    }  # fmt: skip
    flat = [
        {
            "trace_id": "t",
            "query_id": "q2",
            "retriever": "bm25",
            "seq": 2,
            "event": "search",
            "query": "x",
            "attempt": 2,
            "results": ["a"],
        },
        {
            "trace_id": "t",
            "query_id": "q2",
            "retriever": "bm25",
            "seq": 1,
            "event": "search",
            "query": "x",
            "attempt": 1,
            "error": "no",
        },
    ]
    loaded.load(write_recording(tmp_path / "r", "r", "traces", [nested, *flat]))
    # Its results could be read after its second attempt, the second event.
    assert searches(loaded) == [(1, "x", True, 2, 1, 2), (1, "x", True, 2, 1, 2)]
    assert loaded.rows("select count(*) from assay_raw.search_results where trace_id = 'bm25/q1/1'") == [(5,)]


def test_unknown_and_empty_search_words(loaded: Warehouse, tmp_path: Path) -> None:
    trace = {
        "query_id": "q1",
        "retriever": "r",
        "searches": [{"query": ""}, {"results": []}, {"query": None, "results": None}],
    }
    loaded.load(write_recording(tmp_path / "r", "r", "traces", [trace]))
    assert [(s[1], s[2]) for s in searches(loaded)] == [("", False), (None, True), (None, False)]
    assert loaded.rows("select count(*) from assay_raw.search_words") == [(0,)]
    assert loaded.rows("select is_finished, has_searches from assay_raw.traces") == [(False, True)]


def test_the_last_pick_without_an_error_counts(loaded: Warehouse, tmp_path: Path) -> None:
    base = {"trace_id": "t", "query_id": "q1", "retriever": "r"}
    rows = [
        base | {"seq": 4, "event": "pick", "picked": [], "error": "give three"},
        base | {"seq": 1, "event": "pick", "picked": ["a"]},
        base | {"seq": 3, "event": "pick", "picked": ["b", 120, None]},
        base | {"seq": 2, "event": "feedback", "text": "meh"},
    ]
    loaded.load(write_recording(tmp_path / "r", "r", "traces", rows))
    assert loaded.rows("select picked, doc_id from assay_raw.picks order by position") == [
        ("b", "b"),
        ("120", "120"),
        (None, None),
    ]
    assert loaded.rows("select seq, event from assay_raw.trace_events order by seq") == [
        (1, "pick"),
        (2, "feedback"),
        (4, "pick"),
    ]
    assert loaded.rows("select word from assay_raw.trace_event_words") == [("meh",)]


def test_events_of_one_step_share_its_place(loaded: Warehouse, tmp_path: Path) -> None:
    base = {"trace_id": "t", "query_id": "q1", "retriever": "r", "event": "search"}
    rows = [
        base | {"seq": i, "query": str(i), "step": s}
        for i, s in ((1, 1), (2, 2), (3, 2), (4, None), (5, None))
    ]
    loaded.load(write_recording(tmp_path / "r", "r", "traces", rows))
    assert [s[5] for s in searches(loaded)] == [1, 2, 2, 4, 5]


# Loading again


def test_the_same_bytes_change_nothing(
    loaded: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_recording(tmp_path / "r", "r", "answers", [answer(cited=["120"])])
    loaded.load(folder)
    before = loaded.everything()
    capsys.readouterr()
    loaded.load(folder)
    assert "nothing changed" in capsys.readouterr().out
    assert loaded.everything() == before


def test_changed_bytes_replace_the_recording_whole(loaded: Warehouse, tmp_path: Path) -> None:
    folder = write_recording(tmp_path / "r", "r", "answers", [answer(cited=["120"]), answer("q2")])
    other = write_recording(tmp_path / "other", "other", "answers", [answer()])
    loaded.load(folder, other)
    write_lines(folder / "answers.jsonl", [])
    loaded.load(folder)
    assert loaded.rows("select recording_id, count(*) from assay_raw.answers group by 1") == [("other", 1)]
    assert loaded.rows("select count(*) from assay_raw.answer_citations") == [(0,)]
    assert loaded.rows("select recording_id, n_lines, load_number from assay_raw.recordings order by 1") == [
        ("other", 1, 3),
        ("r", 0, 4),
    ]


# Broken lines


def test_a_cut_line_is_quarantined(loaded: Warehouse, tmp_path: Path) -> None:
    folder = write_recording(tmp_path / "r", "r", "answers", [answer(), answer("q2")])
    with (folder / "answers.jsonl").open("a") as out:
        out.write('{"query_id": "q1", "context": "se')
    loaded.load(folder)
    assert loaded.rows("select n_lines, n_loaded, n_quarantined from assay_raw.recordings") == [(3, 2, 1)]
    [(file, line, reason, text)] = loaded.rows("select file, line, reason, text from assay_raw.quarantine")
    assert (file, line) == ("answers.jsonl", 3) and "not valid JSON" in reason and text.endswith('"se')


def test_what_python_must_read_first_is_read_the_same(loaded: Warehouse, tmp_path: Path) -> None:
    folder = write_recording(tmp_path / "r", "r", "answers", [])
    good = [json.dumps(answer(q)) for q in QUERIES]
    raw = (
        b"\n"
        + good[0].encode()
        + b"\r\n\n"
        + b'{"query_id": "\xff"}\n'
        + good[1].replace(", ", ",\r ", 1).encode()
        + b"\r\n \n"
    )
    (folder / "answers.jsonl").write_bytes(raw)
    loaded.load(folder)
    assert loaded.rows("select query_id, line from assay_raw.answers order by line") == [("q1", 2), ("q2", 5)]
    [(line, reason)] = loaded.rows("select line, reason from assay_raw.quarantine")
    assert line == 4 and "not UTF-8" in reason
    assert loaded.rows("select n_lines, n_loaded, n_quarantined from assay_raw.recordings") == [(3, 2, 1)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"query_id": true, "context": "x"}', "query_id must be a text or a whole number, not true"),
        ('{"query_id": "q1", "context": "x", "context_ids": ["a", {"b": 1}]}', "context_ids must be a list of IDs"),
        ('{"query_id": "q1", "context": "x", "cited": "a"}', "cited must be a list, not"),
        ('{"query_id": "q1", "context": "x", "trial": 0}', "trial must be a whole number, 1 or higher"),
        ('{"query_id": "q1", "context": "x", "duration_ms": NaN}', "NaN, Infinity or a comma"),
        ('{"query_id": "q1", "query_id": "q2", "context": "x"}', "a key stands in it twice"),
        ('{"query_id": "q1", "context": "x", "context_ids": ["a"], "passage_ids": []}', "differ in length"),
        ('["q1"]', "not a JSON object"),
    ],
)  # fmt: skip
def test_broken_lines_say_why(loaded: Warehouse, tmp_path: Path, line: str, reason: str) -> None:
    loaded.load(write_recording(tmp_path / "r", "r", "answers", [answer(), answer("q2"), line]))
    [(found,)] = loaded.rows("select reason from assay_raw.quarantine")
    assert reason in found


# What is refused


def refused(warehouse: Warehouse, capsys: pytest.CaptureFixture[str], *paths: Path) -> str:
    """Load what must be refused: exit code 1, one line, no traceback, the warehouse as it was."""
    before = warehouse.everything()
    capsys.readouterr()
    assert warehouse.run("load", *paths) == 1
    said = capsys.readouterr().err
    assert said.count("error: ") == 1 and "Traceback" not in said
    assert warehouse.everything() == before
    return said


BAD_COLLECTIONS: list[tuple[dict[str, Any], str]] = [
    (
        {"qrels": [("q1", "e", 0), ("q1", "e", 2)]},
        "qrels.jsonl, line 2: query 'q1' and document 'e' have two grades, 0 and 2",
    ),
    ({"qrels": [("nope", "a", 1)]}, "qrels.jsonl, line 1: 'nope' is not a query of the collection"),
    ({"docs": ["a", "b", "a"]}, "catalog.jsonl, line 3: doc_id 'a' stands on line 1 already"),
    ({"queries": ["q1", "q1"]}, "queries.jsonl, line 2: query_id 'q1' stands on line 1 already"),
    ({"queries": [{"query_id": "q1"}]}, "queries.jsonl, line 1: the key 'query' is not there"),
    ({"docs": [{"id": "a"}]}, "catalog.jsonl, line 1: the key 'doc_id' is not there"),
    ({"qrels": [("q1", "a", 1)], "exact_grade": None}, "the key 'exact_grade' is not there"),
    ({"exact_grade": "two"}, "'exact_grade' must be a whole number, not 'two'"),
    ({"fields": None}, "the key 'fields' is not there"),
    ({"catalog": "half"}, "'catalog' must be one of whole, seen, not 'half'"),
    ({"licence": "FILL IN: the licence"}, "'licence' still says 'FILL IN'"),
]


@pytest.mark.parametrize(("change", "message"), BAD_COLLECTIONS)
def test_bad_collections_are_refused(
    warehouse: Warehouse,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    message: str,
) -> None:
    warehouse.load(write_collection(tmp_path / "before", "before", docs=["x"], queries=["q"]))
    given: dict[str, Any] = {"docs": DOCS, "queries": QUERIES} | change
    assert message in refused(warehouse, capsys, write_collection(tmp_path / "c", **given))


BAD_RECORDINGS: list[tuple[dict[str, Any], list[Any], str]] = [
    ({}, [answer("nope")], "answers.jsonl, line 1: 'nope' is not a query of the collection 'c'"),
    ({}, [answer(), answer()], "answers.jsonl, line 2: query_id 'q1', retriever 'bm25', trial 1 stands on line 1 already"),
    ({}, [{"context": "x"}], "answers.jsonl, line 1: the key 'query_id' is not there"),
    ({}, [answer(), {"query_id": "q2"}], "answers.jsonl, line 2: the key 'context' is not there"),
    ({"kind": "song"}, [], "'kind' must be one of answers, traces, contexts, labels, not 'song'"),
    ({"kind": "traces"}, [], "traces.jsonl is missing"),
    ({"collection": "later"}, [], "the collection 'later' is not loaded"),
    ({"collection": None}, [], "the key 'collection' is not there"),
    ({"split": "holdout"}, [], "no query of the collection 'c' has the split 'holdout'"),
    ({"files": {"answers.jsonl": {"sha256": "0" * 64}}}, [answer()], "answers.jsonl: its sha256 is"),
    ({"files": {"answers.jsonl": {"rows": 7}}}, [answer()], "it has 1 rows, and manifest.json says 7"),
    ({"files": {"gone.jsonl": {}}}, [], "gone.jsonl: there is no such file"),
    ({"files": {"../c/catalog.jsonl": {}}}, [], "is not the bare name of a file in this folder"),
    ({"asked": "asked.txt"}, [], "asked.txt: there is no such file"),
    ({"shown_fields": ["name"]}, [], "'name' in 'shown_fields' is not a field of the collection"),
    ({"results_shown": 0}, [], "'results_shown' must be 1 or higher, not 0"),
    ({"recorded_at": "yesterday"}, [], "'recorded_at' must be a time such as"),
    ({"citation_form": "[id]"}, [], "'citation_form' must hold {id}"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "rows", "message"), BAD_RECORDINGS)
def test_bad_recordings_are_refused(
    loaded: Warehouse,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    settings: dict[str, Any],
    rows: list[Any],
    message: str,
) -> None:
    loaded.load(write_recording(tmp_path / "before", "r", "answers", [answer("q2", cited=["a"])]))
    folder = write_recording(tmp_path / "r", "r", "answers", rows)
    manifest = json.loads((folder / "manifest.json").read_text()) | settings
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert message in refused(loaded, capsys, folder)


def test_other_refusals(loaded: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no such file or folder" in refused(loaded, capsys, tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "neither collection.json nor manifest.json" in refused(loaded, capsys, tmp_path / "empty")
    folder = write_recording(tmp_path / "r", "r", "answers", [])
    (folder / "manifest.json").write_text('{"recording": "r",\n "kind": }')
    assert "manifest.json, line 2: this is not valid JSON" in refused(loaded, capsys, folder)
    (folder / "manifest.json").write_text('{"recording": "r", "recording": "s"}')
    assert "stands in it twice" in refused(loaded, capsys, folder)
    (folder / "answers.jsonl").unlink()
    (folder / "manifest.json").write_text('{"recording": "r", "kind": "answers", "collection": "c"}')
    (folder / "answers.jsonl").symlink_to(tmp_path / "c" / "catalog.jsonl")
    assert "leads out of the folder" in refused(loaded, capsys, folder)


def test_a_csv_without_a_column_is_refused(
    warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse.load(write_collection(tmp_path / "before", "before", docs=["x"], queries=["q"]))
    folder = write_collection(tmp_path / "c", queries=QUERIES, fields=["name"])
    (folder / "catalog.jsonl").unlink()
    (folder / "catalog.csv").write_text("doc_id,title\n1,x\n")
    assert "the column 'name' is not there, and collection.json lists it" in refused(
        warehouse, capsys, folder
    )
    (folder / "catalog.csv").write_text("id,name\n1,x\n")
    assert "the column 'doc_id' is not there; the columns are 'id', 'name'" in refused(
        warehouse, capsys, folder
    )


def test_unknown_documents_are_warned_of_and_kept(loaded: Warehouse, tmp_path: Path) -> None:
    rows = [{"query_id": "q1", "context": "x", "doc_ids": ["a", "ghost", "ghost2"]}]
    loaded.load(write_recording(tmp_path / "r", "r", "contexts", rows))
    [(severity, observed)] = loaded.rows(
        "select severity, observed from assay_raw.checks where check_name = 'unknown_document' and status = 'failed'"
    )
    assert (severity, observed) == ("warning", 2)
    assert loaded.rows("select count(*) from assay_raw.context_documents") == [(3,)]


def test_repeated_judgments_are_noted(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.load(
        write_collection(tmp_path / "c", docs=DOCS, queries=QUERIES, qrels=[("q1", "a", 1), ("q1", "a", 1)])
    )
    assert warehouse.rows("select check_name, observed from assay_raw.checks where status = 'failed'") == [
        ("repeated_judgment", 1)
    ]


def test_pinned_files_are_held_to_their_digest(loaded: Warehouse, tmp_path: Path) -> None:
    folder = write_recording(tmp_path / "r", "r", "answers", [answer()])
    digest = hashlib.sha256((folder / "answers.jsonl").read_bytes()).hexdigest()
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(
        json.dumps(manifest | {"files": {"answers.jsonl": {"sha256": digest, "rows": 1}}})
    )
    loaded.load(folder)
    assert loaded.rows("select is_pinned from assay_raw.recordings") == [(True,)]


# What means harm


HOSTILE_LINES: list[tuple[str, bytes, str]] = [
    ("a NUL byte", b'{"query_id": "q2", "context": "x\x00"}', "control character 0x00"),
    ("bytes that are no UTF-8", b'{"query_id": "q2", "context": "\xff"}', "not UTF-8: byte 0xff"),
    ("half a surrogate pair", b'{"query_id": "q2", "context": "x", "answer": "\\ud800"}', "not valid JSON"),
    (
        "a number beyond 64 bits",
        b'{"query_id": "q2", "context": "x", "trial": 99999999999999999999}',
        "trial must be",
    ),
    (
        "a line of 100 MB",
        b'{"query_id": "q2", "context": "x", "answer": "' + b"z" * 100_000_000 + b'"}',
        "longer than 16,777,216",
    ),
    (
        "deep nesting",
        b'{"query_id": "q2", "context": "x", "cited": ' + b"[" * 100_000 + b'"}',
        "deep inside each other",
    ),
    (
        "nesting in extra",
        b'{"query_id": "q2", "context": "x", "more": ' + b'{"a":' * 600 + b"1" + b"}" * 601,
        "deep inside",
    ),
    ("NaN in extra", b'{"query_id": "q2", "context": "x", "more": {"score": NaN}}', "NaN, Infinity"),
    ("Infinity in extra", b'{"query_id": "q2", "context": "x", "more": [1, -Infinity]}', "NaN, Infinity"),
    ("a comma too many", b'{"query_id": "q2", "context": "x", "more": [1, ]}', "comma before"),
]


@pytest.mark.parametrize(
    ("line", "reason"), [case[1:] for case in HOSTILE_LINES], ids=[case[0] for case in HOSTILE_LINES]
)
def test_hostile_lines_are_quarantined(loaded: Warehouse, tmp_path: Path, line: bytes, reason: str) -> None:
    folder = write_recording(tmp_path / "r", "r", "answers", [])
    (folder / "answers.jsonl").write_bytes(
        json.dumps(answer()).encode() + b"\n" + line + b"\n" + json.dumps(answer("q2")).encode()
    )
    loaded.load(folder)
    [(number, why)] = loaded.rows("select line, reason from assay_raw.quarantine")
    assert number == 2 and reason in why
    assert loaded.rows("select query_id from assay_raw.answers order by 1") == [("q1",), ("q2",)]


HOSTILE_MANIFESTS: list[tuple[bytes, str]] = [
    (b"[]", "must hold one JSON object"),
    (b"[" * 100_000, "nested too deep"),
    (b"\xff\xfe", "not UTF-8"),
    (b'{"recording": "r\\ud800"}', "half of a surrogate pair"),
    (b'{"recording": "r", "x": NaN}', "NaN is not a number"),
    (b'{"recording": "r", "x": ' + b"9" * 5000 + b"}", "too long to be a number"),
    (b'{"recording": "r\\u0000z", "kind": "answers", "collection": "c"}', "that can be printed"),
    (b'{"recording": "r\\nz", "kind": "answers", "collection": "c"}', "that can be printed"),
    (
        b'{"recording": "r", "kind": "answers", "collection": "c", "asked": "/etc/passwd"}',
        "not the bare name",
    ),
]


@pytest.mark.parametrize(("text", "message"), HOSTILE_MANIFESTS)
def test_hostile_manifests_are_refused(
    loaded: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: bytes, message: str
) -> None:
    folder = write_recording(tmp_path / "r", "r", "answers", [])
    (folder / "manifest.json").write_bytes(text)
    assert message in refused(loaded, capsys, folder)


def test_a_gzip_bomb_takes_no_memory(
    loaded: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_recording(tmp_path / "r", "r", "answers", [])
    (folder / "answers.jsonl").unlink()
    with gzip.open(folder / "answers.jsonl.gz", "wb", compresslevel=1) as out:
        for _ in range(300):
            out.write(b"a" * 1_000_000)
    assert "longer than 16,777,216 bytes" in refused(loaded, capsys, folder)
    (folder / "answers.jsonl.gz").write_bytes(b"no gzip")
    assert "can't be unpacked" in refused(loaded, capsys, folder)


def test_an_id_of_10_000_characters_is_data_or_refused(
    loaded: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "z" * 10_000
    rows = [answer(context_ids=[long]), answer("q2")]
    loaded.load(write_recording(tmp_path / "r", "r", "answers", rows))
    found = loaded.rows("select doc_id from assay_raw.context_documents where length(doc_id) > 100")
    assert found == [(long,)]
    # What is said of it is short.
    said = refused(loaded, capsys, write_recording(tmp_path / "s", "s", "answers", [answer(long)]))
    assert "is not a query of the collection" in said and len(said) < 1_000
    said = refused(loaded, capsys, write_recording(tmp_path / "n", long, "answers", [answer()]))
    assert "up to 200 characters" in said and len(said) < 1_000


def test_runs_quarantine_what_is_no_row(loaded: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    rows = ["q1 Q0 a 1 nan t", "q1 Q0 b x 1 t", "q1 Q0 120 1 1e400 t", "q2 Q0 a 1 1 t", "q2 Q0 b 2 .5 t"]
    (folder / "run.txt").write_text("\n".join(rows + [f"q1 Q0 d{i} {i} {-i} t" for i in range(100)]) + "\n")
    (folder / "manifest.json").write_text(
        json.dumps({"recording": "r", "kind": "contexts", "collection": "c"})
    )
    loaded.load(folder)
    assert [line for (line,) in loaded.rows("select line from assay_raw.quarantine order by 1")] == [1, 2, 3]

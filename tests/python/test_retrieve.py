"""`ingest retrieve` on small collections: BM25, units, ties, orders, agents' searches, and what is refused."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Warehouse, write_collection, write_recording

from ingest.retrieve import retrievers
from ingest.retrieve.units import sentences

DOCS = [
    {"doc_id": "10", "name": "oak table", "description": "Round top. Seats four people! Oak legs."},
    {"doc_id": "9", "name": "pine table", "description": ""},
    {"doc_id": "2", "name": "oak chair", "description": "An oak seat. See the table"},
    {"doc_id": "30", "name": "lamp", "description": "Brass."},
    {"doc_id": "31", "name": "", "description": ""},
]
QUERIES = [
    {"query_id": "q1", "query": "oak table", "split": "test"},
    {"query_id": "q2", "query": "the of and", "split": "test"},
    {"query_id": "q3", "query": "zebra", "split": "test"},
    {"query_id": "q4", "query": "table", "split": "train", "earlier_turns": ["I have a lamp", "It is brass"]},
]


@pytest.fixture
def store(tmp_path: Path, warehouse: Warehouse) -> Warehouse:
    warehouse.load(
        write_collection(
            tmp_path / "c",
            docs=DOCS,
            queries=QUERIES,
            qrels=[("q1", "10", 1)],
            fields=["name", "description"],
        )
    )
    return warehouse


def run(warehouse: Warehouse, method: str, *args: str | Path) -> int:
    return warehouse.run("retrieve", method, "--out", warehouse.path.parent / "out" / method, *args)


def manifest(warehouse: Warehouse, method: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (warehouse.path.parent / "out" / method / "manifest.json").read_text(encoding="utf-8")
    )
    return found


def lists(warehouse: Warehouse, method: str) -> dict[tuple[str, int], list[str]]:
    text = (warehouse.path.parent / "out" / method / "contexts.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return {(row["query_id"], row.get("trial", 1)): row["doc_ids"] for row in rows}


def refused(warehouse: Warehouse, capsys: pytest.CaptureFixture[str], method: str, *args: str | Path) -> str:
    before = warehouse.everything()
    capsys.readouterr()
    assert run(warehouse, method, *args) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ") and said.count("\n") == 1, said
    assert warehouse.everything() == before
    assert not (warehouse.path.parent / "out" / method).exists()
    return said


def test_the_retrievers_are_found_by_their_files() -> None:
    assert set(retrievers()) >= {"all", "bm25", "fuse", "random", "reorder", "semantic"}


def test_bm25_gives_the_scores_of_bm25s_itself(store: Warehouse) -> None:
    import bm25s

    assert run(store, "bm25") == 0
    texts = {d["doc_id"]: "\n".join(v for v in (d["name"], d["description"]) if v) for d in DOCS}
    ids = [doc_id for doc_id, text in texts.items() if text]
    found = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    found.index(
        bm25s.tokenize([texts[i] for i in ids], stopwords="en", show_progress=False), show_progress=False
    )
    expected = dict(zip(ids, found.get_scores(["oak", "table"]).tolist(), strict=True))
    rows = store.rows(
        "select doc_id, score from assay_raw.context_documents where query_id = 'q1' order by rank"
    )
    assert dict(rows) == {doc_id: score for doc_id, score in expected.items() if score > 0}
    assert [score for _, score in rows] == sorted(expected.values(), reverse=True)[: len(rows)]


def test_a_query_without_a_known_word_retrieves_nothing_and_is_counted(
    store: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(store, "bm25", "--split", "test") == 0
    assert "3 lists, 2 of them empty" in capsys.readouterr().out
    found = lists(store, "bm25")
    assert found[("q2", 1)] == [] and found[("q3", 1)] == []
    assert store.rows("select query_id from assay_raw.contexts where has_documents order by 1") == [
        ("q1",), ("q2",), ("q3",),
    ]  # fmt: skip


def test_equal_scores_are_in_the_order_of_numbers(tmp_path: Path, warehouse: Warehouse) -> None:
    docs = [{"doc_id": i, "text": "same words"} for i in ("10", "9", "100", "-1", "007", "7")]
    queries = [{"query_id": "q", "query": "same"}]
    warehouse.load(write_collection(tmp_path / "c", docs=docs, queries=queries, fields=["text"]))
    assert run(warehouse, "bm25", "--k", "50") == 0
    assert lists(warehouse, "bm25")[("q", 1)] == ["-1", "007", "7", "9", "10", "100"]
    assert manifest(warehouse, "bm25")["retrieval"]["ties"] == "doc_id ascending, as numbers"


def test_equal_scores_are_in_the_order_of_texts_where_an_id_is_none(
    tmp_path: Path, warehouse: Warehouse
) -> None:
    docs = [{"doc_id": i, "text": "same words"} for i in ("10", "9", "B", "a", "é", "z", "𝒵", "\uff21")]
    queries = [{"query_id": "q", "query": "same"}]
    warehouse.load(write_collection(tmp_path / "c", docs=docs, queries=queries, fields=["text"]))
    assert run(warehouse, "bm25", "--k", "50") == 0
    expected = sorted((d["doc_id"] for d in docs), key=lambda i: i.encode())
    assert lists(warehouse, "bm25")[("q", 1)] == expected


def test_a_list_is_kept_deeper_than_the_context(store: Warehouse) -> None:
    assert run(store, "bm25", "--k", "1", "--depth", "2") == 0
    assert len(lists(store, "bm25")[("q1", 1)]) == 2
    assert store.rows("select results_shown from assay_raw.recordings") == [(1,)]
    settings = dict(store.rows("select setting, value from assay_raw.recording_settings"))
    assert settings["depth"] == settings["retrieval.depth"] == "2"
    assert settings["retrieval.k"] == "1" and settings["retrieval.method"] == '"bm25"'
    assert settings["retrieval.unit"] == '"whole"' and settings["retrieval.queries"] == '"people"'
    assert json.loads(settings["retrieval.stop_words.n"]) == 33
    assert settings["retrieval.libraries.bm25s"].startswith('"0.')
    digest = store.rows("select digest from assay_raw.collections")[0][0]
    assert json.loads(settings["collection_digest"]) == digest


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        # The documents that hold a word of "oak table" in what is indexed.
        ("whole", {"10", "9", "2"}),
        ("name", {"10", "9", "2"}),
        ("description", {"10", "2"}),
        ("field:description", {"10", "2"}),
        ("sentences", {"10", "2"}),
        ("sentences+fields", {"10", "9", "2"}),
    ],
)
def test_units_find_what_they_hold(store: Warehouse, unit: str, expected: set[str]) -> None:
    assert run(store, "bm25", "--unit", unit) == 0
    found = lists(store, "bm25")[("q1", 1)]
    assert set(found) == expected and len(found) == len(expected)
    assert store.rows("select distinct retriever, recording_id from assay_raw.contexts") == [
        (unit, f"c-bm25-{unit}")
    ]


def test_a_document_ranks_by_its_best_unit(store: Warehouse) -> None:
    import bm25s

    assert run(store, "bm25", "--unit", "sentences", "--depth", "100") == 0
    units = [(d["doc_id"], s) for d in DOCS for s in sentences(d["description"])]
    found = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    found.index(
        bm25s.tokenize([s for _, s in units], stopwords="en", show_progress=False), show_progress=False
    )
    best: dict[str, float] = {}
    for (doc_id, _), score in zip(units, found.get_scores(["oak", "table"]).tolist(), strict=True):
        best[doc_id] = max(score, best.get(doc_id, 0.0))
    rows = store.rows("select doc_id, score from assay_raw.context_documents where query_id = 'q1'")
    assert dict(rows) == {doc_id: score for doc_id, score in best.items() if score > 0}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n ", []),
        ("One", ["One"]),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("3.5 in by 4.", ["3.5 in by 4."]),
        ("the beauty will last a lifetime . and it is cut off ...", ["the beauty will last a lifetime .", "and it is cut off ..."]),
        ("First. ... ", ["First. ..."]),
        ("... First. Second.", ["... First.", "Second."]),
        ('He said "go." Then left.', ['He said "go."', "Then left."]),
        ("a line\nanother\r\nthird", ["a line", "another", "third"]),
        ("一文。二文！三", ["一文。", "二文！", "三"]),
        ("approx. 5 in", ["approx.", "5 in"]),
    ],
)  # fmt: skip
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_earlier_turns_stand_in_front_where_asked_for(store: Warehouse) -> None:
    assert run(store, "bm25", "--split", "train") == 0
    assert set(lists(store, "bm25")[("q4", 1)]) == {"10", "9", "2"}
    assert run(store, "bm25", "--split", "train", "--earlier-turns") == 0
    assert set(lists(store, "bm25")[("q4", 1)]) == {"10", "9", "2", "30"}
    assert store.rows("select searched_as from assay_raw.contexts") == [
        ("I have a lamp\nIt is brass\ntable",)
    ]


def test_the_same_command_gives_the_same_bytes(store: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    folder = store.path.parent / "out" / "bm25"
    assert run(store, "bm25") == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    files = manifest(store, "bm25")["files"]
    assert files["contexts.jsonl"] == {
        "sha256": hashlib.sha256(before["contexts.jsonl"]).hexdigest(),
        "rows": 4,
    }
    capsys.readouterr()
    assert run(store, "bm25") == 0
    assert "nothing changed" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_an_order_is_of_the_contexts_documents_alone(store: Warehouse) -> None:
    assert run(store, "bm25") == 0
    as_is = lists(store, "bm25")[("q1", 1)]
    assert run(store, "reorder", "c-bm25", "--order", "reversed", "--k", "2") == 0
    assert lists(store, "reorder")[("q1", 1)] == as_is[:2][::-1]
    assert store.rows("select retriever from assay_raw.contexts where recording_id = 'c-bm25-reversed' limit 1") == [
        ("bm25 reversed",)
    ]  # fmt: skip
    rows = store.rows(
        "select a.doc_id, a.score = b.score from assay_raw.context_documents as a"
        " inner join assay_raw.context_documents as b using (query_id, doc_id)"
        " where a.recording_id = 'c-bm25' and b.recording_id = 'c-bm25-reversed'"
    )
    assert rows and all(same for _, same in rows)


def test_all_gives_the_whole_collection(store: Warehouse) -> None:
    assert run(store, "all", "--split", "test") == 0
    assert lists(store, "all") == {(q, 1): ["2", "9", "10", "30", "31"] for q in ("q1", "q2", "q3")}
    assert store.rows("select results_shown from assay_raw.recordings") == [(5,)]


def test_agents_searches_are_queries_of_their_own(
    tmp_path: Path, store: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    searches = [{"query": text, "results": []} for text in ("oak", "table", "oak")]
    tasks = [
        {"query_id": "q1", "retriever": "bm25", "searches": searches, "picked": []},
        {"query_id": "q3", "retriever": "bm25", "searches": [{"query": "oak", "results": []}], "picked": []},
    ]
    store.load(write_recording(tmp_path / "t", "t", "traces", tasks))
    assert run(store, "bm25", "--queries", "agent", "--unit", "name") == 0
    assert lists(store, "bm25") == {("q1", 1): ["2", "10"], ("q1", 2): ["9", "10"], ("q3", 1): ["2", "10"]}
    rows = store.rows("select query_id, trial, searched_as from assay_raw.contexts order by all")
    assert rows == [("q1", 1, "oak"), ("q1", 2, "table"), ("q3", 1, "oak")]
    name = "c-bm25-name-agent"
    assert store.rows(f"select query_id from assay_raw.asked_queries where recording_id = '{name}' order by 1") == [
        ("q1",), ("q3",),
    ]  # fmt: skip
    assert run(store, "reorder", name, "--order", "reversed") == 0
    assert manifest(store, "reorder")["retrieval"]["queries"] == "agent"
    assert lists(store, "reorder")[("q1", 2)] == ["10", "9"]
    said = refused(store, capsys, "random", "--queries", "agent", "--traces", name)
    assert "a recording of contexts" in said


def test_what_is_refused(tmp_path: Path, store: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    assert "'colour' is neither a unit nor a field" in refused(store, capsys, "bm25", "--unit", "colour")
    assert "It has test, train." in refused(store, capsys, "bm25", "--split", "dev")
    assert "'d' is not loaded" in refused(store, capsys, "bm25", "--collection", "d")
    assert "--k must be 1 or higher" in refused(store, capsys, "bm25", "--k", "0")
    assert "--depth 2 is less than --k 5" in refused(store, capsys, "bm25", "--depth", "2")
    assert "Leave --depth out" in refused(store, capsys, "bm25", "--order", "reversed", "--depth", "9")
    assert "k1 must be 0 or higher" in refused(store, capsys, "bm25", "--k1", "nan")
    assert "no loaded recording of traces" in refused(store, capsys, "bm25", "--queries", "agent")
    assert "Add --queries agent" in refused(store, capsys, "bm25", "--traces", "t")
    assert "is no loaded recording" in refused(store, capsys, "fuse", "nothing", "more")
    empty = write_collection(tmp_path / "e", "e", queries=QUERIES, fields=["name"])
    textless = write_collection(tmp_path / "n", "n", docs=["1"], queries=QUERIES, fields=[])
    asks_nothing = write_collection(tmp_path / "o", "o", docs=["1"], fields=[])
    store.load(empty, textless, asks_nothing)
    assert "which collection?" in refused(store, capsys, "bm25")
    assert "has no documents" in refused(store, capsys, "bm25", "--collection", "e")
    assert "no document of the collection 'n' has a text" in refused(
        store, capsys, "bm25", "--collection", "n"
    )
    assert "has no queries" in refused(store, capsys, "random", "--collection", "o")


def test_what_others_made_is_not_overwritten(
    tmp_path: Path, store: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"query_id": "q1", "context": "mine", "doc_ids": ["2"]}]
    store.load(write_recording(tmp_path / "mine", "c-bm25", "contexts", rows))
    assert "would be replaced" in refused(store, capsys, "bm25")
    capsys.readouterr()
    before = {path: path.read_bytes() for path in (tmp_path / "mine").iterdir()}
    assert store.run("retrieve", "bm25", "--name", "x", "--out", tmp_path / "mine") == 1
    assert "'c-bm25' stands here" in capsys.readouterr().err
    assert store.run("retrieve", "bm25", "--name", "x", "--out", tmp_path / "c") == 1
    assert "not of a retrieved recording" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in (tmp_path / "mine").iterdir()} == before


def test_a_text_of_stop_words_alone_is_indexed_and_never_found(tmp_path: Path, warehouse: Warehouse) -> None:
    docs = [{"doc_id": "a", "text": "the of"}, {"doc_id": "b", "text": "x"}]
    warehouse.load(
        write_collection(
            tmp_path / "c", docs=docs, queries=[{"query_id": "q", "query": "the x"}], fields=["text"]
        )
    )
    assert run(warehouse, "bm25") == 0
    assert lists(warehouse, "bm25") == {("q", 1): []}


def test_best_keeps_every_tie_in_order() -> None:
    from ingest.retrieve.ranking import best

    scores = np.array([1, 0, 3, 1, 1, 3, -1], dtype=np.float32)
    places, values = best(scores, None, 4)
    assert places.tolist() == [2, 5, 0, 3] and values.tolist() == [3, 3, 1, 1]
    assert best(scores, None, 99)[0].tolist() == [2, 5, 0, 3, 4]


def test_a_library_that_is_not_installed(
    store: Warehouse, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, method in (("bm25s", "bm25"), ("wordllama", "semantic")):
        monkeypatch.setitem(sys.modules, name, None)
        said = refused(store, capsys, method)
        assert f"the library {name} is not installed" in said and "assay-warehouse[retrieve]" in said


def test_a_list_that_breaks_off_leaves_what_stood_there(
    store: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ingest.retrieve import bm25

    assert run(store, "bm25") == 0
    folder = store.path.parent / "out" / "bm25"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    score = bm25.score

    def breaks(module: Any, found: Any, text: str) -> Any:
        if text == "zebra":
            raise KeyboardInterrupt
        return score(module, found, text)

    monkeypatch.setattr(bm25, "score", breaks)
    assert run(store, "bm25", "--unit", "name", "--name", "c-bm25") == 130
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

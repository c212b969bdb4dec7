"""Formats of agents' traces: tool logs under a mapping, and the files of three agents, small and real."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED, Warehouse, write_collection, write_lines
from raw_tables import differences

from ingest.formats import format_of

needs_data = pytest.mark.skipif(not SHARED.exists(), reason="the real data is not here")

MAPPING = """
[fields]
trace = "session.id"
query = "task"
tool = "name"
arguments = "arguments"
result = "result"
call_id = "id"
error = "error"
step = "turn"
[search]
tools = ["search", "find"]
query = "q"
results = "hits"
doc_id = "id"
score = "score"
[open]
tools = ["get"]
doc_id = "id"
[pick]
tools = ["submit"]
doc_ids = "ids"
"""


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    path = tmp_path / "mapping.toml"
    path.write_text(MAPPING)
    return path


def call(name: str, arguments: Any, result: Any = None, session: str = "s", **more: Any) -> dict[str, Any]:
    return {
        "session": {"id": session},
        "task": "a desk",
        "name": name,
        "arguments": arguments,
        "result": result,
    } | more


def load(warehouse: Warehouse, tmp_path: Path, mapping: Path, rows: list[Any], *more: str) -> int:
    write_lines(tmp_path / "log.jsonl", rows)
    return warehouse.run("load", "--format", "tool_log", "--mapping", mapping, *more, tmp_path / "log.jsonl")


def test_a_log_becomes_traces(warehouse: Warehouse, tmp_path: Path, mapping: Path) -> None:
    hits = {"hits": [{"id": 7, "score": 2.5}, {"id": "8"}]}
    rows = [
        call("search", {"q": "oak desk"}, hits, turn=1, id="c1"),
        call("get", {"id": 7}, {"text": "…"}, turn=2),
        call("think", {}, None, turn=2),
        call("find", '{"q": "pine desk"}', json.dumps(hits), turn=3, id="c2"),
        call("submit", {"ids": [8, "7"]}, turn=4),
    ]
    assert load(warehouse, tmp_path, mapping, rows) == 0
    assert warehouse.rows("select query from assay_raw.queries") == [("a desk",)]
    assert warehouse.rows("select search, query, step, call_id from assay_raw.searches order by 1") == [
        (1, "oak desk", 1, "c1"), (2, "pine desk", 3, "c2"),
    ]  # fmt: skip
    assert warehouse.rows("select search, rank, doc_id, score from assay_raw.search_results order by 1, 2") == [
        (1, 1, "7", 2.5), (1, 2, "8", None), (2, 1, "7", 2.5), (2, 2, "8", None),
    ]  # fmt: skip
    assert warehouse.rows("select event, doc_id from assay_raw.trace_events order by seq") == [
        ("open", "7"),
        ("think", None),
    ]
    assert warehouse.rows("select list(doc_id order by position) from assay_raw.picks") == [(["8", "7"],)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"q": "oak desk"}, ["desk", "oak"]),
        ('{"q": "oak desk"}', ["desk", "oak"]),
        ("", None),
        (None, None),
        ('{"q": "oak de', None),
    ],
)
def test_arguments_that_are_absent_or_cut_are_unknown(
    warehouse: Warehouse, tmp_path: Path, mapping: Path, arguments: Any, words: list[str] | None
) -> None:
    row = call("search", arguments, {"hits": []})
    if arguments is None:
        del row["arguments"]
    assert load(warehouse, tmp_path, mapping, [row]) == 0
    assert warehouse.rows("select list(word order by word) from assay_raw.search_words") == [(words,)]
    assert warehouse.rows("select query is null, has_results from assay_raw.searches") == [
        (words is None, True)
    ]


def test_a_retried_call_is_one_search_and_unknown_results_are_no_empty_ones(
    warehouse: Warehouse, tmp_path: Path, mapping: Path
) -> None:
    five = {"hits": [{"id": i} for i in range(5)]}
    rows = [
        call("search", {"q": "x"}, None, id="c1", error="timeout"),
        call("search", {"q": "x"}, five, id="c1"),
        call("search", {"q": "y"}, "not JSON", id="c2"),
    ]
    assert load(warehouse, tmp_path, mapping, rows) == 0
    assert warehouse.rows("select search, n_attempts, n_errors, has_results from assay_raw.searches order by 1") == [
        (1, 2, 1, True), (2, 1, 0, False),
    ]  # fmt: skip
    assert warehouse.rows("select count(*) from assay_raw.search_results") == [(5,)]


def test_a_log_on_a_collection_and_lines_that_break_it(
    warehouse: Warehouse, tmp_path: Path, mapping: Path
) -> None:
    warehouse.load(
        write_collection(tmp_path / "c", docs=["7"], queries=[{"query_id": "58", "query": "a desk"}])
    )
    rows: list[Any] = [call("search", {"q": "x"}, {"hits": []}, session=f"s{i}") for i in range(60)]
    for i, row in enumerate(rows):
        row["retriever"] = f"agent {i}"
    rows += [{**call("search", {}), "task": "another"}, {"task": "a desk", "name": "search"}, "{"]
    text = mapping.read_text().replace('step = "turn"', 'step = "turn"\nretriever = "retriever"')
    mapping.write_text(text)
    assert load(warehouse, tmp_path, mapping, rows, "--collection", "c") == 0
    assert warehouse.rows("select distinct query_id from assay_raw.traces") == [("58",)]
    assert warehouse.rows("select count(*) from assay_raw.traces") == [(60,)]
    reasons = [r for (r,) in warehouse.rows("select reason from assay_raw.quarantine order by line")]
    assert (
        len(reasons) == 3
        and "not just one query" in reasons[0]
        and "not a trace" in reasons[1]
        and "not valid JSON" in reasons[2]
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('trace = "session.id"', ""), "[fields] must name trace"),
        (('query = "task"', ""), "[fields] must name query or query_id"),
        (("[search]", "[lookup]"), "[lookup] is no part of a mapping"),
        (('tools = ["get"]', 'tools = "get"'), "tools in [open] must be a list of names"),
        (('doc_ids = "ids"', ""), "[pick] must name doc_ids"),
        (("[fields]", "[fields"), "can't be read as TOML"),
    ],
)
def test_mappings_that_can_t_be_meant(
    warehouse: Warehouse,
    tmp_path: Path,
    mapping: Path,
    capsys: pytest.CaptureFixture[str],
    change: tuple[str, str],
    said: str,
) -> None:
    mapping.write_text(MAPPING.replace(*change))
    assert load(warehouse, tmp_path, mapping, [call("search", {"q": "x"})]) == 1
    err = capsys.readouterr().err
    assert said in err and "mapping.toml" in err


def test_a_log_without_a_mapping(
    warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(tmp_path / "log.jsonl", [call("search", {})])
    assert warehouse.run("load", "--format", "tool_log", tmp_path / "log.jsonl") == 1
    assert "--mapping" in capsys.readouterr().err


# The agents' own files


def test_wands_agent_rounds_that_were_refused_don_t_count(warehouse: Warehouse, tmp_path: Path) -> None:
    steps = [
        {"type": "model_call", "n": 1},
        {"type": "search", "model_call": 1, "query": "48'' \"desk\"", "category": None, "top_k": 10, "results": [{"rank": 1, "id": 7, "score": 1.5}], "error": None},
        {"type": "search", "model_call": 1, "query": "desk", "results": [], "error": "you searched that"},
        {"type": "picks", "attempt": 0, "picks": [{"rank": 1, "id": 7, "feedback": "😑"}]},
        {"type": "model_call", "n": 2},
        {"type": "harness_error", "message": "Expected 10"},
    ]  # fmt: skip
    path = tmp_path / "traces.jsonl"
    write_lines(path, [{"trace_id": "t", "query": "desk", "steps": steps, "final_picks": [], "model": "m"}])
    found = format_of(path, None)
    assert found is not None and found.NAME == "wands_agent"
    warehouse.load(path)
    assert warehouse.rows("select search, step, error from assay_raw.searches order by 1") == [
        (1, 1, None),
        (2, 1, "you searched that"),
    ]
    assert warehouse.rows("select doc_id from assay_raw.picks") == [("7",)]
    assert warehouse.rows("select event, text, error from assay_raw.trace_events order by seq") == [
        ("feedback", "😑", None), ("pick", None, "Expected 10"),
    ]  # fmt: skip


@needs_data
def test_real_rag_turn_is_its_native_conversion(tmp_path: Path) -> None:
    raw, native = Warehouse(tmp_path / "raw.duckdb"), Warehouse(tmp_path / "native.duckdb")
    turn = SHARED / "wands_agent_traces" / "rag_turn.json"
    raw.load(SHARED / "native" / "wands")
    settings = ["split=test", 'shown_fields=["name","description"]', "retriever=agent"]
    flags = [part for one in settings for part in ("--set", one)]
    name = ("--name", "wands-rag", "--collection", "wands")
    assert raw.run("load", *name, *flags, turn) == 0
    raw_again = Warehouse(tmp_path / "again.duckdb")
    raw_again.load(turn)
    assert raw_again.rows("select count(*) from assay_raw.documents") == [(10,)]
    native.load(SHARED / "native" / "wands", SHARED / "native" / "wands-rag")
    found = differences(raw, native, frozenset({"recording_id", "n_prompt_words"}))
    assert found == {}
    cited = "select list(cited order by position) from assay_raw.answer_citations"
    assert raw.rows(cited) == [(["38685", "6012", "654", "31141", "33593"],)]


@needs_data
def test_real_wands_traces_are_their_native_conversion(tmp_path: Path) -> None:
    """Of the six traces four stand in the native folder; the collection is the native one."""
    raw, native = Warehouse(tmp_path / "raw.duckdb"), Warehouse(tmp_path / "native.duckdb")
    four = tmp_path / "traces.jsonl"
    lines = (SHARED / "wands_agent_traces" / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    four.write_text("\n".join(lines[:4]) + "\n", encoding="utf-8")
    raw.load(SHARED / "native" / "wands")
    settings = ["split=test", "max_recommendations=10", 'shown_fields=["name","description","category"]']
    flags = [part for one in settings for part in ("--set", one)]
    assert raw.run("load", "--name", "wands", "--collection", "wands", *flags, four) == 0
    native.load(SHARED / "native" / "wands", SHARED / "native" / "wands-agent")
    # The native manifest was written by hand: prompts, and which model.
    assert differences(raw, native, frozenset({"n_prompt_words"})) == {}
    whole = Warehouse(tmp_path / "whole.duckdb")
    whole.load(SHARED / "wands_agent_traces" / "traces.jsonl")
    assert whole.rows("select count(*) from assay_raw.searches") == [(136,)]


@needs_data
def test_real_webshop_is_its_native_conversion(tmp_path: Path) -> None:
    raw, native = Warehouse(tmp_path / "raw.duckdb"), Warehouse(tmp_path / "native.duckdb")
    assert (
        raw.run(
            "load",
            "--name",
            "webshop",
            "--set",
            "results_shown=3",
            "--set",
            "model=text-davinci-002",
            SHARED / "react_webshop",
        )
        == 0
    )
    native.load(SHARED / "native" / "webshop", SHARED / "native" / "webshop-agent")
    assert differences(raw, native) == {}


@needs_data
def test_real_weaviate_is_its_native_conversion(tmp_path: Path) -> None:
    raw, native = Warehouse(tmp_path / "raw.duckdb"), Warehouse(tmp_path / "native.duckdb")
    assert (
        raw.run("load", "--name", "weaviate-biology", SHARED / "weaviate_query_agent" / "bright-biology") == 0
    )
    native.load(*sorted((SHARED / "native").glob("weaviate*")))
    assert differences(raw, native, frozenset({"duration_ms"})) == {}


def test_browsecomp_plus(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "gpt"
    folder.mkdir()
    hits = [{"docid": "A-12", "score": 2.5, "snippet": "x"}, {"docid": 38, "score": 1}]
    steps = [
        {"type": "reasoning", "output": ["thinking"]},
        {
            "type": "tool_call",
            "tool_name": "search",
            "arguments": '{"query": "oak"}',
            "output": json.dumps(hits),
        },
        {"type": "tool_call", "tool_name": "get_document", "arguments": {"docid": 38}, "output": "text"},
        {
            "type": "tool_call",
            "tool_name": "local_knowledge_base_retrieval",
            "arguments": {"user_query": "pine"},
            "output": "not a list",
        },
        {
            "type": "output_text",
            "output": "It is [A-12], as https://x.org/[2019]/12 said in (2020), and [38][A-12].",
        },
    ]
    (folder / "run_1.json").write_text(
        json.dumps(
            {
                "query_id": 7,
                "status": "completed",
                "retrieved_docids": ["A-12", "38"],
                "result": steps,
                "metadata": {"model": "m"},
            }
        )
    )
    (folder / "run_2.json").write_text(
        json.dumps({"query_id": "8", "status": "incomplete", "retrieved_docids": [], "result": steps[:1]})
    )
    found = format_of(folder, None)
    assert found is not None and found.NAME == "browsecomp_plus"
    warehouse.load(folder)
    assert warehouse.rows("select trace_id, search, query, has_results from assay_raw.searches order by all") == [
        ("7/1", 1, "oak", True), ("7/1", 2, "pine", False),
    ]  # fmt: skip
    # The ID is A-12, not 12; a year in brackets is no document that was found, and is kept as it stands.
    assert warehouse.rows("select list(picked order by position) from assay_raw.picks") == [
        (["A-12", "2019", "38"],)
    ]
    assert warehouse.rows("select query_id, is_finished from assay_raw.traces order by 1") == [
        ("7", True),
        ("8", False),
    ]
    assert warehouse.rows("select model from assay_raw.recordings") == [("m",)]

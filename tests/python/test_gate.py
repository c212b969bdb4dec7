"""The citation gate: its rules by hand, the warehouse's counts on the same answers, the filter and the log."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT, Warehouse, dbt, write_collection, write_recording
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ingest.gate import check_citations, main
from ingest.gate_log import FailureLog

CONTEXT = ["8171", "22", "90", "MED-10", "10"]


def kinds(*args: Any, **more: Any) -> list[tuple[str, int | None]]:
    return [(one.kind, one.position) for one in check_citations(*args, **more).violations]


@pytest.mark.parametrize(
    ("cited", "violations", "suggestion", "keep"),
    [
        (["8171", "22"], [], None, ("8171", "22")),
        ([], [], None, ()),
        ([8171], [], None, ("8171",)),
        (None, [("not_a_list", None)], "retry", ()),
        ("8171", [("not_a_list", None)], "retry", ()),
        ({"8171": 1}, [("not_a_list", None)], "retry", ()),
        (["8171", "7"], [("outside_context", 2)], "drop", ("8171",)),
        (["7"], [("outside_context", 1)], "retry", ()),
        (["08171", "8171 ", "med-10"], [("outside_context", i) for i in (1, 2, 3)], "retry", ()),
        (
            ["22", "none", "", " N/A\n", None, 1.5, True, ["22"], {"id": "22"}],
            [("malformed", i) for i in range(2, 10)],
            "drop",
            ("22",),
        ),
        (["22", "22", 22], [("repeated", 2), ("repeated", 3)], "drop", ("22",)),
        (["8171", "22", "90", "10"], [("too_many", 4)], "drop", ("8171", "22", "90")),
        (
            ["7", "22", "90", "10"],
            [("outside_context", 1), ("too_many", 4)],
            "drop",
            ("22", "90", "10"),
        ),
    ],
)
def test_each_rule(cited: Any, violations: list[Any], suggestion: str | None, keep: tuple[str, ...]) -> None:
    verdict = check_citations(cited, CONTEXT, 3)
    assert [(one.kind, one.position) for one in verdict.violations] == violations
    assert verdict.suggestion == suggestion
    assert verdict.keep == keep
    assert verdict.is_accepted == (not violations)


def test_an_id_that_the_context_holds_is_that_id() -> None:
    assert check_citations(["null", "None"], ["null", "None"], 3).is_accepted
    assert kinds(["NULL"], ["null"], 3) == [("malformed", 1)]


def test_numbers_in_the_context() -> None:
    assert check_citations(["1", 2], [1, "2"], 3).is_accepted
    assert kinds([True], [1], 3) == [("malformed", 1)]
    assert kinds([1.0], [1], 3) == [("malformed", 1)]


def test_no_limit_and_a_context_that_is_read_once() -> None:
    assert check_citations(CONTEXT, CONTEXT).is_accepted
    assert kinds(["22", "7"], (one for one in CONTEXT), 3) == [("outside_context", 2)]
    with pytest.raises(TypeError, match="one text"):
        check_citations([], "8171", 3)


def test_the_text_against_the_list() -> None:
    text = "Take MED-10 (2019) or [22]."
    assert check_citations(["MED-10", "22"], CONTEXT, 3, answer=text).is_accepted
    found = check_citations(["22", "90"], CONTEXT, 3, answer=text)
    assert [(v.kind, v.value) for v in found.violations] == [
        ("text_and_field_difference", "90"),
        ("text_and_field_difference", "MED-10"),
    ]
    assert found.suggestion == "retry", "dropping a citation leaves the text as it is"
    form = "(ID {id})"
    assert check_citations(["22"], CONTEXT, 3, answer="10 or (ID 22)", citation_form=form).is_accepted
    assert not check_citations(["10"], CONTEXT, 3, answer="10 or (ID 22)", citation_form=form).is_accepted


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.sampled_from(CONTEXT),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@given(
    cited=anything | st.lists(anything), context=st.lists(st.text() | st.integers()), most=st.integers(1, 4)
)
@settings(max_examples=300, deadline=None)
def test_whatever_a_model_gives_gets_a_verdict(cited: Any, context: list[Any], most: int) -> None:
    verdict = check_citations(cited, context, most)
    assert verdict.is_accepted == (not verdict.violations) == (verdict.suggestion is None)
    # What is kept passes: dropping the rest is enough.
    assert check_citations(list(verdict.keep), context, most).is_accepted
    assert len(verdict.keep) <= most
    assert set(verdict.keep) <= {str(one) for one in context}


ids = st.sampled_from(["d1", "d2", "d3", "d4", "x", "none", " NULL ", ""]) | st.sampled_from(
    [None, 1.5, True, 7]
)


@given(answers=st.lists(st.lists(ids, max_size=6), min_size=60, max_size=60))
@settings(max_examples=1, deadline=None)
def test_the_warehouse_counts_the_same(answers: list[list[Any]], tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("gate")
    warehouse = Warehouse(folder / "w.duckdb")
    context = ["d1", "d2", "d3", "7"]
    queries = [f"q{i}" for i in range(len(answers))]
    collection = write_collection(
        folder / "c", docs=[*context, "d4"], queries=queries, qrels=[("q0", "d1", 1)]
    )
    rows = [
        {"query_id": q, "context": "x", "context_ids": context, "cited": cited, "answer": ""}
        for q, cited in zip(queries, answers, strict=True)
    ]
    recording = write_recording(
        folder / "r", "r", "answers", rows, max_recommendations=2, ids_in_text=False, results_shown=4
    )
    warehouse.load(collection, recording)
    dbt(
        warehouse,
        "--quiet",
        "build",
        "--select",
        "+assay_answers",
        "--exclude-resource-type",
        "unit_test",
        "test",
    )
    counted = dict(
        (row[0], row[1:])
        for row in warehouse.rows(
            "select query_id, n_outside_context + n_unknown_id, n_malformed, n_repeated, has_too_many from assay.assay_answers"
        )
    )
    for query, cited in zip(queries, answers, strict=True):
        found = [kind for kind, _ in kinds(cited, context, 2)]
        ours = (
            found.count("outside_context"), found.count("malformed"), found.count("repeated"), "too_many" in found,
        )  # fmt: skip
        assert counted[query] == ours, cited


def filtered(lines: list[Any], *args: str) -> subprocess.CompletedProcess[str]:
    """The filter as a process of its own, without any installed package."""
    given = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines)
    return subprocess.run(
        [sys.executable, "-S", "-m", "ingest.gate", *args],
        cwd=PROJECT,
        input=given,
        capture_output=True,
        text=True,
    )


def test_the_filter_needs_no_package_and_gives_a_line_for_a_line() -> None:
    lines = [
        {"query_id": "1", "context_ids": ["a", "b"], "cited": ["a"], "answer": "a"},
        {"query_id": "2", "context_ids": ["a", "b"], "cited": ["c"]},
        '{"query_id": "3", "context_ids": ["a"',
        {"query_id": "4", "cited": ["a"]},
        "[]",
        '{"context_ids": ["-0", "12345678901234567890123456789012345678901234567890"], "cited": [-0, 12345678901234567890123456789012345678901234567890]}',
        "[" * 100_000,
    ]
    done = filtered(lines, "--max", "3")
    out = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["gate"]["is_accepted"] for one in out] == [True, False, False, False, False, True, False]
    assert out[0]["cited"] == ["a"] and out[0]["gate"]["keep"] == ["a"]
    assert out[1]["gate"]["violations"] == [{"kind": "outside_context", "position": 1, "value": "c"}]
    assert done.returncode == 1
    assert "line 3: it can't be read" in done.stderr and "Traceback" not in done.stderr
    assert filtered(lines[:1], "--max", "3").returncode == 0


@pytest.mark.parametrize("args", [["--max", "0"], ["--citation-form", "(ID)"], ["--log", "somewhere"]])
def test_options_that_mean_nothing(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(args) == 2
    assert capsys.readouterr().err.startswith("error: --")


def test_what_fails_is_logged_as_a_recording(warehouse: Warehouse, tmp_path: Path) -> None:
    collection = write_collection(tmp_path / "c", docs=["a", "b"], queries=["1", "2"], qrels=[("1", "a", 1)])
    log = tmp_path / "log"
    args = ["--max", "2", "--log", str(log), "--collection", "c"]
    bad = {
        "query_id": "1",
        "context": "bm25",
        "context_ids": ["a"],
        "cited": ["b"],
        "answer": "Take b",
        "raw": "{…}",
    }
    good = bad | {"cited": ["a"]}
    done = filtered([bad, good, bad | {"query_id": "2", "cited": "a"}, {**bad, "query_id": None}], *args)
    assert "not logged: an answer needs a query_id" in done.stderr
    with (log / "answers.jsonl").open("a") as stream:
        stream.write('{"query_id": "1", "conte')  # a writer that was killed
    again = filtered([bad], *args)
    assert (done.returncode, again.returncode, again.stderr) == (1, 1, "")
    warehouse.load(collection, log)
    rows = warehouse.rows(
        "select query_id, retriever, trial, answer, raw, has_cited from assay_raw.answers order by all"
    )
    assert rows == [
        ("1", "bm25", 1, "Take b", "{…}", True),
        ("1", "bm25", 2, "Take b", "{…}", True),
        ("2", "bm25", 1, "Take b", "{…}", False),
    ]
    assert warehouse.rows("select query_id from assay_raw.asked_queries order by 1") == [("1",), ("2",)]
    [(extra,)] = warehouse.rows("select extra from assay_raw.answers where query_id = '1' and trial = 1")
    assert "outside_context" in extra


some = st.dictionaries(
    st.sampled_from(
        ["answer", "raw", "cited", "context", "model", "context_texts", "context_ids", "passage_ids"]
    ),
    anything,
)


@given(rows=st.lists(some, min_size=60, max_size=60))
@settings(max_examples=2, deadline=None, phases=[Phase.generate])
def test_whatever_is_logged_loads(rows: list[dict[str, Any]], tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("log")
    write_collection(folder / "c", docs=["a"], queries=["1"])
    log = FailureLog(folder / "log", "r", "c")
    for row in rows:
        given = row | {"query_id": "1"}
        if not isinstance(given.get("context_ids"), list):
            given["context_ids"] = ["a", "b"]
        log.add(given, check_citations(row.get("cited"), given["context_ids"], 3))
    log.close()
    warehouse = Warehouse(folder / "w.duckdb")
    warehouse.load(folder / "c", folder / "log")
    assert warehouse.rows("select count(*) from assay_raw.answers") == [(60,)]
    assert warehouse.rows("select count(*) from assay_raw.quarantine") == [(0,)]


def test_one_writer_at_a_time_and_one_recording_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = FailureLog(tmp_path, "r", "c")
    assert main(["--log", str(tmp_path), "--collection", "c", "--name", "r"]) == 2
    assert "another process writes this log" in capsys.readouterr().err
    log.close()
    assert main(["--log", str(tmp_path), "--collection", "other", "--name", "r"]) == 2
    assert "describes another recording" in capsys.readouterr().err

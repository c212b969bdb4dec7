"""The checks before a commit: what fails them, how severe that is, and that nothing else changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import PROJECT, Warehouse, dbt, write_collection, write_recording

from ingest.checks.facts import Fact, contract_facts
from ingest.checks.judge import failed
from ingest.checks.rules import RULES, SEVERITIES, SUBJECTS
from ingest.checks.settings import read_settings
from ingest.contract import COLLECTION_TABLES, RECORDING_TABLES
from ingest.errors import BadInput
from ingest.staging import Load, Progress
from ingest.warehouse import open_warehouse

MANIFEST: dict[str, Any] = {
    "split": "test", "model": "m", "model_digest": "d", "options": {"num_ctx": 100}, "prompts": "one two three", "schemas": {},
    "recorded_at": "2026-01-01T00:00:00Z", "results_shown": 2, "max_recommendations": 3, "max_searches": 3,
}  # fmt: skip


def answer(query: str, **more: Any) -> dict[str, Any]:
    return {
        "query_id": query,
        "context": "x",
        "context_ids": ["d1"],
        "answer": f"for {query}: d1",
        "cited": ["d1"],
    } | more


@pytest.fixture
def loaded(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    """A collection of two documents of four words each, and two queries."""
    warehouse.load(
        write_collection(
            tmp_path / "c",
            docs=[{"doc_id": "d1", "name": "a"}, {"doc_id": "d2", "name": "b"}],
            queries=[{"query_id": q, "query": q, "split": "test"} for q in ("q1", "q2")],
            qrels=[("q1", "d1", 1), ("q2", "d1", 0)],
            fields=["name"],
            grades={"1": "yes", "0": "no"},
        )
    )
    return warehouse


def result(warehouse: Warehouse, check: str, name: str = "r") -> tuple[str, str, int, str | None]:
    [row] = warehouse.rows(
        f"select severity, status, observed, examples from assay_raw.checks where name = '{name}' and check_name = '{check}'"
    )
    return row


def recorded(tmp_path: Path, rows: list[Any], kind: str = "answers", **settings: Any) -> Path:
    return write_recording(tmp_path / "r", "r", kind, rows, **(MANIFEST | settings))


def test_rules_are_whole() -> None:
    for rule in RULES.values():
        assert (
            rule.severity in SEVERITIES and set(rule.subjects) <= set(SUBJECTS) and rule.meaning.endswith(".")
        )
    # Every check that the code notices is a rule, or naming it would fail where it is needed.
    code = "".join(p.read_text() for p in (PROJECT / "ingest").rglob("*.py"))
    for name, rule in RULES.items():
        if "warehouse" in rule.subjects:
            assert f"'{name}'" in (PROJECT / "models/facts/fct_assay__warehouse_checks.sql").read_text()
        else:
            assert code.count(f'"{name}"') + code.count(f"'{name}'") > 1, name


def test_every_check_that_is_made_has_a_result(loaded: Warehouse, tmp_path: Path) -> None:
    loaded.load(recorded(tmp_path, [answer("q1"), answer("q2")]))
    for name, subject in (("c", "collection"), ("r", "answers")):
        made = loaded.rows(
            f"select distinct check_name from assay_raw.checks where name = '{name}' order by 1"
        )
        assert [n for (n,) in made] == sorted(r.name for r in RULES.values() if subject in r.subjects)
    failing = loaded.rows("select check_name from assay_raw.checks where name = 'r' and status = 'failed'")
    assert failing == [("not_pinned",)]
    rules = loaded.rows("select check_name, severity from assay_raw.check_rules order by 1")
    assert rules == sorted((r.name, r.severity) for r in RULES.values())


def test_manifest_lacks_what_its_kind_is_known_by(loaded: Warehouse, tmp_path: Path) -> None:
    loaded.load(recorded(tmp_path, [answer("q1"), answer("q2")], model_digest=None, schemas=None))
    assert result(loaded, "incomplete_manifest") == ("warning", "failed", 2, "model_digest\nschemas")


def test_queries_without_a_row(loaded: Warehouse, tmp_path: Path) -> None:
    loaded.load(recorded(tmp_path, [answer("q1"), answer("q1", context="y"), answer("q2", context="y")]))
    assert result(loaded, "missing_queries") == ("warning", "failed", 1, "q2, x")


def test_more_documents_than_shown(loaded: Warehouse, tmp_path: Path) -> None:
    rows = [answer("q1", context_ids=["d1", "d2", "d3"]), answer("q2")]
    loaded.load(recorded(tmp_path, rows))
    assert result(loaded, "more_than_shown") == ("warning", "failed", 1, "q1, x, 1, 3")


def test_more_results_than_shown(loaded: Warehouse, tmp_path: Path) -> None:
    searches = [{"query": "a", "results": ["d1", "d2", "d1"]}, {"query": "b", "results": []}]
    rows = [{"query_id": q, "retriever": "x", "searches": searches, "picked": []} for q in ("q1", "q2")]
    loaded.load(recorded(tmp_path, rows, "traces"))
    severity, status, observed, _ = result(loaded, "more_than_shown")
    assert (severity, status, observed) == ("warning", "failed", 2)


def test_one_text_for_two_queries(loaded: Warehouse, tmp_path: Path) -> None:
    loaded.load(recorded(tmp_path, [answer("q1", answer="the same"), answer("q2", answer="the same")]))
    assert result(loaded, "repeated_answers") == ("note", "failed", 1, "x, the same")


@pytest.mark.parametrize(
    ("tokens", "is_cut"),
    # Sent: three words of prompts, and "ID: d1" and "name: a", four words of the document.
    [(7, False), (6, True), (99, False), (100, True), (None, False)],
)
def test_prompts_that_the_server_may_have_cut(
    loaded: Warehouse, tmp_path: Path, tokens: int | None, is_cut: bool
) -> None:
    loaded.load(recorded(tmp_path, [answer("q1", prompt_tokens=tokens), answer("q2", prompt_tokens=50)]))
    assert result(loaded, "cut_prompt")[1:3] == (("failed", 1) if is_cut else ("passed", 0))


def test_a_collection_s_empty_texts_and_queries_without_exact(loaded: Warehouse, tmp_path: Path) -> None:
    assert result(loaded, "no_exact_judgment", "c") == ("note", "failed", 1, "q2")
    assert result(loaded, "empty_documents", "c")[1] == "passed"
    loaded.load(
        write_collection(tmp_path / "e", "e", docs=["d1"], queries=["q"], fields=["name"], exact_grade=1)
    )
    assert result(loaded, "empty_documents", "e") == ("note", "failed", 1, "d1")


@pytest.mark.parametrize(
    ("statement", "check", "table"),
    [
        (
            "update assay_raw.context_documents set rank = 3 where rank = 2",
            "gapless_places",
            "context_documents",
        ),
        ("update assay_raw.context_documents set rank = 1", "gapless_places", "context_documents"),
        ("update assay_raw.contexts set duration_ms = -1", "value_ranges", "contexts"),
        ("update assay_raw.context_documents set score = 'nan'", "value_ranges", "context_documents"),
        ("insert into assay_raw.contexts select * from assay_raw.contexts", "unique_keys", "contexts"),
    ],
)
def test_rows_that_break_the_contract_are_found(
    loaded: Warehouse, tmp_path: Path, statement: str, check: str, table: str
) -> None:
    loaded.load(recorded(tmp_path, [answer("q1", context_ids=["d1", "d2"]), answer("q2")]))
    con = open_warehouse(loaded.path)
    try:
        work = Load(con, "recording", "r", tmp_path, 2, Progress("r"), {})
        assert failed(contract_facts(work)) == set()
        con.execute(statement)
        facts = contract_facts(work)
        assert [(facts[i].check, facts[i].subject) for i in failed(facts)] == [(check, table)]
        assert facts[failed(facts).pop()].examples
    finally:
        con.close()


def test_every_raw_table_is_judged(loaded: Warehouse, tmp_path: Path) -> None:
    con = open_warehouse(loaded.path)
    try:
        for kind, name, tables in (
            ("collection", "c", COLLECTION_TABLES),
            ("recording", "r", RECORDING_TABLES),
        ):
            for table in tables:
                con.execute(f"delete from assay_raw.{table.name}")
                values = {
                    c.name: {"varchar": "'x'", "bigint": "1", "double": "0.5", "boolean": "true", "timestamp": "now()::timestamp"}[c.type]
                    for c in table.columns
                } | {table.owner: f"'{name}'"}  # fmt: skip
                con.execute(
                    f"insert into assay_raw.{table.name} ({', '.join(values)}) values ({', '.join(values.values())})"
                )
            work = Load(con, kind, name, tmp_path, 2, Progress(name), {})
            facts = contract_facts(work)
            assert {f.subject for f in facts} == {t.name for t in tables} and failed(facts) == set()
    finally:
        con.close()


def test_the_judge_finds_what_is_above_what_is_allowed() -> None:
    facts = [
        Fact("a", "t", 0, 0, ""),
        Fact("b", "t", 1, 0, ""),
        Fact("c", "t", 5, 5, ""),
        Fact("d", "t", 6, 5, ""),
    ]
    assert failed(facts) == {1, 3}
    assert failed([]) == set() and failed(facts[:1]) == set()


def test_an_error_refuses_and_changes_nothing(
    loaded: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "assay.toml"
    settings.write_text('[severity]\nunknown_document = "error"\nrepeated_answers = "warning"\n')
    monkeypatch.setenv("ASSAY_SETTINGS", str(settings))
    loaded.load(recorded(tmp_path, [answer("q1"), answer("q2", answer="for q1: d1")]))
    assert result(loaded, "repeated_answers")[:2] == ("warning", "failed")
    before = loaded.everything()
    folder = recorded(tmp_path, [answer("q1", context_ids=["d9"]), answer("q2")])
    assert loaded.run("load", folder) == 1
    said = capsys.readouterr().err
    assert "answers.jsonl: 1 times a document that the catalog of 'c' lacks, such as 'd9'" in said
    assert "the check unknown_document" in said and "assay.toml" in said
    assert loaded.everything() == before
    assert loaded.run("check", folder) == 1
    # The list that dbt reads has the project's severities.
    assert loaded.rows(
        "select severity from assay_raw.check_rules where check_name = 'unknown_document'"
    ) == [("error",)]
    monkeypatch.delenv("ASSAY_SETTINGS")
    loaded.load(folder)
    assert result(loaded, "unknown_document")[:2] == ("warning", "failed")
    assert loaded.rows(
        "select severity from assay_raw.check_rules where check_name = 'unknown_document'"
    ) == [("warning",)]


def test_the_quarantine_s_limits_are_the_project_s(
    loaded: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = recorded(tmp_path, [answer("q1"), "{", "{", answer("q2")])
    (tmp_path / "assay.toml").write_text("[quarantine]\nlines = 1\nshare = 0.4\n")
    monkeypatch.setenv("ASSAY_SETTINGS", str(tmp_path / "assay.toml"))
    assert loaded.run("load", folder) == 1
    assert "2 of 4 lines can't be read" in capsys.readouterr().err
    (tmp_path / "assay.toml").write_text("[quarantine]\nlines = 1\nshare = 0.5\n")
    loaded.load(folder)
    assert result(loaded, "quarantined")[:3] == ("warning", "failed", 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[severity]\nnothing_such = "error"\n', "is no check"),
        ('[severity]\nnot_pinned = "fatal"\n', "must be error, warning or note"),
        ("[quarantine]\nlines = -1\n", "lines in [quarantine]"),
        ("[quarantine]\nshare = 2\n", "share in [quarantine]"),
        ("[quarantine]\nrows = 2\n", "rows is no setting"),
        ("[other]\n", "[other] is no setting"),
        ("severity = 3\n", "must be a table"),
        ("[severity\n", "can't be read as TOML"),
    ],
)
def test_settings_that_can_t_be_meant(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "assay.toml").write_text(text)
    with pytest.raises(BadInput) as error:
        read_settings(tmp_path / "assay.toml")
    assert said in str(error.value) and str(tmp_path) in str(error.value)


def test_a_warehouse_of_another_version_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    con = duckdb.connect(str(tmp_path / "old.duckdb"))
    con.execute("create schema assay_raw")
    con.execute("create table assay_raw.checks (kind varchar)")
    con.close()
    assert Warehouse(tmp_path / "old.duckdb").run("list") == 1
    assert "made by another version" in capsys.readouterr().err


def test_what_only_the_warehouse_sees_fails_or_warns(loaded: Warehouse, tmp_path: Path) -> None:
    """A replaced collection that lost a query is an error of dbt build, a pinned digest that differs a warning."""
    loaded.load(recorded(tmp_path, [answer("q1"), answer("q2")], collection_digest="sha256:other"))
    models = (
        "build",
        "--select",
        "+fct_assay__warehouse_checks",
        "--exclude-resource-type",
        "test",
        "unit_test",
    )
    dbt(loaded, *models)
    dbt(loaded, "test", "--select", "assay_warehouse_has_no_errors", "assay_warehouse_has_no_warnings")
    checks = "select check_name from assay.fct_assay__warehouse_checks where status = 'failed'"
    assert loaded.rows(checks) == [("pinned_digest_differs",)]
    loaded.load(
        write_collection(
            tmp_path / "c", docs=["d1"], queries=[{"query_id": "q1", "query": "q1", "split": "test"}]
        )
    )
    dbt(loaded, *models)
    with pytest.raises(AssertionError, match="Failure in test assay_warehouse_has_no_errors"):
        dbt(loaded, "test", "--select", "assay_warehouse_has_no_errors", "assay_warehouse_has_no_warnings")
    assert loaded.rows(checks + " order by 1") == [("orphan_queries",), ("pinned_digest_differs",)]

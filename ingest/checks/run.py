"""Running the checks on a load before it is committed, and keeping what they say."""

from __future__ import annotations

import duckdb

from ingest.checks.facts import collection_facts, contract_facts, recording_facts
from ingest.checks.judge import failed
from ingest.checks.rules import RULES, rules_for
from ingest.checks.settings import Settings
from ingest.contract import RAW_SCHEMA
from ingest.describe import Described
from ingest.errors import BadInput
from ingest.sqltext import literal
from ingest.staging import Load


def run_checks(load: Load, kind: str, row: dict[str, object], described: Described) -> None:
    """Judge what a load has written and noticed; keep every check's result. Raises BadInput where an error stands.

    `kind` is collection, answers, traces, contexts or labels; `row` is its row of ``collections`` or ``recordings``.
    """
    load.progress.step("checking what was written")
    facts = contract_facts(load)
    if kind == "collection":
        has_fields = bool(described.names("fields"))
        exact_grade = row["exact_grade"]
        facts += collection_facts(load, has_fields, None if exact_grade is None else int(str(exact_grade)))
    else:
        facts += recording_facts(load, kind, row, described)
    for place in sorted(failed(facts)):
        fact = facts[place]
        load.con.execute(
            "insert into noticed values (?, ?, ?, ?, ?, ?, ?)",
            [fact.check, load.settings.severity(fact.check), fact.subject, fact.observed, fact.message, fact.allowed,
             "\n".join(fact.examples) or None],
        )  # fmt: skip
    _notice_quarantined(load)
    errors = load.con.execute(
        "select check_name, file, message from noticed where severity = 'error' order by all"
    ).fetchall()
    if errors:
        check, file, message = errors[0]
        others = f", and {len(errors) - 1} more checks fail" if len(errors) > 1 else ""
        raise BadInput(
            f"{load.folder}: {file}: {message}{others}. That is an error (the check {check}). Put the data right, or make the "
            "check a warning in assay.toml."
        )
    _keep(load, kind)


def _notice_quarantined(load: Load) -> None:
    """One result a file with lines in quarantine; its first line stands for the others."""
    load.con.execute(
        f"""
        insert into noticed
        select 'quarantined', {literal(load.settings.severity("quarantined"))}, file, count(*),
            'line ' || min(line) || ': ' || arg_min(reason, line), 0,
            array_to_string(list('line ' || line || ': ' || reason order by line)[:3], chr(10))
        from quarantined group by file
        """
    )


def _keep(load: Load, kind: str) -> None:
    owner = f"{literal(load.kind)} as kind, {literal(load.name)} as name"
    load.con.execute(
        f"insert into {RAW_SCHEMA}.checks by name select {owner}, 'failed' as status, * from noticed"
    )
    passed = ", ".join(
        f"({literal(r.name)}, {literal(load.settings.severity(r.name))}, {literal(r.meaning)})"
        for r in rules_for(kind)
    )
    load.con.execute(
        f"""
        insert into {RAW_SCHEMA}.checks by name
        select {owner}, 'passed' as status, rules.name as check_name, rules.severity, '' as file, 0 as observed, 0 as allowed,
            rules.meaning as message, null as examples
        from (values {passed}) as rules (name, severity, meaning)
        where rules.name not in (select check_name from noticed)
        """
    )


def keep_rules(con: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """Write the list of checks with the project's severities where it isn't what stands there."""
    rows = [(r.name, settings.severity(r.name), ", ".join(r.subjects), r.meaning) for r in RULES.values()]
    there = con.execute(
        f"select check_name, severity, subjects, meaning from {RAW_SCHEMA}.check_rules"
    ).fetchall()
    if sorted(there) != sorted(rows):
        con.execute("begin transaction")
        con.execute(f"delete from {RAW_SCHEMA}.check_rules")
        con.executemany(f"insert into {RAW_SCHEMA}.check_rules values (?, ?, ?, ?)", rows)
        con.execute("commit")

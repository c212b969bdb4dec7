"""`ingest check`: everything that loading would say of a folder, without loading it.

The folders are loaded into a database of their own that is thrown away. A recording whose collection isn't among the
folders is held against the collection in the warehouse, which is only read.
"""

from __future__ import annotations

import html
import json
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from ingest.checks.settings import Settings, read_settings
from ingest.contract import COLLECTION_TABLES, RAW_SCHEMA, TABLES
from ingest.errors import BadInput
from ingest.formats.base import Found, Options
from ingest.load import find, load
from ingest.sqltext import create_macros, literal
from ingest.warehouse import connect, limits, warehouse_path

#: Quarantined lines that are shown of each file.
MOST_LINES = 20


@dataclass
class Finding:
    """One thing that a check says: error refuses the folder, warning stays visible, note is counted."""

    severity: str
    check: str
    file: str
    line: int | None
    observed: int
    message: str


@dataclass
class Report:
    """What was found in one folder; `counts` are the rows that it would load."""

    path: str
    kind: str
    name: str
    counts: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def status(self) -> str:
        """error, warning or ok."""
        severities = {finding.severity for finding in self.findings}
        return "error" if "error" in severities else "warning" if "warning" in severities else "ok"

    def as_dict(self) -> dict[str, Any]:
        """The report for JSON."""
        return asdict(self) | {"status": self.status}


def check(
    paths: Iterable[Path],
    format_name: str | None = None,
    options: Options | None = None,
    *,
    strict: bool = False,
) -> list[Report]:
    """Check every collection and recording at the paths. Raises CannotRun where it can't be done at all."""
    settings = read_settings()
    found: list[Found] = []
    reports: list[Report] = []
    for path in paths:
        try:
            found += find([path], format_name, options)
        except BadInput as error:
            reports.append(Report(str(path), "", path.name, findings=[_error(error)]))
    found.sort(key=lambda one: one.kind != "collection")
    with tempfile.TemporaryDirectory() as folder:
        con = duckdb.connect(str(Path(folder) / "check.duckdb"), config=dict(limits()))
        try:
            con.execute(f"create schema {RAW_SCHEMA}")
            for table in TABLES.values():
                con.execute(table.ddl())
            create_macros(con)
            for one in found:
                _borrow_collection(con, one)
                reports.append(_check_one(con, one, settings, strict=strict))
        finally:
            con.close()
    return reports


def _error(error: BadInput) -> Finding:
    return Finding("error", "refused", "", None, 1, str(error))


def _borrow_collection(con: duckdb.DuckDBPyConnection, one: Found) -> None:
    """Copy a recording's collection from the warehouse, where it isn't among what is checked."""
    if one.kind == "collection" or not warehouse_path().exists():
        return
    collection = one.described.given.get("collection")
    if not isinstance(collection, str):
        return
    there = con.execute(
        f"select 1 from {RAW_SCHEMA}.collections where collection = ?", [collection]
    ).fetchone()
    if there is not None:
        return
    connect(warehouse_path(), read_only=True).close()
    con.execute(f"attach {literal(str(warehouse_path()))} as loaded_already (read_only)")
    try:
        for table in COLLECTION_TABLES:
            con.execute(
                f"insert into {RAW_SCHEMA}.{table.name} select * from loaded_already.{RAW_SCHEMA}.{table.name}"
                f" where collection = {literal(collection)}"
            )
    except duckdb.CatalogException:
        return
    finally:
        con.execute("detach loaded_already")


def _check_one(con: duckdb.DuckDBPyConnection, one: Found, settings: Settings, *, strict: bool) -> Report:
    report = Report(str(one.path), one.kind, one.name)
    try:
        loaded = load(con, one, strict=strict, settings=settings)
    except BadInput as error:
        report.findings.append(_error(error))
        return report
    report.counts = dict(loaded.counts)
    rows = con.execute(
        f"select check_name, severity, file, observed, message from {RAW_SCHEMA}.checks where kind = ? and name = ?"
        " and status = 'failed' and check_name != 'quarantined' order by severity desc, check_name, file",
        [one.kind, one.name],
    ).fetchall()
    report.findings += [
        Finding(severity, name, file, None, n, message) for name, severity, file, n, message in rows
    ]
    severity_of_lines = settings.severity("quarantined")
    lines = con.execute(
        f"select file, line, reason, count(*) over (partition by file) from {RAW_SCHEMA}.quarantine"
        " where kind = ? and name = ? qualify row_number() over (partition by file order by line) <= ? order by file, line",
        [one.kind, one.name, MOST_LINES],
    ).fetchall()
    report.findings += [
        Finding(severity_of_lines, "quarantined", file, line, n, reason) for file, line, reason, n in lines
    ]
    return report


def as_text(reports: list[Report]) -> str:
    """The reports for a terminal."""
    lines: list[str] = []
    for report in reports:
        counts = ", ".join(f"{n:,} {what}" for what, n in report.counts.items())
        lines.append(
            f"{report.status.upper():<8} {report.kind} {report.name}{': ' + counts if counts else ''}"
        )
        for finding in report.findings:
            where = (
                f"{finding.file}, line {finding.line}: "
                if finding.line
                else f"{finding.file}: "
                if finding.file
                else ""
            )
            lines.append(f"  {finding.severity:<8} {finding.check}: {where}{finding.message}")
    return "\n".join(lines)


def as_json(reports: list[Report]) -> str:
    """The reports for machines: a list with an object a folder."""
    return json.dumps([report.as_dict() for report in reports], ensure_ascii=False, indent=1)


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;"
    "border-bottom:1px solid #ccc;overflow-wrap:anywhere}h2{margin-top:2rem}"
    "@media(prefers-color-scheme:dark){body{color:#eee;background:#181818}td,th{border-color:#444}}"
)


def as_html(reports: list[Report]) -> str:
    """The reports as one page that needs nothing else. Whatever a recording says is text in it."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Checks</title>",
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<style>{_STYLE}</style></head><body><h1>Checks</h1>",
    ]
    for report in reports:
        counts = ", ".join(f"{n:,} {what}" for what, n in report.counts.items())
        title = html.escape(f"{report.kind} {report.name}")
        parts.append(
            f"<h2>{title}: {report.status}</h2><p>{html.escape(report.path)}</p><p>{html.escape(counts)}</p>"
        )
        if not report.findings:
            parts.append("<p>Nothing to say.</p>")
            continue
        parts.append("<table><tr><th>Severity<th>Check<th>File<th>Line<th>Observed<th>What</tr>")
        for one in report.findings:
            cells = (
                one.severity,
                one.check,
                one.file,
                "" if one.line is None else one.line,
                f"{one.observed:,}",
                one.message,
            )
            parts.append("<tr>" + "".join(f"<td>{html.escape(str(cell))}" for cell in cells) + "</tr>")
        parts.append("</table>")
    return "".join([*parts, "</body></html>\n"])

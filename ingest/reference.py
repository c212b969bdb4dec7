"""Pages of the docs that code makes: ``python -m ingest.reference`` writes them anew.

The raw tables come from `ingest.contract`, the checks from `ingest.checks.rules`, the formats from their modules' docstrings.
A test holds the pages to the code.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from ingest.checks.rules import RULES, SUBJECTS
from ingest.checks.settings import QUARANTINE_LINES, QUARANTINE_SHARE
from ingest.contract import RAW_SCHEMA, TABLES
from ingest.formats import formats

_MADE = "<!-- Written by python -m ingest.reference. -->\n"


def raw_tables() -> str:
    """The page of the raw tables: grain, key, and every column with its type, range and meaning."""
    lines = [
        "# The raw tables",
        _MADE,
        f"What `ingest` writes into the schema `{RAW_SCHEMA}`, whatever format it reads. The schema of DuckDB's tables, the checks before each "
        "commit, dbt's sources and this page come from one place, `ingest/contract.py`.",
    ]
    for table in TABLES.values():
        lines += [
            "",
            f"## {table.name}",
            "",
            f"{table.grain[0].upper()}{table.grain[1:]}. Key: {', '.join(table.key)}.",
        ]
        if table.is_gapless:
            lines.append(f"`{table.key[-1]}` counts 1, 2, 3 and on in each list.")
        lines += ["", "| column | type | range | meaning |", "|---|---|---|---|"]
        for column in table.columns:
            kind = column.type + (", may be null" if column.nullable else "")
            parts = [] if column.least is None else [f"{column.least} or higher"]
            if column.most is not None:
                parts = [f"{column.least} to {column.most}"]
            lines.append(
                f"| {column.name} | {kind} | {' '.join(parts)} | {column.meaning.replace('|', chr(92) + '|')} |"
            )
    return "\n".join(lines) + "\n"


def checks() -> str:
    """The page of the checks: what each fails for, how severe that is, and how a project changes it."""
    lines = [
        "# Checks",
        _MADE,
        "Every load is checked before it is committed; `dbt build` checks what needs more than one load. An **error** refuses the load (or fails "
        "the build), a **warning** loads it and stays visible, a **note** is counted. All results, passed ones too, stand in the mart "
        "`assay_checks`; `python -m ingest check PATH` gives them without loading.",
        "",
        "SQL counts what there is, over the rows of the load; Great Expectations judges the counts. So a check costs no more memory for a "
        "longer recording.",
        "",
        "A project gives a check another severity in `assay.toml` in the folder where it runs (or where `ASSAY_SETTINGS` says):",
        "",
        "```toml",
        "[severity]",
        'unknown_document = "error"',
        'repeated_answers = "warning"',
        "",
        "[quarantine]",
        f"lines = {QUARANTINE_LINES}       # more unreadable lines of a file than this,",
        f"share = {QUARANTINE_SHARE}    # and than this share of them, refuse the load",
        "```",
        "",
        "dbt's tests go by the same list: every command of `python -m ingest` that opens the warehouse writes it into `assay_raw.check_rules`.",
    ]
    for subject in SUBJECTS:
        title = {"collection": "Collections", "warehouse": "The warehouse, by `dbt build`"}.get(
            subject, f"Recordings of {subject}"
        )
        lines += ["", f"## {title}", "", "| check | severity | fails where |", "|---|---|---|"]
        lines += [
            f"| {r.name} | {r.severity} | {r.meaning} |" for r in RULES.values() if subject in r.subjects
        ]
    return "\n".join(lines) + "\n"


def formats_page() -> str:
    """The page of the formats: each module's docstring."""
    lines = [
        "# Formats",
        _MADE,
        "`python -m ingest load PATH` recognises what lies there and says what it took it for; `--format NAME` says it instead, and "
        "`python -m ingest formats` lists them. What a format doesn't say stays unknown: `--set KEY=VALUE` adds a key of collection.json or "
        "manifest.json (`--set exact_grade=2`, `--set split=test`), `--name` and `--collection` name what is loaded and what it is of.",
        "",
        "IDs stay text, byte for byte. A line that breaks its format is kept in quarantine with its number and the reason.",
    ]
    for name, one in formats().items():
        lines += ["", f"## {name}", "", inspect.cleandoc(one.__doc__ or "").replace("``", "`")]
    return "\n".join(lines) + "\n"


#: The pages by their names under ``docs/``.
PAGES = {"raw-tables.md": raw_tables, "checks.md": checks, "formats.md": formats_page}


def main(folder: Path) -> None:
    """Write every page into the folder."""
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))

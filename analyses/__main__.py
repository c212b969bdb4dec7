"""``python -m analyses``: summary."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import duckdb

from analyses.summary import as_text, summary


def _connect(path: Path) -> duckdb.DuckDBPyConnection:
    """The warehouse (or a published file), read-only, with the marts on the search path."""
    if not path.exists():
        raise SystemExit(
            f"error: {path}: there is no warehouse here. Load something and run dbt build first."
        )
    try:
        con = duckdb.connect(str(path), read_only=True)
    except duckdb.Error as error:
        raise SystemExit(f"error: {path}: it can't be opened: {str(error).splitlines()[0]}") from None
    schema = con.execute(
        "select schema_name from duckdb_tables() where table_name = 'assay_recordings'"
    ).fetchone()
    if schema is None:
        raise SystemExit(f"error: {path}: it holds no marts yet. Run dbt build first.")
    con.execute("set search_path = ?", [schema[0]])
    return con


def _summary(args: argparse.Namespace) -> int:
    con = _connect(args.warehouse)
    try:
        blocks = summary(con, args.recording)
    except KeyError:
        names = [
            row[0] for row in con.execute("select recording_id from assay_recordings order by 1").fetchall()
        ]
        print(
            f"error: there is no recording {args.recording!r}; there are {', '.join(names) or 'none'}.",
            file=sys.stderr,
        )
        return 1
    finally:
        con.close()
    print(
        json.dumps([b.as_dict() for b in blocks], ensure_ascii=False, indent=1)
        if args.json
        else as_text(blocks)
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m analyses", description="What the marts say.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    sub = commands.add_parser("summary", help="print what the marts say of one recording, or of all")
    sub.add_argument("recording", nargs="?", metavar="RECORDING")
    sub.add_argument("--json", action="store_true", help="for machines")
    sub.add_argument(
        "--warehouse", type=Path, default=Path(os.environ.get("ASSAY_WAREHOUSE") or "warehouse.duckdb"), metavar="FILE",
        help="the warehouse or a published file (default: ASSAY_WAREHOUSE, or warehouse.duckdb)",
    )  # fmt: skip
    sub.set_defaults(run=_summary)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run a command; 0 is success, 1 means that it could not be done."""
    args = _parser().parse_args(argv)
    return int(args.run(args))


if __name__ == "__main__":
    sys.exit(main())

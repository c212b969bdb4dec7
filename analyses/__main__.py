"""``python -m analyses``: summary, report, compare, engines."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from analyses.connect import connect
from analyses.elsewhere import add_parsers
from analyses.summary import as_text, summary


def _summary(args: argparse.Namespace) -> int:
    con = connect(args.warehouse, "there is no warehouse here. Load something and run dbt build first.")
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


def _report(args: argparse.Namespace) -> int:
    # The drawing libraries are an extra, and slow to import.
    from analyses.report.command import run

    return run(args)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m analyses", description="What the marts say.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    sub = commands.add_parser("summary", help="print what the marts say of one recording, or of all")
    sub.add_argument("recording", nargs="?", metavar="RECORDING")
    sub.add_argument("--json", action="store_true", help="for machines")
    warehouse = Path(os.environ.get("ASSAY_WAREHOUSE") or "warehouse.duckdb")
    sub.add_argument(
        "--warehouse", type=Path, default=warehouse, metavar="FILE",
        help="the warehouse or a published file (default: ASSAY_WAREHOUSE, or warehouse.duckdb)",
    )  # fmt: skip
    sub.set_defaults(run=_summary)
    sub = commands.add_parser("report", help="make one page of a published file, or a picture of it")
    sub.add_argument("--to", type=Path, metavar="FILE.html", help="the page")
    sub.add_argument("--picture", type=Path, metavar="FILE.png", help="a small picture of the main figures")
    sub.add_argument(
        "--published", type=Path, default=Path("published/measures.duckdb"), metavar="FILE",
        help="the file that ingest publish made (default: published/measures.duckdb)",
    )  # fmt: skip
    sub.add_argument(
        "--queries",
        type=int,
        default=100,
        metavar="N",
        help="the most queries of a recording to show, worst first (100)",
    )
    sub.add_argument(
        "--recording",
        action="append",
        default=[],
        metavar="NAME",
        help="this recording alone; may be repeated",
    )
    sub.set_defaults(run=_report)
    add_parsers(commands, warehouse)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run a command; 0 is success, 1 means that it could not be done."""
    args = _parser().parse_args(argv)
    return int(args.run(args))


if __name__ == "__main__":
    sys.exit(main())

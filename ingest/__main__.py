"""``python -m ingest``: load, init, publish."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ingest.errors import AssayError
from ingest.load import find, load
from ingest.warehouse import open_warehouse, warehouse_path


def _load(args: argparse.Namespace) -> int:
    found = find(args.paths)
    con = open_warehouse(wait=args.wait)
    failed = False
    try:
        for one in found:
            try:
                result = load(con, one)
            except AssayError as error:
                print(f"error: {error}", file=sys.stderr)
                failed = True
                continue
            print(result.sentence())
            for severity, file, message in result.noticed:
                print(f"  {severity}: {file}: {message}")
    finally:
        con.close()
    if failed:
        print(f"What was not loaded left {warehouse_path()} as it was.", file=sys.stderr)
    return 1 if failed else 0


def _init(args: argparse.Namespace) -> int:
    from ingest.init import init

    print(init(args.folder, overwrite=args.overwrite))
    return 0


def _publish(args: argparse.Namespace) -> int:
    from ingest.publish import publish

    print(publish(args.to, wait=args.wait))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ingest", description="Recordings into the warehouse, tables out of it."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    sub = commands.add_parser("load", help="load collections and recordings, in any order")
    sub.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="a folder, or a folder of such folders"
    )
    sub.add_argument(
        "--wait", type=float, default=0.0, metavar="SECONDS", help="how long to wait for a locked warehouse"
    )
    sub.set_defaults(run=_load)
    sub = commands.add_parser("init", help="write manifest.json or collection.json for the files in a folder")
    sub.add_argument("folder", type=Path, metavar="DIR")
    sub.add_argument("--overwrite", action="store_true", help="pin the files anew in the one that is there")
    sub.set_defaults(run=_init)
    sub = commands.add_parser(
        "publish", help="put facts and marts into a file for BI tools, by atomic replace"
    )
    sub.add_argument("--to", required=True, type=Path, metavar="FILE")
    sub.add_argument(
        "--wait", type=float, default=0.0, metavar="SECONDS", help="how long to wait for a locked warehouse"
    )
    sub.set_defaults(run=_publish)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run a command: 0 is success, 1 means that something given was wrong or could not be done."""
    args = _parser().parse_args(argv)
    try:
        return int(args.run(args))
    except AssayError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the warehouse is as it was before the last unfinished load", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())

"""``python -m ingest``: load, check, formats, export, list, drop, init, publish, retrieve, record."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ingest.errors import AssayError, CannotRun
from ingest.formats.base import Found, Options, parse_settings
from ingest.load import Loaded, find, load
from ingest.record.cli import add_record_parser
from ingest.retrieve.cli import add_retrieve_parser
from ingest.warehouse import open_warehouse, warehouse_path


def _options(args: argparse.Namespace) -> Options:
    return Options(args.name, args.collection, parse_settings(args.set), args.mapping)


def _load(args: argparse.Namespace) -> int:
    found = find(args.paths, args.format, _options(args))
    if args.lake is not None:
        from ingest.lake import Lake

        with Lake(args.lake).loading() as loading:
            return _load_all(found, partial(loading.load, strict=args.strict), args.lake)
    con = open_warehouse(wait=args.wait)
    try:
        return _load_all(found, partial(load, con, strict=args.strict), warehouse_path())
    finally:
        con.close()


def _load_all(found: list[Found], load_one: Callable[[Found], Loaded], where: Path) -> int:
    failed = False
    for one in found:
        try:
            result = load_one(one)
        except AssayError as error:
            print(f"error: {error}", file=sys.stderr)
            failed = True
            continue
        print(result.sentence())
        for severity, file, message in result.noticed:
            print(f"  {severity}: {file}: {message}")
    if failed:
        print(f"What was not loaded left {where} as it was.", file=sys.stderr)
    return 1 if failed else 0


def _check(args: argparse.Namespace) -> int:
    from ingest.check import as_html, as_json, as_text, check

    try:
        reports = check(args.paths, args.format, _options(args), strict=args.strict)
        if args.html is not None:
            args.html.write_text(as_html(reports), encoding="utf-8")
    except (CannotRun, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(as_json(reports) if args.json else as_text(reports))
    return 1 if any(report.status == "error" for report in reports) else 0


def _formats(args: argparse.Namespace) -> int:
    from ingest.formats import formats

    for name, one in formats().items():
        print(f"{name:<16} {one.SUMMARY}")
    return 0


def _export(args: argparse.Namespace) -> int:
    from ingest.exports import export
    from ingest.exports.base import chosen

    con = open_warehouse(wait=args.wait)
    try:
        said = export(con, args.format, chosen(con, args.collection, args.recording), args.folder)
    finally:
        con.close()
    print("\n".join(said))
    return 0


def _list(args: argparse.Namespace) -> int:
    from ingest.catalogue import entries

    con = open_warehouse(wait=args.wait)
    try:
        found = entries(con)
    finally:
        con.close()
    for one in found:
        of = f" on {one.collection}" if one.collection else ""
        notes = f", {one.n_quarantined:,} in quarantine" if one.n_quarantined else ""
        notes += f", {one.n_warnings} warnings" if one.n_warnings else ""
        print(f"{one.kind} {one.name}{of}: {one.n_lines:,} lines from {one.path}, {one.loaded_at} UTC{notes}")
    if not found:
        print("nothing is loaded")
    return 0


def _drop(args: argparse.Namespace) -> int:
    from ingest.catalogue import drop

    con = open_warehouse(wait=args.wait)
    try:
        dropped = drop(con, args.name, with_recordings=args.with_recordings)
    finally:
        con.close()
    print(f"dropped: {', '.join(dropped)}. Run dbt build to take them out of the marts.")
    return 0


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
    waiting = argparse.ArgumentParser(add_help=False)
    waiting.add_argument(
        "--wait", type=float, default=0.0, metavar="SECONDS", help="how long to wait for a locked warehouse"
    )
    reading = argparse.ArgumentParser(add_help=False)
    reading.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a folder or a file")
    reading.add_argument(
        "--format", metavar="NAME", help="the format, where it isn't recognised (see formats)"
    )
    reading.add_argument("--name", help="the name of what is loaded, where the format has none")
    reading.add_argument("--collection", metavar="NAME", help="the collection that a recording is of")
    reading.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE",
        help="a key of collection.json or manifest.json that the format doesn't say, or a setting of the format",
    )  # fmt: skip
    reading.add_argument(
        "--mapping", type=Path, metavar="FILE", help="a TOML file that names fields (tool logs)"
    )
    reading.add_argument("--strict", action="store_true", help="a line that can't be read is an error")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    sub = commands.add_parser(
        "load", parents=[waiting, reading], help="load collections and recordings, in any order"
    )
    sub.add_argument(
        "--lake",
        type=Path,
        metavar="DIR",
        help="write the raw tables into this folder as Parquet, not into the warehouse",
    )
    sub.set_defaults(run=_load)
    sub = commands.add_parser(
        "check", parents=[reading], help="say what loading would say, without loading; exit code 0, 1 or 2"
    )
    sub.add_argument("--json", action="store_true", help="for machines")
    sub.add_argument("--html", type=Path, metavar="FILE", help="write a page that needs nothing else")
    sub.set_defaults(run=_check)
    sub = commands.add_parser("formats", help="list the formats that can be read")
    sub.set_defaults(run=_formats)
    sub = commands.add_parser(
        "export", parents=[waiting], help="write a collection and its recordings as trec, beir or ragas files"
    )
    sub.add_argument("format", metavar="FORMAT", help="trec, beir or ragas")
    sub.add_argument("folder", type=Path, metavar="DIR", help="an empty folder, or a new one")
    sub.add_argument("--collection", required=True, metavar="NAME")
    sub.add_argument(
        "--recording",
        action="append",
        default=[],
        metavar="NAME",
        help="one of its recordings; all without it",
    )
    sub.set_defaults(run=_export)
    sub = commands.add_parser("list", parents=[waiting], help="list what is loaded, from where and when")
    sub.set_defaults(run=_list)
    sub = commands.add_parser(
        "drop", parents=[waiting], help="take a recording, or a collection, out of the warehouse"
    )
    sub.add_argument("name", metavar="NAME")
    sub.add_argument(
        "--with-recordings", action="store_true", help="drop a collection with all that rests on it"
    )
    sub.set_defaults(run=_drop)
    sub = commands.add_parser("init", help="write manifest.json or collection.json for the files in a folder")
    sub.add_argument("folder", type=Path, metavar="DIR")
    sub.add_argument("--overwrite", action="store_true", help="pin the files anew in the one that is there")
    sub.set_defaults(run=_init)
    sub = commands.add_parser(
        "publish", parents=[waiting], help="put facts and marts into a file for BI tools, by atomic replace"
    )
    sub.add_argument("--to", required=True, type=Path, metavar="FILE")
    sub.set_defaults(run=_publish)
    add_retrieve_parser(commands)
    add_record_parser(commands)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run a command: 0 is success, 1 means that something given was wrong or could not be done."""
    args = _parser().parse_args(argv)
    try:
        return int(args.run(args))
    except AssayError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read what is printed has stopped reading; what was loaded is loaded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("stopped; the warehouse is as it was before the last unfinished load", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())

"""What every format gives: the collections and recordings that a path holds, each in the keys of the recording format.

An adapter writes no table. It names, for each file of the recording format that it can stand for (``catalog``, ``queries``,
``qrels``, ``answers``, ``traces``, ``contexts``, ``run``, ``support``, ``relevance``, ``asked``), the lines that would stand there:
`Lines`, which stages rows (line, text) with the source's own line numbers and the line as JSON in the keys of
docs/recording-format.md. Everything after that is the same for all formats: types, checks, quarantine, tables.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from ingest.describe import Described
from ingest.errors import BadInput, shown
from ingest.files import Given, Lines, SourceFile, stage_lines
from ingest.sqltext import literal

if TYPE_CHECKING:
    from ingest.staging import Load


@dataclass(frozen=True)
class Options:
    """What a user may say of a path that is not of the native format.

    `settings` are keys of collection.json or manifest.json (``--set exact_grade=2``), over those that the format gives,
    and an adapter's own (its docstring names them); `mapping` is a TOML file.
    """

    name: str | None = None
    collection: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    mapping: Path | None = None

    def refuse_all(self, path: Path, why: str) -> None:
        """Raise BadInput where anything was said."""
        said = [
            flag
            for flag, value in (
                ("--name", self.name),
                ("--collection", self.collection),
                ("--set", self.settings),
                ("--mapping", self.mapping),
            )
            if value
        ]
        if said:
            raise BadInput(f"{path}: {said[0]} is not for this format: {why}. Leave it out.")

    def own(self, key: str, default: Any = None) -> Any:
        """A setting that is the adapter's own and no key of the manifest."""
        return self.settings.get(key, default)

    def described(self, path: Path, given: Mapping[str, Any], own: Iterable[str] = ()) -> Described:
        """The description that an adapter gives, with the user's settings over it; `own` ones stand under ``read_with``."""
        without = set(own)
        said = {key: value for key, value in self.settings.items() if key not in without}
        read_with = {key: value for key, value in self.settings.items() if key in without}
        if read_with:
            said["read_with"] = read_with
        return Described(path, {k: v for k, v in {**given, **said}.items() if v is not None})


@dataclass(frozen=True)
class Found:
    """A collection or recording that can be loaded.

    `files` are its files by what they are (``catalog``, ``answers``, …); `sources` every file whose bytes it rests on.
    """

    path: Path
    format: str
    kind: str
    name: str
    described: Described
    files: dict[str, Given]
    sources: tuple[Path, ...]


def parse_settings(said: Iterable[str]) -> dict[str, Any]:
    """``KEY=VALUE`` of the command line; the value is JSON where it can be, else text. Raises BadInput."""
    settings: dict[str, Any] = {}
    for one in said:
        key, equals, value = one.partition("=")
        if not equals or not key.strip():
            raise BadInput(f"--set {shown(one)}: this must be KEY=VALUE, such as exact_grade=2.")
        try:
            settings[key.strip()] = json.loads(value)
        except ValueError:
            settings[key.strip()] = value
    return settings


def judgments_of(grades: set[str]) -> str:
    """How a file of qrels judges, from the grades in it: ``positive_only`` where nothing in it is irrelevant."""
    return "positive_only" if grades and all(float(g) > 0 or float(g) == -1 for g in grades) else "graded"


def stage_sql(load: Load, source: SourceFile, table: str, select: str) -> None:
    """Fill a staged table from a query that gives line and text (JSON); a null text stages nothing."""
    load.con.execute(
        f"create or replace temp table {table} as select line, text from ({select}) where text is not null"
    )
    source.n_lines += load.count(f"select count(*) from {table}")


def stage_records(
    load: Load, source: SourceFile, table: str, records: Iterable[tuple[int, Mapping[str, Any]]]
) -> None:
    """Fill a staged table from records with their line numbers; see `fill_records`."""
    fill_records(load.con, table, records)
    source.n_lines += load.count(f"select count(*) from {table}")


def fill_records(
    con: duckdb.DuckDBPyConnection, table: str, records: Iterable[tuple[int, Mapping[str, Any]]]
) -> None:
    """Make the temporary table (line, text) of records, through a temporary file: none is held in Python.

    A record's keys whose value is None are left out: absent is unknown.
    """
    handle, name = tempfile.mkstemp(suffix=".txt")
    longest = 0
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            for line, record in records:
                given = {k: v for k, v in record.items() if v is not None}
                try:
                    text = json.dumps(given, ensure_ascii=False)
                    longest = max(longest, len(text.encode("utf-8")))
                except UnicodeEncodeError:
                    # Half a surrogate pair is no text: its escape is what the parser of lines refuses.
                    text = json.dumps(given)
                    longest = max(longest, len(text))
                out.write(f"{line}\x01{text}\n")
        size = max(2_000_000, longest + 1024)
        con.execute(
            f"""
            create or replace temp table {table} as
            select line, text
            from read_csv(
                {literal(name)}, columns = {{'line': 'bigint', 'text': 'varchar'}}, header = false,
                auto_detect = false, delim = chr(1), quote = '', escape = '', nullstr = chr(2), new_line = '\\n',
                strict_mode = false, max_line_size = {size}, buffer_size = {4 * size}
            )
            """
        )
    finally:
        Path(name).unlink(missing_ok=True)


def from_records(
    path: Path,
    records: Callable[[Load, SourceFile], Iterable[tuple[int, Mapping[str, Any]]]],
    label: str | None = None,
) -> Lines:
    """Lines that a Python generator gives; it may quarantine through `Load.quarantine_line` as it goes."""

    def fill(load: Load, source: SourceFile, table: str) -> None:
        stage_records(load, source, table, records(load, source))

    return Lines(path, fill, label)


def from_sql(path: Path, select: Callable[[Load, SourceFile], str], label: str | None = None) -> Lines:
    """Lines that a query gives, as ``line`` and ``text``; the function may stage what the query reads."""

    def fill(load: Load, source: SourceFile, table: str) -> None:
        stage_sql(load, source, table, select(load, source))

    return Lines(path, fill, label)


def staged_lines(
    load: Load,
    source: SourceFile,
    table: str,
    path: Path | None = None,
    *,
    before: int = 0,
    keeps: bool = True,
) -> None:
    """Stage a file's own lines into `table` (line, text) for a query to read; lines that can't be read go to quarantine.

    `before` lines of other files are counted before the first; `keeps` false leaves quarantine to another reading of the file.
    """
    own = SourceFile(path or source.path, source.sha256)
    stage_lines(load.con, own, table)
    if before:
        load.con.execute(f"update {table} set line = line + {before}")
    for line, reason, text in own.unreadable if keeps else ():
        load.quarantine_line(source, line + before, reason, text)


def quarantine_sql(load: Load, source: SourceFile, select: str) -> None:
    """Quarantine what a query gives as line, reason and text."""
    load.con.execute(
        f"insert into quarantined select {literal(source.name)}, line, reason, left(text, 10000) from ({select})"
    )

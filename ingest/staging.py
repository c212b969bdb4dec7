"""One load while it runs: its staged files, what was quarantined, what was noticed, and how to refuse it."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import duckdb

from ingest.checks.settings import Settings
from ingest.contract import RAW_SCHEMA
from ingest.errors import BadInput, shown
from ingest.files import Given, Lines, SourceFile, stage_lines, stage_rows
from ingest.keys import Key, quoted, typed, typed_columns
from ingest.sqltext import literal


class Progress:
    """A line on standard error, once a second, while something takes longer than two seconds."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._what = "reading"
        self._start = time.monotonic()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._thread.join()

    def step(self, what: str) -> None:
        """Say what is being done now."""
        self._what = what

    def _run(self) -> None:
        on_terminal, written = sys.stderr.isatty(), False
        while not self._end.wait(1.0):
            elapsed = time.monotonic() - self._start
            if elapsed < 2:
                continue
            if on_terminal:
                print(
                    f"\r\033[K{self._name}: {self._what}, {elapsed:.0f} s",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
                written = True
            elif int(elapsed) % 10 == 0:
                print(f"{self._name}: {self._what}, {elapsed:.0f} s", file=sys.stderr, flush=True)
        if written:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


@dataclass
class Load:
    """One collection or recording on its way into the warehouse.

    `kind` is collection or recording, `name` its key. The files it read stand in `files`.
    """

    con: duckdb.DuckDBPyConnection
    kind: str
    name: str
    folder: Path
    load_number: int
    progress: Progress
    #: sha256 of every file that belongs to it.
    digests: dict[Path, str]
    #: Refuse at the first line that can't be read.
    strict: bool = False
    #: The project's severities and limits.
    settings: Settings = field(default_factory=Settings)
    files: list[SourceFile] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.con.execute(
            "create or replace temp table quarantined (file varchar, line bigint, reason varchar, text varchar)"
        )
        self.con.execute(
            "create or replace temp table noticed (check_name varchar, severity varchar, file varchar,"
            " observed bigint, message varchar, allowed bigint, examples varchar)"
        )

    # Reading

    def lines(self, given: Given, table: str) -> SourceFile:
        """Stage lines into `table` (line, text); those that can't be read are quarantined."""
        if isinstance(given, Lines):
            source = SourceFile(given.path, self.digests[given.path], given.label)
            self.progress.step(f"reading {source.name}")
            given.fill(self, source, table)
            source.n_lines += self.count(
                f"select count(*) from quarantined where file = {literal(source.name)}"
            )
            self.files.append(source)
            self.check_quarantine(source)
            return source
        source = SourceFile(given, self.digests[given])
        self.progress.step(f"reading {source.name}")
        stage_lines(self.con, source, table)
        for line, reason, text in source.unreadable:
            self.con.execute("insert into quarantined values (?, ?, ?, ?)", [source.name, line, reason, text])
        self.files.append(source)
        return source

    def typed(self, given: Given, keys: tuple[Key, ...], table: str) -> SourceFile:
        """Stage lines or a file (JSONL, CSV, TSV or Parquet) into typed columns: the columns of `keys.typed`.

        Lines with a problem go to quarantine and aren't in the table. Raises BadInput where a required key or
        column isn't there.
        """
        staged = f"{table}_lines"
        if isinstance(given, Lines) or given.name.removesuffix(".gz").endswith(".jsonl"):
            source = self.lines(given, staged)
            sql = typed(keys, staged)
        else:
            source = SourceFile(given, self.digests[given])
            self.progress.step(f"reading {source.name}")
            columns = stage_rows(self.con, source, f"{table}_rows", as_view=source.format == "parquet")
            self.files.append(source)
            self._check_columns(source, keys, list(columns))
            direct = typed_columns(keys, f"{table}_rows", columns) if source.format == "parquet" else None
            if direct is not None:
                sql, staged = direct, f"{table}_rows"
            else:
                self._rows_as_json(f"{table}_rows", staged, list(columns))
                self.con.execute(f"drop {'view' if source.format == 'parquet' else 'table'} {table}_rows")
                sql = typed(keys, staged, from_text=source.format != "parquet")
        self.progress.step(f"parsing {source.name}")
        self.con.execute(f"create or replace temp table {table} as {sql}")
        self._quarantine(source, table, staged)
        lacking = self.first(f"select line, missing from {table} where missing is not null order by line")
        if lacking is not None:
            raise BadInput(
                f"{source.at(lacking[0])}: the key {lacking[1]!r} is not there. "
                "Add it to the line, or take the line out."
            )
        self.con.execute(f"drop {'view' if staged.endswith('_rows') else 'table'} {staged}")
        return source

    def _check_columns(self, source: SourceFile, keys: tuple[Key, ...], columns: list[str]) -> None:
        for key in keys:
            if key.required and key.name not in columns and key.alias not in columns:
                raise BadInput(
                    f"{source.path}, line 1: the column {key.name!r} is not there; "
                    f"the columns are {', '.join(map(repr, columns))}. Name it so."
                )

    def _rows_as_json(self, rows: str, table: str, columns: list[str]) -> None:
        packed = ", ".join(f"{quoted(c)} := {quoted(c)}" for c in columns)
        self.con.execute(
            f"create or replace temp table {table} as"
            f" select line, cast(to_json(struct_pack({packed})) as varchar) as text from {rows}"
        )

    def _quarantine(self, source: SourceFile, table: str, staged: str) -> None:
        text = "lines.text" if not staged.endswith("_rows") else "cast(to_json(lines) as varchar)"
        self.con.execute(
            f"insert into quarantined select {literal(source.name)}, broken.line, broken.problem, left({text}, 10000)"
            f" from {table} as broken inner join {staged} as lines on broken.line = lines.line"
            " where broken.problem is not null"
        )
        self.con.execute(f"delete from {table} where problem is not null")
        self.check_quarantine(source)

    def quarantine_line(self, source: SourceFile, line: int, reason: str, text: str) -> None:
        """Keep a line of a source that an adapter can't read."""
        self.con.execute(
            "insert into quarantined values (?, ?, ?, ?)", [source.name, line, reason, text[:10_000]]
        )

    def quarantine_where(self, source: SourceFile, table: str, condition: str, reason: str) -> None:
        """Move the rows of a typed table that meet a condition into quarantine; `reason` is SQL."""
        self.con.execute(
            f"insert into quarantined select {literal(source.name)}, line, {reason}, null from {table} where {condition}"
        )
        self.con.execute(f"delete from {table} where {condition}")
        self.check_quarantine(source)

    def check_quarantine(self, source: SourceFile) -> None:
        """Refuse the load where too many of a file's lines can't be read."""
        first = self.first(
            f"select count(*) over () as n, line, reason from quarantined where file = {literal(source.name)} order by line"
        )
        if first is None:
            return
        n = int(str(first[0]))
        if self.strict:
            raise BadInput(f"{source.at(first[1])}: {first[2]}. Put it right; --strict lets no line be lost.")
        if n >= source.n_lines or (
            n > self.settings.quarantine_lines and n > self.settings.quarantine_share * source.n_lines
        ):
            raise BadInput(
                f"{source.at(first[1])}: {first[2]}. {n:,} of {source.n_lines:,} lines can't be read, "
                f"which is too many. Put them right, or take them out."
            )

    # Judging

    def first(self, sql: str) -> tuple[object, ...] | None:
        """The first row of a query, or None."""
        row = self.con.execute(f"{sql} limit 1").fetchone()
        return None if row is None else tuple(row)

    def count(self, sql: str) -> int:
        """The one number that a query gives."""
        row = self.con.execute(sql).fetchone()
        return 0 if row is None or row[0] is None else int(row[0])

    def refuse_repeats(self, source: SourceFile, table: str, key: tuple[str, ...], what: str) -> None:
        """Refuse a typed table in which a key stands twice."""
        columns = ", ".join(key)
        again = self.first(
            f"select max(line), min(line), {columns} from {table} group by {columns} having count(*) > 1 order by 1"
        )
        if again is not None:
            named = ", ".join(f"{k} {shown(v)}" for k, v in zip(key, again[2:], strict=True))
            raise BadInput(f"{source.at(again[0])}: {named} stands on line {again[1]} already. {what}")

    def refuse_unknown_queries(self, source: SourceFile, table: str, collection: str) -> None:
        """Refuse a typed table that names a query which the collection doesn't have."""
        unknown = self.first(
            f"select line, query_id from {table} as t anti join {RAW_SCHEMA}.queries as q"
            f" on q.collection = {literal(collection)} and q.query_id = t.query_id order by line"
        )
        if unknown is not None:
            raise BadInput(
                f"{source.at(unknown[0])}: {shown(unknown[1])} is not a query of the collection "
                f"{collection!r}. Add it to the collection's queries and load that again, or take the line out."
            )

    def notice(self, check: str, file: str, observed: int, message: str) -> None:
        """Keep that a check failed: how many, and an example in words. How severe that is, the rules say."""
        if observed:
            self.con.execute(
                "insert into noticed values (?, ?, ?, ?, ?, 0, null)",
                [check, self.settings.severity(check), file, observed, message],
            )

    def notice_unknown_documents(self, source: SourceFile, documents: str, collection: str) -> None:
        """Warn of documents that the catalog lacks; `documents` is a query that gives ``doc_id``."""
        row = self.first(
            f"select count(*), count(distinct doc_id), min(doc_id) from ({documents}) as d"
            f" anti join {RAW_SCHEMA}.documents as c on c.collection = {literal(collection)} and c.doc_id = d.doc_id"
        )
        if row is not None and row[0]:
            self.notice(
                "unknown_document", source.name, int(str(row[0])),
                f"{row[0]} times a document that the catalog of {collection!r} lacks, such as {shown(row[2])}",
            )  # fmt: skip

    def notice_extra(self, source: SourceFile, table: str) -> None:
        """Note lines with keys that the format doesn't name."""
        row = self.first(f"select count(*), min(unnamed) from {table} where unnamed is not null")
        if row is not None and row[0]:
            self.notice(
                "extra_keys", source.name, int(str(row[0])),
                f"{row[0]} lines with keys that the format doesn't name, such as {shown(row[1])}; kept as extra",
            )  # fmt: skip

    def insert(self, table: str, select: str) -> int:
        """Insert into a raw table by column name; returns the number of rows."""
        # Raw rows have no order of their own, and are written faster without one.
        self.con.execute("set preserve_insertion_order = false")
        row = self.con.execute(f"insert into {RAW_SCHEMA}.{table} by name {select}").fetchone()
        self.con.execute("set preserve_insertion_order = true")
        return 0 if row is None else int(row[0])

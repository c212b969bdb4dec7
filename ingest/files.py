"""Reading files: their digests, their lines with numbers, and rows of CSV, TSV and Parquet.

A file is read once in Python as bytes, by blocks, for its digest and to see whether DuckDB can read its lines as
they are. A file with something odd in it (bytes that are no UTF-8, empty lines, lone carriage returns, control
characters, very long lines) is first copied, line by line, with the unreadable lines blanked and noted.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import duckdb

from ingest.errors import BadInput
from ingest.sqltext import literal

if TYPE_CHECKING:
    from ingest.staging import Load

BLOCK = 1 << 20

#: A longer line is not read but quarantined.
LONGEST_LINE = 16 << 20

#: DuckDB's reader wants to be told of lines longer than this.
_USUAL_LINE = 2_000_000


@dataclass
class SourceFile:
    """One file as it was found: its name, its digest, and what was seen in it."""

    path: Path
    sha256: str
    #: What it is called where several of its parts are read one by one; else the file's name.
    label: str | None = None
    #: Lines that are not empty (for tables: rows), once it has been staged.
    n_lines: int = 0
    #: Lines that can't be read, with the reason and what can be shown of them.
    unreadable: list[tuple[int, str, str]] = field(default_factory=list)
    #: The columns of a table.
    columns: list[str] = field(default_factory=list)
    #: Where several files are read as one: each with the number of lines before it. Lines count on from one to the next.
    parts: list[tuple[int, Path]] = field(default_factory=list)

    def at(self, line: object) -> str:
        """Where a line stands, for a message: the file and its own number of the line."""
        number = int(str(line))
        before, path = max(((n, p) for n, p in self.parts if n < number), default=(0, self.path))
        return f"{path}, line {number - before}"

    @property
    def name(self) -> str:
        """The file's name without its folder, or its label."""
        return self.label or self.path.name

    @property
    def format(self) -> str:
        """jsonl, csv, tsv, parquet or txt, without regard to ``.gz``."""
        name = self.path.name.removesuffix(".gz")
        return name.rsplit(".", 1)[-1]


@dataclass(frozen=True)
class Lines:
    """Lines in the keys of the recording format that stand in no file: an adapter makes them while a load runs.

    `fill(load, source, table)` makes the temporary table (line bigint, text varchar) and adds to the source's
    ``n_lines``. `label` names them in messages where the file gives several such.
    """

    path: Path
    fill: Callable[[Load, SourceFile, str], None]
    label: str | None = None


#: What a load reads from: a file in the recording format, or lines that an adapter makes.
Given = Path | Lines


def find_file(folder: Path, stem: str, endings: tuple[str, ...], *, required: bool = True) -> Path | None:
    """The one file of a folder named `stem` with one of the endings, ``.gz`` or not.

    Raises BadInput where there are two, or none and one is required.
    """
    names = [f"{stem}.{ending}{gz}" for ending in endings for gz in ("", ".gz")]
    found = [folder / name for name in names if (folder / name).exists() or (folder / name).is_symlink()]
    if len(found) > 1:
        raise BadInput(
            f"{folder}: {found[0].name} and {found[1].name} both stand here and only one can count. Remove one."
        )
    if not found:
        if required:
            raise BadInput(f"{folder}: {' or '.join(names[::2])} is missing. Put it there (.gz is read too).")
        return None
    return checked_path(folder, found[0].name)


def checked_path(folder: Path, name: str) -> Path:
    """A file of the folder by its bare name. Raises BadInput for anything that leads out of the folder."""
    path = folder / name
    if "/" in name or "\\" in name or name in ("", ".", "..") or "\0" in name:
        raise BadInput(
            f"{folder}: {name!r} is not the bare name of a file in this folder. Name the file alone."
        )
    if not path.exists():
        raise BadInput(f"{path}: there is no such file. Put it there, or don't name it.")
    if not path.is_file():
        raise BadInput(f"{path}: this is not a file. Put a file there.")
    if path.is_symlink() and path.resolve().parent != folder.resolve():
        raise BadInput(
            f"{path}: this link leads out of the folder, and is not followed. Put the file itself there."
        )
    return path


def digest_of(path: Path) -> str:
    """sha256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def open_plain(path: Path) -> BinaryIO:
    """The file's bytes, unpacked where it is ``.gz``."""
    return gzip.open(path, "rb") if path.name.endswith(".gz") else path.open("rb")  # type: ignore[return-value]


def _blocks(path: Path) -> Iterator[bytes]:
    try:
        with open_plain(path) as stream:
            while block := stream.read(BLOCK):
                yield block
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(f"{path}: it can't be unpacked ({error}). Pack it again.") from None


#: Control characters that no line of text or JSON holds as such: all but tab, line feed and carriage return.
_CONTROL = bytes(c for c in range(32) if c not in (9, 10, 13))


def _is_plain(path: Path) -> tuple[bool, int]:
    """Whether DuckDB reads the lines as they stand, and how long the longest is, in bytes."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    longest = since = 0
    last = b"\n"
    for block in _blocks(path):
        try:
            decoder.decode(block)
        except UnicodeDecodeError:
            return False, 0
        # A block may end between the two characters of a line's end: look at it with what came before.
        seen = last + block
        if block.translate(None, _CONTROL) != block or b"\n\n" in seen or b"\n\r" in seen:
            return False, 0
        if seen.count(b"\r") - seen.endswith(b"\r") != seen.count(b"\r\n"):
            return False, 0
        # Only a line that runs through a whole block can be longer than what DuckDB takes as usual.
        first_end = block.find(b"\n")
        if first_end < 0:
            since += len(block)
        else:
            longest = max(longest, since + first_end)
            since = len(block) - block.rfind(b"\n") - 1
        longest = max(longest, since)
        last = block[-1:]
        if longest > LONGEST_LINE:
            return False, 0
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False, 0
    return last != b"\r", longest


def _lines_of_bytes(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Lines with their numbers; None for a line that is too long."""
    number, kept, too_long = 1, bytearray(), False
    for block in _blocks(path):
        parts = block.split(b"\n")
        for i, part in enumerate(parts):
            if i > 0:
                yield number, None if too_long else bytes(kept)
                number, kept, too_long = number + 1, bytearray(), False
            if len(kept) + len(part) > LONGEST_LINE:
                kept, too_long = kept[:10_000] or bytearray(part[:10_000]), True
            elif not too_long:
                kept += part
    if kept or too_long:
        yield number, None if too_long else bytes(kept)


def _cleaned_copy(source: SourceFile, folder: Path) -> Path:
    """A copy with a line for each line, that DuckDB can read; unreadable lines are blank in it, and noted."""
    handle, name = tempfile.mkstemp(suffix=".txt", dir=folder)
    with os.fdopen(handle, "wb") as out:
        for number, line in _lines_of_bytes(source.path):
            reason, text = None, b""
            if line is None:
                reason = f"longer than {LONGEST_LINE:,} bytes"
            else:
                text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                text = text.removesuffix(b"\r").replace(b"\r", b" ")
                try:
                    text.decode("utf-8")
                except UnicodeDecodeError as error:
                    reason = f"not UTF-8: byte {text[error.start]:#04x} at place {error.start + 1}"
                else:
                    if text.translate(None, _CONTROL) != text:
                        code = next(c for c in text if c in _CONTROL)
                        reason = f"the control character {code:#04x} stands in it"
            if reason is not None:
                source.unreadable.append((number, reason, text[:10_000].decode("utf-8", "replace")))
                text = b""
            out.write((text or b" ") + b"\n")
    return Path(name)


def stage_lines(con: duckdb.DuckDBPyConnection, source: SourceFile, table: str) -> None:
    """Fill the temporary table `table` (line bigint, text varchar) with the lines that are not empty.

    Sets ``n_lines`` (lines that are not empty, unreadable ones included) and ``unreadable`` of the source.
    """
    plain, longest = _is_plain(source.path)
    path, temporary = source.path, None
    if not plain:
        temporary = path = _cleaned_copy(source, Path(tempfile.gettempdir()))
        longest = LONGEST_LINE if source.path.stat().st_size > _USUAL_LINE else 0
    option = (
        f", max_line_size = {longest + 1024}, buffer_size = {4 * (longest + 1024)}"
        if longest > _USUAL_LINE
        else ""
    )
    try:
        con.execute(
            f"""
            create or replace temp table {table} as
            with numbered as (
                select row_number() over () as line, text
                from read_csv(
                    {literal(str(path))}, columns = {{'text': 'varchar'}}, header = false, auto_detect = false,
                    delim = chr(1), quote = '', escape = '', nullstr = chr(2), new_line = '\\n',
                    strict_mode = false, compression = '{"gzip" if path.name.endswith(".gz") else "none"}'{option}
                )
            )
            select line, text from numbered where trim(text, ' ' || chr(9)) != ''
            """
        )
    finally:
        if temporary is not None:
            temporary.unlink()
    source.n_lines = _count(con, table) + len(source.unreadable)


def stage_rows(
    con: duckdb.DuckDBPyConnection, source: SourceFile, table: str, *, as_view: bool = False
) -> dict[str, str]:
    """Make the temporary table (or view) `table` with a row a row of a CSV, TSV or Parquet file, numbered in ``line``.

    CSV and TSV columns are text, an empty field null. Returns the columns with their types. A row's ``line`` is its
    number among the rows, from 1; the header is none.
    """
    path = literal(str(source.path))
    if source.format == "parquet":
        scan = f"read_parquet({path})"
    else:
        delimiter = "chr(9)" if source.format == "tsv" else "','"
        quote = "''" if source.format == "tsv" else "'\"'"
        compression = "gzip" if source.name.endswith(".gz") else "none"
        scan = (
            f"read_csv({path}, header = true, all_varchar = true, delim = {delimiter}, quote = {quote},"
            f" escape = {quote}, compression = '{compression}', sample_size = 1, null_padding = false)"
        )
    try:
        kind = "view" if as_view else "table"
        con.execute(
            f"create or replace temp {kind} {table} as select row_number() over () as line, * from {scan}"
        )
        source.n_lines = _count(con, table)
    except duckdb.Error as error:
        raise BadInput(f"{source.path}: it can't be read: {_first_line(error)} Put that right.") from None
    described = con.execute(f"describe {table}").fetchall()
    columns = {str(row[0]): str(row[1]) for row in described[1:]}
    source.columns = list(columns)
    return columns


def _first_line(error: duckdb.Error) -> str:
    text = " ".join(str(error).split())
    return text.split(" Possible Solution")[0].split(" LINE 1: ")[0][:300]


def _count(con: duckdb.DuckDBPyConnection, table: str) -> int:
    row = con.execute(f"select count(*) from {table}").fetchone()
    assert row is not None
    return int(row[0])

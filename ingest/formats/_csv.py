"""Rows of CSV and TSV files with a header, quoted as CSV is: numbered, checked, one at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

from ingest.files import LONGEST_LINE, open_plain
from ingest.formats._seen import first_bytes, is_utf8, shown_bytes

Refuse = Callable[[int, str, str], None]


def header_of(path: Path, delimiter: str = ",") -> list[str]:
    """The names of a file's columns, from its first line; empty where it can't be read."""
    return next(csv.reader(io.StringIO(first_bytes(path).split("\n", 1)[0]), delimiter=delimiter), [])


def csv_rows(path: Path, refuse: Refuse, delimiter: str = ",") -> Iterator[tuple[int, dict[str, str]]]:
    """Rows by their columns with their numbers, from 1; the header is none.

    `refuse(row, reason, text)` gets each that has another number of fields than the header, or isn't UTF-8.
    """
    csv.field_size_limit(LONGEST_LINE)
    with (
        open_plain(path) as raw,
        io.TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape", newline="") as text,
    ):
        reader = csv.reader(text, delimiter=delimiter)
        header = next(reader, [])
        number = 0
        while True:
            number += 1
            try:
                fields = next(reader, None)
            except csv.Error as error:
                refuse(number, f"the row can't be read: {error}", "")
                continue
            if fields is None:
                return
            if not fields:
                # An empty line is no row.
                number -= 1
                continue
            whole = delimiter.join(fields)
            if not is_utf8(whole):
                refuse(number, "the row isn't UTF-8", shown_bytes(whole))
            elif len(fields) != len(header):
                refuse(
                    number,
                    f"the row has another number of columns than the header: {len(fields)}, not {len(header)}",
                    whole,
                )
            else:
                yield number, dict(zip(header, fields, strict=True))

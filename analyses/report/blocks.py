"""What a section is made of: text, tables, and charts with the table behind each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb

from analyses.report.markup import Html


@dataclass(frozen=True)
class Options:
    """What the reader of the report asked for.

    `n_queries` is the most queries of a recording that the drill-down shows; `recordings` limits the report to some, all
    where it is empty.
    """

    n_queries: int = 100
    recordings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """Rows under columns. A cell is None (undefined), a number, a text of a recording or `Html`."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str
    #: Places of the decimals, for doubles.
    decimals: int = 3


@dataclass(frozen=True)
class Chart:
    """A chart with its title, what it says in a sentence, and the table behind it.

    `spec` is an Altair chart, or None where there is nothing to draw; then `notes` say why.
    """

    title: str
    spec: Any
    table: Table
    summary: str
    notes: Sequence[object] = ()
    is_wide: bool = False


Block = Html | Table | Chart


@dataclass(frozen=True)
class Section:
    """A part of the page: a heading, what its figures are about, and its blocks.

    `key` is its anchor in the page; `level` the rank of its heading, 2 or 3.
    """

    key: str
    title: str
    blocks: Sequence[Block]
    level: int = 2
    #: The heading in the page's list of contents.
    short: str | None = None
    notes: Sequence[object] = field(default_factory=tuple)


def ask(con: duckdb.DuckDBPyConnection, sql: str, *values: Any) -> list[dict[str, Any]]:
    """The rows of a query, each a name-to-value mapping."""
    found = con.execute(sql, list(values))
    names = [column[0] for column in found.description or []]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def number(value: object, decimals: int = 3) -> str:
    """A number as the report shows it; undefined is a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        small = value != 0 and abs(value) < 0.5 * 10**-decimals
        return f"{value:.1e}" if small else f"{value:.{decimals}f}"
    return str(value)


def interval(low: float | None, high: float | None) -> str:
    """An interval in words."""
    return "–" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def counted(n: int | None, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{number(n)} {one if n == 1 else many or one + 's'}"

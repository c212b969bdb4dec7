"""Blocks and sections as markup."""

from __future__ import annotations

import re
from typing import Any

from analyses.report import drawing
from analyses.report.blocks import Chart, Section, Table, number
from analyses.report.markup import Html, data, details, el, join, json_block

#: The most rows of a table that the page holds.
_ROWS = 500
#: An interval isn't broken over lines.
_INTERVAL = re.compile(r"-?[0-9.]+ to -?[0-9.]+")


class Renderer:
    """Makes markup of sections; counts charts, so that each finds its own data."""

    def __init__(self) -> None:
        self._charts = 0

    def section(self, section: Section) -> Html:
        """A section with its heading and blocks; charts that aren't wide stand beside each other."""
        parts: list[Html] = []
        row: list[Html] = []
        for block in section.blocks:
            if isinstance(block, Chart) and not block.is_wide:
                row.append(self.chart(block, section.level + 1))
                continue
            if row:
                parts.append(el("div", *row, class_="grid"))
                row = []
            if isinstance(block, Chart):
                parts.append(self.chart(block, section.level + 1))
            else:
                parts.append(table(block) if isinstance(block, Table) else block)
        if row:
            parts.append(el("div", *row, class_="grid"))
        heading = el(f"h{section.level}", data(section.title), id=f"{section.key}-title")
        return el(
            "section",
            heading,
            *parts,
            id=section.key,
            aria_labelledby=f"{section.key}-title",
            class_=f"level-{section.level}",
        )

    def chart(self, chart: Chart, level: int) -> Html:
        """A figure: title, sentence, drawing, notes, and the table behind."""
        plot = None
        if chart.spec is not None:
            self._charts += 1
            name = f"chart-{self._charts}"
            plot = join(
                el(
                    "div",
                    class_="plot",
                    role="img",
                    aria_label=f"{chart.title}. {chart.summary}",
                    data_spec=name,
                ),
                json_block(name, drawing.to_vega(chart.spec)),
            )
        return el(
            "figure",
            el(f"h{level}", chart.title),
            el("p", data(chart.summary), class_="summary"),
            plot,
            *(el("p", data(note), class_="note") for note in chart.notes),
            details("Table", table(chart.table), class_="behind"),
            class_="chart wide" if chart.is_wide else "chart",
        )  # fmt: skip


def table(shown: Table) -> Html:
    """A table that the reader can sort by each column; long ones are cut, and say so."""
    numeric = [any(_is_number(row[place]) for row in shown.rows) for place in range(len(shown.columns))]
    head = el(
        "tr",
        *(
            el(
                "th",
                el("button", column, type="button"),
                scope="col",
                aria_sort="none",
                class_="num" if is_numeric else None,
            )
            for column, is_numeric in zip(shown.columns, numeric, strict=True)
        ),
    )
    body = [
        el(
            "tr",
            *(_cell(value, place == 0, numeric[place], shown.decimals) for place, value in enumerate(row)),
        )
        for row in shown.rows[:_ROWS]
    ]
    cut = f" (the first {_ROWS} of {len(shown.rows):,} rows)" if len(shown.rows) > _ROWS else ""
    whole = el(
        "table",
        el("caption", el("span", shown.caption + cut)),
        el("thead", head),
        el("tbody", *body),
        class_="sortable",
    )
    return el("div", whole, class_="scroll", tabindex="0", role="region", aria_label=shown.caption)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: Any, is_first: bool, is_numeric: bool, decimals: int) -> Html:
    tag, scope = ("th", "row") if is_first else ("td", None)
    if isinstance(value, Html):
        return el(tag, value, scope=scope)
    if value is None or _is_number(value):
        look = "num" if is_numeric else None
        return el(
            tag,
            number(value, decimals),
            scope=scope,
            class_=look,
            data_sort="" if value is None else repr(value),
        )
    return el(
        tag, data(number(value)), scope=scope, class_="whole" if _INTERVAL.fullmatch(str(value)) else None
    )

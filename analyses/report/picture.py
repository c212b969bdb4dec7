"""A small picture of the report: the main figures with their intervals, and every comparison."""

from __future__ import annotations

import duckdb

from analyses.report import drawing
from analyses.report.blocks import Chart, Options
from analyses.report.sections.answers import answers
from analyses.report.sections.comparisons import comparisons
from analyses.report.sections.traces import traces

#: Pixels of the picture before scaling.
_WIDTH = 640


def picture(con: duckdb.DuckDBPyConnection, options: Options) -> bytes | None:
    """The first recording's main chart above the forest of comparisons, as a PNG; None where there is nothing to draw."""
    con.execute("set threads = 1")
    drawn: list[Chart] = []
    for make in (answers, traces, comparisons):
        wide = [
            b
            for s in make(con, options)
            for b in s.blocks
            if isinstance(b, Chart) and b.is_wide and b.spec is not None
        ]
        if wide and (make is comparisons or not drawn):
            drawn.append(wide[0])
    if not drawn:
        return None
    return drawing.to_png([(chart.title, chart.spec) for chart in drawn], _WIDTH)

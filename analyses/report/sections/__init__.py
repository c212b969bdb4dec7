"""The report's sections, in the page's order. A new one is a module with a function, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import duckdb

from analyses.report.blocks import Options, Section
from analyses.report.sections.answers import answers
from analyses.report.sections.comparisons import comparisons
from analyses.report.sections.overview import overview
from analyses.report.sections.queries import queries
from analyses.report.sections.runs import runs
from analyses.report.sections.traces import traces

SectionMaker = Callable[[duckdb.DuckDBPyConnection, Options], Sequence[Section]]

SECTIONS: tuple[SectionMaker, ...] = (overview, comparisons, answers, traces, runs, queries)

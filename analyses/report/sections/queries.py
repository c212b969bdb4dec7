"""The drill-down: every query, worst first, with its contexts, answers and traces, for a person to understand a number."""

from __future__ import annotations

import duckdb

from analyses.report.blocks import Options, Section
from analyses.report.drilldown import drilldown
from analyses.report.markup import Html, el, json_block

#: The ID of the block of JSON that assets/queries.js reads.
DATA = "queries-data"


def queries(con: duckdb.DuckDBPyConnection, options: Options) -> list[Section]:
    """One section: controls, an empty list that the script fills, and its data."""
    data = drilldown(con, options)
    if not data["recordings"]:
        return []
    about = el(
        "p",
        "Open a query to see what stands behind its figures: each document in its place with the grade that people gave it, the answer"
        " with its citations marked, and an agent's steps with the source of each word it added.",
    )
    controls = el(
        "form",
        _control("Recording", el("select", id="pick-recording")),
        _control("Search", el("input", type="search", id="find-query", placeholder="words or ID of a query", autocomplete="off")),
        _control("Show", el("select", id="pick-filter")),
        _control("Order", el("select", id="pick-order")),
        id="query-controls",
        role="search",
        aria_label="Queries",
    )  # fmt: skip
    shell = [
        el(
            "noscript",
            el(
                "p",
                "The list of queries needs JavaScript; every figure above stands in its table without it.",
            ),
        ),
        controls,
        el("p", "", id="query-scope", class_="label"),
        el("p", "", id="query-status", role="status"),
        el("ol", id="query-list"),
        el("button", "Show more", type="button", id="query-more", hidden=True),
        json_block(DATA, data),
    ]
    return [
        Section(
            "queries", "Queries, worst first", [about, Html("".join(shell))], short="Queries, worst first"
        )
    ]


def _control(label: str, control: Html) -> Html:
    return el("label", el("span", label), control)

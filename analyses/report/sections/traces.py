"""Agents' traces: how often they search, where the words of later searches come from, and what they pick."""

from __future__ import annotations

from typing import Any

import duckdb

from analyses.report import charts
from analyses.report.blocks import Block, Chart, Options, Section, Table, ask, counted, interval, number
from analyses.report.scope import anchor, recordings, scope

#: (label, SQL over assay_traces of one recording, grouped by retriever)
_FIGURES = (
    ("tasks", "count(*) filter (where not is_missing)"),
    ("missing", "count(*) filter (where is_missing)"),
    ("unfinished", "count(*) filter (where not is_missing and not is_finished)"),
    ("searches", "sum(n_searches)"),
    ("attempts", "sum(n_attempts)"),
    ("errors", "sum(n_errors)"),
    ("first search as typed", "case when count(is_first_search_as_typed) > 0 then count(*) filter (where is_first_search_as_typed) end"),
    ("first search the same under every retriever", "case when count(is_first_search_same_everywhere) > 0 then count(*) filter (where is_first_search_same_everywhere) end"),
    ("first results are the answer's context", "case when count(is_first_result_the_answer_context) > 0 then count(*) filter (where is_first_result_the_answer_context) end"),
    ("later searches", "sum(n_later_searches)"),
    ("picks", "sum(n_picks)"),
    ("picks that no search returned", "sum(n_never_returned)"),
    ("unjudged picks", "sum(n_unjudged_picked)"),
    ("tasks with fewer picks than asked", "case when count(has_fewer_picks) > 0 then count(*) filter (where has_fewer_picks) end"),
    ("tasks whose searches returned nothing exact", "case when count(is_exact_never_returned) > 0 then count(*) filter (where is_exact_never_returned) end"),
    ("tasks that saw an exact document and picked none", "case when count(is_exact_seen_none_picked) > 0 then count(*) filter (where is_exact_seen_none_picked) end"),
)  # fmt: skip


def traces(con: duckdb.DuckDBPyConnection, options: Options) -> list[Section]:
    """One section for each recording of traces."""
    return [_section(con, row) for row in recordings(con, options, "traces")]


def _section(con: duckdb.DuckDBPyConnection, recording: dict[str, Any]) -> Section:
    name = recording["recording_id"]
    names = [
        row["retriever"]
        for row in ask(
            con, "select distinct retriever from assay_traces where recording_id = ? order by 1", name
        )
    ]
    blocks: list[Block] = [scope(con, recording), _picks(con, name, names), _searches(con, name, names), _words(con, name, names)]  # fmt: skip
    blocks.append(_figures(con, name, names))
    return Section(anchor(con, name), f"Agent: {name}", blocks, short=name)


def _picks(con: duckdb.DuckDBPyConnection, name: str, names: list[str]) -> Chart:
    found = ask(
        con,
        "select * from assay_summary where recording_id = ? and measure in ('pick_precision', 'first_search_precision')"
        " order by retriever, measure desc",
        name,
    )
    words = {"pick_precision": "the picks", "first_search_precision": "its tool's first"}
    rows, cells = [], []
    for r in found:
        label = f"{r['retriever']}: {words[r['measure']]}"
        cells.append([r["retriever"], words[r["measure"]], r["k"], r["mean"], interval(r["interval_low"], r["interval_high"]), r["n_queries"], r["n_missing"], r["n_broken"], r["n_undefined"]])  # fmt: skip
        if r["mean"] is not None:
            rows.append({"label": label, "series": r["retriever"], "value": r["mean"], "low": r["interval_low"], "high": r["interval_high"]})  # fmt: skip
    k = found[0]["k"] if found else None
    notes: list[object] = [f"Both are the exact among {k} places ÷ {k}; a missing pick is a miss. An agent that picks worse than its tool's own first {k} adds nothing."]  # fmt: skip
    if not rows:
        notes = ["Undefined: nobody judged the documents, or the manifest names no max_recommendations."]
    columns = [
        "retriever",
        "of",
        "n",
        "mean precision",
        "interval",
        "queries",
        "missing",
        "broken",
        "undefined",
    ]
    return Chart(
        "Picks against the tool's own first places",
        charts.intervals(rows, "mean precision") if rows else None,
        Table(columns, cells, "Precision of picks and of the tool's own first places"),
        "; ".join(f"{r['label']} {number(r['value'])}" for r in rows[:6]) or "No value is defined.",
        notes,
        is_wide=True,
    )


def _searches(con: duckdb.DuckDBPyConnection, name: str, names: list[str]) -> Chart:
    found = ask(
        con,
        "select retriever, n_searches, count(*) as n from assay_traces"
        " where recording_id = ? and is_asked and not is_missing and has_searches group by all order by n_searches, retriever",
        name,
    )
    # The long tail of searches goes into one bar.
    counts: dict[tuple[str, str], int] = {}
    for r in found:
        what = str(r["n_searches"]) if r["n_searches"] < 12 else "12 or more"
        counts[(what, r["retriever"])] = counts.get((what, r["retriever"]), 0) + r["n"]
    steps = list(dict.fromkeys(what for what, _ in counts))
    rows = [{"what": f"{what} searches" if what != "1" else "1 search", "series": r, "value": counts.get((what, r), 0)} for what in steps for r in names]  # fmt: skip
    one = sum(r["n"] for r in found if r["n_searches"] == 1)
    total = sum(r["n"] for r in found)
    return Chart(
        "Searches per task",
        charts.bars(rows, "tasks", names) if rows else None,
        Table(["searches", "retriever", "tasks"], [[r["n_searches"], r["retriever"], r["n"]] for r in found], "Tasks by their number of searches"),
        f"{one:,} of {counted(total, 'task')} search once.",
        [] if rows else ["It is not known what was searched."],
    )  # fmt: skip


def _words(con: duckdb.DuckDBPyConnection, name: str, names: list[str]) -> Chart:
    found = ask(
        con,
        """
        select w.origin, coalesce(w.shown_by, '') as shown_by, coalesce(w.shown_field, '') as field, s.retriever, count(*) as n
        from fct_assay__search_words as w
        inner join fct_assay__searches as s using (recording_id, trace_id, search)
        inner join assay_traces as t on w.recording_id = t.recording_id and w.trace_id = t.trace_id
        where w.recording_id = $1 and w.is_added and s.is_later and t.is_asked group by all order by all
        """,
        name,
    )
    said = {"shown": "shown to it before", "new": "shown nowhere before", "undecidable": "undecidable"}
    counts = {(r["origin"], r["retriever"]): 0 for r in found}
    for r in found:
        counts[(r["origin"], r["retriever"])] += r["n"]
    rows = [
        {"what": words, "series": r, "value": counts.get((origin, r), 0)}
        for origin, words in said.items()
        for r in names
    ]
    total = sum(counts.values())
    shown = sum(n for (origin, _), n in counts.items() if origin == "shown")
    notes: list[object] = [
        "A word is added where neither the asker nor an earlier search said it. Shown: it stands in a document, or feedback, that the task"
        " had read by then. Undecidable: what was read isn't all known. That a word was shown doesn't say that the agent took it from there."
    ]
    cells = [
        [said.get(r["origin"], r["origin"]), r["shown_by"], r["field"], r["retriever"], r["n"]] for r in found
    ]
    return Chart(
        "Where the words of later searches come from",
        charts.bars(rows, "words added", names) if total else None,
        Table(["origin", "shown by", "field", "retriever", "words"], cells, "Words that later searches add"),
        f"Later searches add {counted(total, 'word')}, {shown:,} of them shown before." if total else "No later search adds a word.",
        notes,
    )  # fmt: skip


def _figures(con: duckdb.DuckDBPyConnection, name: str, names: list[str]) -> Table:
    columns = ", ".join(f"cast({sql} as bigint) as f{i}" for i, (_, sql) in enumerate(_FIGURES))
    found = {
        r["retriever"]: r
        for r in ask(con, f"select retriever, {columns} from assay_traces where is_asked and recording_id = ? group by retriever", name)
    }  # fmt: skip
    rows = [[label, *(found.get(r, {}).get(f"f{i}") for r in names)] for i, (label, _) in enumerate(_FIGURES)]
    return Table(["what", *names], rows, "What the tasks did")

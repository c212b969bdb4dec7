"""Comparisons: every planned one with its verdict in words, and what it looks like query by query."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import duckdb

from analyses.report import charts
from analyses.report.blocks import Block, Chart, Options, Section, Table, ask, counted, interval, number
from analyses.report.markup import Html, data, el, join
from analyses.report.scope import anchor, recordings
from analyses.report.verdicts import anchor as comparison_anchor
from analyses.report.verdicts import sides, verdict

#: Comparisons that are drawn query by query, and queries of each that are drawn.
_DRAWN, _WINS = 12, 15


def comparisons(con: duckdb.DuckDBPyConnection, options: Options) -> list[Section]:
    """One section: the forest of all, then each by itself."""
    names = [row["recording_id"] for row in recordings(con, options)]
    rows = ask(
        con,
        """
        select * from assay_comparisons
        where list_contains($1, recording_id) or list_contains($1, baseline_recording_id)
            or (status = 'not recorded' and $2)
        order by is_planned desc, case when status = 'not recorded' then 1 else 0 end, family, comparison_id
        """,
        names,
        not options.recordings,
    )
    if not rows:
        words = (
            "No comparison is planned for these recordings (seeds/planned_comparisons.csv), so nothing here says that one retriever is"
            " better than another: intervals that don't overlap are no test."
        )
        return [Section("comparisons", "Comparisons", [el("p", words)], short="Comparisons")]
    sections = [Section("comparisons", "Comparisons", [_forest(rows)], short="Comparisons")]
    tested = [row for row in rows if row["mean_difference"] is not None]
    sections += [_one(con, row) for row in tested[:_DRAWN]]
    if len(tested) > _DRAWN:
        left = f"{counted(len(tested) - _DRAWN, 'more comparison')} stand in the table above alone."
        sections.append(Section("comparisons-more", "More comparisons", [el("p", left)], level=3))
    return sections


def _forest(rows: list[dict[str, Any]]) -> Chart:
    drawn = [
        {
            "label": f"{sides(row)}{'' if [sides(r) for r in rows].count(sides(row)) == 1 else ' (' + row['comparison_id'] + ')'}: {row['status']}",
            "value": row["mean_difference"], "low": row["interval_low"], "high": row["interval_high"],
            "is_established": bool(row["is_established"]),
        }
        for row in rows
        if row["mean_difference"] is not None
    ][:40]  # fmt: skip
    cells = [
        [
            row["comparison_id"], sides(row), "yes" if row["is_planned"] else "no", row["mean_difference"],
            interval(row["interval_low"], row["interval_high"]), row["interval_level"],
            f"at most {number(row['p_value'])}" if row["p_is_bound"] else row["p_value"], row["threshold"], row["wins"], row["losses"],
            row["ties"], verdict(row), row["is_holm_established"],
        ]
        for row in rows
    ]  # fmt: skip
    columns = ["comparison", "sides", "planned", "mean difference", "interval", "its level", "permutation p", "threshold", "wins", "losses", "ties", "verdict", "established by Holm"]  # fmt: skip
    established = sum(bool(row["is_established"]) for row in rows)
    return Chart(
        "Every comparison, with its interval",
        charts.forest(drawn) if drawn else None,
        Table(columns, cells, "Comparisons, planned ones first"),
        f"{counted(len(rows), 'comparison')}, of which {established} established.",
        [
            "A filled mark is an established difference, a hollow one is none. An interval that leaves out 0 establishes nothing by"
            " itself: only a comparison planned before its recording does, with p below its threshold."
        ],
        is_wide=True,
    )


def _one(con: duckdb.DuckDBPyConnection, row: dict[str, Any]) -> Section:
    per_query = ask(
        con,
        """
        with sides as (
            select query_id, side, avg(value order by trial) as value, bool_or(is_missing or is_broken) as is_left_out
            from fct_assay__comparison_values where comparison_id = $1 group by query_id, side
        ),
        pairs as (
            select query_id, max(value) filter (where side != 'baseline') as value, max(value) filter (where side = 'baseline') as baseline
            from sides group by query_id having not bool_or(is_left_out)
        )
        select pairs.*, round(value - baseline, 12) as difference, queries.query
        from pairs
        left join (select collection from assay_recordings where recording_id = $2) as recording on true
        left join assay_queries as queries on recording.collection = queries.collection and pairs.query_id = queries.query_id
        where value is not null and baseline is not null
        order by difference, pairs.query_id
        """,
        row["comparison_id"],
        row["recording_id"],
    )
    status = "good" if row["is_established"] else "none"
    facts = [
        ("Mean", join(el("b", number(row["mean"])), " against ", el("b", number(row["baseline_mean"])))),
        ("Difference", f"{number(row['mean_difference'])}, {number(100 * row['interval_level'], 1).removesuffix('.0')}% interval {interval(row['interval_low'], row['interval_high'])}" if row["interval_low"] is not None else number(row["mean_difference"])),
        ("Wins, losses, ties", f"{row['wins']}, {row['losses']}, {row['ties']}"),
        ("Permutation p", f"{'at most ' if row['p_is_bound'] else ''}{number(row['p_value'])} ({row['p_method']}), threshold {row['threshold']:g}"),
        ("Beside it", _beside(row)),
    ]  # fmt: skip
    blocks: list[Block] = [
        el("p", el("strong", "Verdict: "), verdict(row), class_=f"verdict {status}"),
        el("dl", *(join(el("dt", label), el("dd", value)) for label, value in facts), class_="facts"),
        el("p", *_rests_on(con, row), class_="label"),
    ]
    if per_query:
        blocks += [_distribution(per_query, row), _by_query(con, per_query, row)]
    title = f"{'Planned' if row['is_planned'] else 'Exploratory'}: {sides(row)}"
    return Section(comparison_anchor(con, row["comparison_id"]), title, blocks, level=3, short=sides(row))


def _beside(row: dict[str, Any]) -> str:
    if row["t_test_p"] is None:
        return row["degenerate_reason"] or "no t-test"
    agrees = "agrees" if row["t_test_agrees"] else "does not agree"
    inside = (
        ""
        if row["interval_agrees"] is None
        else f"; the interval {'agrees' if row['interval_agrees'] else 'does not agree'}"
    )
    return f"t-test p {number(row['t_test_p'])}, which {agrees}{inside}"


def _rests_on(con: duckdb.DuckDBPyConnection, row: dict[str, Any]) -> list[Html]:
    names = list(dict.fromkeys([row["recording_id"], row["baseline_recording_id"]]))
    links = [el("a", data(name), href=f"#{anchor(con, name)}") for name in names]
    undefined = f", {row['n_undefined']} left out as undefined" if row["n_undefined"] else ""
    return [
        join("On ", join(*links, by=" and "), f": {counted(row['n_pairs'], 'pair')} of {row['n_queries']:,} queries asked{undefined}."
             " Model, prompts and judgments stand there.")
    ]  # fmt: skip


def _distribution(per_query: list[dict[str, Any]], row: dict[str, Any]) -> Chart:
    reach = max(1.0, *(abs(q["difference"]) for q in per_query))
    counts = dict.fromkeys(range(-10, 11), 0)
    for query in per_query:
        size = abs(query["difference"]) * 10 / reach
        # A difference on a bin's edge belongs to the bin nearer to 0.
        place = 0 if size == 0 else min(10, max(1, -int(-(size - 1e-9) // 1)))
        counts[place if query["difference"] > 0 else -place] += 1
    used = [place for place, n in counts.items() if n]
    around = range(min([*used, -1]), max([*used, 1]) + 1)

    def named(place: int) -> str:
        return "0" if place == 0 else f"{'−' if place < 0 else '+'}{abs(place) * reach / 10:.1f}"

    rows = [{"x": named(p), "value": counts[p], "series": "queries"} for p in around]
    return Chart(
        "How the differences lie",
        charts.columns(rows, "difference per query, up to", "queries"),
        Table(
            ["difference, up to", "queries"],
            [[r["x"], r["value"]] for r in rows],
            "Queries by their difference",
        ),
        f"{counted(row['ties'], 'query', 'queries')} tie; {row['wins']} are higher than the baseline, {row['losses']} lower.",
        ["The bar at 0 holds exact ties alone."],
    )


def _by_query(con: duckdb.DuckDBPyConnection, per_query: list[dict[str, Any]], row: dict[str, Any]) -> Chart:
    losses = [q for q in per_query if q["difference"] < 0]
    wins = [q for q in reversed(per_query) if q["difference"] > 0]
    chosen = [*reversed(wins[:_WINS]), *reversed(losses[:_WINS])]
    chosen.sort(key=lambda q: (-q["difference"], q["query_id"]))
    drawn = [{"label": f"{_short(q['query'])} ({q['query_id']})", "value": q["difference"]} for q in chosen]
    place = anchor(con, row["recording_id"])
    cells = [
        [el("a", data(q["query_id"]), href=f"#{place}/{quote(q['query_id'], safe='')}"), q["query"], q["value"], q["baseline"], q["difference"]]
        for q in sorted(chosen, key=lambda q: (q["difference"], q["query_id"]))
    ]  # fmt: skip
    notes = []
    hidden = len(wins) + len(losses) - len(chosen)
    if hidden:
        notes.append(f"The {_WINS} largest wins and losses; {hidden:,} smaller ones are left out.")
    if not drawn:
        notes.append("No query has a difference.")
    return Chart(
        "Wins and losses by query",
        charts.differences(drawn, "difference") if drawn else None,
        Table(
            ["query", "as typed", "value", "baseline", "difference"],
            cells,
            "Queries that differ, worst first",
        ),
        f"{counted(len(wins), 'win')} and {counted(len(losses), 'loss', 'losses')}.",
        notes,
    )


def _short(words: str | None) -> str:
    return "" if words is None else words if len(words) <= 40 else words[:39] + "…"

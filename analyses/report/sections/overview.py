"""What there is: recordings, their checks, and the few figures that matter."""

from __future__ import annotations

from typing import Any

import duckdb

from analyses.report import charts
from analyses.report.blocks import Block, Chart, Options, Section, Table, ask, interval, number
from analyses.report.markup import Html, data, el, join
from analyses.report.scope import anchor, recordings
from analyses.report.verdicts import anchor as anchor_of_comparison
from analyses.report.verdicts import named, sides, verdict

#: Verdicts at a glance, and retrievers in the chart.
_CARDS, _CHARTED = 6, 12


def overview(con: duckdb.DuckDBPyConnection, options: Options) -> list[Section]:
    """One section: verdicts first, then the main figures, recordings and failed checks."""
    found = recordings(con, options)
    if not found:
        return [
            Section(
                "overview", "At a glance", [el("p", "Nothing is loaded yet: no recording, and so no figure.")]
            )
        ]
    blocks: list[Block] = []
    blocks += [*_verdicts(con, found), *_main_figures(con, found)]
    blocks += [table for table in (_answers(con, found), _traces(con, found), _runs(con, found)) if table]
    blocks += [_recordings(con, found), *_checks(con, found)]
    return [Section("overview", "At a glance", blocks)]


def _names(found: list[dict[str, Any]], *kinds: str) -> list[str]:
    return [row["recording_id"] for row in found if not kinds or row["kind"] in kinds]


def _link(con: duckdb.DuckDBPyConnection, recording: str) -> Html:
    return el("a", data(recording), href=f"#{anchor(con, recording)}")


def _verdicts(con: duckdb.DuckDBPyConnection, found: list[dict[str, Any]]) -> list[Html]:
    rows = ask(
        con,
        """
        select * from assay_comparisons
        where is_planned and status != 'not recorded'
            and (list_contains($1, recording_id) or list_contains($1, baseline_recording_id))
        order by comparison_id
        """,
        _names(found),
    )
    if not rows:
        nothing = "No comparison was planned for these recordings, so nothing here establishes which retriever is better."
        return [el("p", nothing, class_="verdict")]
    cards = [_card(con, row) for row in rows[:_CARDS]]
    more = (
        el("p", f"{len(rows) - _CARDS:,} more stand under ", el("a", "Comparisons", href="#comparisons"), ".")
        if len(rows) > _CARDS
        else Html("")
    )
    return [el("h3", "What is established"), el("ul", *cards, class_="cards"), more]


def _card(con: duckdb.DuckDBPyConnection, row: dict[str, Any]) -> Html:
    means = join(el("b", number(row["mean"])), " against ", el("b", number(row["baseline_mean"])))
    figures = f"Difference {number(row['mean_difference'])}"
    if row["interval_low"] is not None:
        figures += f" ({interval(row['interval_low'], row['interval_high'])})"
    figures += (
        f", p {number(row['p_value'])}; {row['wins']} wins, {row['losses']} losses, {row['ties']} ties. "
    )
    return el(
        "li",
        el("p", data(sides(row)), class_="who"),
        el("p", means, class_="means") if row["mean"] is not None else None,
        el("p", verdict(row), class_=f"verdict {'good' if row['is_established'] else 'none'}"),
        el(
            "p",
            figures if row["mean_difference"] is not None else "",
            el("a", "Query by query", href=f"#{anchor_of_comparison(con, row['comparison_id'])}"),
            " · ",
            _link(con, row["recording_id"]),
            class_="label",
        ),
    )


def _main_figures(con: duckdb.DuckDBPyConnection, found: list[dict[str, Any]]) -> list[Block]:
    """The one figure of each retriever that answers or picks, in one chart."""
    kinds = {row["recording_id"]: row["kind"] for row in found}
    rows = ask(
        con,
        """
        select * from assay_summary
        where list_contains($1, recording_id) and measure in ('exact_share', 'pick_precision') and mean is not null
        order by measure, recording_id, is_floor, retriever
        """,
        _names(found, "answers", "traces"),
    )
    if not rows:
        return []
    drawn = [
        {
            "label": f"{r['retriever']} · {r['recording_id']}",
            "series": r["retriever"],
            "value": r["mean"],
            "low": r["interval_low"],
            "high": r["interval_high"],
        }
        for r in rows
    ]
    floors = [r["retriever"] for r in rows if r["is_floor"]]
    cells = [
        [_link(con, r["recording_id"]), r["retriever"], named(r["measure"], r["k"]), r["mean"], interval(r["interval_low"], r["interval_high"])]
        for r in rows
    ]  # fmt: skip
    cut = [f"The chart draws {_CHARTED} of {len(rows)}."] if len(rows) > _CHARTED else []
    what = [
        words
        for kind, words in (("answers", "of what answers cite"), ("traces", "of what agents pick"))
        if kind in {kinds[r["recording_id"]] for r in rows}
    ]
    return [
        Chart(
            "The main figure: how much is exact",
            charts.intervals(drawn[:_CHARTED], "mean share that people judged exact", floors),
            Table(
                ["recording", "retriever", "measure", "mean", "interval"],
                cells,
                "The main figure of each retriever",
            ),
            f"The share {' and '.join(what)} that people judged exact, with its interval.",
            [
                "Grey: a floor, which no retriever should be near. Intervals are no test; a planned comparison is.",
                *cut,
            ],
            is_wide=True,
        )
    ]


def _means(
    con: duckdb.DuckDBPyConnection, names: list[str]
) -> dict[tuple[str, str, str, int | None], dict[str, Any]]:
    rows = ask(
        con,
        "select * from assay_summary where list_contains($1, recording_id) and list_contains("
        "['exact_share', 'exact_share_high', 'pick_precision', 'first_search_precision', 'precision', 'recall', 'ndcg', 'judged'], measure)",
        names,
    )
    return {(r["recording_id"], r["retriever"], r["measure"], r["k"]): r for r in rows}


def _of(means: dict[tuple[str, str, str, int | None], dict[str, Any]], *key: Any) -> tuple[Any, str]:
    row = means.get(key, {})
    return row.get("mean"), interval(row.get("interval_low"), row.get("interval_high"))


def _answers(con: duckdb.DuckDBPyConnection, found: list[dict[str, Any]]) -> Table | None:
    names = _names(found, "answers")
    if not names:
        return None
    means = _means(con, names)
    rows = ask(
        con,
        """
        select
            recording_id, retriever,
            cast(count(*) filter (where not is_missing) as bigint) as n,
            cast(sum(n_cited) as bigint) as n_cited,
            case when count(is_abstained) > 0 then count(*) filter (where is_abstained) end as n_abstained,
            case when count(n_outside_context) > 0 then count(*) filter (
                where n_outside_context > 0 or n_unknown_id > 0 or n_malformed > 0 or n_repeated > 0
                    or has_too_many or has_text_and_field_difference
            ) end as n_violating
        from assay_answers where is_asked and list_contains($1, recording_id)
        group by recording_id, retriever order by recording_id, retriever
        """,
        names,
    )
    cells = []
    for r in rows:
        mean, around = _of(means, r["recording_id"], r["retriever"], "exact_share", None)
        high, _ = _of(means, r["recording_id"], r["retriever"], "exact_share_high", None)
        cells.append([_link(con, r["recording_id"]), r["retriever"], r["n"], mean, around, high, r["n_cited"], r["n_abstained"], r["n_violating"]])  # fmt: skip
    columns = ["recording", "retriever", "answers", "exact share", "interval", "unjudged as exact", "documents cited", "recommend nothing", "break a citation rule"]  # fmt: skip
    return Table(columns, cells, "Answers: how much of what they cite people judged exact")


def _traces(con: duckdb.DuckDBPyConnection, found: list[dict[str, Any]]) -> Table | None:
    names = _names(found, "traces")
    if not names:
        return None
    rows = ask(
        con,
        """
        select
            recording_id, retriever, max(max_recommendations) as k,
            cast(count(*) filter (where not is_missing) as bigint) as n,
            count(*) filter (where not is_missing and not is_finished) as n_unfinished,
            cast(sum(n_searches) as bigint) as n_searches
        from assay_traces where is_asked and list_contains($1, recording_id)
        group by recording_id, retriever order by recording_id, retriever
        """,
        names,
    )
    means = _means(con, names)
    cells = []
    for r in rows:
        picked, around = _of(means, r["recording_id"], r["retriever"], "pick_precision", r["k"])
        own, _ = _of(means, r["recording_id"], r["retriever"], "first_search_precision", r["k"])
        cells.append([_link(con, r["recording_id"]), r["retriever"], r["n"], r["n_unfinished"], r["n_searches"], picked, around, own])  # fmt: skip
    columns = ["recording", "retriever", "tasks", "unfinished", "searches", "precision of picks", "interval", "the tool's own first places"]  # fmt: skip
    return Table(columns, cells, "Agents: what they pick, beside the first places of their tool")


def _runs(con: duckdb.DuckDBPyConnection, found: list[dict[str, Any]]) -> Table | None:
    names = _names(found, "contexts", "answers")
    rows = ask(
        con,
        """
        select s.recording_id, s.retriever, max(s.k) as k
        from assay_summary as s where s.measure = 'precision' and list_contains($1, s.recording_id)
        group by all order by all
        """,
        names,
    )
    if not rows:
        return None
    means = _means(con, names)
    cells = []
    for r in rows:
        key = (r["recording_id"], r["retriever"])
        precision, around = _of(means, *key, "precision", r["k"])
        others = [_of(means, *key, measure, r["k"])[0] for measure in ("recall", "ndcg", "judged")]
        cells.append([_link(con, r["recording_id"]), r["retriever"], r["k"], precision, around, *others])
    columns = ["recording", "retriever", "k", "precision at k", "interval", "recall at k", "ndcg at k", "share judged"]  # fmt: skip
    return Table(columns, cells, "Contexts and runs, at the largest k that was scored")


def _recordings(con: duckdb.DuckDBPyConnection, found: list[dict[str, Any]]) -> Table:
    rows = []
    for r in found:
        state = "complete" if r["is_complete"] else "incomplete"
        mark = el("span", state, class_=f"badge {'good' if r['is_complete'] else 'bad'}")
        rows.append([
            _link(con, r["recording_id"]), r["kind"], r["model"], r["collection"], r["split"], r["n_asked"], mark, r["n_missing"],
            r["n_quarantined"], f"{r['n_checks_passed']} of {r['n_checks']}", r["n_warnings"],
        ])  # fmt: skip
    columns = ["recording", "kind", "model", "collection", "split", "queries asked", "complete", "missing", "lines unread", "checks passed", "warnings"]  # fmt: skip
    return Table(columns, rows, "Recordings: what each is of")


def _checks(con: duckdb.DuckDBPyConnection, found: list[dict[str, Any]]) -> list[Block]:
    rows = ask(
        con,
        """
        select kind, name, severity, check_name, observed, message from assay_checks
        where status = 'failed' and (
            (kind = 'recording' and list_contains($1, name)) or (kind = 'collection' and list_contains($2, name)) or kind = 'warehouse'
        )
        order by case severity when 'error' then 1 when 'warning' then 2 else 3 end, kind, name, check_name, message
        limit 200
        """,
        _names(found),
        sorted({row["collection"] for row in found}),
    )
    if not rows:
        return [el("p", "Every check of what was loaded passed.")]
    cells = [[r["severity"], r["kind"], r["name"], r["message"], r["observed"]] for r in rows]
    return [Table(["severity", "of", "name", "what", "how many"], cells, "Checks that did not pass")]

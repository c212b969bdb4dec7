"""Runs and contexts: precision, recall and nDCG by k, what ties decide, and what each unit costs."""

from __future__ import annotations

from typing import Any

import duckdb

from analyses.report import charts
from analyses.report.blocks import Block, Chart, Options, Section, Table, ask, counted, interval
from analyses.report.markup import el
from analyses.report.scope import anchor, judgments, recordings, scope

#: Runs that one chart draws; the tables hold all.
_DRAWN = 8
_MEASURES = (
    ("precision", "Precision: exact among the first k ÷ k"),
    ("recall", "Recall: exact among the first k ÷ all exact"),
    ("ndcg", "nDCG: graded, earlier places weigh more"),
    ("judged", "Share judged: how much of the first k rests on judgments"),
)


def runs(con: duckdb.DuckDBPyConnection, options: Options) -> list[Section]:
    """A section for each collection and split that has runs or answers' contexts, and one for each run's scope."""
    found = [r for r in recordings(con, options, "contexts", "answers")]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in found:
        groups.setdefault((row["collection"], row["split"] or ""), []).append(row)
    sections: list[Section] = []
    for place, ((collection, split), members) in enumerate(
        sorted(groups.items(), key=lambda g: g[0]), start=1
    ):
        sections += _group(con, place, collection, split, members)
    return sections


def _group(
    con: duckdb.DuckDBPyConnection, place: int, collection: str, split: str, members: list[dict[str, Any]]
) -> list[Section]:
    names = [m["recording_id"] for m in members]
    rows = ask(
        con,
        """
        select * from assay_summary
        where list_contains($1, recording_id) and k is not null
            and measure in ('precision', 'precision_high', 'recall', 'ndcg', 'judged', 'context_precision')
        order by is_floor, recording_id, retriever, k
        """,
        names,
    )
    title = f"Runs and contexts on {collection}" + (f", split {split}" if split else "")
    plain = [m for m in members if m["kind"] == "contexts"]
    scopes = [
        Section(
            anchor(con, m["recording_id"]),
            f"Run: {m['recording_id']}",
            [scope(con, m)],
            level=3,
            short=m["recording_id"],
        )
        for m in plain
    ]
    asked = sorted({m["n_asked"] for m in members})
    about = el(
        "p",
        f"Of {counted(len(members), 'recording')}; {' or '.join(f'{n:,}' for n in asked)} queries asked. Judgments: ",
        judgments(con, members[0]),
        " Models, prompts and settings stand with each recording.",
        class_="scope",
    )
    if not any(row["mean"] is not None for row in rows):
        nothing = el(
            "p",
            "Nothing is defined here: nobody judged documents for these queries, or no list is long enough.",
        )
        return [Section(f"runs-{place}", title, [about, nothing], short=f"Runs on {collection}"), *scopes]
    series = list(dict.fromkeys(_series(row, names) for row in rows))
    floors = list(dict.fromkeys(_series(row, names) for row in rows if row["is_floor"]))
    bounds = _bounds(con, names)
    blocks: list[Block] = [about]
    if len(series) > _DRAWN:
        blocks.append(el("p", f"The charts draw {_DRAWN} of {len(series)} runs; the tables hold all."))
    blocks += [
        _by_k(rows, names, measure, words, series[:_DRAWN], floors, bounds) for measure, words in _MEASURES
    ]
    blocks += [_unjudged(rows, names), _ties(con, names), *_units(con, names)]
    return [Section(f"runs-{place}", title, blocks, short=f"Runs on {collection}"), *scopes]


def _series(row: dict[str, Any], names: list[str]) -> str:
    return str(row["retriever"]) if len(names) == 1 else f"{row['retriever']} · {row['recording_id']}"


def _bounds(con: duckdb.DuckDBPyConnection, names: list[str]) -> list[dict[str, Any]]:
    """The random floor and the ceiling at each k, means over the queries that any of the recordings asked."""
    return ask(
        con,
        """
        with of_query as (
            select distinct query_id, k, precision_floor, precision_ceiling, recall_floor, recall_ceiling
            from assay_floors where is_asked and list_contains($1, recording_id)
        )
        select k,
            cast(sum(cast(precision_floor as decimal(20, 15))) as double) / nullif(count(precision_floor), 0) as precision_floor,
            cast(sum(cast(precision_ceiling as decimal(20, 15))) as double) / nullif(count(precision_ceiling), 0) as precision_ceiling,
            cast(sum(cast(recall_floor as decimal(20, 15))) as double) / nullif(count(recall_floor), 0) as recall_floor,
            cast(sum(cast(recall_ceiling as decimal(20, 15))) as double) / nullif(count(recall_ceiling), 0) as recall_ceiling
        from of_query group by k order by k
        """,
        names,
    )  # fmt: skip


def _by_k(
    rows: list[dict[str, Any]], names: list[str], measure: str, words: str, series: list[str], floors: list[str],
    bounds: list[dict[str, Any]],
) -> Chart:  # fmt: skip
    found = [row for row in rows if row["measure"] == measure]
    drawn = [
        {"series": _series(r, names), "k": r["k"], "value": r["mean"], "is_bound": False}
        for r in found
        if r["mean"] is not None and _series(r, names) in series
    ]
    lines = {"the best possible": f"{measure}_ceiling", "a random document": f"{measure}_floor"}
    lines = {said: column for said, column in lines.items() if bounds and bounds[0].get(column) is not None}
    drawn += [
        {"series": said, "k": b["k"], "value": b[column], "is_bound": True}
        for said, column in lines.items()
        for b in bounds
        if b[column] is not None
    ]
    cells = [
        [r["recording_id"], r["retriever"], r["k"], r["mean"], interval(r["interval_low"], r["interval_high"]), r["n_queries"], r["n_missing"], r["n_undefined"]]
        for r in found
    ]  # fmt: skip
    cells += [
        ["", said, b["k"], b[column], "–", None, None, None] for said, column in lines.items() for b in bounds
    ]
    columns = [
        "recording",
        "retriever",
        "k",
        f"mean {measure}",
        "interval",
        "queries",
        "missing",
        "undefined",
    ]
    undefined = max((r["n_undefined"] for r in found), default=0)
    return Chart(
        words,
        charts.lines(drawn, measure, [*series, *lines], [*floors, *lines]) if drawn else None,
        Table(columns, cells, f"Mean {measure} by k"),
        f"Undefined for up to {counted(undefined, 'query', 'queries')}; what is undefined leaves the mean." if undefined else "Defined for every query.",
        ["Dashed: the best that any list could reach, and a list drawn at random from the catalog."] if lines else [],
    )  # fmt: skip


def _unjudged(rows: list[dict[str, Any]], names: list[str]) -> Table:
    means = {(r["recording_id"], r["retriever"], r["measure"], r["k"]): r["mean"] for r in rows}
    keys = [k for k in dict.fromkeys((r["recording_id"], r["retriever"], r["k"]) for r in rows)]
    cells = [
        [name, retriever, k, *(means.get((name, retriever, measure, k)) for measure in ("judged", "precision", "precision_high", "context_precision"))]
        for name, retriever, k in keys
    ]  # fmt: skip
    columns = [
        "recording",
        "retriever",
        "k",
        "share judged",
        "precision",
        "with the unjudged as exact",
        "context precision",
    ]
    return Table(columns, cells, "How far the unjudged could move precision")


def _ties(con: duckdb.DuckDBPyConnection, names: list[str]) -> Chart:
    found = ask(
        con,
        """
        select recording_id, retriever, k,
            count(*) as n, count(*) filter (where is_tie_crossing) as n_crossing, count(*) filter (where is_tie_cut) as n_cut,
            cast(sum(cast(precision_low as decimal(20, 15))) as double) / nullif(count(precision_low), 0) as low,
            cast(sum(cast(precision_expected as decimal(20, 15))) as double) / nullif(count(precision_expected), 0) as value,
            cast(sum(cast(precision_high as decimal(20, 15))) as double) / nullif(count(precision_high), 0) as high
        from assay_tie_ranges where is_asked and list_contains($1, recording_id)
        group by recording_id, retriever, k order by recording_id, retriever, k
        """,
        names,
    )
    crossing = [r for r in found if r["n_crossing"] and r["value"] is not None][:24]
    drawn = [{"label": f"{_series(r, names)} @{r['k']}", "series": _series(r, names), "value": r["value"], "low": r["low"], "high": r["high"]} for r in crossing]  # fmt: skip
    cells = [[r["recording_id"], r["retriever"], r["k"], r["n"], r["n_crossing"], r["n_cut"], r["low"], r["value"], r["high"]] for r in found]  # fmt: skip
    columns = ["recording", "retriever", "k", "queries", "a tie crosses k", "cut by the run's depth", "lowest precision", "expected", "highest"]  # fmt: skip
    most = max((r["n_crossing"] for r in found), default=0)
    if not found:
        said = "No run here keeps scores, so what ties decide is unknown."
    elif not most:
        said = "No tie crosses a cutoff: the order in which equal scores stand changes nothing."
    else:
        said = f"In up to {counted(most, 'query', 'queries')} of a run, equal scores decide what stands among the first k."
    return Chart(
        "What ties decide",
        charts.intervals(drawn, "precision: lowest to highest, and expected") if drawn else None,
        Table(columns, cells, "Precision over the ways to break the tie at k"),
        said,
    )


def _units(con: duckdb.DuckDBPyConnection, names: list[str]) -> list[Block]:
    found = ask(
        con,
        "select * from assay_units where list_contains($1, recording_id) order by recording_id, retriever, k",
        names,
    )
    if not found:
        return []
    cells = [
        [r["recording_id"], r["retriever"], r["method"], r["unit"], r["k"], r["precision"], r["recall"], r["n_exact"], r["n_words"], r["words_per_exact"], r["n_queries_changed_by_ties"]]
        for r in found
    ]  # fmt: skip
    columns = ["recording", "retriever", "method", "unit", "k", "precision", "recall", "exact found", "words to read", "words per exact document", "queries that ties change"]  # fmt: skip
    return [
        Table(columns, cells, "Units: what is indexed, and what the model has to read for it", decimals=3)
    ]

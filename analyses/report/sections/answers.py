"""Answers: how much of what they cite is exact, when they recommend nothing, which rules of citing they break."""

from __future__ import annotations

from typing import Any

import duckdb

from analyses.report import charts
from analyses.report.blocks import Block, Chart, Options, Section, Table, ask, counted, interval, number
from analyses.report.markup import el
from analyses.report.scope import anchor, recordings, scope

#: (in words, what an answer that breaks the rule is, whether anybody could tell)
_RULES = (
    ("from outside its context", "n_outside_context > 0", "n_outside_context"),
    ("an ID the catalog lacks", "n_unknown_id > 0", "n_unknown_id"),
    ("something that is no ID", "n_malformed > 0", "n_malformed"),
    ("one ID twice", "n_repeated > 0", "n_repeated"),
    ("more than it may", "has_too_many", "has_too_many"),
    ("other IDs than its text", "has_text_and_field_difference", "has_text_and_field_difference"),
)


def answers(con: duckdb.DuckDBPyConnection, options: Options) -> list[Section]:
    """One section for each recording of answers."""
    return [_section(con, row) for row in recordings(con, options, "answers")]


def _section(con: duckdb.DuckDBPyConnection, recording: dict[str, Any]) -> Section:
    name = recording["recording_id"]
    found = ask(
        con,
        "select retriever, bool_or(is_floor) as is_floor from assay_summary where recording_id = ?"
        " group by retriever order by is_floor, retriever",
        name,
    )
    names = [row["retriever"] for row in found]
    floors = [row["retriever"] for row in found if row["is_floor"]]
    blocks: list[Block] = [scope(con, recording)]
    if recording["citations"] == "not_asked":
        blocks.append(
            el("p", "Nobody asked these answers for citations, so no measure of what they cite is defined.")
        )
    blocks += [
        _exact_share(con, name, names, floors),
        _abstention(con, name, names, floors),
        _violations(con, name, names, floors),
        _against_context(con, name, names, floors),
        _places(con, name, names, floors),
        *_support(con, name),
    ]
    return Section(anchor(con, name), f"Answers: {name}", blocks, short=name)


def _exact_share(con: duckdb.DuckDBPyConnection, name: str, names: list[str], floors: list[str]) -> Chart:
    means = {
        (r["retriever"], r["measure"]): r
        for r in ask(
            con,
            "select * from assay_summary where recording_id = ?"
            " and measure in ('exact_share', 'exact_share_high', 'grounded_exact_share')",
            name,
        )
    }
    held = {
        r["retriever"]: r
        for r in ask(
            con,
            "select retriever, count(*) filter (where is_exact_held) as n_held, count(is_exact_held) as n_known from assay_answers"
            " where is_asked and recording_id = ? group by retriever",
            name,
        )
    }
    chance = _random_document(con, name)
    rows, cells = [], []
    for retriever in names:
        mean = means.get((retriever, "exact_share"), {})
        high = means.get((retriever, "exact_share_high"), {}).get("mean")
        grounded = means.get((retriever, "grounded_exact_share"), {}).get("mean")
        known = held.get(retriever, {}).get("n_known") or 0
        ceiling = held[retriever]["n_held"] / known if known else None
        label = f"{retriever} (floor)" if retriever in floors else retriever
        cells.append([
            label, mean.get("mean"), interval(mean.get("interval_low"), mean.get("interval_high")), mean.get("interval_method"), high,
            grounded, ceiling, mean.get("n_queries"), mean.get("n_missing"), mean.get("n_broken"), mean.get("n_undefined"),
        ])  # fmt: skip
        if mean.get("mean") is not None:
            rows.append({
                "label": label, "series": retriever, "value": mean["mean"], "low": mean["interval_low"], "high": mean["interval_high"],
                "upper": high, "ceiling": ceiling,
            })  # fmt: skip
    notes: list[object] = [
        "Mark: the mean; line: its interval; band: up to where every unjudged document would be exact; upright tick: the ceiling, the"
        " share of contexts that held an exact document at all."
    ]
    if chance is not None:
        notes.append(
            f"Dashed: {number(chance)}, what citing a document drawn at random from the catalog would give."
        )
    if not rows:
        notes = [
            "Undefined for every query: nobody judged what these answers cite, or nobody asked for citations."
        ]
    columns = ["retriever", "exact share", "interval", "method", "unjudged as exact", "grounded", "ceiling", "queries", "missing", "broken", "undefined"]  # fmt: skip
    best = max(rows, key=lambda r: r["value"], default=None)
    return Chart(
        "Exact share: of the documents cited, those that people judged exact",
        charts.intervals(rows, "mean exact share", floors, chance) if rows else None,
        Table(columns, cells, "Mean exact share by retriever"),
        f"The highest mean is {best['label']}'s, {number(best['value'])}; whether a difference is established, a planned comparison says." if best else "No value is defined.",
        notes,
        is_wide=True,
    )  # fmt: skip


def _random_document(con: duckdb.DuckDBPyConnection, name: str) -> float | None:
    """The mean over queries of the catalog's share of exact documents; None where the catalog isn't whole."""
    row = con.execute(
        """
        select cast(sum(cast(floor_ as decimal(20, 15))) as double) / nullif(count(floor_), 0) from (
            select distinct query_id, precision_floor as floor_ from assay_floors
            where is_asked and recording_id = $1 and k = (select min(k) from assay_floors where recording_id = $1)
        )
        """,
        [name],
    ).fetchone()
    return None if row is None else row[0]


def _abstention(con: duckdb.DuckDBPyConnection, name: str, names: list[str], floors: list[str]) -> Chart:
    found = ask(
        con,
        """
        select retriever, abstention_cell as cell, count(*) as n, cast(sum(n_cited) as bigint) as n_cited,
            cast(sum(n_partial_cited) as bigint) as n_partial
        from assay_answers where is_asked and recording_id = ? group by all order by all
        """,
        name,
    )
    counts = {(r["retriever"], r["cell"]): r for r in found}
    usual = ["answered, exact held", "answered, none held", "abstained, exact held", "abstained, none held"]
    cells = usual + [c for c in dict.fromkeys(sorted(r["cell"] for r in found)) if c not in usual]
    rows = [
        {"what": cell, "series": r, "value": counts.get((r, cell), {"n": 0})["n"]}
        for cell in cells
        for r in names
    ]
    table = [
        [cell, r, counts[(r, cell)]["n"], counts[(r, cell)]["n_cited"], counts[(r, cell)]["n_partial"]]
        for cell in cells
        for r in names
        if (r, cell) in counts
    ]
    reverse = sum(counts.get((r, "abstained, exact held"), {"n": 0})["n"] for r in names)
    near = sum(counts.get((r, "answered, none held"), {"n": 0})["n"] for r in names)
    return Chart(
        "Recommending nothing, and what the context held",
        charts.bars(rows, "answers", names, floors),
        Table(
            ["cell", "retriever", "answers", "documents cited", "of those, partial"], table, "Answers by cell"
        ),
        f"{counted(near, 'answer')} recommend something though no exact document was held; {reverse} recommend nothing though one was.",
    )


def _violations(con: duckdb.DuckDBPyConnection, name: str, names: list[str], floors: list[str]) -> Chart:
    columns = ", ".join(
        f"case when count({known}) > 0 then count(*) filter (where {rule}) end as r{i}"
        for i, (_, rule, known) in enumerate(_RULES)
    )
    found = {
        r["retriever"]: r
        for r in ask(
            con,
            f"select retriever, count(*) filter (where not is_missing) as n, {columns} from assay_answers"
            " where is_asked and recording_id = ? group by retriever",
            name,
        )
    }
    rows: list[dict[str, Any]] = [
        {"what": words, "series": r, "value": found[r][f"r{i}"] or 0}
        for i, (words, _, _) in enumerate(_RULES)
        for r in names
        if r in found
    ]
    table = [
        [words, *(found[r][f"r{i}"] if r in found else None for r in names)]
        for i, (words, _, _) in enumerate(_RULES)
    ]
    table.append(["answers checked", *(found[r]["n"] if r in found else None for r in names)])
    total = sum(int(row["value"]) for row in rows)
    return Chart(
        "Answers that cite …",
        charts.bars(rows, "answers", names, floors) if total else None,
        Table(["rule", *names], table, "Answers that break a rule of citing"),
        f"{counted(total, 'breach', 'breaches')} of a rule of citing."
        if total
        else "No answer breaks a rule of citing.",
        [
            "Passing says that each cited document was in front of the model, not that it fits. An answer may break several rules."
        ],
    )


def _against_context(con: duckdb.DuckDBPyConnection, name: str, names: list[str], floors: list[str]) -> Chart:
    found = ask(
        con,
        """
        with scored as (
            select query_id, retriever, trial, k, context_precision from assay_context_scores
            where recording_id = $1 and k = (select max(k) from assay_context_scores where recording_id = $1)
        )
        select retriever, max(k) as k, round(context_precision, 2) as x, round(exact_share, 2) as value, count(*) as n
        from scored inner join assay_answers using (query_id, retriever, trial)
        where recording_id = $1 and is_asked and context_precision is not null and exact_share is not null
        group by retriever, x, value order by retriever, x, value
        """,
        name,
    )
    correlations = ask(
        con,
        """
        select retriever, k, n, spearman from assay_correlations
        where recording_id = $1 and measure = 'context_precision' and with_measure = 'exact_share'
            and k = (select max(k) from assay_correlations where recording_id = $1 and measure = 'context_precision')
        order by retriever
        """,
        name,
    )
    k = found[0]["k"] if found else None
    rows = [{"x": r["x"], "value": r["value"], "n": r["n"], "series": r["retriever"]} for r in found]
    notes: list[object] = []
    if rows:
        said = ", ".join(f"{r['retriever']} {number(r['spearman'])} (n {r['n']})" for r in correlations)
        notes.append(
            f"Spearman: {said}. (all) leaves floors out. A larger mark is more answers at one point."
        )
    else:
        notes.append("No answer has both values.")
    cells = [[r["retriever"], r["x"], r["value"], r["n"]] for r in found]
    return Chart(
        "Exact share against context precision",
        charts.scatter(rows, f"context precision at {k}", "exact share", names, floors) if rows else None,
        Table(
            ["retriever", f"context precision at {k}", "exact share", "answers"],
            cells,
            "Answers by both, rounded",
            decimals=2,
        ),
        "Does an answer get better where the exact documents stand first?",
        notes,
    )


def _places(con: duckdb.DuckDBPyConnection, name: str, names: list[str], floors: list[str]) -> Chart:
    found = ask(
        con,
        """
        select retriever, context_rank as place, count(*) as n, count(*) filter (where is_exact) as n_exact
        from fct_assay__citations
        where recording_id = $1 and context_rank is not null and not is_repeat group by all order by place, retriever limit 400
        """,
        name,
    )
    shown = [r for r in found if r["place"] <= 10]
    places = sorted({r["place"] for r in shown})
    counts = {(r["place"], r["retriever"]): r["n"] for r in shown}
    rows = [
        {"what": f"place {p}", "series": r, "value": counts.get((p, r), 0)} for p in places for r in names
    ]
    return Chart(
        "Which places of the context are cited",
        charts.bars(rows, "citations", names, floors) if rows else None,
        Table(["place", "retriever", "citations", "of those, exact"], [[r["place"], r["retriever"], r["n"], r["n_exact"]] for r in found], "Citations by place in the context"),
        "Models tend to cite what they read first.",
        [] if rows else ["No citation stands in its context."],
    )  # fmt: skip


def _support(con: duckdb.DuckDBPyConnection, name: str) -> list[Block]:
    """What people said of support. A judge's figure never stands without its agreement with people, so none is here."""
    people = ask(
        con,
        "select retriever, coalesce(label, '(score)') as label, count(*) as n from fct_assay__support_labels"
        " where recording_id = ? and is_person group by all order by all",
        name,
    )
    judges = ask(
        con,
        "select judge, count(*) as n from fct_assay__support_labels where recording_id = ? and not is_person group by judge order by judge",
        name,
    )
    blocks: list[Block] = []
    if people:
        said = "Whether a cited text backs a claim, as people see it. These labels rest on no judgment of relevance: a backed claim may still be about the wrong document."
        blocks += [el("p", el("strong", "Support. "), said), Table(["retriever", "label", "claims"], [[r["retriever"], r["label"], r["n"]] for r in people], "Claims by people's label of support")]  # fmt: skip
    for r in judges:
        blocks.append(el("p", f"{counted(r['n'], 'label')} of support by the judge {r['judge']}: shown claim by claim below, and as no figure, which would need its agreement with people beside it."))  # fmt: skip
    return blocks

"""The printed summary: what the marts say of each recording, as tables that fit 100 columns.

Each row of a table is one SQL expression over a mart, grouped by retriever; nothing is measured here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import duckdb

WIDTH = 100


@dataclass
class Block:
    """A heading with a table under it: the names of its columns, and a label with a value for each column."""

    title: str
    columns: list[str] = field(default_factory=list)
    rows: list[tuple[str, list[Any]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The block for JSON."""
        return {
            "title": self.title,
            "rows": [
                {"what": label} | dict(zip(self.columns, values, strict=True)) for label, values in self.rows
            ],
            "notes": self.notes,
        }


def _count(condition: str, known: str | None = None) -> str:
    """How many rows meet a condition; null where it is unknown for all of them."""
    return f"case when count({known or condition}) > 0 then count(*) filter (where {condition}) end"


#: (label, SQL over assay_answers of one recording, grouped by retriever)
_ANSWERS = (
    ("answers", "count(*) filter (where not is_missing)"),
    ("  missing", "count(*) filter (where is_missing)"),
    ("  broken", "count(*) filter (where is_broken)"),
    ("contexts with an exact document", _count("is_exact_held")),
    ("unjudged documents in the contexts", "sum(n_unjudged_in_context)"),
    ("answers that cite an exact document", _count("n_exact_cited > 0", "exact_share")),
    ("documents cited", "sum(n_cited)"),
    ("  of those, exact", "sum(n_exact_cited) filter (where has_judgments)"),
    ("  of those, partial", "sum(n_partial_cited) filter (where has_judgments)"),
    ("  of those, irrelevant", "sum(n_irrelevant_cited) filter (where has_judgments)"),
    ("  of those, unjudged", "sum(n_unjudged_cited)"),
    ("recommend nothing", _count("is_abstained")),
    ("  with an exact document in the context", _count("is_abstained and is_exact_held", "is_exact_held")),
    (
        "recommend something, none exact held",
        _count("abstention_cell = 'answered, none held'", "is_exact_held"),
    ),
    ("  documents cited there", "sum(n_cited) filter (where abstention_cell = 'answered, none held')"),
    ("  of those, partial", "sum(n_partial_cited) filter (where abstention_cell = 'answered, none held')"),
)

#: (label, SQL over assay_answers of one recording): the citation check, over all retrievers.
_CITATIONS = (
    ("answers checked", "count(*) filter (where not is_missing)"),
    ("cite a document outside their context", _count("n_outside_context > 0")),
    ("cite an ID that the catalog lacks", _count("n_unknown_id > 0")),
    ("cite something that is no ID", "count(*) filter (where n_malformed > 0)"),
    ("cite one ID twice", "count(*) filter (where n_repeated > 0)"),
    ("cite more than they may", _count("has_too_many")),
    ("text and cited IDs differ", _count("has_text_and_field_difference")),
    ("cite more exact documents than their context holds", _count("is_above_ceiling")),
)

#: (label, SQL over assay_traces of one recording, grouped by retriever)
_TRACES = (
    ("traces", "count(*) filter (where not is_missing)"),
    ("  missing", "count(*) filter (where is_missing)"),
    ("  unfinished", "count(*) filter (where not is_missing and not is_finished)"),
    ("searches", "sum(n_searches)"),
    ("  attempts", "sum(n_attempts)"),
    ("  errors", "sum(n_errors)"),
    ("traces with one search", "count(*) filter (where n_searches = 1)"),
    ("first search as typed", _count("is_first_search_as_typed")),
    ("first search the same everywhere", _count("is_first_search_same_everywhere")),
    ("first results the answer's context", _count("is_first_result_the_answer_context")),
    ("later searches", "sum(n_later_searches)"),
    ("  words they add", "sum(n_words_added)"),
    ("  of those, shown before", "sum(n_words_shown)"),
    ("  of those, undecidable", "sum(n_words_undecidable)"),
    ("picks", "sum(n_picks)"),
    ("  never returned", "sum(n_never_returned)"),
    ("  unjudged", "sum(n_unjudged_picked)"),
    ("traces with fewer picks than asked", _count("has_fewer_picks")),
    ("no search returned an exact document", _count("is_exact_never_returned")),
    ("saw an exact document, picked none", _count("is_exact_seen_none_picked")),
)

#: The measures that a kind's table ends with: (label, measure, whether it has cutoffs).
_MEANS = {
    "answers": (("mean exact share", "exact_share"), ("  unjudged as exact", "exact_share_high")),
    "traces": (
        ("mean precision of the picks", "pick_precision"),
        ("the tool's own first places", "first_search_precision"),
    ),
}
_RUN_MEASURES = ("precision", "recall", "context_precision", "ndcg", "judged")


def summary(con: duckdb.DuckDBPyConnection, recording: str | None = None) -> list[Block]:
    """The blocks of the summary, from a connection whose search path holds the marts.

    `recording` limits it to one. Raises KeyError where there is no such recording.
    """
    found = con.execute(
        "select recording_id, kind, collection, split, model, n_asked, is_complete, n_quarantined, n_warnings, n_missing"
        " from assay_recordings order by case kind when 'answers' then 1 when 'traces' then 2 else 3 end, recording_id"
    ).fetchall()
    if recording is not None:
        found = [row for row in found if row[0] == recording]
        if not found:
            raise KeyError(recording)
    blocks: list[Block] = []
    for row in found:
        blocks.extend(_recording(con, row))
    blocks.extend(_comparisons(con, recording))
    return blocks


def _recording(con: duckdb.DuckDBPyConnection, row: tuple[Any, ...]) -> list[Block]:
    name, kind, collection, split, model, n_asked, is_complete, n_quarantined, n_warnings, n_missing = row
    of = f" of {model}" if model else ""
    head = Block(
        f"{name}: {kind}{of} on {collection}{', ' + split if split else ''}, {n_asked:,} queries asked"
    )
    if not is_complete:
        lost = f"{n_missing:,} asked queries missing, {n_quarantined:,} lines in quarantine"
        head.notes.append(f"Incomplete: {lost}; no comparison with it is established.")
    if n_warnings:
        head.notes.append(f"{n_warnings} warnings came up while loading; see assay_checks.")
    has_judgments = con.execute(
        "select coalesce(bool_or(has_judgments), false) from assay_queries where collection = ?", [collection]
    ).fetchone()
    if not (has_judgments and has_judgments[0]):
        head.notes.append("Nobody judged documents for these queries: what rests on judgments is undefined.")
    if kind == "answers":
        _grouped(con, head, "assay_answers", name, _ANSWERS)
        _means(con, head, name, _MEANS[kind])
        check = Block("Citations, all retrievers", [""])
        for label, sql in _CITATIONS:
            check.rows.append(
                (
                    label,
                    [_one(con, f"select {sql} from assay_answers where is_asked and recording_id = ?", name)],
                )
            )
        return [head, check, *_runs(con, name, "Their contexts")]
    if kind == "traces":
        _grouped(con, head, "assay_traces", name, _TRACES)
        _means(con, head, name, _MEANS[kind])
        return [head]
    return [head, *_runs(con, name, "Means")]


def _one(con: duckdb.DuckDBPyConnection, sql: str, name: str) -> Any:
    row = con.execute(sql, [name]).fetchone()
    return None if row is None else row[0]


def _grouped(
    con: duckdb.DuckDBPyConnection, block: Block, mart: str, name: str, lines: tuple[tuple[str, str], ...]
) -> None:
    columns = ", ".join(f"cast({sql} as bigint)" for _, sql in lines)
    rows = con.execute(
        f"select retriever, {columns} from {mart} where is_asked and recording_id = ? group by retriever order by retriever",
        [name],
    ).fetchall()
    block.columns = [str(row[0]) for row in rows]
    block.rows = [(label, [row[i] for row in rows]) for i, (label, _) in enumerate(lines, start=1)]


def _means(
    con: duckdb.DuckDBPyConnection, block: Block, name: str, lines: tuple[tuple[str, str], ...]
) -> None:
    for label, measure in lines:
        found = {
            retriever: (mean, low, high)
            for retriever, mean, low, high in con.execute(
                "select retriever, mean, interval_low, interval_high from assay_summary where recording_id = ? and measure = ?",
                [name, measure],
            ).fetchall()
        }
        means = [found.get(c, (None, None, None)) for c in block.columns]
        block.rows.append((label, [m[0] for m in means]))
        if not label.startswith(" "):
            block.rows.append(
                ("  interval", [None if m[1] is None else f"{m[1]:.3f} to {m[2]:.3f}" for m in means])
            )


def _runs(con: duckdb.DuckDBPyConnection, name: str, title: str) -> list[Block]:
    rows = con.execute(
        "select retriever, measure, k, mean, n_undefined, n_queries from assay_summary"
        " where recording_id = ? and k is not null and list_contains(?, measure) order by retriever, k",
        [name, list(_RUN_MEASURES)],
    ).fetchall()
    if not rows:
        return []
    found = {(r, m, k): (mean, undefined, n) for r, m, k, mean, undefined, n in rows}
    block = Block(title, list(_RUN_MEASURES))
    for retriever, k in dict.fromkeys((row[0], row[2]) for row in rows):
        values = [found.get((retriever, measure, k), (None, 0, 0))[0] for measure in _RUN_MEASURES]
        if any(value is not None for value in values):
            block.rows.append((f"{retriever} @{k}", values))
    undefined = max((row[4] for row in rows), default=0)
    if undefined and block.rows:
        block.notes.append(
            f"Undefined for up to {undefined} of {rows[0][5]} queries, which leave those means."
        )
    return [block] if block.rows else []


def _comparisons(con: duckdb.DuckDBPyConnection, recording: str | None) -> list[Block]:
    rows = con.execute(
        """
        select
            comparison_id, is_planned, retriever, baseline_retriever, measure, k, baseline_measure, mean_difference,
            wins, losses, ties, p_value, p_is_bound, threshold, interval_low, interval_high, interval_level, verdict, status
        from assay_comparisons
        where (? is null or recording_id = ? or baseline_recording_id = ?) and (? is not null or status != 'not recorded')
        order by is_planned desc, comparison_id
        """,
        [recording] * 4,
    ).fetchall()
    blocks = []
    for row in rows:
        (name, planned, retriever, baseline, measure, k, other, difference, wins, losses, ties, p, bound, threshold,
         low, high, level, verdict, _status) = row  # fmt: skip
        at = f"@{k}" if k is not None else ""
        sides = f"{retriever} over {baseline}" if measure == other else f"{measure} over {other}, {retriever}"
        block = Block(f"{'Planned' if planned else 'Exploratory'}: {name} ({sides}; {measure}{at})")
        if difference is not None:
            block.notes.append(
                f"mean difference {difference:.3f}; wins, losses, ties {wins}, {losses}, {ties}; permutation p"
                f" {'at most ' if bound else ''}{_number(p)}"
                + (f", threshold {threshold:g}" if planned else "")
                + (f"; {100 * level:g}% interval {low:.3f} to {high:.3f}" if low is not None else "")
            )
        block.notes.append(str(verdict))
        blocks.append(block)
    return blocks


def _number(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if value == 0 or abs(value) >= 0.0005 else f"{value:.1e}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def as_text(blocks: list[Block]) -> str:
    """The blocks as text, no line over `WIDTH` characters."""
    lines: list[str] = []
    for block in blocks:
        lines += ["", *_wrapped(block.title, "", "    ")]
        lines += _table(block)
        for note in block.notes:
            lines += _wrapped(note, "  ", "    ")
    return "\n".join(lines).lstrip("\n")


def _table(block: Block) -> list[str]:
    if not block.rows:
        return []
    cells = [[_number(v) for v in values] for _, values in block.rows]
    label = min(46, max(len(label) for label, _ in block.rows))
    names = [c if len(c) <= 22 else c[:21] + "…" for c in block.columns]
    widths = [max(len(n), *(len(row[i]) for row in cells)) for i, n in enumerate(names)]
    lines: list[str] = []
    # Retrievers that don't fit beside each other go on below.
    start = 0
    while start < len(names):
        end, used = start, 2 + label
        while end < len(names) and (end == start or used + 2 + widths[end] <= WIDTH):
            used += 2 + widths[end]
            end += 1
        if any(names[start:end]):
            lines.append(
                "  "
                + " " * label
                + "".join(f"  {n:>{w}}" for n, w in zip(names[start:end], widths[start:end], strict=True))
            )
        for (text, _), row in zip(block.rows, cells, strict=True):
            shown = text if len(text) <= label else text[: label - 1] + "…"
            values = "".join(f"  {v:>{w}}" for v, w in zip(row[start:end], widths[start:end], strict=True))
            lines.append(f"  {shown:<{label}}{values}".rstrip())
        start = end
    return lines


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    import textwrap

    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    ) or [""]

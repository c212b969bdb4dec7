"""What a recording's figures are about: model, prompts, queries, judgments."""

from __future__ import annotations

import json
from typing import Any

import duckdb

from analyses.report.blocks import Options, ask, counted
from analyses.report.markup import Html, data, details, el, join, prose

#: The longest value of a setting that is shown whole.
_LONGEST = 20_000


def recordings(con: duckdb.DuckDBPyConnection, options: Options, *kinds: str) -> list[dict[str, Any]]:
    """The recordings of these kinds (all without any), those of answers first, then by name."""
    found = ask(
        con,
        "select * from assay_recordings order by case kind when 'answers' then 1 when 'traces' then 2 else 3 end, recording_id",
    )
    return [
        row
        for row in found
        if (not kinds or row["kind"] in kinds)
        and (not options.recordings or row["recording_id"] in options.recordings)
    ]


def anchor(con: duckdb.DuckDBPyConnection, recording: str) -> str:
    """A recording's place in the page: its number among all, since its name may hold anything."""
    row = con.execute("select count(*) from assay_recordings where recording_id < ?", [recording]).fetchone()
    return f"recording-{row[0] + 1 if row else 0}"


def scope(con: duckdb.DuckDBPyConnection, recording: dict[str, Any]) -> Html:
    """What the recording's figures are about, with its prompts and settings on demand."""
    name = recording["recording_id"]
    settings = ask(
        con,
        "select setting, value from fct_assay__recording_settings where recording_id = ? order by setting",
        name,
    )
    parts = [
        ("Model", _model(recording)),
        ("Prompts", _prompts(recording, settings)),
        ("Queries", _queries(recording)),
        ("Judgments", judgments(con, recording)),
    ]
    if recording["context_is"] == "reported":
        parts.append(("Contexts", Html("Found or claimed after answering: not what the model read.")))
    if recording["is_judgments_shown"]:
        parts.append(("Judgments shown", Html("The agent saw grades while it worked.")))
    if not recording["is_complete"]:
        lost = f"{counted(recording['n_missing'], 'asked query', 'asked queries')} without a row, "
        lost += f"{counted(recording['n_quarantined'], 'line')} that can't be read"
        parts.append(("Incomplete", el("strong", f"{lost}; no comparison with it is established.")))
    return el(
        "div",
        el("dl", *(join(el("dt", label), el("dd", value)) for label, value in parts)),
        _all_settings(settings),
        class_="scope",
    )


def _model(recording: dict[str, Any]) -> Html:
    if recording["model"] is None:
        return (
            Html("none: a retriever's runs")
            if recording["kind"] == "contexts"
            else Html("not named in the manifest")
        )
    more = [
        recording["model_licence"],
        f"digest {str(recording['model_digest'])[:19]}…" if recording["model_digest"] else "no digest",
        f"window {recording['num_ctx']:,} tokens" if recording["num_ctx"] else None,
        f"recorded {recording['recorded_at']:%Y-%m-%d}" if recording["recorded_at"] else "undated",
    ]
    return join(data(recording["model"]), *(join(", ", data(m)) for m in more if m))


def _prompts(recording: dict[str, Any], settings: list[dict[str, Any]]) -> Html:
    found = [s for s in settings if s["setting"] == "prompts" or str(s["setting"]).startswith("prompts.")]
    if not found:
        return Html("none given")
    return details(
        counted(recording["n_prompt_words"], "word"),
        *(join(el("p", data(s["setting"]), class_="label"), prose(_plain(s["value"]))) for s in found),
    )


def _queries(recording: dict[str, Any]) -> Html:
    where = (
        join(", split ", data(recording["split"])) if recording["split"] else Html(", of no particular split")
    )
    return join(counted(recording["n_asked"], "query asked", "queries asked"), " of ", data(recording["collection"]), where)  # fmt: skip


def judgments(con: duckdb.DuckDBPyConnection, recording: dict[str, Any]) -> Html:
    """Whose judgments the figures rest on, or that they rest on none."""
    name = recording["recording_id"]
    found = ask(con, "select * from assay_collections where collection = ?", recording["collection"])
    support = ask(
        con,
        "select count(*) filter (where is_person) as n_people, count(*) filter (where not is_person) as n_judges"
        " from fct_assay__support_labels where recording_id = ?",
        name,
    )[0]
    labels = support["n_people"] + support["n_judges"]
    if not found or found[0]["n_judged_queries"] == 0:
        none = "Nobody judged documents for these queries: what needs judgments of relevance is undefined."
        if not labels:
            return Html(none)
        return join(none, " ", el("strong", f"{counted(labels, 'label')} of support"), Html(
            " say whether a text backs a claim; a figure from them alone rests on no judgment of relevance."
        ))  # fmt: skip
    collection = found[0]
    asked = ask(
        con,
        "select count(*) filter (where coalesce(q.has_judgments, false)) as n from fct_assay__asked_queries as a"
        " left join assay_queries as q on a.collection = q.collection and a.query_id = q.query_id"
        " where a.recording_id = ?",
        name,
    )[0]["n"]
    grades = ask(
        con,
        "select grade, label, is_exact from fct_assay__grades where collection = ? order by grade desc",
        collection["collection"],
    )
    named = [
        join(g["grade"], " ", data(g["label"] or "(unnamed)"), " (exact)" if g["is_exact"] else "")
        for g in grades
    ]
    only = " Nobody wrote down what is not relevant." if collection["judgments"] == "positive_only" else ""
    return join(
        f"people's, on {number_of(collection['n_judgments'])} pairs; {asked} of the {recording['n_asked']} queries asked have some."
        " Grades: ", join(*named, by=", "), ".", only,
        f" {counted(labels, 'label')} of support stand beside; they are no judgments of relevance." if labels else "",
    )  # fmt: skip


def number_of(value: int) -> str:
    """A count with its thousands apart."""
    return f"{value:,}"


def _plain(value: str) -> str:
    """A setting's JSON as text: a string without its quotes."""
    try:
        read = json.loads(value)
    except ValueError:
        read = value
    shown = read if isinstance(read, str) else value
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}… (cut after {_LONGEST:,} characters)"


def _all_settings(settings: list[dict[str, Any]]) -> Html:
    rows = (
        el("tr", el("th", data(s["setting"]), scope="row"), el("td", prose(_plain(s["value"]))))
        for s in settings
        if s["setting"] != "prompts" and not str(s["setting"]).startswith("prompts.")
    )
    table = el("table", el("tbody", *rows), class_="settings")
    return details(f"The whole manifest: {counted(len(settings), 'setting')}", el("div", table, class_="scroll", tabindex="0", role="region", aria_label="settings"))  # fmt: skip

"""The page: sections, styles and scripts in one file that asks nothing of the network.

A strict content security policy names each script and the style by its digest, so that nothing else can run, whatever a
recording's texts hold. The same published file gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

import duckdb

from analyses.report import drawing, theme
from analyses.report.blocks import Options, Section
from analyses.report.markup import Html, data, el, join
from analyses.report.render import Renderer
from analyses.report.sections import SECTIONS

_SCRIPTS = ("charts.js", "tables.js", "list.js", "detail.js", "queries.js")


def build(con: duckdb.DuckDBPyConnection, options: Options) -> str:
    """The whole page as text."""
    con.execute("set threads = 1")
    sections = [section for make in SECTIONS for section in make(con, options)]
    renderer = Renderer()
    main = join(*(renderer.section(section) for section in sections))
    style = theme.css() + _asset("report.css")
    scripts = [drawing.library(), "\n".join(_asset(name) for name in _SCRIPTS)]
    policy = (
        f"default-src 'none'; script-src {' '.join(map(_digest, scripts))}; style-src {_digest(style)}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", "Assay report"),
        Html('<link rel="icon" href="data:,">'),
        el("style", Html(style)),
    )
    body = el(
        "body",
        el("a", "Skip to the figures", href="#main", class_="skip"),
        el("header", el("h1", "Assay report"), el("p", _lead(con, options), class_="lead")),
        el("div", _contents(sections), el("main", main, id="main", tabindex="-1"), class_="columns"),
        el("footer", el("p", "Made from a published file of Assay alone. Figures rest on people's judgments and on counting; no model judged anything, except where a label of support names one.")),
        el("div", id="tip", class_="tip", aria_hidden="true", hidden=True),
        *(el("script", Html(script)) for script in scripts),
    )  # fmt: skip
    return f"<!doctype html>\n{el('html', head, body, lang='en')}\n"


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _asset(name: str) -> str:
    return files("analyses.report").joinpath("assets", name).read_text(encoding="utf-8")


def _lead(con: duckdb.DuckDBPyConnection, options: Options) -> Html:
    row = con.execute("select count(*), count(distinct collection) from assay_recordings").fetchone()
    n, collections = row if row else (0, 0)
    of = f"{n} recording{'' if n == 1 else 's'} on {collections} collection{'' if collections == 1 else 's'}."
    if options.recordings:
        of = join("Only ", join(*map(data, options.recordings), by=", "), f"; the file holds {of}")
    return join("How good the retrieval behind answers and agents is, on people's judgments. ", of)


def _contents(sections: list[Section]) -> Html:
    items = [
        el(
            "li",
            el("a", data(section.short or section.title), href=f"#{section.key}"),
            class_=f"level-{section.level}",
        )
        for section in sections
    ]
    return el("nav", el("ul", *items), aria_label="Contents")

"""The data behind the list of queries, bounded: the worst queries of each recording, with texts cut where they are long."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import duckdb

from analyses.report import steps
from analyses.report.blocks import Options, ask
from analyses.report.scope import anchor, recordings

#: The drill-down's share of the page, in bytes. Above it texts are cut shorter, then fewer queries are shown.
BUDGET = 3_200_000
_TEXT_LIMITS = (1_500, 700, 300)

#: What puts the worst query first, by kind: its name, and SQL for (query_id, retriever, trial, value) of one recording.
_VALUES = {
    "answers": ("exact share", "select query_id, retriever, trial, exact_share as value from assay_answers where is_asked and recording_id = $1"),
    "traces": ("precision of picks", "select query_id, retriever, trial, pick_precision as value from assay_traces where is_asked and recording_id = $1"),
    "contexts": ("precision", "select query_id, retriever, trial, precision as value from assay_context_scores where is_asked and recording_id = $1"
                 " and k = (select max(k) from assay_context_scores where recording_id = $1)"),
}  # fmt: skip


@dataclass
class Cut:
    """Cuts long texts, and remembers which documents are shown."""

    limit: int
    documents: dict[str, set[str]] = field(default_factory=dict)

    def text(self, value: str | None, limit: int | None = None) -> str | None:
        """A text of at most `limit` characters, an ellipsis where it was longer."""
        most = self.limit if limit is None else limit
        return value if value is None or len(value) <= most else value[:most] + "…"

    def document(self, collection: str, doc_id: str | None) -> str | None:
        """A document's ID, whose text is then shown."""
        if doc_id is not None:
            self.documents.setdefault(collection, set()).add(doc_id)
        return doc_id


def drilldown(con: duckdb.DuckDBPyConnection, options: Options) -> dict[str, Any]:
    """Recordings with their queries, the queries' texts, the documents' texts and the grades' names, ready for JSON."""
    n_queries, limit = options.n_queries, _TEXT_LIMITS[0]
    data = _build(con, options, n_queries, Cut(limit))
    # Texts are cut before queries are left out, in turns, so that neither is lost altogether.
    for limit in _TEXT_LIMITS[1:]:
        if _size(data) > BUDGET:
            data = _build(con, options, n_queries, Cut(limit))
        if _size(data) > BUDGET:
            n_queries = max(1, n_queries // 2)
            data = _build(con, options, n_queries, Cut(limit))
    while _size(data) > BUDGET and n_queries > 1:
        n_queries //= 2
        data = _build(con, options, n_queries, Cut(limit))
    return data | {"is_full": n_queries < options.n_queries}


def _size(data: dict[str, Any]) -> int:
    return len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode())


def _build(con: duckdb.DuckDBPyConnection, options: Options, n_queries: int, cut: Cut) -> dict[str, Any]:
    built: list[dict[str, Any]] = []
    asked: dict[str, set[str]] = {}
    for recording in recordings(con, options):
        entry, ids = _recording(con, recording, n_queries, cut)
        if ids:
            built.append(entry)
            asked.setdefault(recording["collection"], set()).update(ids)
    return {
        "recordings": built,
        "queries": {name: _queries(con, name, sorted(ids), cut) for name, ids in sorted(asked.items())},
        "documents": {name: _documents(con, name, sorted(ids), cut) for name, ids in sorted(cut.documents.items())},
        "grades": {name: _grades(con, name) for name in sorted(asked)},
        "text_limit": cut.limit,
    }  # fmt: skip


def _recording(
    con: duckdb.DuckDBPyConnection, recording: dict[str, Any], n_queries: int, cut: Cut
) -> tuple[dict[str, Any], list[str]]:
    name, kind = recording["recording_id"], recording["kind"]
    measure, values = _VALUES[kind]
    # Queries whose value nobody can know stand last, and floors don't decide which query is worst.
    chosen = ask(
        con,
        f"""
        with measured as ({values}),
        floors as (select distinct retriever from assay_summary where recording_id = $1 and is_floor),
        of_query as (
            select query_id,
                avg(value order by measured.retriever, trial) filter (where floors.retriever is null) as value,
                avg(value order by measured.retriever, trial) as value_of_all
            from measured left join floors on measured.retriever = floors.retriever group by query_id
        )
        select asked.query_id, count(*) over () as n_total
        from fct_assay__asked_queries as asked left join of_query on asked.query_id = of_query.query_id
        where asked.recording_id = $1
        order by coalesce(value, value_of_all) nulls last, asked.query_id limit $2
        """,
        name,
        n_queries,
    )
    ids = [row["query_id"] for row in chosen]
    by_retriever: dict[str, dict[str, float | None]] = {query_id: {} for query_id in ids}
    for row in ask(
        con,
        f"select query_id, retriever, avg(value order by trial) as value from ({values})"
        " where list_contains($2, query_id) group by query_id, retriever order by retriever",
        name,
        ids,
    ):
        by_retriever[row["query_id"]][row["retriever"]] = row["value"]
    floors = ask(
        con, "select distinct retriever from assay_summary where recording_id = ? and is_floor", name
    )
    items = steps.items(con, recording, ids, cut)
    entry = {
        "key": anchor(con, name), "id": name, "kind": kind, "collection": recording["collection"], "model": recording["model"],
        "measure": measure, "form": _citation_form(con, name), "total": chosen[0]["n_total"] if chosen else 0,
        "floors": sorted(row["retriever"] for row in floors),
        "queries": [
            {"id": q, "values": by_retriever[q], "flags": steps.flags(kind, items.get(q, [])), "items": items.get(q, [])} for q in ids
        ],
    }  # fmt: skip
    return entry, ids


def _citation_form(con: duckdb.DuckDBPyConnection, name: str) -> str | None:
    row = con.execute(
        "select value from fct_assay__recording_settings where recording_id = ? and setting = 'citation_form'",
        [name],
    ).fetchone()
    form = json.loads(row[0]) if row else None
    return form if isinstance(form, str) else None


def _queries(con: duckdb.DuckDBPyConnection, collection: str, ids: list[str], cut: Cut) -> dict[str, Any]:
    turns: dict[str, list[str | None]] = {}
    for row in ask(
        con,
        "select query_id, text from fct_assay__query_turns where collection = $1 and list_contains($2, query_id)"
        " order by query_id, turn",
        collection,
        ids,
    ):
        turns.setdefault(row["query_id"], []).append(cut.text(row["text"]))
    rows = ask(
        con, "select * from assay_queries where collection = $1 and list_contains($2, query_id) order by query_id", collection, ids
    )  # fmt: skip
    return {
        row["query_id"]: {
            "text": cut.text(row["query"], 2_000), "turns": turns.get(row["query_id"], []), "judged": row["n_judged"],
            "exact": row["n_exact"], "partial": row["n_partial"], "irrelevant": row["n_irrelevant"],
            "reachable": row["n_exact_in_catalog"],
        }
        for row in rows
    }  # fmt: skip


def _documents(con: duckdb.DuckDBPyConnection, collection: str, ids: list[str], cut: Cut) -> dict[str, Any]:
    """Each document's fields in reading order, cut so that all of them together keep to the limit."""
    found: dict[str, list[list[str]]] = {}
    left: dict[str, int] = {}
    for row in ask(
        con,
        """
        select texts.doc_id, field, substr(value, 1, $3 + 1) as value
        from fct_assay__document_texts as texts
        inner join (select unnest($2) as doc_id) as wanted on texts.doc_id = wanted.doc_id
        where collection = $1 order by texts.doc_id, position
        """,
        collection,
        ids,
        cut.limit,
    ):
        room = left.setdefault(row["doc_id"], cut.limit)
        if room > 0:
            value = cut.text(row["value"], room) or ""
            found.setdefault(row["doc_id"], []).append([row["field"], value])
            left[row["doc_id"]] = room - len(value)
    return found


def _grades(con: duckdb.DuckDBPyConnection, collection: str) -> dict[str, str | None]:
    rows = ask(
        con, "select grade, label from fct_assay__grades where collection = ? order by grade", collection
    )
    return {str(row["grade"]): row["label"] for row in rows}

"""What stood behind one query: answers with their contexts, runs' lists, and agents' steps, as the drill-down shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import duckdb

from analyses.report.blocks import ask

if TYPE_CHECKING:
    from analyses.report.drilldown import Cut

#: The most trials of a query and retriever, places of a list, results of a search and steps of a task that are shown.
_N_TRIALS, _N_PLACES, _N_RESULTS, _N_STEPS = 3, 30, 10, 60
_ANSWER_LIMIT = 8_000

Item = dict[str, Any]


def items(
    con: duckdb.DuckDBPyConnection, recording: dict[str, Any], ids: list[str], cut: Cut
) -> dict[str, list[Item]]:
    """The answers, lists or tasks of these queries, by query; a few trials of each retriever."""
    make = {"answers": _answers, "contexts": _lists, "traces": _traces}[recording["kind"]]
    found: dict[str, list[Item]] = {}
    for query_id, item in make(con, recording, ids, cut):
        found.setdefault(query_id, []).append(item)
    return found


def flags(kind: str, found: list[Item]) -> list[str]:
    """What is worth looking for in a query, in words that the list can be filtered by."""
    flagged = dict.fromkeys(flag for item in found for flag in item.get("flags", []))
    values = {item["value"] for item in found if item.get("value") is not None}
    if len(values) > 1:
        flagged["its values differ"] = None
    if not found:
        flagged["missing"] = None
    return list(flagged)


def _class(row: dict[str, Any]) -> str:
    """exact, partial, irrelevant, unjudged or repeat, by its first letter."""
    if row.get("is_repeat"):
        return "r"
    return (
        "e" if row["is_exact"] else "p" if row.get("is_partial") else "i" if row.get("is_irrelevant") else "u"
    )


def _key(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["query_id"], row["retriever"], row["trial"]


def _grouped(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    found: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(_key(row), []).append(row)
    return found


def _documents(
    con: duckdb.DuckDBPyConnection, recording: dict[str, Any], ids: list[str], places: int, cut: Cut
) -> dict[tuple[str, str, int], list[list[Any]]]:
    """[place, document, class, grade, passage, own text] for each list."""
    rows = ask(
        con,
        """
        select query_id, retriever, trial, rank, doc_id, passage_id, grade, is_exact, is_partial, is_irrelevant, is_repeat, text
        from fct_assay__context_documents
        where recording_id = $1 and list_contains($2, query_id) and rank <= $3 and trial <= $4
        order by query_id, retriever, trial, rank
        """,
        recording["recording_id"],
        ids,
        places,
        _N_TRIALS,
    )
    return {
        key: [
            [row["rank"], cut.document(recording["collection"], row["doc_id"]), _class(row), row["grade"], row["passage_id"], cut.text(row["text"])]
            for row in members
        ]
        for key, members in _grouped(rows).items()
    }  # fmt: skip


def _lists(
    con: duckdb.DuckDBPyConnection, recording: dict[str, Any], ids: list[str], cut: Cut
) -> Iterable[tuple[str, Item]]:
    places = min(_N_PLACES, recording["results_shown"] or 10)
    documents = _documents(con, recording, ids, places, cut)
    rows = ask(
        con,
        """
        select c.*, s.precision from assay_contexts as c
        left join (
            select * from assay_context_scores
            where recording_id = $1 and k = (select max(k) from assay_context_scores where recording_id = $1)
        ) as s on c.query_id = s.query_id and c.retriever = s.retriever and c.trial = s.trial
        where c.recording_id = $1 and list_contains($2, c.query_id) and c.trial <= $3
        order by c.query_id, c.retriever, c.trial
        """,
        recording["recording_id"],
        ids,
        _N_TRIALS,
    )
    for row in rows:
        yield row["query_id"], {
            "retriever": row["retriever"], "trial": row["trial"], "value": row["precision"], "missing": row["is_missing"],
            "known": row["has_documents"], "places": row["n_places"], "searched_as": cut.text(row["searched_as"], 2_000),
            "context": documents.get(_key(row), []),
            "flags": [*(["missing"] if row["is_missing"] else []), *(["nothing exact"] if row["has_judgments"] and row["n_exact"] == 0 else [])],
        }  # fmt: skip


def _answers(
    con: duckdb.DuckDBPyConnection, recording: dict[str, Any], ids: list[str], cut: Cut
) -> Iterable[tuple[str, Item]]:
    name, collection = recording["recording_id"], recording["collection"]
    documents = _documents(con, recording, ids, _N_PLACES, cut)
    cited = _grouped(ask(
        con,
        "select * from fct_assay__citations where recording_id = $1 and list_contains($2, query_id) and position <= 50"
        " order by query_id, retriever, trial, position",
        name, ids,
    ))  # fmt: skip
    support = _grouped(ask(
        con,
        """
        select labels.*, (
            select list(doc_id order by position) from fct_assay__support_documents as documents
            where documents.recording_id = labels.recording_id and documents.line = labels.line
        ) as doc_ids
        from fct_assay__support_labels as labels
        where recording_id = $1 and list_contains($2, query_id) order by query_id, retriever, trial, line
        """,
        name, ids,
    ))  # fmt: skip
    rows = ask(
        con,
        """
        select a.*, t.answer, t.error, c.searched_as, c.n_places
        from assay_answers as a
        left join fct_assay__answer_texts as t using (recording_id, query_id, retriever, trial)
        left join assay_contexts as c using (recording_id, query_id, retriever, trial)
        where recording_id = $1 and list_contains($2, query_id) and trial <= $3
        order by query_id, retriever, trial
        """,
        name,
        ids,
        _N_TRIALS,
    )
    for row in rows:
        key = _key(row)
        yield row["query_id"], {
            "retriever": row["retriever"], "trial": row["trial"], "value": row["exact_share"], "high": row["exact_share_high"],
            "n_exact": row["n_exact_cited"], "n_cited": row["n_cited"], "cell": row["abstention_cell"], "missing": row["is_missing"],
            "broken": row["is_broken"], "error": cut.text(row["error"], 2_000), "answer": cut.text(row["answer"], _ANSWER_LIMIT),
            "known": row["has_documents"], "places": row["n_places"], "searched_as": cut.text(row["searched_as"], 2_000),
            "context": documents.get(key, []),
            "cited": [_citation(collection, c, cut) for c in cited.get(key, [])],
            "support": [[cut.text(s["claim"], 1_000), cut.text(s["judge"], 100), s["label"], s["score"], (s["doc_ids"] or [])[:8]] for s in support.get(key, [])[:40]],
            "breaks": _breaks(row), "flags": _answer_flags(row),
        }  # fmt: skip


def _citation(collection: str, row: dict[str, Any], cut: Cut) -> list[Any]:
    """[what stands there, document, which class of citation, class of judgment, grade, place in the context]."""
    return [cut.text(row["cited"], 300), cut.document(collection, row["doc_id"]), row["citation_class"], _class(row), row["grade"], row["context_rank"]]  # fmt: skip


def _breaks(row: dict[str, Any]) -> list[str]:
    rules = (
        ("cites from outside its context", row["n_outside_context"]), ("cites an ID that the catalog lacks", row["n_unknown_id"]),
        ("cites something that is no ID", row["n_malformed"]), ("cites one ID twice", row["n_repeated"]),
        ("cites more than it may", row["has_too_many"]), ("text and cited IDs differ", row["has_text_and_field_difference"]),
    )  # fmt: skip
    return [words for words, broken in rules if broken]


def _answer_flags(row: dict[str, Any]) -> list[str]:
    found = (
        [f"{row['abstention_cell']}"]
        if row["abstention_cell"] in ("abstained, exact held", "answered, none held")
        else []
    )
    found += ["breaks a rule of citing"] if _breaks(row) else []
    found += ["missing"] if row["is_missing"] else ["broken"] if row["is_broken"] else []
    return found


def _traces(
    con: duckdb.DuckDBPyConnection, recording: dict[str, Any], ids: list[str], cut: Cut
) -> Iterable[tuple[str, Item]]:
    name, collection = recording["recording_id"], recording["collection"]
    rows = ask(
        con,
        "select * from assay_traces where recording_id = $1 and list_contains($2, query_id) and trial <= $3"
        " order by query_id, retriever, trial",
        name, ids, _N_TRIALS,
    )  # fmt: skip
    tasks = [row["trace_id"] for row in rows if row["trace_id"] is not None]

    def of_tasks(sql: str) -> dict[Any, list[dict[str, Any]]]:
        found: dict[Any, list[dict[str, Any]]] = {}
        for row in ask(con, sql, name, tasks):
            found.setdefault(row["trace_id"], []).append(row)
        return found

    where = "where recording_id = $1 and list_contains($2, trace_id)"
    searches = of_tasks(f"select * from fct_assay__searches {where} order by trace_id, search")
    results = of_tasks(
        f"select r.*, j.is_partial, j.is_irrelevant from fct_assay__search_results as r"
        f" left join (select trace_id, query_id from assay_traces {where}) as t on r.trace_id = t.trace_id"
        f" left join fct_assay__judgments as j on j.collection = {_literal(collection)} and t.query_id = j.query_id and r.doc_id = j.doc_id"
        f" where recording_id = $1 and list_contains($2, r.trace_id) and rank <= {_N_RESULTS} order by r.trace_id, search, rank"
    )
    words = of_tasks(
        f"select * from fct_assay__search_words {where} and is_added order by trace_id, search, word"
    )
    events = of_tasks(f"select * from fct_assay__trace_events {where} order by trace_id, seq")
    picks = of_tasks(f"select * from fct_assay__picks {where} order by trace_id, position")
    for row in rows:
        task = row["trace_id"]
        found = [
            _search(collection, s, results.get(task, []), words.get(task, []), cut)
            for s in searches.get(task, [])
        ]
        found += [_event(collection, e, cut) for e in events.get(task, [])]
        found.sort(key=lambda step: step["seq"])
        yield row["query_id"], {
            "retriever": row["retriever"], "trial": row["trial"], "task": cut.text(task, 200), "value": row["pick_precision"],
            "own": row["first_search_precision"], "missing": row["is_missing"], "broken": row["is_broken"], "finished": row["is_finished"],
            "known": row["has_searches"], "error": cut.text(row["error"], 2_000), "steps": found[:_N_STEPS], "n_steps": len(found),
            "picks": [
                [cut.text(p["picked"], 300), cut.document(collection, p["doc_id"]), p["pick_class"], _class(p), p["grade"], p["returned_search"], p["returned_rank"], p["is_counted"]]
                for p in picks.get(task, [])[:50]
            ],
            "flags": _trace_flags(row),
        }  # fmt: skip


def _literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _search(
    collection: str, row: dict[str, Any], results: list[dict[str, Any]], words: list[dict[str, Any]], cut: Cut
) -> dict[str, Any]:
    here = [r for r in results if r["search"] == row["search"]]
    return {
        "what": "search", "seq": row["seq"], "search": row["search"], "step": row["step"], "query": cut.text(row["query"], 2_000),
        "known": row["has_results"], "refused": row["is_refused"], "attempts": row["n_attempts"], "error": cut.text(row["error"], 1_000),
        "n": row["n_results"], "later": row["is_later"],
        "results": [[r["rank"], cut.document(collection, r["doc_id"]), _class(r), r["grade"], None, None] for r in here],
        "words": {
            w["word"]: [w["origin"], w["shown_by"], w["shown_search"], w["shown_doc_id"], w["shown_field"]]
            for w in words
            if w["search"] == row["search"]
        },
    }  # fmt: skip


def _event(collection: str, row: dict[str, Any], cut: Cut) -> dict[str, Any]:
    return {
        "what": cut.text(row["event"], 100), "seq": row["seq"], "step": row["step"], "doc": cut.document(collection, row["doc_id"]),
        "text": cut.text(row["text"]), "error": cut.text(row["error"], 1_000),
    }  # fmt: skip


def _trace_flags(row: dict[str, Any]) -> list[str]:
    said = (
        ("missing", row["is_missing"]), ("unfinished", not row["is_missing"] and not row["is_finished"]), ("broken", row["is_broken"]),
        ("searches again", (row["n_searches"] or 0) > 1), ("saw an exact document, picked none", row["is_exact_seen_none_picked"]),
        ("no search returned an exact one", row["is_exact_never_returned"]), ("picks what no search returned", row["n_never_returned"]),
        ("a search failed", row["n_errors"]),
    )  # fmt: skip
    return [words for words, holds in said if holds]

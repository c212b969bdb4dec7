"""The facts that a load is judged by, each one number from one SQL query over the rows of this load.

However long the recording, Python holds a few dozen numbers and up to three examples of each fault.
"""

from __future__ import annotations

from dataclasses import dataclass

from ingest.contract import COLLECTION_TABLES, RAW_SCHEMA, RECORDING_TABLES, Table
from ingest.describe import Described
from ingest.sqltext import literal
from ingest.staging import Load

_MOST_EXAMPLES = 3

#: What a recording of each kind is known by.
_MANIFEST = {
    "answers": ("model", "model_digest", "options", "prompts", "schemas", "recorded_at", "results_shown", "max_recommendations"),
    "traces": ("model", "model_digest", "options", "prompts", "schemas", "recorded_at", "results_shown", "max_searches"),
    "contexts": ("results_shown",),
    "labels": ("recorded_at",),
}  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """One number, what it is about, and what it must not exceed; the examples are found only where it does."""

    check: str
    #: A raw table, or what else the fact is about.
    subject: str
    observed: int
    allowed: int
    message: str
    examples: tuple[str, ...] = ()


def contract_facts(load: Load) -> list[Fact]:
    """What the contract says of every raw table that this load has rows in."""
    facts: list[Fact] = []
    for table in COLLECTION_TABLES if load.kind == "collection" else RECORDING_TABLES:
        mine = f"{RAW_SCHEMA}.{table.name} where {table.owner} = {literal(load.name)}"
        if load.first(f"select 1 from {mine}") is None:
            continue
        facts += [_types(load, table), _nulls(load, table, mine), _ranges(load, table, mine)]
        if table.is_gapless:
            facts.append(_places(load, table, mine))
        elif not table.name.endswith("_words"):
            # Words are made distinct as they are computed; counting them again would cost more than the load.
            facts.append(_keys(load, table, mine))
    return facts


def _examples(load: Load, sql: str) -> tuple[str, ...]:
    rows = load.con.execute(f"{sql} limit {_MOST_EXAMPLES}").fetchall()
    return tuple(", ".join(str(value)[:80] for value in row) for row in rows)


def _counted(load: Load, check: str, table: Table, mine: str, wrong: dict[str, str], what: str) -> Fact:
    """Rows of a table for which one of the conditions (by column) holds."""
    if not wrong:
        return Fact(check, table.name, 0, 0, "")
    any_wrong = " or ".join(f"({condition})" for condition in wrong.values())
    n = load.count(f"select count(*) from {mine} and ({any_wrong})")
    if not n:
        return Fact(check, table.name, 0, 0, "")
    column = next(
        c
        for c, condition in wrong.items()
        if load.first(f"select 1 from {mine} and ({condition})") is not None
    )
    examples = _examples(load, f"select {', '.join(table.key)}, {column} from {mine} and ({any_wrong})")
    return Fact(check, table.name, n, 0, f"{n:,} rows of {table.name} {what} ({column})", examples)


def _types(load: Load, table: Table) -> Fact:
    given = dict(
        load.con.execute(
            "select column_name, lower(data_type) from duckdb_columns()"
            f" where database_name = current_database() and schema_name = '{RAW_SCHEMA}' and table_name = '{table.name}'"
        ).fetchall()
    )
    wrong = [c.name for c in table.columns if given.get(c.name) != c.type]
    message = f"{len(wrong)} columns of {table.name} have another type than the contract says"
    return Fact("column_types", table.name, len(wrong), 0, message, tuple(wrong[:_MOST_EXAMPLES]))


def _nulls(load: Load, table: Table, mine: str) -> Fact:
    wrong = {c.name: f"{c.name} is null" for c in table.columns if not c.nullable}
    return _counted(load, "required_values", table, mine, wrong, "lack what they must have")


def _ranges(load: Load, table: Table, mine: str) -> Fact:
    wrong = {}
    for column in table.columns:
        parts = [f"not isfinite({column.name})"] if column.type == "double" else []
        if column.least is not None:
            parts.append(f"{column.name} < {column.least}")
        if column.most is not None:
            parts.append(f"{column.name} > {column.most}")
        if parts:
            wrong[column.name] = " or ".join(parts)
    return _counted(load, "value_ranges", table, mine, wrong, "are out of range")


def _keys(load: Load, table: Table, mine: str) -> Fact:
    key = ", ".join(table.key)
    again = f"select {key} from {mine} group by {key} having count(*) > 1"
    n = load.count(f"select count(*) from ({again})")
    message = f"{n:,} keys of {table.name} ({key}) stand more than once"
    return Fact("unique_keys", table.name, n, 0, message, _examples(load, again) if n else ())


def _places(load: Load, table: Table, mine: str) -> Fact:
    """Lists whose places are not 1 to n. Equal sums of places and of squares say so without sorting them."""
    *parent, place = table.key
    by = ", ".join(parent)
    n, squares = f"max(cast({place} as hugeint))", f"sum(cast({place} as hugeint) * {place})"
    broken = (
        f"select {by} from {mine} group by {by} having min({place}) != 1 or max({place}) != count(*)"
        f" or 2 * sum({place}) != {n} * ({n} + 1) or 6 * {squares} != {n} * ({n} + 1) * (2 * {n} + 1)"
    )
    wrong = load.count(f"select count(*) from ({broken})")
    message = f"{wrong:,} lists of {table.name} don't count their {place} 1, 2, 3 and on"
    return Fact("gapless_places", table.name, wrong, 0, message, _examples(load, broken) if wrong else ())


def collection_facts(load: Load, has_fields: bool, exact_grade: int | None) -> list[Fact]:
    """Facts of a collection alone."""
    name = literal(load.name)
    facts = []
    if has_fields:
        empty = (
            f"select d.doc_id from {RAW_SCHEMA}.documents as d anti join {RAW_SCHEMA}.document_fields as f"
            f" on f.collection = {name} and f.doc_id = d.doc_id where d.collection = {name}"
        )
        facts.append(
            _listed(load, "empty_documents", "documents", empty, "documents have no text in any field")
        )
    if exact_grade is not None:
        without = (
            f"select query_id from {RAW_SCHEMA}.judgments where collection = {name} and grade != -1"
            f" group by query_id having max(grade) < {exact_grade}"
        )
        facts.append(
            _listed(
                load, "no_exact_judgment", "judgments", without, "queries have judgments, and none is exact"
            )
        )
    return facts


def _listed(load: Load, check: str, subject: str, sql: str, what: str) -> Fact:
    n = load.count(f"select count(*) from ({sql})")
    return Fact(check, subject, n, 0, f"{n:,} {what}", _examples(load, f"{sql} order by all") if n else ())


def recording_facts(load: Load, kind: str, row: dict[str, object], described: Described) -> list[Fact]:
    """Facts of a recording, held against its manifest and its collection."""
    absent = [key for key in _MANIFEST[kind] if described.given.get(key) is None]
    facts = [
        Fact(
            "incomplete_manifest", described.path.name, len(absent), 0,
            f"the manifest doesn't say {', '.join(absent)}", tuple(absent[:_MOST_EXAMPLES]),
        ),
    ]  # fmt: skip
    if kind == "labels":
        return facts
    facts.append(_missing_queries(load, kind, row))
    shown = row["results_shown"]
    if kind != "contexts" and shown is not None:
        facts.append(_more_than_shown(load, kind, int(str(shown))))
    if kind == "answers":
        facts += [_repeated_answers(load), _cut_prompts(load, row)]
    return facts


def _missing_queries(load: Load, kind: str, row: dict[str, object]) -> Fact:
    name, collection = literal(load.name), literal(str(row["collection"]))
    rows = "traces" if kind == "traces" else "contexts"
    if row["asked"] != "split":
        asked = f"select query_id from {RAW_SCHEMA}.asked_queries where recording_id = {name}"
    else:
        split = "" if row["split"] is None else f" and split = {literal(str(row['split']))}"
        asked = f"select query_id from {RAW_SCHEMA}.queries where collection = {collection}{split}"
    missing = (
        f"select a.query_id, r.retriever from ({asked}) as a"
        f" cross join (select distinct retriever from {RAW_SCHEMA}.{rows} where recording_id = {name}) as r"
        f" anti join {RAW_SCHEMA}.{rows} as g on g.recording_id = {name} and g.query_id = a.query_id and g.retriever = r.retriever"
    )
    return _listed(
        load, "missing_queries", rows, missing, "times a query was asked and has no row under a retriever"
    )


def _more_than_shown(load: Load, kind: str, shown: int) -> Fact:
    name = literal(load.name)
    table, by = (
        ("context_documents", "query_id, retriever, trial")
        if kind == "answers"
        else ("search_results", "trace_id, search")
    )
    longer = f"select {by}, max(rank) from {RAW_SCHEMA}.{table} where recording_id = {name} and rank > {shown} group by {by}"
    return _listed(
        load, "more_than_shown", table, longer, f"lists hold more than the {shown} documents of results_shown"
    )


def _repeated_answers(load: Load) -> Fact:
    again = (
        f"select retriever, left(answer, 60) from {RAW_SCHEMA}.answers where recording_id = {literal(load.name)}"
        " and trim(answer) != '' group by retriever, answer having count(distinct query_id) > 1"
    )
    return _listed(
        load, "repeated_answers", "answers", again, "texts answer more than one query of a retriever"
    )


def _cut_prompts(load: Load, row: dict[str, object]) -> Fact:
    """Answers whose prompt the server may have cut: as many tokens as fit, or fewer than the words that were sent.

    Every white-space-separated piece is at least one token. Words are those of the prompts and of the context's
    documents; where only some fields were shown, only texts that the recording gives are counted.
    """
    name, collection = literal(load.name), literal(str(row["collection"]))
    mine = f"{RAW_SCHEMA}.answers where recording_id = {name} and prompt_tokens is not null"
    if load.first(f"select 1 from {mine}") is None:
        return Fact("cut_prompt", "answers", 0, 0, "")
    fits = "false" if row["num_ctx"] is None else f"a.prompt_tokens >= {int(str(row['num_ctx']))}"
    document = (
        "coalesce(d.n_text_words, c.n_words, 0)" if row["shows_all_fields"] else "coalesce(d.n_text_words, 0)"
    )
    cut = f"""
        select a.query_id, a.retriever, a.trial, a.prompt_tokens
        from (select * from {mine}) as a
        left join (
            select d.query_id, d.retriever, d.trial, sum({document}) as n_words
            from {RAW_SCHEMA}.context_documents as d
            left join {RAW_SCHEMA}.documents as c on c.collection = {collection} and c.doc_id = d.doc_id
            where d.recording_id = {name}
            group by d.query_id, d.retriever, d.trial
        ) as w using (query_id, retriever, trial)
        where {fits} or a.prompt_tokens < coalesce(w.n_words, 0) + {int(str(row["n_prompt_words"] or 0))}
    """
    return _listed(
        load, "cut_prompt", "answers", cut, "answers came from a prompt that the server may have cut"
    )

"""A collection's typed rows into documents, queries and judgments."""

from __future__ import annotations

from ingest.contract import RAW_SCHEMA
from ingest.errors import BadInput, shown
from ingest.files import SourceFile
from ingest.keys import quoted
from ingest.sqltext import literal
from ingest.staging import Load


def add_documents(load: Load, source: SourceFile, table: str, fields: list[str], columns: list[str]) -> int:
    """Documents, their texts and words, from `table` (line, doc_id, one of `columns` a field, extra)."""
    load.refuse_repeats(source, table, ("doc_id",), "Keep one of the two.")
    collection = literal(load.name)
    pairs = list(zip(fields, columns, strict=True))
    label = {f: len(f"{f}:".split()) for f in fields}
    pieces = " + ".join(
        f"case when coalesce({quoted(c)}, '') != '' then {label[f]} + pieces({quoted(c)}) else 0 end"
        for f, c in pairs
    )
    load.progress.step("keeping documents")
    n = load.insert(
        "documents",
        f"select {collection} as collection, doc_id, 1 + pieces(doc_id) as n_id_words,"
        f" 1 + pieces(doc_id) + {pieces or '0'} as n_words, extra from {table}",
    )
    for field, column in pairs:
        name, value = literal(field), quoted(column)
        given = load.count(f"select count({value}) from {table}")
        if n and not given:
            load.notice(
                "field_never_given",
                source.name,
                n,
                f"no document has the field {field!r}; it counts as empty",
            )
        load.progress.step(f"counting the words of {field}")
        load.insert(
            "document_fields",
            f"select {collection} as collection, doc_id, {name} as field, {value} as value, pieces({value}) as n_words,"
            f" n_sentences({value}) as n_sentences, regexp_matches({value}, '([.][.][.]|…)\\s*$') as is_cut"
            f" from {table} where {value} != ''",
        )
        load.insert(
            "document_words",
            f"select {collection} as collection, doc_id, {name} as field, unnest(words({value})) as word"
            f" from {table} where {value} != ''",
        )
    load.notice_extra(source, table)
    return n


def add_queries(load: Load, source: SourceFile, table: str) -> int:
    """Queries, their earlier turns and words, from `table` (line, query_id, query, split, earlier_turns, extra)."""
    load.refuse_repeats(source, table, ("query_id",), "Keep one of the two.")
    collection = literal(load.name)
    load.progress.step("keeping queries")
    n = load.insert(
        "queries", f"select {collection} as collection, query_id, query, split, extra from {table}"
    )
    load.insert(
        "query_turns",
        f"select {collection} as collection, query_id, generate_subscripts(earlier_turns, 1) as turn,"
        f" unnest(earlier_turns) as text from {table} where len(earlier_turns) > 0",
    )
    load.insert(
        "query_words",
        f"""
        with texts as (
            select query_id, query as text from {table}
            union all
            select query_id, unnest(earlier_turns) as text from {table} where len(earlier_turns) > 0
        ),
        said as (
            select query_id, unnest(words(text)) as word from texts
        )
        select distinct {collection} as collection, query_id, word from said
        """,
    )
    load.notice_extra(source, table)
    return n


def add_judgments(load: Load, source: SourceFile, table: str, grades: set[int]) -> int:
    """Judgments, from `table` (line, query_id, doc_id, grade). Raises BadInput for a pair with two grades."""
    collection = literal(load.name)
    load.progress.step("checking judgments")
    load.refuse_unknown_queries(source, table, load.name)
    pairs = load.first(
        f"""
        select count(*), count(*) filter (where lowest != highest)
        from (select min(grade) as lowest, max(grade) as highest from {table} group by query_id, doc_id)
        """
    )
    n_pairs, n_conflicts = (0, 0) if pairs is None else (int(str(pairs[0])), int(str(pairs[1])))
    if n_conflicts:
        two = load.first(
            f"""
            select max(line), query_id, doc_id, min(grade), max(grade), min(line)
            from {table} group by query_id, doc_id having min(grade) != max(grade) order by 1
            """
        )
        assert two is not None
        raise BadInput(
            f"{source.at(two[0])}: query {shown(two[1])} and document {shown(two[2])} have two grades, "
            f"{two[3]} and {two[4]} (see {source.at(two[5])}). Keep the one that people meant."
        )
    load.progress.step("keeping judgments")
    n = load.insert(
        "judgments", f"select {collection} as collection, query_id, doc_id, grade, line from {table}"
    )
    repeats = n - n_pairs
    load.notice(
        "repeated_judgment",
        source.name,
        repeats,
        f"{repeats} lines repeat a judgment; they count once",
    )
    if grades:
        known = ", ".join(str(g) for g in sorted(grades | {-1}))
        row = load.first(f"select count(*), min(grade) from {table} where grade not in ({known})")
        if row is not None and row[0]:
            load.notice(
                "unknown_grade", source.name, int(str(row[0])),
                f"{row[0]} judgments have a grade that collection.json doesn't name, such as {row[1]}",
            )  # fmt: skip
    load.notice_unknown_documents(source, f"select doc_id from {table}", load.name)
    return n


def is_loaded(load: Load, collection: str) -> bool:
    """Whether the collection is in the warehouse."""
    return bool(
        load.count(f"select count(*) from {RAW_SCHEMA}.collections where collection = {literal(collection)}")
    )

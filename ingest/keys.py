"""From lines of JSON to typed columns: which keys a file's lines have, what may stand there, and what breaks a line.

A line that can't be read, or in which something stands where it can't, gets a ``problem`` and is quarantined.
A line that lacks a required key gets the key's name in ``missing``, and its file is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from ingest.sqltext import DEEPEST, literal

#: kind -> (the value, what makes it wrong, what it must be); {j} is the leaf as JSON text, null where absent.
_KINDS: dict[str, tuple[str, str, str]] = {
    "id": ("id_text({j})", "coalesce(trim(id_text({j})), '') = ''", "a text or a whole number"),
    "text": ("case when {j}[1] = '\"' then any_text({j}) end", "{j}[1] != '\"'", "a text"),
    "scalar": ("any_text({j})", "{j}[1] in ('[', '{{')", "a text or a number"),
    "any": ("any_text({j})", "false", "anything"),
    "json": ("{j}", "false", "anything"),
    "int": (
        "case when regexp_full_match({j}, '-?[0-9]+') then try_cast({j} as bigint) end",
        "not regexp_full_match({j}, '-?[0-9]+') or try_cast({j} as bigint) is null",
        "a whole number",
    ),
    "count": (
        "case when regexp_full_match({j}, '[0-9]+') then try_cast({j} as bigint) end",
        "not regexp_full_match({j}, '[0-9]+') or try_cast({j} as bigint) is null",
        "a whole number, 0 or higher",
    ),
    "place": (
        "case when regexp_full_match({j}, '[0-9]+') then nullif(try_cast({j} as bigint), 0) end",
        "not regexp_full_match({j}, '[0-9]+') or coalesce(try_cast({j} as bigint), 0) = 0",
        "a whole number, 1 or higher",
    ),
    # A grade may be written 2.0, as tools that keep numbers as floats do; 1.5 is no grade.
    "grade": (
        "case when regexp_full_match({j}, '-?[0-9]+([.]0+)?') then try_cast(try_cast({j} as decimal(38, 6)) as bigint) end",
        "not regexp_full_match({j}, '-?[0-9]+([.]0+)?') or try_cast(try_cast({j} as decimal(38, 6)) as bigint) is null",
        "a whole number",
    ),
    "number": (
        "case when regexp_matches({j}, '^-?[0-9]') then try_cast({j} as double) end",
        "not regexp_matches({j}, '^-?[0-9]') or coalesce(isinf(try_cast({j} as double)), true)",
        "a number",
    ),
    "share": (
        "case when regexp_matches({j}, '^-?[0-9]') then try_cast({j} as double) end",
        "not regexp_matches({j}, '^-?[0-9]') or coalesce(try_cast({j} as double) not between 0 and 1, true)",
        "a number from 0 to 1",
    ),
    "time": (
        "cast(timezone('UTC', try_cast(any_text({j}) as timestamptz)) as timestamp)",
        "{j}[1] != '\"' or try_cast(any_text({j}) as timestamptz) is null",
        "a time such as 2026-03-01T10:00:00Z",
    ),
    "ids": (
        "case when {j}[1] = '[' then list_transform(from_json({j}, '[\"JSON\"]'),"
        " lambda x: id_text(cast(x as varchar))) end",
        "{j}[1] != '[' or len(list_filter(from_json({j}, '[\"JSON\"]'),"
        " lambda x: coalesce(trim(id_text(cast(x as varchar))), '') = '')) > 0",
        "a list of IDs, each a text or a whole number",
    ),
    # The same, but null may stand among them: unknown.
    "known_ids": (
        "case when {j}[1] = '[' then list_transform(from_json({j}, '[\"JSON\"]'),"
        " lambda x: id_text(cast(x as varchar))) end",
        "{j}[1] != '[' or len(list_filter(from_json({j}, '[\"JSON\"]'),"
        " lambda x: x is not null and coalesce(trim(id_text(cast(x as varchar))), '') = '')) > 0",
        "a list of IDs",
    ),
    # What a model gave as IDs: kept whatever it is.
    "items": (
        "case when {j}[1] = '[' then list_transform(from_json({j}, '[\"JSON\"]'), lambda x:"
        " {{'given': any_text(cast(x as varchar)), 'doc_id': id_text(cast(x as varchar))}}) end",
        "{j}[1] != '['",
        "a list",
    ),
    "texts": (
        "case when {j}[1] = '[' then list_transform(from_json({j}, '[\"JSON\"]'),"
        " lambda x: any_text(cast(x as varchar))) end",
        "{j}[1] != '[' or len(list_filter(from_json({j}, '[\"JSON\"]'), lambda x: cast(x as varchar)[1] != '\"')) > 0",
        "a list of texts",
    ),
    "numbers": (
        "case when {j}[1] = '[' then list_transform(from_json({j}, '[\"JSON\"]'),"
        " lambda x: try_cast(cast(x as varchar) as double)) end",
        "{j}[1] != '[' or len(list_filter(from_json({j}, '[\"JSON\"]'), lambda x: x is not null and"
        " (not regexp_matches(cast(x as varchar), '^-?[0-9]')"
        " or coalesce(isinf(try_cast(cast(x as varchar) as double)), true)))) > 0",
        "a list of numbers",
    ),
    "objects": (
        "case when {j}[1] = '[' then from_json({j}, '[\"JSON\"]') end",
        "{j}[1] != '[' or len(list_filter(from_json({j}, '[\"JSON\"]'),"
        " lambda x: coalesce(cast(x as varchar)[1], '') != '{{')) > 0",
        "a list of objects",
    ),
}


@dataclass(frozen=True)
class Key:
    """One key of a line: its name, what may stand there (see `_KINDS`), whether the line must have it.

    `column` is the name of the column that it becomes, where that differs; `alias` is another accepted name.
    """

    name: str
    kind: str
    required: bool = False
    alias: str | None = None
    column: str | None = None

    @property
    def into(self) -> str:
        """The name of the typed column."""
        return self.column or self.name


def _pointer(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")


def quoted(name: str) -> str:
    """A column's name in quotes."""
    return '"' + name.replace('"', '""') + '"'


def typed(keys: tuple[Key, ...], source: str, *, from_text: bool = False) -> str:
    """SQL that reads the table `source` (line bigint, text varchar of JSON) into typed columns.

    Columns: ``line``, one a key, ``extra`` (what stands under that key, and every key that `keys` doesn't name, as
    JSON text; null without any), ``unnamed`` (the first such key), ``problem`` and ``missing``. A line with a
    problem has null in every other column. `from_text` says that every value is a JSON string, as in rows of
    CSV: then ``"2"`` is the number 2.
    """
    names = [n for k in keys for n in (k.name, k.alias) if n is not None]
    paths = ", ".join(literal(_pointer(n)) for n in names)
    place = {n: i + 1 for i, n in enumerate(names)}
    leaves, values, problems, missing = [], [], [], []
    for i, key in enumerate(keys):
        leaf = f"nullif(cast(found[{place[key.name]}] as varchar), 'null')"
        if key.alias is not None:
            leaf = f"coalesce({leaf}, nullif(cast(found[{place[key.alias]}] as varchar), 'null'))"
        if from_text and key.kind not in ("id", "text", "scalar", "any"):
            leaf = f"any_text({leaf})"
        leaves.append(f"{leaf} as leaf_{i}")
        value, wrong, must_be = (part.format(j=f"leaf_{i}") for part in _KINDS[key.kind])
        values.append(f"case when problem is null then {value} end as {quoted(key.into)}")
        problems.append(
            f"when leaf_{i} is not null and ({wrong})"
            f" then {literal(key.name + ' must be ' + must_be + ', not ')} || left(leaf_{i}, 60)"
        )
        if key.required:
            missing.append(f"when leaf_{i} is null then {literal(key.name)}")
    known = ", ".join(literal(n) for n in (*names, "extra"))
    nulls = literal(json.dumps(dict.fromkeys((*names, "extra"))))
    unnamed = (
        f"case when problem is null then list_filter(json_keys(text), lambda x: x not in ({known}))[1] end"
    )
    # An extra that is no object is kept under its own name.
    given = "case when json_type(text, '/extra') = 'OBJECT' then json_extract(text, '/extra') else json_object('extra', json_extract(text, '/extra')) end"
    others = f"""
        case
            when problem is not null then null
            when unnamed is not null and coalesce(json_type(text, '/extra'), 'NULL') = 'NULL'
                then cast(json_merge_patch(text, {nulls}) as varchar)
            -- Side by side as text: a second merge would take nulls out of what is kept.
            when unnamed is not null then
                cast({given} as varchar)[:-2]
                || case when cast({given} as varchar) = '{{}}' then '' else ',' end
                || cast(json_merge_patch(text, {nulls}) as varchar)[2:]
            when coalesce(json_type(text, '/extra'), 'NULL') != 'NULL' then cast({given} as varchar)
        end"""
    return f"""
        with valid as (
            select line, text, is_too_deep(text) as is_deep, json_valid(text) as is_json from {source}
        ),
        whole as (
            select line, text,
                case
                    when is_deep then 'brackets stand more than {DEEPEST} deep inside each other: ' || left(text, 40)
                    when not is_json then 'this is not valid JSON (is the line cut?): ' || right(text, 40)
                    when is_loose_json(text)
                        then 'this is not valid JSON: NaN, Infinity or a comma before a closing bracket stands in it'
                    when json_type(text) != 'OBJECT' then 'this is not a JSON object: ' || left(text, 40)
                    when len(json_keys(text)) != len(list_distinct(json_keys(text))) then 'a key stands in it twice'
                end as unreadable
            from valid
        ),
        found as (
            select line, text, unreadable,
                case when unreadable is null then json_extract(text, [{paths}]) end as found
            from whole
        ),
        leaves as (
            select line, text, unreadable, {", ".join(leaves)} from found
        ),
        checked as (
            select *, coalesce(unreadable, case {" ".join(problems)} end) as problem from leaves
        ),
        named as (
            select *, {unnamed} as unnamed from checked
        )
        select line, {", ".join(values)}, {others} as extra, unnamed, problem,
            case when problem is null then {"case " + " ".join(missing) + " end" if missing else "null"} end as missing
        from named
    """


#: The types of a Parquet column that are read as they are, by kind: (types, the value).
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_DIRECT: dict[str, tuple[tuple[str, ...], str, str]] = {
    "id": (("VARCHAR", *_WHOLE), "cast({c} as varchar)", "trim(cast({c} as varchar)) = ''"),
    "text": (("VARCHAR",), "{c}", "false"),
    "grade": (_WHOLE, "cast({c} as bigint)", "false"),
    "place": (_WHOLE, "cast({c} as bigint)", "{c} < 1"),
    "number": (("DOUBLE", "FLOAT", *_WHOLE), "cast({c} as double)", "not isfinite(cast({c} as double))"),
    "ids": (
        tuple(t + "[]" for t in ("VARCHAR", *_WHOLE)),
        "cast({c} as varchar[])",
        "len(list_filter({c}, lambda x: coalesce(trim(cast(x as varchar)), '') = '')) > 0",
    ),
    "numbers": (
        tuple(t + "[]" for t in ("DOUBLE", "FLOAT", *_WHOLE)),
        "cast({c} as double[])",
        "len(list_filter({c}, lambda x: not isfinite(cast(x as double)))) > 0",
    ),
}


def typed_columns(keys: tuple[Key, ...], source: str, types: dict[str, str]) -> str | None:
    """The same columns as `typed`, straight from a table's own columns; None where their types don't allow it.

    `types` are the table's columns with DuckDB's names of their types. A table with a column that is no key
    is left to `typed`, which keeps it as ``extra``.
    """
    names = {n for k in keys for n in (k.name, k.alias) if n is not None}
    if not set(types) <= names:
        return None
    values, problems, missing = [], [], []
    for key in keys:
        there = [n for n in (key.name, key.alias) if n in types]
        if len(there) > 1 or (
            there and (key.kind not in _DIRECT or types[there[0]] not in _DIRECT[key.kind][0])
        ):
            return None
        if not there:
            empty = _EMPTY.get(key.kind, "varchar")
            values.append(f"cast(null as {empty}) as {quoted(key.into)}")
            if key.required:
                missing.append(f"when true then {literal(key.name)}")
            continue
        column = quoted(there[0])
        _, value, wrong = (p if isinstance(p, tuple) else p.format(c=column) for p in _DIRECT[key.kind])
        values.append(f"{value} as {quoted(key.into)}")
        if wrong != "false":
            must_be = literal(f"{key.name} must be {_KINDS[key.kind][2]}, not ")
            problems.append(f"when {wrong} then {must_be} || left(cast({column} as varchar), 60)")
        if key.required:
            missing.append(f"when {column} is null then {literal(key.name)}")
    problem = f"case {' '.join(problems)} end" if problems else "cast(null as varchar)"
    lacks = f"case {' '.join(missing)} end" if missing else "cast(null as varchar)"
    return f"""
        select line, {", ".join(values)}, cast(null as varchar) as extra,
            cast(null as varchar) as unnamed, {problem} as problem, {lacks} as missing
        from {source}
    """


#: What a column without any value is typed as.
_EMPTY = {
    "int": "bigint", "count": "bigint", "place": "bigint", "grade": "bigint", "number": "double", "share": "double",
    "time": "timestamp", "ids": "varchar[]", "known_ids": "varchar[]", "texts": "varchar[]", "numbers": "double[]",
    "objects": "json[]", "items": "struct(given varchar, doc_id varchar)[]",
}  # fmt: skip

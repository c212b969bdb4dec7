"""`ingest init`: write manifest.json or collection.json for the files that lie in a folder.

What the files show is filled in: the kind, the fields, grades, list lengths, every file's sha256 and rows. What
only a person knows is left as a text that begins with ``FILL IN``, which loading names until it is written.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import duckdb

from ingest.describe import KINDS, PLACEHOLDER, read_json
from ingest.errors import BadInput
from ingest.files import SourceFile, digest_of, find_file, stage_lines, stage_rows
from ingest.formats.native import COLLECTION_FILE, MANIFEST_FILE
from ingest.keys import quoted
from ingest.sqltext import create_macros

_TABLES = ("jsonl", "csv", "tsv", "parquet")
_NOT_TEXT = ("doc_id", "extra")


def init(folder: Path, *, overwrite: bool = False) -> str:
    """Write the description of a folder's files; returns what was written and what is left to do.

    With `overwrite`, an existing one keeps what it says and pins the files anew. Raises BadInput where nothing in
    the folder is of the format, or a description is there already.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder. Name the folder that your files are in.")
    con = duckdb.connect()
    con.execute("set preserve_insertion_order = true")
    create_macros(con)
    try:
        if find_file(folder, "catalog", _TABLES, required=False):
            return _write(folder, COLLECTION_FILE, _collection(con, folder), overwrite)
        return _write(folder, MANIFEST_FILE, _recording(con, folder), overwrite)
    finally:
        con.close()


def _write(folder: Path, name: str, guessed: dict[str, Any], overwrite: bool) -> str:
    path = folder / name
    if path.exists():
        if not overwrite:
            raise BadInput(
                f"{path}: it is there already. --overwrite keeps what it says and pins the files anew."
            )
        guessed = {**json.loads(path.read_text(encoding="utf-8-sig")), "files": guessed["files"]}
    handle, temporary = tempfile.mkstemp(dir=folder, suffix=".json")
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        json.dump(guessed, out, ensure_ascii=False, indent=1)
        out.write("\n")
    os.chmod(temporary, 0o644)
    os.replace(temporary, path)
    left = [k for k, v in guessed.items() if isinstance(v, str) and v.startswith(PLACEHOLDER)]
    todo = f"Fill in {', '.join(left)}, then" if left else "Look it over, then"
    return f"{path}: written for {', '.join(guessed['files'])}. {todo} run: python -m ingest load {folder}"


def _stage(con: duckdb.DuckDBPyConnection, path: Path, table: str) -> tuple[SourceFile, bool]:
    """Stage a file as it is: lines (line, text) for JSONL and txt, rows else. Says whether it is lines."""
    source = SourceFile(path, digest_of(path))
    if source.format in ("jsonl", "txt"):
        stage_lines(con, source, table)
        return source, True
    stage_rows(con, source, table)
    return source, False


def _pin(source: SourceFile) -> dict[str, Any]:
    return {"sha256": source.sha256, "rows": source.n_lines}


def _collection(con: duckdb.DuckDBPyConnection, folder: Path) -> dict[str, Any]:
    files: dict[str, Any] = {}
    catalog = find_file(folder, "catalog", _TABLES)
    queries = find_file(folder, "queries", _TABLES)
    qrels = find_file(folder, "qrels", (*_TABLES, "txt"))
    assert catalog is not None and queries is not None and qrels is not None
    source, is_lines = _stage(con, catalog, "rows_of_catalog")
    files[catalog.name] = _pin(source)
    fields = _text_keys(con) if is_lines else _text_columns(con)
    source, _ = _stage(con, queries, "rows_of_queries")
    files[queries.name] = _pin(source)
    source, is_lines = _stage(con, qrels, "rows_of_qrels")
    files[qrels.name] = _pin(source)
    grades = _grades(con, qrels, is_lines)
    found: dict[str, Any] = {
        "collection": folder.resolve().name,
        "licence": f"{PLACEHOLDER}: the licence, or take this key out",
        "source": f"{PLACEHOLDER}: where it comes from, or take this key out",
        "fields": fields,
        "grades": {str(g): f"grade {g}" for g in sorted(grades, reverse=True) if g != -1},
    }
    above = sorted(g for g in grades if g > 0)
    if len(above) == 1:
        found["exact_grade"] = above[0]
    elif grades:
        found["exact_grade"] = f"{PLACEHOLDER}: the lowest grade that counts as exact, as a number"
    found["catalog"] = "whole"
    found["judgments"] = "positive_only" if grades and min(grades) > 0 else "graded"
    found["files"] = files
    return found


def _text_keys(con: duckdb.DuckDBPyConnection) -> list[str]:
    """The keys of the catalog's lines that hold texts, in order of first appearance, from its first lines."""
    rows = con.execute(
        "select text from rows_of_catalog where json_valid(text) order by line limit 1000"
    ).fetchall()
    found: dict[str, bool] = {}
    for (text,) in rows:
        line = json.loads(text)
        if isinstance(line, dict):
            for key, value in line.items():
                found[key] = found.get(key, False) or isinstance(value, str)
    return [key for key, is_text in found.items() if is_text and key not in _NOT_TEXT]


def _text_columns(con: duckdb.DuckDBPyConnection) -> list[str]:
    described = con.execute("describe rows_of_catalog").fetchall()
    return [str(c[0]) for c in described if c[1] == "VARCHAR" and c[0] not in (*_NOT_TEXT, "line")]


def _grades(con: duckdb.DuckDBPyConnection, path: Path, is_lines: bool) -> set[int]:
    if path.name.removesuffix(".gz").endswith(".txt"):
        value = r"string_split(regexp_replace(trim(text), '\s+', ' ', 'g'), ' ')[4]"
    elif is_lines:
        value = "case when json_valid(text) then text ->> '$.grade' end"
    else:
        columns = [str(c[0]) for c in con.execute("describe rows_of_qrels").fetchall()]
        value = quoted("grade") if "grade" in columns else "null"
    rows = con.execute(f"select distinct try_cast({value} as bigint) from rows_of_qrels").fetchall()
    return {int(r[0]) for r in rows if r[0] is not None}


def _recording(con: duckdb.DuckDBPyConnection, folder: Path) -> dict[str, Any]:
    main = {kind: find_file(folder, kind, ("jsonl",), required=False) for kind in KINDS if kind != "labels"}
    main["contexts"] = main["contexts"] or find_file(folder, "contexts", ("parquet",), required=False)
    main["contexts"] = main["contexts"] or find_file(folder, "run", ("txt",), required=False)
    kinds = [kind for kind, path in main.items() if path is not None]
    labels = [p for p in (folder / "support.jsonl", folder / "relevance.jsonl") if p.exists()]
    if not kinds and labels:
        return _labels(con, folder, labels)
    if not kinds:
        raise BadInput(
            f"{folder}: none of catalog, answers.jsonl, traces.jsonl, contexts.jsonl, run.txt, support.jsonl and relevance.jsonl lies here. "
            "Put the files of one collection or one recording here."
        )
    if len(kinds) > 1:
        raise BadInput(f"{folder}: files of {' and '.join(kinds)} lie here. Give each a folder of its own.")
    kind = kinds[0]
    path = main[kind]
    assert path is not None
    source, is_lines = _stage(con, path, "rows_of_main")
    files = {path.name: _pin(source)}
    found: dict[str, Any] = {
        "recording": folder.resolve().name,
        "kind": kind,
        "collection": f"{PLACEHOLDER}: the collection's name",
        "split": f"{PLACEHOLDER}: the split that was asked, or take this key out where all queries were",
    }
    beside = _collection_beside(folder)
    if beside is not None:
        found["collection"], queries = beside
        split = _split_of(con, queries, is_lines, path)
        # All queries were asked, one split was, or only a person knows.
        found["split"] = split if split != "" else found["split"]
    if not found["split"] or (folder / "asked.txt").exists():
        del found["split"]
    if kind != "contexts":
        found["model"] = f"{PLACEHOLDER}: the model's name, or take this key out"
        found["model_digest"] = f"{PLACEHOLDER}: the model's digest, or take this key out"
        found["prompts"] = f"{PLACEHOLDER}: the prompt's text, or take this key out"
    found["recorded_at"] = (
        f"{PLACEHOLDER}: when it was recorded, such as 2026-03-01T10:00:00Z, or take this key out"
    )
    if kind != "contexts":
        found["max_recommendations"] = (
            f"{PLACEHOLDER}: how many documents an answer may recommend, as a number, or take this key out"
        )
    longest = _longest_list(con, kind, is_lines, path)
    if longest:
        found["results_shown"] = longest
    for other in ("support.jsonl", "asked.txt"):
        if (folder / other).exists() and not (other == "support.jsonl" and kind != "answers"):
            files[other] = _pin(_stage(con, folder / other, "rows_of_other")[0])
    if "asked.txt" in files:
        found["asked"] = "asked.txt"
    found["files"] = files
    return found


def _labels(con: duckdb.DuckDBPyConnection, folder: Path, labels: list[Path]) -> dict[str, Any]:
    """The manifest of judges' labels: a folder of a recording's files without the recording's own."""
    beside = _collection_beside(folder)
    found: dict[str, Any] = {
        "recording": folder.resolve().name,
        "kind": "labels",
        "collection": f"{PLACEHOLDER}: the collection's name" if beside is None else beside[0],
    }
    if any(path.name == "support.jsonl" for path in labels):
        found["answers_recording"] = f"{PLACEHOLDER}: the recording whose claims are judged"
    for key, what in (
        ("model", "the judge's name"),
        ("model_digest", "its digest"),
        ("prompts", "its prompt's text"),
    ):
        found[key] = f"{PLACEHOLDER}: {what}, or take this key out where people judged"
    found["recorded_at"] = (
        f"{PLACEHOLDER}: when it was recorded, such as 2026-03-01T10:00:00Z, or take this key out"
    )
    found["files"] = {path.name: _pin(_stage(con, path, "rows_of_main")[0]) for path in labels}
    return found


def _collection_beside(folder: Path) -> tuple[str, Path] | None:
    """The name and the queries of the one collection whose folder lies beside this one; None where there isn't one."""
    beside = [p for p in folder.resolve().parent.iterdir() if (p / COLLECTION_FILE).is_file()]
    if len(beside) != 1:
        return None
    name = read_json(beside[0] / COLLECTION_FILE).get("collection")
    queries = find_file(beside[0], "queries", _TABLES, required=False)
    return (name, queries) if isinstance(name, str) and queries is not None else None


def _split_of(con: duckdb.DuckDBPyConnection, queries: Path, is_lines: bool, path: Path) -> str | None:
    """The one split that holds every query of the recording; None where the recording has all queries; else ``""``."""
    _, are_lines = _stage(con, queries, "rows_of_queries")
    both = "json_valid(text) and text ->> '$.query_id' is not null"
    asked = (
        f"select text ->> '$.query_id' as query_id, text ->> '$.split' as split from rows_of_queries where {both}"
        if are_lines
        else "select cast(query_id as varchar) as query_id, cast(split as varchar) as split from rows_of_queries"
    )
    columns = [] if are_lines else [str(c[0]) for c in con.execute("describe rows_of_queries").fetchall()]
    if not are_lines and not {"query_id", "split"} <= set(columns):
        asked = "select cast(null as varchar) as query_id, cast(null as varchar) as split"
    if path.name.removesuffix(".gz") == "run.txt":
        recorded = r"select string_split(regexp_replace(trim(text), '\s+', ' ', 'g'), ' ')[1] as query_id from rows_of_main"
    elif is_lines:
        recorded = f"select text ->> '$.query_id' as query_id from rows_of_main where {both}"
    else:
        recorded = "select cast(query_id as varchar) as query_id from rows_of_main"
    row = con.execute(
        f"""
        with asked as ({asked}), recorded as (select distinct query_id from ({recorded}))
        select
            (select count(*) from asked) = (select count(*) from recorded),
            count(*) = count(distinct asked.query_id) and count(asked.split) = count(*) and count(distinct asked.split) = 1,
            min(asked.split)
        from recorded left join asked on recorded.query_id = asked.query_id
        """
    ).fetchone()
    assert row is not None
    is_all, is_one, split = row
    return None if is_all else str(split) if is_one else ""


def _longest_list(con: duckdb.DuckDBPyConnection, kind: str, is_lines: bool, path: Path) -> int | None:
    """How many documents the longest list holds: of a context, or of one search's results."""
    if path.name.removesuffix(".gz") == "run.txt":
        columns = r"string_split(regexp_replace(trim(text), '\s+', ' ', 'g'), ' ')"
        sql = (
            f"select max(n) from (select count(*) as n from rows_of_main group by {columns}[1], {columns}[6])"
        )
    elif not is_lines:
        sql = "select max(len(doc_ids)) from rows_of_main"
    else:
        lists = {
            "answers": "json_array_length(text, '/context_ids')",
            "contexts": "json_array_length(text, '/doc_ids')",
            "traces": "greatest(json_array_length(text, '/results'),"
            " list_max(list_transform(from_json(json_extract(text, '/searches'), '[\"JSON\"]'),"
            " lambda s: json_array_length(s, '/results'))))",
        }
        sql = f"select max({lists[kind]}) from rows_of_main where json_valid(text)"
    row = con.execute(sql).fetchone()
    return None if row is None or row[0] is None else int(row[0])

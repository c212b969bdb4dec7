"""Embeddings from Parquet files that someone recorded: a key and a list of numbers a row.

The key is ``doc_id`` (documents), ``query_id`` (queries), or ``text`` or its ``text_sha256`` (whatever has that text); the numbers
stand in ``embedding`` (or ``vector``). A file may have several keys, each null where it doesn't apply. Several files are read as one.
A row's ``model`` and ``model_digest``, where there are such columns, go into the manifest.
"""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from ingest.errors import BadInput, shown
from ingest.files import digest_of
from ingest.retrieve.base import first
from ingest.sqltext import literal

KEYS = ("doc_id", "query_id", "text_sha256")
_VECTORS = ("embedding", "vector")
_NUMBERS = re.compile(r"(FLOAT|DOUBLE|U?(TINY|SMALL|BIG)?INT|U?INTEGER|DECIMAL\(.*\))\[\d*\]")


def read(con: duckdb.DuckDBPyConnection, files: list[Path]) -> dict[str, object]:
    """Make the temporary view ``retrieve_recorded`` (doc_id, query_id, text_sha256, embedding, file); returns settings.

    Raises BadInput for what is no such file, a key that stands twice, and vectors of different models.
    """
    selects: list[str] = []
    models: set[tuple[object, object]] = set()
    for path in files:
        select, of = _described(con, path)
        selects.append(select)
        models |= of
    con.execute("create or replace temp view retrieve_recorded as " + " union all ".join(selects))
    if len(models) > 1:
        two = " and ".join(sorted(shown(name or digest) for name, digest in models)[:2])
        raise BadInput(
            f"{files[0]}: the embeddings are of {two}, and those of two models can't be compared. Give one model's."
        )
    for key in KEYS:
        row = first(
            con,
            f"select {key}, count(*), min(file) from retrieve_recorded where {key} is not null group by {key} having count(*) > 1 order by {key}",
        )
        if row is not None:
            raise BadInput(
                f"{row[2]}: the {key} {shown(row[0])} has {row[1]} embeddings. Keep the one that is meant."
            )
    digests = [{"file": path.name, "sha256": digest_of(path)} for path in files]
    found: dict[str, object] = {"embeddings": digests}
    for name, digest in models:
        found |= {"model": name, "model_digest": digest}
    return found


def _described(con: duckdb.DuckDBPyConnection, path: Path) -> tuple[str, set[tuple[object, object]]]:
    """The query that reads a file, and the models that its rows name."""
    if not path.exists():
        raise BadInput(f"{path}: there is no such file. Name a Parquet file with --embeddings.")
    source = f"read_parquet({literal(str(path))})"
    try:
        columns = {
            str(row[0]): str(row[1]) for row in con.execute(f"describe select * from {source}").fetchall()
        }
    except duckdb.Error as error:
        raise BadInput(
            f"{path}: this is no Parquet file ({str(error).splitlines()[0][:120]}). Name one with --embeddings."
        ) from None
    vector = next((name for name in _VECTORS if name in columns), None)
    keys = [key for key in (*KEYS, "text") if key in columns]
    if vector is None or not _NUMBERS.fullmatch(columns[vector]) or not keys:
        raise BadInput(
            f"{path}: it needs a key (doc_id, query_id, text or text_sha256) and a list of numbers 'embedding'; its columns are "
            f"{', '.join(f'{name} {type_}' for name, type_ in columns.items())}. Name them so."
        )
    text = "text_sha256" if "text_sha256" in columns else "sha256(text)" if "text" in columns else "null"
    ids = ", ".join(f"cast({key if key in columns else 'null'} as varchar) as {key}" for key in KEYS[:2])
    select = (
        f"select {ids}, cast({text} as varchar) as text_sha256, cast({vector} as float[]) as embedding,"
        f" {literal(str(path))} as file from {source}"
    )
    if "model" not in columns and "model_digest" not in columns:
        return select, set()
    both = ", ".join(name if name in columns else f"null as {name}" for name in ("model", "model_digest"))
    return select, set(con.execute(f"select distinct {both} from {source}").fetchall())

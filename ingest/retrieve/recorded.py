"""Embeddings from Parquet files that someone recorded: a key and a list of numbers a row.

The key is ``doc_id`` (documents), ``query_id`` (queries), or ``text`` or its ``text_sha256`` (whatever has that text); the numbers
stand in ``embedding`` (or ``vector``). A file may have several keys, each null where it doesn't apply. Several files are read as one.
A row's ``model`` and ``model_digest``, where there are such columns, go into the manifest.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from ingest.errors import BadInput, shown
from ingest.files import digest_of
from ingest.retrieve.base import first
from ingest.sqltext import literal

KEYS = ("doc_id", "query_id", "text_sha256")
_VECTORS = ("embedding", "vector")


def read(con: duckdb.DuckDBPyConnection, files: list[Path]) -> dict[str, object]:
    """Make the temporary table ``retrieve_recorded`` (doc_id, query_id, text_sha256, embedding, file); returns settings.

    Raises BadInput for what is no such file, a key that stands twice, and vectors of different models.
    """
    con.execute(
        "create or replace temp table retrieve_recorded"
        " (doc_id varchar, query_id varchar, text_sha256 varchar, embedding float[], file varchar)"
    )
    models: set[tuple[object, object]] = set()
    for path in files:
        models |= _read_one(con, path)
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


def _read_one(con: duckdb.DuckDBPyConnection, path: Path) -> set[tuple[object, object]]:
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
    if vector is None or "[" not in columns[vector] or not keys:
        raise BadInput(
            f"{path}: it needs a key (doc_id, query_id, text or text_sha256) and a list of numbers 'embedding'; its columns are "
            f"{', '.join(f'{name} {type_}' for name, type_ in columns.items())}. Name them so."
        )
    text = "text_sha256" if "text_sha256" in columns else "sha256(text)" if "text" in columns else "null"
    select = ", ".join(f"cast({key} as varchar)" if key in columns else "null" for key in KEYS[:2])
    try:
        con.execute(
            f"insert into retrieve_recorded select {select}, {text}, cast({vector} as float[]), {literal(str(path))} from {source}"
        )
    except duckdb.Error as error:
        raise BadInput(
            f"{path}: {vector!r} can't be read as lists of numbers ({str(error).splitlines()[0][:120]}). Put that right."
        ) from None
    if "model" not in columns and "model_digest" not in columns:
        return set()
    both = ", ".join(name if name in columns else f"null as {name}" for name in ("model", "model_digest"))
    return set(con.execute(f"select distinct {both} from {source}").fetchall())

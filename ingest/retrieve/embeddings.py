"""Embeddings as recorded: one Parquet file a model, beside the collection, in which each text is embedded once.

Columns: ``text_sha256`` (of the text as it was sent, UTF-8), ``embedding`` (a list of 4-byte floats), ``model``,
``model_digest``; rows by text_sha256, so that the same texts give the same bytes.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt

from ingest.errors import BadInput, CannotRun, shown
from ingest.retrieve.base import first
from ingest.retrieve.models import BATCH, Model
from ingest.sqltext import literal
from ingest.staging import Progress
from ingest.warehouse import warehouse_path

#: Seconds after which what was embedded so far is written, so that a long run that breaks off loses little.
SAVE_AFTER = 60.0

#: Rows that a reader of the file must hold at once.
ROW_GROUP = 4096


def folder_of(con: duckdb.DuckDBPyConnection, collection: str, named: Path | None) -> Path:
    """The folder for a collection's embeddings: the one named, else ``embeddings`` beside what the collection was loaded from.

    Where nothing can be written there, it is ``embeddings/<collection>`` beside the warehouse.
    """
    if named is not None:
        return named
    row = first(
        con,
        f"select path from assay_raw.loads where kind = 'collection' and name = {literal(collection)} order by load_number desc",
    )
    if row is not None:
        path = Path(str(row[0]))
        beside = path if path.is_dir() else path.parent
        # A folder that nobody may write to stays as it is, for a superuser too, whom the system would let.
        if beside.is_dir() and os.access(beside, os.W_OK) and beside.stat().st_mode & 0o222:
            return beside / "embeddings"
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", collection)
    return warehouse_path().resolve().parent / "embeddings" / safe


def store_of(folder: Path, model: Model) -> Path:
    """The file of a model's embeddings."""
    name = re.sub(r"[^A-Za-z0-9._]+", "-", model.name).strip("-")
    return folder / f"{name}-{model.digest.removeprefix('sha256:')[:12]}.parquet"


def embed_missing(
    con: duckdb.DuckDBPyConnection, model: Model, store: Path, texts: str, progress: Progress
) -> tuple[int, int]:
    """Embed those texts of the query `texts` (column text) that the store lacks, and record them.

    Leaves the temporary table ``retrieve_vectors`` (text_sha256, embedding) with a row a text. Returns how many
    distinct texts there are, and how many of them were embedded now. Raises CannotRun and BadInput; what was embedded is kept.
    """
    con.execute(
        f"create or replace temp table retrieve_texts as select sha256(text) as text_sha256, any_value(text) as text from ({texts}) group by all"
    )
    stored = f"select text_sha256, embedding from read_parquet({literal(str(store))}) where model_digest = {literal(model.digest)}"
    if store.exists():
        _check_store(con, store)
    else:
        stored = "select cast(null as varchar) as text_sha256, cast(null as float[]) as embedding where false"
    con.execute(f"create or replace temp table retrieve_vectors as {stored}")
    missing = con.execute(
        "select text_sha256, text from retrieve_texts anti join retrieve_vectors using (text_sha256) order by text_sha256"
    ).fetchall()
    row = first(con, "select count(*) from retrieve_texts")
    assert row is not None
    saved, unsaved = time.monotonic(), 0
    try:
        for start in range(0, len(missing), BATCH):
            progress.step(f"embedding, {start:,} of {len(missing):,} texts")
            some = missing[start : start + BATCH]
            vectors = model.embed([text for _, text in some])
            _check_new(vectors, [text for _, text in some], model)
            _keep(con, [sha256 for sha256, _ in some], vectors)
            unsaved += len(some)
            if time.monotonic() - saved > SAVE_AFTER:
                _save(con, model, store)
                saved, unsaved = time.monotonic(), 0
    finally:
        if unsaved:
            _save(con, model, store)
    return int(row[0]), len(missing)


def _check_store(con: duckdb.DuckDBPyConnection, store: Path) -> None:
    try:
        con.execute(
            f"select text_sha256, cast(embedding as float[]), model_digest from read_parquet({literal(str(store))}) limit 1"
        ).fetchall()
    except duckdb.Error as error:
        raise BadInput(
            f"{store}: this is no file of recorded embeddings ({str(error).splitlines()[0][:150]}). Take it away, and they are made anew."
        ) from None


def _check_new(vectors: npt.NDArray[np.float32], texts: list[str], model: Model) -> None:
    wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1) | ~vectors.any(axis=1))
    if len(wrong):
        raise BadInput(
            f"{model.name} gave no direction (NaN, infinite or all zero) for the text {shown(texts[wrong[0]])}. "
            "Take the text out, or use another model."
        )


def _keep(con: duckdb.DuckDBPyConnection, keys: list[str], vectors: npt.NDArray[np.float32]) -> None:
    # It takes long to import, and every command of ingest would pay.
    import pandas as pd

    frame = pd.DataFrame({"text_sha256": keys, "embedding": list(vectors)})
    con.register("retrieve_frame", frame)
    con.execute(
        "insert into retrieve_vectors select text_sha256, cast(embedding as float[]) from retrieve_frame"
    )
    con.unregister("retrieve_frame")


def _save(con: duckdb.DuckDBPyConnection, model: Model, store: Path) -> None:
    temporary = store.with_name(f".{store.name}.{os.getpid()}")
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        con.execute(
            f"""
            copy (
                select text_sha256, embedding, {literal(model.name)} as model, {literal(model.digest)} as model_digest
                from retrieve_vectors order by text_sha256
            ) to {literal(str(temporary))} (
                format parquet, compression zstd, row_group_size {ROW_GROUP}
            )
            """
        )
        os.replace(temporary, store)
    except (OSError, duckdb.IOException) as error:
        raise CannotRun(
            f"{store}: embeddings can't be kept there ({' '.join(str(error).split())[:150]}). Name another folder with --cache."
        ) from None
    finally:
        temporary.unlink(missing_ok=True)

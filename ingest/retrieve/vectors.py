"""The vectors that are searched, out of the warehouse: each is checked on its way.

They stand in views that `ingest.retrieve.semantic` makes: ``retrieve_unit_vectors`` (unit, doc_id, place, embedding, has_row) and
``retrieve_query_vectors`` (n, query_id, embedding), with null for what has none, and ``retrieve_searched`` (unit, place, embedding).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np

from ingest.errors import BadInput, shown
from ingest.retrieve.base import first
from ingest.retrieve.nearest import Floats, Places

#: Views of vectors: the view, the column that names a row, and what a row is.
_VIEWS = (("retrieve_unit_vectors", "doc_id", "document"), ("retrieve_query_vectors", "query_id", "query"))


def query_vectors(con: duckdb.DuckDBPyConnection, where: str) -> dict[int, Floats]:
    """The vectors of the queries that have one, by their number; those of the units are checked as they are searched.

    `where` begins every message: the file that was given, or nothing.

    Raises BadInput for a unit without a vector, and for a query's that is missing, of another size, or without direction.
    """
    row = first(con, "select bool_and(has_row) from retrieve_unit_vectors")
    is_plain = bool(row is None or row[0] is not False)
    found: dict[int, Floats] = {}
    try:
        given = con.execute("select n, embedding from retrieve_query_vectors order by n").fetchnumpy()
    except duckdb.ConversionException as error:
        raise _unreadable(where, error) from None
    for n, embedding in zip(given["n"], given["embedding"], strict=True):
        # None and a list with a number missing are no plain array.
        if type(embedding) is not np.ndarray:
            is_plain = False
            break
        found[int(n)] = np.asarray(embedding, dtype=np.float32)
    if len({len(vector) for vector in found.values()}) > 1:
        is_plain = False
    if not is_plain or not all(np.isfinite(vector).all() and vector.any() for vector in found.values()):
        _refuse(con, where)
    return found


def _unreadable(where: str, error: duckdb.Error) -> BadInput:
    said = " ".join(str(error).split())[:120]
    return BadInput(
        f"{where}the embeddings can't be read as lists of 4-byte floats ({said}). Put that right."
    )


def _refuse(con: duckdb.DuckDBPyConnection, where: str) -> None:
    """Raise BadInput with the first vector that can't be meant, where there is one."""
    row = first(
        con,
        "select mode(len(embedding)) from retrieve_unit_vectors where embedding is not null",
    )
    size = int(row[0]) if row and row[0] else 0
    for view, key, what in _VIEWS:
        row = first(
            con,
            f"""
            select {key}, problem, count(*) over () from (
                select {key}, case
                    when embedding is null then 'has no embedding'
                    when len(embedding) != {size} then 'has an embedding of ' || len(embedding) || ' numbers, and most have {size}'
                    when list_aggregate(embedding, 'count') != {size} then 'has an embedding with a number missing'
                    when not isfinite(list_max(embedding)) or not isfinite(list_min(embedding))
                        then 'has an embedding with a number that is NaN or infinite'
                    when list_max(embedding) = 0 and list_min(embedding) = 0 then 'has an embedding of zeros alone, which has no direction'
                end as problem
                from {view}
            ) where problem is not null order by {key} limit 1
            """,
        )
        if row is not None:
            others = f" ({row[2]:,} {what}s have such a fault)" if row[2] > 1 else ""
            remedy = (
                "Put that right"
                if where
                else "Take the file of recorded embeddings away, and they are made anew"
            )
            raise BadInput(f"{where}the {what} {shown(row[0])} {row[1]}{others}. {remedy}.")


#: Vectors of so many bytes are read at once.
_AT_ONCE = 256 << 20


def _chunks(con: duckdb.DuckDBPyConnection, sql: str, row_size: int) -> Iterator[tuple[Places, list[Any]]]:
    """The rows of a query (place, embedding): all at once where they are few, since chunks of rows come through pandas, which takes half a second to import."""
    row = first(con, "select count(*) from retrieve_searched")
    if row is None or row[0] == 0:
        return
    if int(row[0]) * row_size <= _AT_ONCE:
        given = con.execute(sql).fetchnumpy()
        yield np.asarray(given["place"], np.int64), list(given["embedding"])
        return
    rows = con.execute(sql)
    while len(chunk := rows.fetch_df_chunk(2)):
        yield chunk["place"].to_numpy(np.int64), list(chunk["embedding"])


def unit_blocks(con: duckdb.DuckDBPyConnection, size: int, where: str) -> Iterator[tuple[Places, Floats]]:
    """The units' places and vectors, checked. Raises BadInput for one that can't be meant."""
    # Only the units of one document must stand together.
    row = first(con, "select count(*) = count(distinct place) from retrieve_units")
    order = "" if row and row[0] else "order by unit"
    try:
        for places, given in _chunks(
            con, f"select place, embedding from retrieve_searched {order}", 4 * size
        ):
            try:
                # A list with a number missing is a masked array.
                if any(type(vector) is not np.ndarray for vector in given):
                    raise ValueError
                vectors = np.stack(given)
                if vectors.dtype != np.float32 or vectors.ndim != 2 or vectors.shape[1] != size:
                    raise ValueError
                squares = np.einsum("ij,ij->i", vectors, vectors)
            except ValueError:
                _refuse(con, where)
                raise
            # Squares alone may be too large or too small for 4 bytes.
            is_plain = (np.isfinite(squares) & (squares > 0)).all()
            if not is_plain and not (np.isfinite(vectors).all() and vectors.any(axis=1).all()):
                _refuse(con, where)
            yield places, vectors
    except duckdb.ConversionException as error:
        raise _unreadable(where, error) from None

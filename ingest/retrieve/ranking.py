"""The order of documents: highest score first, equal scores by doc_id ascending, numerically where every ID is an integer."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from ingest.retrieve.base import first
from ingest.sqltext import literal

_INTEGER = "regexp_full_match(doc_id, '-?[0-9]+') and try_cast(doc_id as hugeint) is not null"


def documents_in_order(con: duckdb.DuckDBPyConnection, collection: str) -> tuple[list[str], bool]:
    """The catalog's doc_ids in the order that breaks ties, and whether that is the numeric one.

    Numeric order needs every ID to be an integer of at most 38 digits; two IDs of one number (``7``, ``007``) are then
    ordered by their bytes, as all are otherwise. The order stands in the temporary table ``retrieve_documents``
    (place bigint from 0, doc_id varchar).
    """
    of = f"from assay_raw.documents where collection = {literal(collection)}"
    row = first(con, f"select coalesce(bool_and({_INTEGER}), false) {of}")
    numeric = bool(row and row[0])
    order = "cast(doc_id as hugeint), doc_id" if numeric else "doc_id"
    con.execute(
        "create or replace temp table retrieve_documents as"
        f" select row_number() over (order by {order}) - 1 as place, doc_id {of}"
    )
    rows = con.execute("select doc_id from retrieve_documents order by place").fetchnumpy()["doc_id"]
    return [str(doc_id) for doc_id in rows], numeric


def best(
    scores: npt.NDArray[Any], places: npt.NDArray[np.int64] | None, depth: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """The places and scores of the `depth` best documents with a score above 0, in order.

    `scores` holds one score a document; `places` its place, ascending, or None where that is its index.
    """
    kept = np.flatnonzero(scores > 0)
    values = scores[kept]
    if len(values) > depth:
        last = np.partition(values, len(values) - depth)[len(values) - depth]
        above = values >= last
        kept, values = kept[above], values[above]
    # Stable, so that equal scores stay in the order of places.
    order = np.argsort(-values, kind="stable")[:depth]
    found = kept[order]
    return (found if places is None else places[found]), values[order]

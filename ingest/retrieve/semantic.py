"""Semantic retrieval: the cosine of embeddings, by exact search.

Embeddings come from an Ollama model (``--model``), from Parquet files that were recorded elsewhere (``--embeddings``), or, with neither,
from wordllama's packaged static vectors. What a model embeds is recorded once beside the collection (see
`ingest.retrieve.embeddings`). A document's score is its best unit's; ties by doc_id. A unit or query of white space alone
has no embedding.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np

from ingest.errors import BadInput, shown
from ingest.retrieve.base import Job, Ranked, Retrieved, first
from ingest.retrieve.embeddings import embed_missing, folder_of, store_of
from ingest.retrieve.models import Model, ollama, wordllama
from ingest.retrieve.nearest import MOST_DIMENSIONS, Doubles, Floats, Places, search
from ingest.retrieve.queries import add_query_arguments
from ingest.retrieve.recorded import read
from ingest.retrieve.units import WHOLE, add_unit_arguments, make_units
from ingest.sqltext import literal

NAME = "semantic"
SUMMARY = "the cosine of embeddings: an Ollama model's, recorded ones, or wordllama's"
HAS_SCORES = True

_NOT_BLANK = "pieces(text) > 0"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the embeddings come from, and where they are kept."""
    add_unit_arguments(parser)
    add_query_arguments(parser)
    parser.add_argument("--model", metavar="NAME", help="an Ollama model, such as snowflake-arctic-embed")
    parser.add_argument("--host", metavar="URL", help="the Ollama server; OLLAMA_HOST, or the usual one")
    parser.add_argument(
        "--query-prefix", default="", metavar="TEXT", help="what the model wants in front of a query"
    )
    parser.add_argument(
        "--embeddings", action="append", default=[], type=Path, metavar="FILE",
        help="a Parquet file of recorded embeddings; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        help="where embeddings are kept; beside the collection by default",
    )


def retrieve(job: Job) -> Retrieved:
    """Embed what has not been embedded, check every vector, and search."""
    if job.args.embeddings and job.args.model:
        raise BadInput("--embeddings and --model both say where embeddings come from. Leave one out.")
    _make_queries(job)
    settings: dict[str, object] = {"similarity": "cosine, exact", "query_prefix": job.args.query_prefix}
    manifest: dict[str, object] = {}
    libraries: tuple[str, ...] = ("numpy",)
    if job.args.embeddings:
        settings |= _recorded(job, manifest)
    else:
        model: Model = ollama(job.args.model, job.args.host) if job.args.model else wordllama()
        settings |= _embedded(job, model)
        manifest |= {"model": model.name, "model_digest": model.digest, "model_licence": model.licence}
        libraries += (model.library,)
    queries = _check(job)
    job.progress.step("searching")
    found = dict(zip(queries, _search(job, queries), strict=True))
    settings["dimensions"] = len(next(iter(queries.values()))) if queries else None
    return Retrieved(_lists(job, found), settings, libraries, manifest)


def _make_queries(job: Job) -> None:
    """The temporary table ``retrieve_queries`` (n bigint from 0, query_id, text as it is embedded; empty where blank)."""
    prefix = str(job.args.query_prefix)
    texts = [prefix + query.text if query.text.strip() else "" for query in job.queries]
    job.con.execute(
        "create or replace temp table retrieve_queries (n bigint, query_id varchar, text varchar)"
    )
    job.con.execute(
        "insert into retrieve_queries select unnest(?), unnest(?), unnest(?)",
        [list(range(len(texts))), [query.query_id for query in job.queries], texts],
    )


def _embedded(job: Job, model: Model) -> dict[str, object]:
    settings: dict[str, object] = dict(make_units(job.con, job.collection, job.unit, job.args.sentences_of))
    store = store_of(folder_of(job.con, job.collection, job.args.cache), model)
    texts = (
        f"select text from retrieve_units where {_NOT_BLANK}"
        f" union all select text from retrieve_queries where {_NOT_BLANK}"
    )
    embed_missing(job.con, model, store, texts, job.progress)
    _join_by_text(job, "retrieve_vectors")
    return settings


def _join_by_text(job: Job, vectors: str) -> None:
    """Views of units and queries with the vector of their text, null where there is none; and of what is searched."""
    job.con.execute(
        f"""
        create or replace temp view retrieve_unit_vectors as
        select unit, doc_id, place, embedding, v.text_sha256 is not null as has_row
        from retrieve_units inner join retrieve_documents using (place)
        left join {vectors} as v on v.text_sha256 = sha256(text)
        where {_NOT_BLANK}
        """
    )
    job.con.execute(
        f"""
        create or replace temp view retrieve_searched as
        select unit, place, embedding
        from retrieve_units inner join {vectors} as v on v.text_sha256 = sha256(text) and {_NOT_BLANK}
        """
    )
    job.con.execute(
        f"""
        create or replace temp view retrieve_query_vectors as
        select n, query_id, embedding
        from retrieve_queries left join {vectors} as v on v.text_sha256 = sha256(text)
        where {_NOT_BLANK}
        """
    )


def _recorded(job: Job, manifest: dict[str, object]) -> dict[str, object]:
    job.progress.step("reading embeddings")
    found = read(job.con, job.args.embeddings)
    manifest |= {key: found.pop(key) for key in ("model", "model_digest") if key in found}
    by = dict.fromkeys(("doc_id", "query_id"), False)
    for key in by:
        row = first(job.con, f"select count({key}) from retrieve_recorded")
        by[key] = bool(row and row[0])
    if by["doc_id"] and job.unit != WHOLE:
        raise BadInput(
            f"{job.args.embeddings[0]}: embeddings by doc_id are of whole documents, and the unit is {job.unit!r}. "
            "Give those of the units by their text or text_sha256."
        )
    texts: dict[str, str] = {}
    if not by["doc_id"]:
        texts = make_units(job.con, job.collection, job.unit, job.args.sentences_of)
    else:
        job.con.execute(
            "create or replace temp table retrieve_units as select 0 as unit, 0 as place, '' as text where false"
        )
    by_text = "(select text_sha256, embedding from retrieve_recorded where text_sha256 is not null)"
    _join_by_text(job, by_text)
    if by["doc_id"]:
        # A document without a text may have none; one that is there counts.
        job.con.execute(
            f"""
            create or replace temp view retrieve_unit_vectors as
            select d.place as unit, d.doc_id, d.place, v.embedding, v.doc_id is not null as has_row
            from retrieve_documents as d
            left join (select * from retrieve_recorded where doc_id is not null) as v using (doc_id)
            where v.doc_id is not null or d.doc_id in (
                select doc_id from assay_raw.document_fields where collection = {literal(job.collection)}
            ) or not exists (select 1 from assay_raw.collection_fields where collection = {literal(job.collection)})
            """
        )
        job.con.execute(
            """
            create or replace temp view retrieve_searched as
            select place as unit, place, embedding
            from retrieve_documents inner join retrieve_recorded using (doc_id)
            """
        )
    if by["query_id"]:
        job.con.execute(
            f"""
            create or replace temp view retrieve_query_vectors as
            select n, query_id, coalesce(a.embedding, b.embedding) as embedding
            from retrieve_queries
            left join (select query_id, embedding from retrieve_recorded where query_id is not null) as a using (query_id)
            left join {by_text} as b on b.text_sha256 = sha256(text)
            where {_NOT_BLANK} or a.embedding is not null
            """
        )
    return {**texts, **found}


#: Views of vectors: the view, the column that names a row, and what a row is.
_VIEWS = (("retrieve_unit_vectors", "doc_id", "document"), ("retrieve_query_vectors", "query_id", "query"))


def _check(job: Job) -> dict[int, Floats]:
    """The vectors of the queries that have one, by their number; those of the units are checked as they are searched.

    Raises BadInput for a unit without a vector, and for a query's that is missing, of another size, or without direction.
    """
    where = f"{job.args.embeddings[0]}: " if job.args.embeddings else ""
    row = first(job.con, "select bool_and(has_row) from retrieve_unit_vectors")
    is_plain = bool(row is None or row[0] is not False)
    found: dict[int, Floats] = {}
    try:
        given = job.con.execute("select n, embedding from retrieve_query_vectors order by n").fetchall()
    except duckdb.ConversionException as error:
        raise _unreadable(where, error) from None
    for n, embedding in given:
        if embedding is None or None in embedding:
            is_plain = False
            break
        found[int(n)] = np.asarray(embedding, dtype=np.float32)
    if len({len(vector) for vector in found.values()}) > 1:
        is_plain = False
    if not is_plain or not all(np.isfinite(vector).all() and vector.any() for vector in found.values()):
        _refuse(job, where)
    return found


def _unreadable(where: str, error: duckdb.Error) -> BadInput:
    said = " ".join(str(error).split())[:120]
    return BadInput(
        f"{where}the embeddings can't be read as lists of 4-byte floats ({said}). Put that right."
    )


def _refuse(job: Job, where: str) -> None:
    """Raise BadInput with the first vector that can't be meant, where there is one."""
    row = first(
        job.con,
        "select mode(len(embedding)) from retrieve_unit_vectors where embedding is not null",
    )
    size = int(row[0]) if row and row[0] else 0
    for view, key, what in _VIEWS:
        row = first(
            job.con,
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


def _blocks(job: Job, size: int) -> Iterator[tuple[Places, Floats]]:
    """The units' places and vectors, checked. Raises BadInput for one that can't be meant."""
    where = f"{job.args.embeddings[0]}: " if job.args.embeddings else ""
    # Only the units of one document must stand together.
    row = first(job.con, "select count(*) = count(distinct place) from retrieve_units")
    order = "" if row and row[0] else "order by unit"
    try:
        rows = job.con.execute(f"select place, embedding from retrieve_searched {order}")
        while len(chunk := rows.fetch_df_chunk(2)):
            try:
                given = list(chunk["embedding"])
                # A list with a number missing is a masked array.
                if any(type(vector) is not np.ndarray for vector in given):
                    raise ValueError
                vectors = np.stack(given)
                if vectors.dtype != np.float32 or vectors.ndim != 2 or vectors.shape[1] != size:
                    raise ValueError
                squares = np.einsum("ij,ij->i", vectors, vectors)
            except ValueError:
                _refuse(job, where)
                raise
            # Squares alone may be too large or too small for 4 bytes.
            is_plain = (np.isfinite(squares) & (squares > 0)).all()
            if not is_plain and not (np.isfinite(vectors).all() and vectors.any(axis=1).all()):
                _refuse(job, where)
            yield chunk["place"].to_numpy(np.int64), vectors
    except duckdb.ConversionException as error:
        raise _unreadable(where, error) from None


def _search(job: Job, queries: dict[int, Floats]) -> list[tuple[Places, Doubles]]:
    if not queries:
        return []
    vectors = np.stack(list(queries.values()))
    if vectors.shape[1] > MOST_DIMENSIONS:
        raise BadInput(
            f"the embeddings have {vectors.shape[1]:,} numbers each; {MOST_DIMENSIONS:,} can be searched. Give shorter ones."
        )
    return search(vectors, _blocks(job, vectors.shape[1]), job.depth)


def _lists(job: Job, found: dict[int, tuple[Places, Doubles]]) -> Iterator[Ranked]:
    for n, query in enumerate(job.queries):
        if n in found:
            places, scores = found[n]
            yield Ranked(query, [job.doc_ids[i] for i in places], scores.tolist())
        else:
            yield Ranked(query, [], [])

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
from ingest.retrieve.nearest import MOST_DIMENSIONS, Floats, Places, search
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
    settings["dimensions"] = _check(job)
    return Retrieved(_lists(job), settings, libraries, manifest)


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
    """Units and queries with the vector of their text, null where there is none."""
    job.con.execute(
        f"""
        create or replace temp view retrieve_unit_vectors as
        select unit, doc_id, place, embedding
        from retrieve_units inner join retrieve_documents using (place)
        left join {vectors} as v on v.text_sha256 = sha256(text)
        where {_NOT_BLANK}
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
            select d.place as unit, d.doc_id, d.place, v.embedding
            from retrieve_documents as d
            left join (select * from retrieve_recorded where doc_id is not null) as v using (doc_id)
            where v.doc_id is not null or d.doc_id in (
                select doc_id from assay_raw.document_fields where collection = {literal(job.collection)}
            ) or not exists (select 1 from assay_raw.collection_fields where collection = {literal(job.collection)})
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


def _check(job: Job) -> int:
    """The dimensions of every vector. Raises BadInput for one that is missing, of another size, or without direction."""
    where = f"{job.args.embeddings[0]}: " if job.args.embeddings else ""
    sizes: set[object] = set()
    is_plain = True
    try:
        for view, _, _ in _VIEWS:
            row = first(
                job.con,
                f"""
                select min(len(embedding)), max(len(embedding)), bool_and(coalesce(
                    isfinite(list_dot_product(embedding, embedding)) and list_dot_product(embedding, embedding) > 0, false
                )) from {view}
                """,
            )
            if row is not None and row[2] is not None:
                sizes |= {row[0], row[1]}
                is_plain = is_plain and bool(row[2])
    except duckdb.InvalidInputException:
        # A number is missing in a list.
        is_plain = False
    except duckdb.ConversionException as error:
        said = " ".join(str(error).split())[:120]
        raise BadInput(
            f"{where}the embeddings can't be read as lists of 4-byte floats ({said}). Put that right."
        ) from None
    if not is_plain or len(sizes) != 1:
        _refuse(job, where)
    size = int(str(max(sizes, key=str))) if sizes else 0
    if size > MOST_DIMENSIONS:
        raise BadInput(
            f"{where}the embeddings have {size:,} numbers each; {MOST_DIMENSIONS:,} can be searched. Give shorter ones."
        )
    return size


def _refuse(job: Job, where: str) -> None:
    """Raise BadInput with the first vector that can't be meant, where there is one: squares may only have been too large or small."""
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


def _blocks(job: Job) -> Iterator[tuple[Places, Floats]]:
    row = first(job.con, "select count(*) = count(distinct place) from retrieve_unit_vectors")
    # Only the units of one document must stand together.
    order = "" if row and row[0] else "order by unit"
    rows = job.con.execute(f"select place, embedding from retrieve_unit_vectors {order}")
    while len(chunk := rows.fetch_df_chunk(2)):
        yield chunk["place"].to_numpy(np.int64), np.stack(list(chunk["embedding"]))


def _lists(job: Job) -> Iterator[Ranked]:
    job.progress.step("searching")
    given = job.con.execute("select n, embedding from retrieve_query_vectors order by n").fetchnumpy()
    found: dict[int, tuple[list[str], list[float]]] = {}
    if len(given["n"]):
        vectors = np.stack(list(given["embedding"]))
        for n, (places, scores) in zip(given["n"], search(vectors, _blocks(job), job.depth), strict=True):
            found[int(n)] = [job.doc_ids[i] for i in places], scores.tolist()
    for n, query in enumerate(job.queries):
        doc_ids, values = found.get(n, ([], []))
        yield Ranked(query, doc_ids, values)

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

import numpy as np

from ingest.errors import BadInput
from ingest.retrieve.base import Job, Ranked, Retrieved, first
from ingest.retrieve.embeddings import embed_missing, folder_of, store_of
from ingest.retrieve.models import Model, ollama, wordllama
from ingest.retrieve.nearest import MOST_DIMENSIONS, Doubles, Floats, Places, search
from ingest.retrieve.queries import add_query_arguments
from ingest.retrieve.recorded import read
from ingest.retrieve.units import WHOLE, add_unit_arguments, make_units
from ingest.retrieve.vectors import query_vectors, unit_blocks
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
    where = f"{job.args.embeddings[0]}: " if job.args.embeddings else ""
    queries = query_vectors(job.con, where)
    job.progress.step("searching")
    found = dict(zip(queries, _search(job, queries, where), strict=True))
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


def _search(job: Job, queries: dict[int, Floats], where: str) -> list[tuple[Places, Doubles]]:
    if not queries:
        return []
    vectors = np.stack(list(queries.values()))
    if vectors.shape[1] > MOST_DIMENSIONS:
        raise BadInput(
            f"{where}the embeddings have {vectors.shape[1]:,} numbers each; {MOST_DIMENSIONS:,} can be searched. Give shorter ones."
        )
    return search(vectors, unit_blocks(job.con, vectors.shape[1], where), job.depth)


def _lists(job: Job, found: dict[int, tuple[Places, Doubles]]) -> Iterator[Ranked]:
    for n, query in enumerate(job.queries):
        if n in found:
            places, scores = found[n]
            yield Ranked(query, [job.doc_ids[i] for i in places], scores.tolist())
        else:
            yield Ranked(query, [], [])

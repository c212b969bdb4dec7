"""A random context: a floor. Each query's draw is its own, so that adding a query changes no other's.

Draw number i of a query (from 0) is the sha256 of ``<seed>\\0<query>\\0<i>`` as an integer, and chooses one of the documents that
are left (a Fisher-Yates shuffle of the places, by doc_id ascending), each equally likely to within 2^-200. For an
agent's search, ``<query>`` is ``<query_id>\\0<search text>``. No library's generator takes part.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator

from ingest.retrieve.base import Job, Query, Ranked, Retrieved
from ingest.retrieve.queries import add_query_arguments

NAME = "random"
SUMMARY = "documents drawn at random, each query's draw its own: a floor"
HAS_SCORES = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which queries."""
    add_query_arguments(parser)


def draw(seed: int, query: str, n_documents: int, n: int) -> list[int]:
    """`n` different places out of `n_documents` (all of them where there are fewer), in the order drawn."""
    moved: dict[int, int] = {}
    found = []
    for i in range(min(n, n_documents)):
        number = int.from_bytes(hashlib.sha256(f"{seed}\0{query}\0{i}".encode()).digest(), "big")
        at = i + number % (n_documents - i)
        found.append(moved.get(at, at))
        moved[at] = moved.get(i, i)
    return found


def _key(query: Query, is_agent: bool) -> str:
    return f"{query.query_id}\0{query.text}" if is_agent else query.query_id


def retrieve(job: Job) -> Retrieved:
    """Draw for every query."""
    return Retrieved(
        _lists(job),
        {"seed": job.seed, "generator": "sha256 of seed, query and draw"},
        is_floor=True,
        reads_query=False,
    )


def _lists(job: Job) -> Iterator[Ranked]:
    is_agent = job.asked.kind == "agent"
    for query in job.queries:
        places = draw(job.seed, _key(query, is_agent), len(job.doc_ids), job.depth)
        yield Ranked(query, [job.doc_ids[i] for i in places])

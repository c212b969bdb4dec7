"""The whole collection as the context of every query, by doc_id ascending: for small ones."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ingest.errors import BadInput
from ingest.retrieve.base import Job, Ranked, Retrieved
from ingest.retrieve.queries import add_query_arguments

NAME = "all"
SUMMARY = "the whole collection as the context, for small ones"
HAS_SCORES = False

#: Rows of contexts beyond which this is not what is meant.
MOST_ROWS = 5_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which queries."""
    add_query_arguments(parser)


def retrieve(job: Job) -> Retrieved:
    """Every document for every query. Raises BadInput where that is more than `MOST_ROWS` rows."""
    rows = len(job.doc_ids) * len(job.queries)
    if rows > MOST_ROWS:
        raise BadInput(
            f"the whole collection {job.collection!r} for each query is {len(job.doc_ids):,} documents x {len(job.queries):,} queries, "
            f"{rows:,} rows. This is for small collections: {MOST_ROWS:,} rows at most."
        )
    job.k = job.depth = len(job.doc_ids)
    return Retrieved(_lists(job), {}, reads_query=False)


def _lists(job: Job) -> Iterator[Ranked]:
    for query in job.queries:
        yield Ranked(query, job.doc_ids)

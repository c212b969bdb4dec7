"""Reciprocal rank fusion of two or more loaded runs (Cormack, Clarke and Buettcher, SIGIR 2009).

A document's score is the sum of 1 / (60 + rank) over the runs that hold it, at its first place; a run that lacks it
adds nothing. Sums are exact fractions, rounded once to 8-byte floats, so that neither the order of the runs nor of
the sum matters; ties by doc_id. All documents of each list count, to the depth that the run kept. Lists are fused
query by query and trial by trial.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from fractions import Fraction

from ingest.errors import BadInput
from ingest.retrieve.base import Asked, Job, Ranked, Retrieved
from ingest.retrieve.loaded import (
    Placed,
    Run,
    add_split_argument,
    described,
    find_runs,
    lists,
    queries_of,
    setting,
)

NAME = "fuse"
SUMMARY = "reciprocal rank fusion of two or more loaded runs"
HAS_SCORES = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The runs and RRF's constant."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="RECORDING, or RECORDING:RETRIEVER")
    parser.add_argument(
        "--rrf-k", type=int, default=60, metavar="N", help="added to every rank, 60 by default"
    )
    add_split_argument(parser)


def asked(job: Job) -> Asked:
    """The queries of the runs."""
    return queries_of(
        job.con, job.collection, find_runs(job.con, job.collection, job.args.runs), job.args.split
    )


def retrieve(job: Job) -> Retrieved:
    """Fuse the runs. Raises BadInput for fewer than two, and for a constant below 0."""
    runs = find_runs(job.con, job.collection, job.args.runs)
    constant = int(job.args.rrf_k)
    if len(runs) < 2:
        raise BadInput("fuse takes two or more runs. Name them as RECORDING or RECORDING:RETRIEVER.")
    if constant < 0:
        raise BadInput(f"--rrf-k must be 0 or higher, not {constant}.")
    unit = setting(job.con, runs, "retrieval.unit")
    job.unit = str(json.loads(unit)) if unit else job.unit
    settings = {"fusion": "reciprocal rank", "rrf_k": constant, "runs": described(job.con, runs)}
    return Retrieved(_lists(job, runs, constant), settings)


def fused(
    placed: list[Placed], constant: int, places: dict[str, int], depth: int
) -> tuple[list[str], list[float]]:
    """The fused list of one query: documents and scores. `places` orders equal scores; unknown documents come last, as text."""
    sums: dict[str, Fraction] = {}
    for one in placed:
        for rank, doc_id in zip(one.ranks, one.doc_ids, strict=True):
            sums[doc_id] = sums.get(doc_id, Fraction(0)) + Fraction(1, constant + rank)
    scores = {doc_id: float(total) for doc_id, total in sums.items()}
    order = sorted(scores, key=lambda doc_id: (-scores[doc_id], places.get(doc_id, len(places)), doc_id))[
        :depth
    ]
    return order, [scores[doc_id] for doc_id in order]


def _lists(job: Job, runs: list[Run], constant: int) -> Iterator[Ranked]:
    places = {doc_id: place for place, doc_id in enumerate(job.doc_ids)}
    left = {query.key: query for query in job.queries}
    for key, placed in lists(job.con, runs):
        query = left.pop(key, None)
        if query is not None:
            yield Ranked(query, *fused(placed, constant, places, job.depth))
    for query in left.values():
        yield Ranked(query, [], [])

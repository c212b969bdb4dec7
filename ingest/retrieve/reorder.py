"""A loaded run's contexts again: cut at another k, or read in another order (``--order reversed`` or ``shuffled``).

So that answers can be recorded over the same documents in another order: are the first and last places read more?
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from ingest.retrieve.base import Asked, Job, Ranked, Retrieved, first
from ingest.retrieve.loaded import Run, add_split_argument, described, find_runs, lists, queries_of, setting
from ingest.sqltext import literal

NAME = "reorder"
SUMMARY = "a loaded run's contexts in another order, or cut at another k"
HAS_SCORES = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The run."""
    parser.add_argument("runs", nargs=1, metavar="RUN", help="RECORDING, or RECORDING:RETRIEVER")
    add_split_argument(parser)


def asked(job: Job) -> Asked:
    """The queries of the run."""
    return queries_of(job.con, job.collection, _run(job), job.args.split)


def label(job: Job) -> tuple[str, str]:
    """The name of the recording without its order, and what it calls its retriever: the run's own."""
    [run] = _run(job)
    return run.recording_id, run.retriever


def _run(job: Job) -> list[Run]:
    return find_runs(job.con, job.collection, job.args.runs)


def retrieve(job: Job) -> Retrieved:
    """The run's lists; the order is applied to every retriever's lists alike, after this."""
    runs = _run(job)
    unit = setting(job.con, runs, "retrieval.unit")
    job.unit = str(json.loads(unit)) if unit else job.unit
    floor = first(
        job.con,
        "select count(*) from assay_raw.recording_floors where "
        f"recording_id = {literal(runs[0].recording_id)} and retriever = {literal(runs[0].retriever)}",
    )
    return Retrieved(_lists(job, runs), {"runs": described(job.con, runs)}, is_floor=bool(floor and floor[0]))


def _lists(job: Job, runs: list[Run]) -> Iterator[Ranked]:
    left = {query.key: query for query in job.queries}
    for key, [placed] in lists(job.con, runs):
        query = left.pop(key, None)
        if query is not None:
            # Deeper than k only where scores can show a tie there.
            depth = job.k if placed.scores is None else job.depth
            yield Ranked(query, placed.doc_ids[:depth], placed.scores and placed.scores[:depth])
    for query in left.values():
        yield Ranked(query, [])

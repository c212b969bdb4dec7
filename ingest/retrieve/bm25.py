"""BM25 by bm25s, called directly: unstemmed, its English stop words; a score of 0 retrieves nothing.

A text is lower-cased and cut into runs of two or more word characters (bm25s's own pattern), and the stop words are left
out. The index holds one entry a unit; a document's score is its best unit's, a 4-byte float. The defaults are bm25s's:
Lucene's formula, k1 1.5, b 0.75.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ingest.errors import BadInput
from ingest.retrieve.base import Job, Ranked, Retrieved, library
from ingest.retrieve.queries import add_query_arguments
from ingest.retrieve.ranking import best
from ingest.retrieve.units import add_unit_arguments, make_units

NAME = "bm25"
SUMMARY = "BM25 (bm25s), unstemmed, English stop words"
HAS_SCORES = True
#: Its lists are made as its queries come: one index serves searches that aren't known yet.
ONE_BY_ONE = True

METHODS = ("lucene", "robertson", "atire")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """k1, b and the formula."""
    add_unit_arguments(parser)
    add_query_arguments(parser)
    parser.add_argument("--k1", type=float, default=1.5, metavar="X", help="term saturation, 1.5 by default")
    parser.add_argument(
        "--b", type=float, default=0.75, metavar="X", help="length normalisation, 0.75 by default"
    )
    parser.add_argument("--bm25-method", choices=METHODS, default="lucene", help="bm25s's formula")


def retrieve(job: Job) -> Retrieved:
    """Index the units and score every query. Raises BadInput for parameters that mean nothing."""
    k1, b, method = float(job.args.k1), float(job.args.b), str(job.args.bm25_method)
    if not 0 <= k1 < float("inf") or not 0 <= b <= 1:
        raise BadInput(f"k1 must be 0 or higher and b from 0 to 1, not {k1} and {b}.")
    bm25s = library("bm25s")
    stop_words = sorted(library("bm25s.stopwords").STOPWORDS_EN)
    unit_settings = make_units(job.con, job.collection, job.unit, job.args.sentences_of)
    settings = {
        **unit_settings,
        "k1": k1,
        "b": b,
        "bm25_method": method,
        "stemmer": None,
        "tokenizer": {
            "lower_case": True,
            "pattern": inspect.signature(bm25s.tokenize).parameters["token_pattern"].default,
        },
        "stop_words": {
            "name": "en",
            "n": len(stop_words),
            "sha256": hashlib.sha256("\n".join(stop_words).encode()).hexdigest(),
        },
        "score": "4-byte float; 0 retrieves nothing",
    }
    return Retrieved(_lists(job, bm25s, k1, b, method), settings, ("bm25s", "numpy"))


def index(bm25s: Any, texts: Iterator[str], k1: float, b: float, method: str) -> Any | None:
    """bm25s's index of the texts, in their order; None where no text has a word that counts."""
    tokens = bm25s.tokenize(texts, stopwords="en", stemmer=None, show_progress=False)
    if not tokens.vocab:
        return None
    found = bm25s.BM25(k1=k1, b=b, method=method, backend="numpy")
    found.index(tokens, show_progress=False)
    return found


def score(bm25s: Any, found: Any, text: str) -> npt.NDArray[np.float32] | None:
    """The score of every unit for a query, shape (units,); None where the index knows no word of it."""
    [words] = bm25s.tokenize([text], stopwords="en", stemmer=None, return_ids=False, show_progress=False)
    known = found.get_tokens_ids(words)
    return None if not known else found.get_scores_from_ids(known)


def _texts(job: Job) -> Iterator[str]:
    rows = job.con.execute("select text from retrieve_units order by unit")
    while some := rows.fetchmany(2048):
        for (text,) in some:
            yield text


def _lists(job: Job, bm25s: Any, k1: float, b: float, method: str) -> Iterator[Ranked]:
    job.progress.step("indexing")
    places = job.con.execute("select place from retrieve_units order by unit").fetchnumpy()["place"]
    found = index(bm25s, _texts(job), k1, b, method)
    # Units of one document stand together: where each document's begin.
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    for query in job.queries:
        job.progress.step(f"query {query.query_id}")
        scores = None if found is None else score(bm25s, found, query.text)
        if scores is None:
            yield Ranked(query, [], [])
            continue
        if len(starts) < len(places):
            scores = np.maximum.reduceat(scores, starts)
        chosen, values = best(scores, places[starts], job.depth)
        yield Ranked(query, [job.doc_ids[i] for i in chosen], [float(v) for v in values])

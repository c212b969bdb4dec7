"""Exact search by cosine, in blocks and bounded memory, with the same bits for any block size and number of threads.

Matrix products of floats depend in their last bits on the shapes and threads of the product, so they only choose candidates here: every
vector whose rounded score could still be among the best, by a bound on the rounding error. A candidate's score is then
exact integer arithmetic, whose sums don't depend on their order:

1. v (4-byte floats) is scaled by a power of two and rounded to integers x of at most 24 bits; the squares' sum is an exact 64-bit integer.
2. u = round(x · 2^26 / sqrt(sum)), a unit vector in steps of 2^-26.
3. The dot product of two such vectors is an integer below 2^53, so 8-byte floats hold it and all its partial sums exactly.
   Divided by 2^52 it is the cosine, to within about 1e-8 and never above 1.

Steps 1 and 2 work on single numbers and square roots, which IEEE 754 rounds alike everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

#: Rows of vectors that are compared at once with as many queries; rows that are made whole numbers, and pairs that are
#: scored exactly, at once.
BLOCK, QUERIES, ROWS, PAIRS = 16_384, 512, 32, 4096

#: Beyond this many numbers a vector's squares no longer fit.
MOST_DIMENSIONS = 16_384

_UNIT = float(1 << 26)
_ONE = float(1 << 52)


def unit_integers(vectors: Floats) -> Doubles:
    """The vectors as unit vectors in steps of 2^-26: whole numbers of that step, shape (n, dimensions).

    Every vector must be finite and not zero.
    """
    found = np.empty(vectors.shape)
    # A few rows at a time stay in the processor's cache.
    for start in range(0, len(vectors), ROWS):
        given = vectors[start : start + ROWS]
        rows = found[start : start + ROWS]
        largest = np.maximum(given.max(axis=1, keepdims=True), -given.min(axis=1, keepdims=True))
        _, exponents = np.frexp(largest.astype(np.float64))
        np.multiply(given, np.ldexp(1.0, 24 - exponents), out=rows)
        np.rint(rows, out=rows)
        whole = rows.astype(np.int64)
        squares = np.einsum("ij,ij->i", whole, whole)
        rows *= (_UNIT / np.sqrt(squares.astype(np.float64)))[:, None]
        np.rint(rows, out=rows)
    return found


def _scores(queries: Doubles, documents: Doubles, q: Places, d: Places) -> Doubles:
    """The cosines of pairs (queries[q], documents[d]), shape (pairs,); q is ascending."""
    found = np.empty(len(q))
    edges = np.flatnonzero(np.diff(q, prepend=-1, append=-1))
    for start, end in pairwise(edges):
        query = queries[q[start]]
        for at in range(start, end, PAIRS):
            some = slice(at, min(at + PAIRS, end))
            found[some] = documents[d[some]] @ query
    return np.minimum(found, _ONE) / _ONE


def _reblocked(blocks: Iterable[tuple[Places, Floats]], size: int) -> Iterator[tuple[Places, Floats]]:
    """The same rows in blocks of `size`."""
    kept: list[tuple[Places, Floats]] = []
    n = 0
    for places, vectors in blocks:
        kept.append((places, vectors))
        n += len(places)
        if n < size:
            continue
        if len(kept) > 1:
            places, vectors = np.concatenate([p for p, _ in kept]), np.concatenate([v for _, v in kept])
        whole = n - n % size
        for start in range(0, whole, size):
            yield places[start : start + size], vectors[start : start + size]
        kept, n = [(places[whole:], vectors[whole:])], n - whole
    if n:
        yield np.concatenate([p for p, _ in kept]), np.concatenate([v for _, v in kept])


class _Best:
    """The best documents so far of each of a group of queries."""

    def __init__(self, queries: Floats, depth: int) -> None:
        self.whole = unit_integers(queries)
        self.rounded = (self.whole / _UNIT).astype(np.float32)
        self.depth = depth
        # How far a rounded score may be from the exact one: the product's sum, the norm, and rounding to 4 bytes.
        self.error = (queries.shape[1] + 16) * 2.0**-23
        self.query = np.empty(0, np.int64)
        self.place = np.empty(0, np.int64)
        self.score = np.empty(0)
        #: The place of the last unit that was looked at.
        self.latest = -1
        #: The score of each query's last document; below it nothing gets in.
        self.last = np.full(len(queries), -np.inf)

    def add(self, places: Places, vectors: Floats, norms: Floats) -> None:
        """Take in a block: the places of its documents (one a unit), their vectors and norms."""
        rounded = self.rounded @ vectors.T
        rounded /= norms
        least = self.last - self.error
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        # Whether a document has one unit here and had none before.
        is_once = len(starts) == len(places) and places[0] != self.latest
        self.latest = int(places[-1])
        if len(starts) >= self.depth and np.isneginf(least).any():
            # As many documents of this block reach the depth-th best of it.
            of_documents = (
                rounded if len(starts) == len(places) else np.maximum.reduceat(rounded, starts, axis=1)
            )
            at = len(starts) - self.depth
            least = np.maximum(least, np.partition(of_documents, at, axis=1)[:, at] - 2 * self.error)
        # In 4 bytes, but never above what it stands for.
        limit = np.nextafter(least.astype(np.float32), np.float32(-np.inf))
        q, d = np.divmod(np.flatnonzero(rounded >= limit[:, None]), len(places))
        if not len(q):
            return
        rows, d = np.unique(d, return_inverse=True)
        scores = _scores(self.whole, unit_integers(vectors[rows]), q, d)
        keep = scores >= self.last[q]
        self._merge(q[keep], places[rows][d[keep]], scores[keep], is_once)

    def _merge(self, query: Places, place: Places, score: Doubles, is_once: bool) -> None:
        query = np.concatenate([self.query, query])
        place = np.concatenate([self.place, place])
        score = np.concatenate([self.score, score])
        if not is_once:
            # A document once, with the score of its best unit.
            order = np.lexsort((-score, place, query))
            query, place, score = query[order], place[order], score[order]
            first = np.ones(len(query), dtype=bool)
            first[1:] = (query[1:] != query[:-1]) | (place[1:] != place[:-1])
            query, place, score = query[first], place[first], score[first]
        order = np.lexsort((place, -score, query))
        query, place, score = query[order], place[order], score[order]
        rank = np.arange(len(query)) - np.searchsorted(query, query)
        kept = rank < self.depth
        self.query, self.place, self.score = query[kept], place[kept], score[kept]
        ends = self.query[rank[kept] == self.depth - 1]
        self.last[ends] = self.score[rank[kept] == self.depth - 1]


def search(
    queries: Floats, blocks: Iterable[tuple[Places, Floats]], depth: int, block: int = BLOCK
) -> list[tuple[Places, Doubles]]:
    """The `depth` best documents of each query: their places and cosines, best first, ties by place ascending.

    `queries` has shape (n, dimensions). `blocks` gives units, those of one document together: places (n,) and vectors
    (n, dimensions), 4-byte floats, finite and not zero. A document counts with its best unit. Memory: one block, its
    products with `QUERIES` queries, and the best so far.
    """
    groups = [_Best(queries[i : i + QUERIES], depth) for i in range(0, len(queries), QUERIES)]
    for places, given in _reblocked(blocks, block):
        vectors, norms = _normal(np.ascontiguousarray(given, dtype=np.float32))
        for group in groups:
            group.add(places, vectors, norms)
    found = []
    for group in groups:
        edges = np.searchsorted(group.query, np.arange(len(group.last) + 1))
        for start, end in pairwise(edges):
            found.append((group.place[start:end], group.score[start:end]))
    return found


def _normal(vectors: Floats) -> tuple[Floats, Floats]:
    """Vectors and norms that 4-byte floats hold well; very large and small ones are scaled, by powers of two."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    if not ((norms > 1e-12) & (norms < 1e12)).all():
        _, exponents = np.frexp(np.max(np.abs(vectors), axis=1, keepdims=True))
        vectors = np.ldexp(vectors, -exponents)
        norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors, norms

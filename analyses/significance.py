"""Tests on paired differences: the sign-flip permutation test on the mean, and the paired t-test.

The permutation test's hypothesis is that each difference is as likely to have the other sign. Its p is the
share of the 2^n ways to flip signs for which |sum| is at least the observed |sum| (Fisher 1935; two-sided).
Pairs without a difference change neither side and drop out.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from scipy import stats

from analyses.samples import Sample
from analyses.seeds import named_stream
from analyses.tails import (
    count_by_halves,
    count_dense,
    n_sums_by_halves,
    tilted_support,
    tilted_tail,
)

#: p is never written as 0: what is smaller than this is written as this, and called a bound.
SMALLEST = sys.float_info.min

#: Counting in a table: at most this many additions (62 pairs at most, so that int64 holds the counts).
DENSE_BUDGET = 50_000_000
#: Counting by halves: at most this many sums in one half (40 pairs at most).
HALVES_BUDGET = 2**20
#: Convolving: at most this many places. Beyond it the test is sampled.
SUPPORT_BUDGET = 2**22

#: Bits of one limb of a sampled sum: 2^22 pairs still sum within int64.
_LIMB_BITS = 40
_TABLE_BYTES = 2**23


@dataclass(frozen=True)
class SignFlip:
    """The permutation test's result.

    ``method`` is exact or sampled. ``is_bound``: p is smaller than ``p`` says. ``n_draws`` is null where
    exact. ``smallest_p``: 2/2^n over the pairs that differ, what p would be if all had one sign; 1 at most.
    """

    p: float
    method: str
    is_bound: bool
    n_draws: int | None
    smallest_p: float


def sign_flip_test(differences: Sample, name: str, draws: int = 9999) -> SignFlip:
    """The two-sided sign-flip permutation test on the mean.

    Exact for fractions, at any n, while the sums fit the budgets above; else sampled with ``draws`` draws
    from a stream that ``name`` seeds: p = (1 + hits) / (1 + draws), never 0 (Phipson and Smyth 2010).
    Raises ValueError without differences.
    """
    if not differences.counts:
        raise ValueError("there are no pairs")
    sizes: dict[int, int] = {}
    for unit, count in zip(differences.units, differences.counts, strict=True):
        if unit:
            sizes[abs(unit)] = sizes.get(abs(unit), 0) + count
    n = sum(sizes.values())
    smallest = smallest_p(n)
    if not sizes:
        return SignFlip(1.0, "exact", False, None, smallest)
    divisor = math.gcd(*sizes)
    values = [v // divisor for v in sorted(sizes)]
    counts = [sizes[v] for v in sorted(sizes)]
    if differences.is_exact:
        exact = _exact(values, counts, abs(differences.total) // divisor)
        if exact is not None:
            return SignFlip(max(exact, SMALLEST), "exact", exact < SMALLEST, None, smallest)
    hits = _sampled_hits(sorted(sizes), counts, abs(differences.total) - differences.slack, name, draws)
    return SignFlip((1 + hits) / (1 + draws), "sampled", False, draws, smallest)


def smallest_p(n_non_ties: int) -> float:
    """2/2^n, at most 1; written as the smallest normal double where it is smaller."""
    return max(min(1.0, math.ldexp(2.0, -n_non_ties)), SMALLEST)


def _exact(values: list[int], counts: list[int], observed: int) -> float | None:
    """The exact p, or None where the sums don't fit the budgets. 0 where no double holds it."""
    n = sum(counts)
    most = sum(v * c for v, c in zip(values, counts, strict=True))
    if observed == 0:
        return 1.0
    # With X the sum of the differences made negative, T* = most - 2X, and T* has the parity of most.
    x = (most - observed) // 2
    if x < values[0]:
        return math.ldexp(2.0, -n)
    if n <= 62 and n * (x + 1) <= DENSE_BUDGET:
        return count_dense(values, counts, x) / (1 << (n - 1))
    if n <= 40 and n_sums_by_halves(counts) <= HALVES_BUDGET:
        return count_by_halves(values, counts, x) / (1 << (n - 1))
    if tilted_support(values, counts, x) > SUPPORT_BUDGET:
        return None
    return min(1.0, math.exp(min(math.log(2) + tilted_tail(values, counts, x), 0.0)))


def _sampled_hits(sizes: list[int], counts: list[int], at_least: int, name: str, draws: int) -> int:
    """How many of ``draws`` random sign vectors give |sum| >= at_least. Sums are exact integers."""
    ordered = [v for v, c in zip(reversed(sizes), reversed(counts), strict=True) for _ in range(c)]
    n_groups = -(-len(ordered) // 8)
    ordered += [0] * (8 * n_groups - len(ordered))
    n_limbs = max(1, -(-sizes[-1].bit_length() // _LIMB_BITS))
    mask = 2**_LIMB_BITS - 1
    limbs = [
        np.array([(v >> (_LIMB_BITS * i)) & mask for v in ordered], dtype=np.int64).reshape(n_groups, 8)
        for i in range(n_limbs)
    ]
    # One random byte holds eight signs; a table of 256 signed sums a group replaces eight additions.
    bits = (np.arange(256)[:, None] >> np.arange(8)[None, :]) & 1
    signs = (1 - 2 * bits).astype(np.int64)
    stream = named_stream(name, "sign flips")
    sums = np.zeros((n_limbs, draws), dtype=np.int64)
    n_words = -(-draws // 8)
    block = max(1, _TABLE_BYTES // (2048 * n_limbs))
    for start in range(0, n_groups, block):
        stop = min(start + block, n_groups)
        tables = [(limb[start:stop, None, :] * signs[None, :, :]).sum(axis=2) for limb in limbs]
        for group in range(stop - start):
            drawn = stream.random_raw(n_words).astype("<u8").view(np.uint8)[:draws]
            for i, table in enumerate(tables):
                sums[i] += table[group][drawn]
    if n_limbs == 1:
        return int(np.count_nonzero(np.abs(sums[0]) >= at_least))
    whole = sums[0].astype(object)
    for i in range(1, n_limbs):
        whole = whole + sums[i].astype(object) * 2 ** (_LIMB_BITS * i)
    return sum(1 for s in whole if abs(s) >= at_least)


def t_test_p(differences: Sample) -> float | None:
    """The paired t-test's two-sided p, or None where it isn't defined: below two pairs, or all equal.

    The mean and variance are exact and rounded once. p is not written smaller than `SMALLEST`.
    """
    n = differences.n
    if n < 2 or differences.is_constant:
        return None
    squared = differences.mean**2 * n / differences.variance
    return max(float(2 * stats.t.sf(math.sqrt(squared), n - 1)), SMALLEST)

"""P(X <= x) for a sum of scaled fair binomials, exact or to about 12 digits however small it is.

X is the sum over j of values[j] * Binomial(counts[j], 1/2), values distinct positive integers. Three ways:

* ``count_dense``: count the 2^n outcomes in a table over the sums. Exact integers.
* ``count_by_halves``: count them from the sums of two halves (Horowitz and Sahni 1974). Exact integers,
  whatever the size of the values.
* ``tilted_tail``: convolve one binomial a value, after tilting all so that X's mean is x (Esscher 1932). The
  probabilities near x are then the largest there are, so cutting each binomial to its effective support and
  convolving by FFT lose no relative precision, as they would in the tail of the untilted sum.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft, optimize, special

Floats = NDArray[np.float64]
Ints = NDArray[Any]

#: What is cut from a tilted distribution has a mass below exp(-this) on each side.
CUT_NATS = 60.0


def count_dense(values: Sequence[int], counts: Sequence[int], x: int) -> int:
    """The number of outcomes with X <= x. Needs sum(counts) <= 62; memory is x + 1 integers."""
    table = np.zeros(x + 1, dtype=np.int64)
    table[0] = 1
    for value, count in zip(values, counts, strict=True):
        if value > x:
            continue
        for _ in range(count):
            table[value:] += table[: x + 1 - value].copy()
    return int(table.sum())


def count_by_halves(values: Sequence[int], counts: Sequence[int], x: int) -> int:
    """The number of outcomes with X <= x. Needs sum(counts) <= 40; values of any size."""
    wide = sum(v * c for v, c in zip(values, counts, strict=True)) >= 2**62
    halves: list[list[tuple[int, int]]] = [[], []]
    sizes = [1, 1]
    for count, value in sorted(zip(counts, values, strict=True), reverse=True):
        smaller = int(sizes[1] < sizes[0])
        halves[smaller].append((value, count))
        sizes[smaller] *= count + 1
    first, n_first = _sums(halves[0], wide)
    second, n_second = _sums(halves[1], wide)
    up_to = np.concatenate([[0], np.cumsum(n_second)])
    places = np.searchsorted(second, x - first, side="right")
    return sum(int(a) * int(b) for a, b in zip(n_first, up_to[places], strict=True))


def n_sums_by_halves(counts: Sequence[int]) -> int:
    """The most sums that `count_by_halves` holds for one half."""
    sizes = [1, 1]
    for count in sorted(counts, reverse=True):
        sizes[int(sizes[1] < sizes[0])] *= count + 1
    return max(sizes)


def _sums(groups: Sequence[tuple[int, int]], wide: bool) -> tuple[Ints, NDArray[np.int64]]:
    """The distinct sums of the groups, ascending, and in how many ways each comes about."""
    sums: Ints = np.array([0], dtype=object if wide else np.int64)
    ways = np.array([1], dtype=np.int64)
    for value, count in groups:
        steps = np.array([value * i for i in range(count + 1)], dtype=sums.dtype)
        weights = np.array([math.comb(count, i) for i in range(count + 1)], dtype=np.int64)
        all_sums = (sums[:, None] + steps[None, :]).ravel()
        all_ways = (ways[:, None] * weights[None, :]).ravel()
        order = np.argsort(all_sums, kind="stable")
        all_sums, all_ways = all_sums[order], all_ways[order]
        starts = np.flatnonzero(np.concatenate([[True], (all_sums[1:] != all_sums[:-1]).astype(bool)]))
        sums, ways = all_sums[starts], np.add.reduceat(all_ways, starts)
    return sums, ways


@dataclass(frozen=True)
class _Piece:
    """A distribution on start, start + 1, ...; mean, variance and largest step bound its tails."""

    start: int
    mass: Floats
    mean: float
    variance: float
    step: float

    def window(self) -> tuple[int, int]:
        """The places outside of which less than exp(-CUT_NATS) lies on each side (Bernstein's bound)."""
        reach = _reach(self.variance, self.step)
        return math.floor(self.mean - reach), math.ceil(self.mean + reach)


def _reach(variance: float, step: float) -> float:
    linear = CUT_NATS * step / 3
    return linear + math.sqrt(linear * linear + 2 * CUT_NATS * variance)


def tilted_support(values: Sequence[int], counts: Sequence[int], x: int) -> int:
    """An upper bound on the places that `tilted_tail` holds in its largest array."""
    most = sum(v * c for v, c in zip(values, counts, strict=True))
    squares = sum(v * v * c for v, c in zip(values, counts, strict=True))
    # In integers while they may be too large for a double; the support is wider than the spread then.
    if squares.bit_length() > 1000:
        return math.isqrt(squares)
    return int(min(most + 1, 2 * _reach(squares / 4, max(values)) + 2))


def tilted_tail(values: Sequence[int], counts: Sequence[int], x: int) -> float:
    """The natural logarithm of P(X <= x), for x from 1 to the mean of X."""
    v = np.array(values, dtype=np.float64)
    c = np.array(counts, dtype=np.float64)
    largest = v.max()
    scaled = v / largest

    def mean_above(tilt: float) -> float:
        return float(math.fsum(c * scaled * special.expit(-tilt * scaled)) - x / largest)

    tilt = 0.0
    if mean_above(0.0) > 0:
        upper = 1.0
        while mean_above(upper) > 0:
            upper *= 2
        tilt = float(optimize.brentq(mean_above, 0.0, upper, xtol=1e-12))
    shares = special.expit(-tilt * scaled)
    pieces = [
        (len(p.mass), i, p)
        for i, p in enumerate(
            _binomial(int(value), int(count), float(share))
            for value, count, share in zip(values, counts, shares, strict=True)
        )
    ]
    heapq.heapify(pieces)
    number = len(pieces)
    while len(pieces) > 1:
        first, second = heapq.heappop(pieces)[2], heapq.heappop(pieces)[2]
        both = _convolve(first, second)
        heapq.heappush(pieces, (len(both.mass), number, both))
        number += 1
    whole = pieces[0][2]
    kept = whole.mass[: max(x - whole.start + 1, 0)]
    distance = x - whole.start - np.arange(len(kept), dtype=np.float64)
    weighted = math.fsum(kept * np.exp(-tilt / largest * distance))
    log_norm = math.fsum(c * (np.log1p(np.exp(-tilt * scaled)) - math.log(2)))
    return math.fsum([log_norm, tilt * (x / largest), math.log(weighted)])


def _binomial(value: int, count: int, share: float) -> _Piece:
    """value * Binomial(count, share), cut to its effective support and scaled to a mass of 1."""
    mean, variance = count * share, count * share * (1 - share)
    reach = _reach(variance, 1.0)
    low, high = max(0, math.floor(mean - reach)), min(count, math.ceil(mean + reach))
    mode = min(max(math.floor((count + 1) * share), low), high)
    odds = share / (1 - share)
    # Ratios from the mode outwards: no logarithm of a large factorial is subtracted from another.
    up = np.arange(mode, high, dtype=np.float64)
    down = np.arange(mode, low, -1, dtype=np.float64)
    rising = np.cumprod((count - up) / (up + 1) * odds)
    falling = np.cumprod(down / (count - down + 1) / odds)
    mass = np.concatenate([falling[::-1], [1.0], rising])
    mass /= math.fsum(mass)
    spread = np.zeros((high - low) * value + 1)
    spread[::value] = mass
    return _Piece(low * value, spread, mean * value, variance * value * value, float(value))


def _convolve(a: _Piece, b: _Piece) -> _Piece:
    size = len(a.mass) + len(b.mass) - 1
    fast = fft.next_fast_len(size, real=True)
    mass = fft.irfft(fft.rfft(a.mass, fast) * fft.rfft(b.mass, fast), fast)[:size]
    whole = _Piece(
        a.start + b.start,
        np.maximum(mass, 0.0),
        a.mean + b.mean,
        a.variance + b.variance,
        max(a.step, b.step),
    )
    low, high = whole.window()
    low, high = max(low - whole.start, 0), min(high - whole.start, size - 1)
    return _Piece(whole.start + low, whole.mass[low : high + 1], whole.mean, whole.variance, whole.step)

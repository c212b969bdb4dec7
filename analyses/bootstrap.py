"""The bias-corrected and accelerated bootstrap interval of a mean (Efron 1987)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import special

from analyses.samples import INT64_ROOM, Sample
from analyses.seeds import named_stream

#: Numbers held at a time while resampling.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Interval:
    """An interval, or why it is degenerate; then low and high are the only value, or null."""

    low: float | None
    high: float | None
    degenerate: str | None = None


def bca_interval(sample: Sample, level: float, name: str, draws: int = 9999) -> Interval:
    """The BCa interval of the mean at ``level``, from ``draws`` resamples of a stream that ``name`` seeds.

    Resampled sums are integers, so equal means are seen as equal, and neither the order of the values nor the
    number of threads matters. Percentiles are interpolated linearly between order statistics.
    """
    if not sample.counts:
        return Interval(None, None, "there are no values")
    if sample.is_constant:
        value = float(sample.mean)
        why = "there is one value" if sample.n == 1 else "all values are equal"
        return Interval(value, value, why)
    n = sample.n
    # The offset and the scale keep sums within int64: exact where they fit, else to 62 bits less log2(n).
    offset = sample.units[0]
    width = sample.units[-1] - offset
    shift = max(0, (width * n).bit_length() - INT64_ROOM.bit_length())
    units = np.array([(u - offset) >> shift for u in sample.units], dtype=np.int64)
    counts = np.array(sample.counts, dtype=np.int64)
    random = np.random.Generator(named_stream(name, "bootstrap"))
    sums = np.sort(_resampled_sums(units, counts, n, draws, random))
    observed = int((units.astype(object) * counts).sum())
    below = np.searchsorted(sums, observed, side="left") + np.searchsorted(sums, observed, side="right")
    share = float(below) / (2 * draws)
    if not 0 < share < 1:
        return Interval(None, None, "no resample lies on one side of the mean")
    bias = float(special.ndtri(share))
    acceleration = _acceleration(sample)
    tail = float(special.ndtri((1 - level) / 2))
    places = []
    for z in (tail, -tail):
        spread = 1 - acceleration * (bias + z)
        if spread <= 0:
            return Interval(None, None, "the acceleration is too large")
        places.append(float(special.ndtr(bias + (bias + z) / spread)))
    # Fractions to the end: with a denominator of any length nothing overflows, and each end is rounded once.
    low, high = (
        float((_quantile(sums, place) * 2**shift / n + offset) / sample.denominator) for place in places
    )
    return Interval(low, high)


def _quantile(ordered: NDArray[np.int64], place: float) -> Fraction:
    """The linearly interpolated quantile of ascending integers."""
    at = place * (len(ordered) - 1)
    index = min(math.floor(at), len(ordered) - 2) if len(ordered) > 1 else 0
    first = int(ordered[index])
    second = int(ordered[min(index + 1, len(ordered) - 1)])
    return first + Fraction(at - index) * (second - first)


def _acceleration(sample: Sample) -> float:
    """Skewness of the jackknife over 6: for a mean, of the values themselves."""
    n, total = sample.n, sample.total
    centred = [u * n - total for u in sample.units]
    squares = sum(d * d * c for d, c in zip(centred, sample.counts, strict=True))
    cubes = sum(d**3 * c for d, c in zip(centred, sample.counts, strict=True))
    # Integers of any length: the scale goes before they become doubles.
    scale = max(0, squares.bit_length() - 200) // 2
    return (cubes / (1 << (3 * scale))) / (6 * math.sqrt(squares / (1 << (2 * scale))) ** 3)


def _resampled_sums(
    units: NDArray[np.int64],
    counts: NDArray[np.int64],
    n: int,
    draws: int,
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """The sums of ``draws`` resamples of n values, each an exact int64."""
    sums = np.empty(draws, dtype=np.int64)
    # A resample is how often each distinct value is drawn: one multinomial in place of n draws.
    few = len(units) * 4 <= n
    rows = max(1, _BLOCK // (len(units) if few else n))
    every = None if few else np.repeat(units, counts)
    for start in range(0, draws, rows):
        stop = min(start + rows, draws)
        if every is None:
            drawn = random.multinomial(n, counts / n, size=stop - start)
            sums[start:stop] = (drawn * units[None, :]).sum(axis=1)
        else:
            chosen = random.integers(0, n, size=(stop - start, n), dtype=np.int32)
            sums[start:stop] = every[chosen].sum(axis=1)
    return sums

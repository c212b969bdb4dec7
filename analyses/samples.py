"""Samples as integers over one denominator, so that every sum is exact and no order matters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The grid for values that are no fractions: they are read to 12 decimals.
GRID = 10**12

#: Integer sums stay below this, so that int64 holds them.
INT64_ROOM = 2**62

IntArray = NDArray[Any]


@dataclass(frozen=True)
class Sample:
    """A multiset of numbers: distinct values with how often each occurs.

    ``units`` are distinct Python integers in ascending order; a value is its unit divided by
    ``denominator``. ``counts`` are positive and stand in the same order. ``is_exact`` is false where
    values were doubles, read to 12 decimals.
    """

    units: tuple[int, ...]
    counts: tuple[int, ...]
    denominator: int
    is_exact: bool = True

    @property
    def n(self) -> int:
        """How many values."""
        return sum(self.counts)

    @property
    def total(self) -> int:
        """The sum, in units."""
        return sum(u * c for u, c in zip(self.units, self.counts, strict=True))

    @property
    def mean(self) -> Fraction:
        """The mean; ZeroDivisionError without values."""
        return Fraction(self.total, self.n * self.denominator)

    @property
    def variance(self) -> Fraction:
        """The variance with divisor n - 1; ZeroDivisionError below two values."""
        n = self.n
        squares = sum(u * u * c for u, c in zip(self.units, self.counts, strict=True))
        return Fraction(n * squares - self.total**2, n * (n - 1) * self.denominator**2)

    @property
    def is_constant(self) -> bool:
        """All values are equal."""
        return len(self.units) == 1

    @property
    def slack(self) -> int:
        """Units by which a true tie of two signed sums may miss: 0 for fractions.

        A double is off its true value by half a unit once it stands on the grid, a difference of two by
        one unit, and so two signed sums of n by 2n.
        """
        return 0 if self.is_exact else 2 * self.n

    def n_above(self) -> int:
        """How many values are above 0."""
        return sum(c for u, c in zip(self.units, self.counts, strict=True) if u > 0)

    def n_below(self) -> int:
        """How many values are below 0."""
        return sum(c for u, c in zip(self.units, self.counts, strict=True) if u < 0)


def sample_of(values: Iterable[Fraction | int | float]) -> Sample:
    """A sample of numbers: fractions stay exact; one float makes all of it read to 12 decimals."""
    numbers = list(values)
    if any(isinstance(v, float) for v in numbers):
        return sample_of_units([to_grid(float(v)) for v in numbers], GRID, is_exact=False)
    fractions = [Fraction(v) for v in numbers]
    denominator = math.lcm(*(f.denominator for f in fractions)) if fractions else 1
    return sample_of_units([f.numerator * (denominator // f.denominator) for f in fractions], denominator)


def sample_of_units(
    units: Sequence[int] | IntArray,
    denominator: int,
    counts: Sequence[int] | IntArray | None = None,
    is_exact: bool = True,
) -> Sample:
    """A sample of integers over ``denominator``; ``counts`` says how often each stands, once by default."""
    table: Counter[int] = Counter()
    if counts is not None:
        for unit, count in zip(units, counts, strict=True):
            table[int(unit)] += int(count)
    elif isinstance(units, np.ndarray) and units.dtype != object:
        distinct, numbers = np.unique(units, return_counts=True)
        table.update(dict(zip(distinct.tolist(), numbers.tolist(), strict=True)))
    else:
        table.update(int(u) for u in units)
    ordered = sorted(table)
    divisor = math.gcd(denominator, *ordered) if is_exact else 1
    return Sample(
        tuple(u // divisor for u in ordered),
        tuple(table[u] for u in ordered),
        denominator // divisor,
        is_exact,
    )


def to_grid(value: float) -> int:
    """A double as an integer number of 10^-12, rounded half to even from its exact value."""
    return round(Fraction(value) * GRID)


def common_units(numerators: IntArray, denominators: IntArray) -> tuple[IntArray, int]:
    """Fractions as integers over their least common denominator.

    Both arrays are 1-d integers of one length, denominators positive. Returns int64 where every unit fits,
    else Python integers in an object array.
    """
    distinct = [int(d) for d in np.unique(denominators)]
    if distinct and distinct[0] <= 0:
        raise ValueError("a denominator is not positive")
    common = math.lcm(*distinct) if distinct else 1
    largest = max((abs(int(numerators.max())), abs(int(numerators.min())))) if len(numerators) else 0
    if largest * common < INT64_ROOM:
        return numerators.astype(np.int64) * (common // denominators.astype(np.int64)), common
    factors = {d: common // d for d in distinct}
    units = [int(n) * factors[int(d)] for n, d in zip(numerators, denominators, strict=True)]
    return np.array(units, dtype=object), common

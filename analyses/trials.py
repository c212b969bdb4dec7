"""A query's value: its mean over the trials where it is defined, exact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analyses.samples import GRID, INT64_ROOM, common_units, to_grid

Ints = NDArray[Any]


def mean_fractions(slots: Ints, n_slots: int, numerators: Ints, denominators: Ints) -> tuple[Ints, int]:
    """Means of fractions as integers over one denominator, one a slot; 0 for a slot without rows.

    ``slots`` says to which of the ``n_slots`` slots a row belongs.
    """
    units, common = common_units(numerators, denominators)
    n_rows = np.bincount(slots, minlength=n_slots)
    trials = math.lcm(*(int(n) for n in np.unique(n_rows) if n))
    largest = max(abs(int(units.max())), abs(int(units.min()))) if len(units) else 0
    most = int(n_rows.max()) if n_slots else 0
    if units.dtype != object and largest * trials * max(most, 1) >= INT64_ROOM:
        units = units.astype(object)
    sums = np.zeros(n_slots, dtype=units.dtype)
    np.add.at(sums, slots, units)
    return sums * (trials // np.maximum(n_rows, 1)).astype(units.dtype), common * trials


def mean_doubles(slots: Ints, n_slots: int, values: NDArray[np.float64]) -> tuple[Ints, int]:
    """Means of doubles on the grid of 12 decimals, one a slot; 0 for a slot without rows."""
    order = np.lexsort((values, slots))
    slots, values = slots[order], values[order]
    n_rows = np.bincount(slots, minlength=n_slots)
    means = np.zeros(n_slots)
    means[slots] = values
    ends = np.cumsum(n_rows)
    for slot in np.flatnonzero(n_rows > 1):
        rows = values[ends[slot] - n_rows[slot] : ends[slot]]
        means[slot] = math.fsum(rows) / len(rows)
    distinct, places = np.unique(means, return_inverse=True)
    grid = np.array([to_grid(float(v)) for v in distinct], dtype=object)
    if len(distinct) == 0 or max(abs(int(grid[0])), abs(int(grid[-1]))) < INT64_ROOM // 2:
        grid = grid.astype(np.int64)
    return grid[places], GRID

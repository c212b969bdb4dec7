"""Means and their intervals: one row per recording, retriever, measure and k."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from analyses.bootstrap import bca_interval
from analyses.frames import doubles, integers, write_frame
from analyses.parametric import t_interval, wilson_interval
from analyses.samples import GRID, Sample, sample_of_units, to_grid
from analyses.trials import mean_fractions

#: Above this many queries the interval is Student's: the bootstrap's correction is small there, its cost not.
BOOTSTRAP_UP_TO = 2000

KEY = ["recording_id", "retriever", "measure", "k"]

#: The result's columns and their types.
COLUMNS: Mapping[str, str] = {
    "recording_id": "string",
    "retriever": "string",
    "measure": "string",
    "k": "bigint",
    "n_values": "bigint",
    "mean": "double",
    "interval_low": "double",
    "interval_high": "double",
    "interval_level": "double",
    "interval_method": "string",
    "interval_draws": "bigint",
    "degenerate_reason": "string",
}


def measure_intervals(counts: pd.DataFrame, level: float = 0.95, draws: int = 9999) -> pd.DataFrame:
    """One row per key, with `COLUMNS`.

    ``counts``: the columns of fct_assay__value_counts: the key, query_id, numerator, denominator, value and
    n. A row without query_id stands for n queries of that value; rows with one are that query's trials.
    ``interval_method`` is wilson where every value is 0 or 1, bca up to `BOOTSTRAP_UP_TO` queries, t above,
    and degenerate where all values are equal or there is only one. The order of rows doesn't matter.
    """
    rows = []
    for key, group in counts.groupby(KEY, sort=True, dropna=False):
        names = [None if pd.isna(part) else part for part in key]
        sample, mean = _sample(group)
        row: dict[str, Any] = dict.fromkeys(COLUMNS)
        row |= dict(zip(KEY, names, strict=True))
        row |= {"n_values": sample.n, "mean": mean}
        rows.append(row | _interval(sample, json.dumps([str(n) for n in names]), level, draws))
    return write_frame(rows, COLUMNS)


def _sample(group: pd.DataFrame) -> tuple[Sample, float]:
    """A group's values, one a query, and their mean rounded once."""
    numerators, no_fraction = integers(group["numerator"])
    denominators, _ = integers(group["denominator"])
    numbers, _ = doubles(group["value"])
    weights, _ = integers(group["n"])
    # Each row without a query is a slot of its own; a query's trials share one.
    folded = group["query_id"].isna().to_numpy(dtype=bool)
    codes, queries = pd.factorize(group["query_id"])
    n_folded = int(folded.sum())
    slots = np.where(folded, np.cumsum(folded) - 1, codes + n_folded)
    n_slots = n_folded + len(queries)
    counts = np.ones(n_slots, dtype=np.int64)
    counts[:n_folded] = weights[folded]
    if not no_fraction.any():
        units, denominator = mean_fractions(slots, n_slots, numerators, denominators)
        sample = sample_of_units(units, denominator, counts)
        return sample, float(sample.mean)
    trials: list[list[float]] = [[] for _ in range(n_slots)]
    for slot, number in zip(slots, numbers, strict=True):
        trials[slot].append(float(number))
    means = [math.fsum(t) / len(t) for t in trials]
    sample = sample_of_units([to_grid(m) for m in means], GRID, counts, is_exact=False)
    # Not from the grid: a mean of doubles keeps all its digits.
    return sample, math.fsum(np.repeat(means, counts)) / sample.n


def _interval(sample: Sample, name: str, level: float, draws: int) -> dict[str, Any]:
    one = sample.denominator
    if sample.is_exact and all(u in (0, one) for u in sample.units):
        hits = sum(c for u, c in zip(sample.units, sample.counts, strict=True) if u)
        low, high = wilson_interval(hits, sample.n, level)
        return _found("wilson", low, high, level)
    if sample.n > BOOTSTRAP_UP_TO:
        student = t_interval(sample, level)
        if student is not None:
            return _found("t", *student, level)
    interval = bca_interval(sample, level, name, draws)
    method = "degenerate" if interval.degenerate else "bca"
    found = _found(method, interval.low, interval.high, level)
    return found | {
        "interval_draws": None if interval.degenerate else draws,
        "degenerate_reason": interval.degenerate,
    }


def _found(method: str, low: float | None, high: float | None, level: float) -> dict[str, Any]:
    return {
        "interval_method": method,
        "interval_low": low,
        "interval_high": high,
        "interval_level": level,
    }

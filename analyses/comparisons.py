"""The tests of planned comparisons: from both sides' values to one row per comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from analyses.bootstrap import bca_interval
from analyses.frames import doubles, flags, integers, write_frame
from analyses.parametric import detectable_difference
from analyses.samples import Sample, sample_of_units
from analyses.significance import sign_flip_test, t_test_p
from analyses.trials import mean_doubles, mean_fractions

#: The result's columns and their types.
COLUMNS: Mapping[str, str] = {
    "comparison_id": "string",
    "n_queries": "bigint",
    "n_pairs": "bigint",
    "n_missing": "bigint",
    "n_broken": "bigint",
    "n_undefined": "bigint",
    "mean": "double",
    "baseline_mean": "double",
    "mean_difference": "double",
    "sd_difference": "double",
    "wins": "bigint",
    "losses": "bigint",
    "ties": "bigint",
    "p_value": "double",
    "p_method": "string",
    "p_is_bound": "boolean",
    "n_draws": "bigint",
    "smallest_p": "double",
    "t_test_p": "double",
    "interval_low": "double",
    "interval_high": "double",
    "interval_level": "double",
    "interval_draws": "bigint",
    "detectable_difference": "double",
    "t_test_degenerate_reason": "string",
    "interval_degenerate_reason": "string",
}


def comparison_tests(planned: pd.DataFrame, values: pd.DataFrame, draws: int = 9999) -> pd.DataFrame:
    """One row per comparison that has values, with `COLUMNS`.

    ``planned``: comparison_id and threshold, as in fct_assay__planned_comparisons. ``values``: the columns of
    fct_assay__comparison_values: comparison_id, side (candidate or baseline), query_id, trial, numerator,
    denominator, value, is_missing, is_broken. The order of rows doesn't matter.
    """
    groups = {str(name): group for name, group in values.groupby("comparison_id", sort=False)}
    thresholds = {
        str(name): float(threshold)
        for name, threshold in zip(planned["comparison_id"], planned["threshold"], strict=True)
    }
    rows = [
        compare(name, groups[name], thresholds[name], draws) for name in sorted(thresholds) if name in groups
    ]
    return write_frame(rows, COLUMNS)


def compare(name: str, values: pd.DataFrame, threshold: float, draws: int) -> dict[str, Any]:
    """One comparison's row, from its rows of values."""
    codes, queries = pd.factorize(values["query_id"])
    is_baseline = (values["side"] == "baseline").to_numpy(dtype=bool)
    slots = codes * 2 + is_baseline
    n_slots = 2 * len(queries)
    numerators, no_fraction = integers(values["numerator"])
    denominators, _ = integers(values["denominator"])
    numbers, undefined = doubles(values["value"])

    def on_a_side(rows: Any) -> Any:
        return (np.bincount(slots[rows], minlength=n_slots) > 0).reshape(-1, 2)

    present = on_a_side(np.ones(len(values), dtype=bool))
    missing = (on_a_side(flags(values["is_missing"])) | ~present).any(axis=1)
    broken = on_a_side(flags(values["is_broken"])).any(axis=1) & ~missing
    is_undefined = ~on_a_side(~undefined).all(axis=1) & ~missing & ~broken
    paired = ~missing & ~broken & ~is_undefined

    used = ~undefined & paired[codes]
    is_exact = not bool((no_fraction & used).any())
    if is_exact:
        units, denominator = mean_fractions(slots[used], n_slots, numerators[used], denominators[used])
    else:
        units, denominator = mean_doubles(slots[used], n_slots, numbers[used])
    sides = units.reshape(-1, 2)[paired]
    n_pairs = int(paired.sum())
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {
        "comparison_id": name,
        "n_queries": len(queries),
        "n_pairs": n_pairs,
        "n_missing": int(missing.sum()),
        "n_broken": int(broken.sum()),
        "n_undefined": int(is_undefined.sum()),
        "wins": 0,
        "losses": 0,
        "ties": 0,
        "smallest_p": 1.0,
    }
    if n_pairs == 0:
        row["t_test_degenerate_reason"] = row["interval_degenerate_reason"] = "there are no pairs"
        return row
    for column, side in (("mean", 0), ("baseline_mean", 1)):
        row[column] = float(sample_of_units(sides[:, side], denominator, is_exact=is_exact).mean)
    differences = sample_of_units(sides[:, 0] - sides[:, 1], denominator, is_exact=is_exact)
    return row | _tests(name, differences, threshold, draws)


def _tests(name: str, differences: Sample, threshold: float, draws: int) -> dict[str, Any]:
    """Everything that rests on the differences alone."""
    flip = sign_flip_test(differences, name, draws)
    interval = bca_interval(differences, 1 - threshold, name, draws)
    n, wins, losses = differences.n, differences.n_above(), differences.n_below()
    too_few = "there is one pair" if n == 1 else "all differences are equal"
    return {
        "mean_difference": float(differences.mean),
        "sd_difference": math.sqrt(differences.variance) if n > 1 else None,
        "wins": wins,
        "losses": losses,
        "ties": n - wins - losses,
        "p_value": flip.p,
        "p_method": flip.method,
        "p_is_bound": flip.is_bound,
        "n_draws": flip.n_draws,
        "smallest_p": flip.smallest_p,
        "t_test_p": t_test_p(differences),
        "interval_low": interval.low,
        "interval_high": interval.high,
        "interval_level": 1 - threshold,
        "interval_draws": None if interval.degenerate else draws,
        "detectable_difference": detectable_difference(differences, threshold),
        "t_test_degenerate_reason": too_few if n == 1 or differences.is_constant else None,
        "interval_degenerate_reason": too_few if n == 1 or differences.is_constant else interval.degenerate,
    }

"""Intervals and power, against scipy and definitions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analyses import bootstrap
from analyses.bootstrap import bca_interval
from analyses.intervals import COLUMNS, measure_intervals
from analyses.parametric import detectable_difference, t_interval, wilson_interval
from analyses.samples import sample_of, sample_of_units


@pytest.mark.parametrize(("n", "high"), [(30, 4), (30, 1000), (400, 60)])
def test_bca_agrees_with_scipy(n: int, high: int) -> None:
    """Skewed values; two bootstraps of many draws differ by their own noise only."""
    units = (np.random.default_rng(n + high).random(n) ** 3 * high).astype(int)
    theirs = stats.bootstrap(
        (units / high,), np.mean, n_resamples=40_000, method="BCa", confidence_level=0.95, rng=1
    ).confidence_interval
    ours = bca_interval(sample_of_units(units, high), 0.95, "scipy", draws=40_000)
    assert ours.low is not None and ours.high is not None
    width = theirs.high - theirs.low
    assert ours.low == pytest.approx(theirs.low, abs=0.03 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.03 * width)


def test_bca_is_degenerate_where_all_are_equal() -> None:
    interval = bca_interval(sample_of([Fraction(1, 10)] * 20), 0.95, "d")
    assert (interval.low, interval.high, interval.degenerate) == (0.1, 0.1, "all values are equal")
    assert bca_interval(sample_of([0.1 + 0.2, 0.3]), 0.95, "d").low == 0.3
    assert bca_interval(sample_of([]), 0.95, "d").degenerate == "there are no values"
    assert bca_interval(sample_of([1]), 0.95, "d").degenerate == "there is one value"


def test_bca_heeds_the_name_alone() -> None:
    values = [Fraction(i * i % 17, 7) for i in range(40)]
    one = bca_interval(sample_of(values), 0.95, "a")
    assert bca_interval(sample_of(values[::-1]), 0.95, "a") == one
    assert bca_interval(sample_of(values), 0.95, "b") != one


def test_bca_in_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = [sample_of([Fraction(i * i % m, 7) for i in range(90)]) for m in (5, 89)]
    whole = [bca_interval(s, 0.95, "blocks", draws=999) for s in samples]
    monkeypatch.setattr(bootstrap, "_BLOCK", 1000)
    assert [bca_interval(s, 0.95, "blocks", draws=999) for s in samples] == whole


def test_bca_moves_with_its_values() -> None:
    """Shifted and scaled values give the shifted and scaled interval, also where units pass int64."""
    values = [Fraction(i * i % 17) for i in range(40)]
    plain = bca_interval(sample_of(values), 0.95, "a")
    scale = Fraction(1, 10**40 + 1)
    moved = bca_interval(sample_of([5 + v * scale * 10**38 for v in values]), 0.95, "a")
    assert plain.low is not None and moved.low is not None
    assert moved.low == pytest.approx(5 + plain.low / 100, rel=1e-12)


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (10, 10), (3, 10), (1, 1), (60, 80)])
def test_wilson_agrees_with_scipy(hits: int, n: int) -> None:
    theirs = stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert wilson_interval(hits, n, 0.95) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_t_interval_agrees_with_scipy() -> None:
    units = np.random.default_rng(5).integers(0, 60, 200)
    theirs = stats.ttest_1samp(units / 60, 0).confidence_interval(0.975)
    assert t_interval(sample_of_units(units, 60), 0.975) == pytest.approx((theirs.low, theirs.high))
    assert t_interval(sample_of([1, 1]), 0.95) is None


@pytest.mark.parametrize(("n", "alpha"), [(5, 0.05), (30, 0.025), (1000, 0.05)])
def test_detectable_difference_has_the_power_it_says(n: int, alpha: float) -> None:
    """By simulation: normal differences with that mean are found in 80% of tests."""
    rng = np.random.default_rng(n)
    units = rng.integers(-60, 70, n)
    sample = sample_of_units(units, 60)
    found = detectable_difference(sample, alpha)
    assert found is not None
    simulated = rng.normal(found, math.sqrt(sample.variance), (4000, n))
    share = (stats.ttest_1samp(simulated, 0, axis=1).pvalue < alpha).mean()
    assert share == pytest.approx(0.8, abs=5 * math.sqrt(0.16 / 4000))


def test_detectable_difference_of_nothing() -> None:
    assert detectable_difference(sample_of([1]), 0.05) is None
    assert detectable_difference(sample_of([2, 2]), 0.05) is None


def counts(rows: list[tuple[str, str | None, int | None, int | None, float, int]]) -> pd.DataFrame:
    names = ["measure", "query_id", "numerator", "denominator", "value", "n"]
    frame = pd.DataFrame(rows, columns=names).astype({"numerator": "Int64", "denominator": "Int64"})
    return frame.assign(recording_id="r", retriever="x", k=pd.array([None] * len(frame), dtype="Int64"))


def test_means_are_exact_and_a_query_is_its_mean_over_trials() -> None:
    frame = counts(
        [
            # Three asked, one of them missing and 0.
            ("missing", None, 6, 10, 0.6, 1),
            ("missing", None, 4, 10, 0.4, 1),
            ("missing", None, 0, 10, 0.0, 1),
            # q1 is (1/2 + 1/3)/2 = 5/12; two others are 1/4 and the mean is 11/36.
            ("trials", "q1", 1, 2, 0.5, 1),
            ("trials", "q1", 1, 3, 1 / 3, 1),
            ("trials", None, 1, 4, 0.25, 2),
            # No fractions: q1 is .3, two others are .6.
            ("doubles", "q1", None, None, 0.2, 1),
            ("doubles", "q1", None, None, 0.4, 1),
            ("doubles", None, None, None, 0.6, 2),
        ]
    )
    result = measure_intervals(frame.sample(frac=1, random_state=1)).set_index("measure")
    assert result.loc["missing", "mean"] == float(Fraction(1, 3))
    assert result.loc["trials", "mean"] == float(Fraction(11, 36))
    assert result.loc["doubles", "mean"] == pytest.approx(0.5, abs=1e-16)
    assert (result["n_values"] == 3).all()
    assert (result["interval_method"] == "bca").all()


def test_the_method_fits_the_values() -> None:
    frame = counts(
        [
            ("share", None, 1, 1, 1.0, 3),
            ("share", None, 0, 1, 0.0, 7),
            ("equal", None, 1, 10, 0.1, 20),
            ("many", None, 1, 10, 0.1, 2000),
            ("many", None, 3, 10, 0.3, 1),
        ]
    )
    result = measure_intervals(frame).set_index("measure")
    assert result["interval_method"].to_dict() == {"share": "wilson", "equal": "degenerate", "many": "t"}
    assert (result.loc["equal", "interval_low"], result.loc["equal", "interval_high"]) == (0.1, 0.1)
    assert result.loc["equal", "degenerate_reason"] == "all values are equal"


def test_no_rows_still_have_columns() -> None:
    assert list(measure_intervals(counts([])).columns) == list(COLUMNS)

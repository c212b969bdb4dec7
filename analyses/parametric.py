"""Intervals and power from a distribution: Student's t, Wilson's score, the noncentral t."""

from __future__ import annotations

import math

from scipy import optimize, stats

from analyses.samples import Sample

#: Above this many degrees of freedom the t distribution is taken as normal.
_NORMAL_FROM = 100_000


def t_interval(sample: Sample, level: float) -> tuple[float, float] | None:
    """Student's interval of the mean; None below two values or where all are equal."""
    if sample.n < 2 or sample.is_constant:
        return None
    mean = float(sample.mean)
    half = float(stats.t.isf((1 - level) / 2, sample.n - 1)) * math.sqrt(sample.variance / sample.n)
    return mean - half, mean + half


def wilson_interval(n_hits: int, n: int, level: float) -> tuple[float, float]:
    """Wilson's score interval of a share (Wilson 1927), defined for 0 and 1 too. n is at least 1."""
    z2 = float(stats.norm.isf((1 - level) / 2)) ** 2
    centre = (n_hits + z2 / 2) / (n + z2)
    half = math.sqrt(z2 * n_hits * (n - n_hits) / n + z2 * z2 / 4) / (n + z2)
    low = 0.0 if n_hits == 0 else max(centre - half, 0.0)
    high = 1.0 if n_hits == n else min(centre + half, 1.0)
    return low, high


def detectable_difference(differences: Sample, alpha: float, power: float = 0.8) -> float | None:
    """The mean difference that a two-sided paired t-test at ``alpha`` finds with ``power``.

    Takes the observed standard deviation and as many pairs. None below two pairs or where all are equal.
    """
    n = differences.n
    if n < 2 or differences.is_constant:
        return None
    freedom = n - 1
    critical = float(stats.t.isf(alpha / 2, freedom))

    def missing(shift: float) -> float:
        if freedom > _NORMAL_FROM:
            found = stats.norm.sf(critical - shift) + stats.norm.cdf(-critical - shift)
        else:
            # scipy has no number for the far side once it is below 1e-5: it is nothing then.
            far = float(stats.nct.cdf(-critical, freedom, shift))
            found = stats.nct.sf(critical, freedom, shift) + (0.0 if math.isnan(far) else far)
        return float(found) - power

    upper = critical + 1
    while missing(upper) < 0:
        upper *= 2
    shift = float(optimize.brentq(missing, 0.0, upper, xtol=1e-12))
    return shift * math.sqrt(differences.variance / n)

"""Speed of the exact permutation test beside scipy's sampled one, and of the interval, in one run.

python benchmarks/significance.py
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from analyses.bootstrap import bca_interval
from analyses.samples import sample_of_units
from analyses.significance import sign_flip_test


def timed(run: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The shortest of ``repeats`` wall times in seconds, and the last result."""
    best, result = math.inf, None
    for _ in range(repeats):
        started = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - started)
    return best, result


def main() -> None:
    """Print a line for each size."""
    for n in (1_000, 10_000, 100_000):
        units = np.random.default_rng(n).integers(-60, 62, n)
        ours, flip = timed(lambda units=units: sign_flip_test(sample_of_units(units, 60), "speed"), 3)
        print(f"{n:,} pairs of sixtieths: exact p {flip.p:.6g} in {ours:.3f} s")
        if n <= 10_000:
            theirs, result = timed(
                lambda units=units: stats.permutation_test(
                    (units / 60,),
                    np.mean,
                    permutation_type="samples",
                    vectorized=True,
                    n_resamples=9999,
                    rng=1,
                )
            )
            print(f"  scipy.stats.permutation_test, 9,999 resamples: p {result.pvalue:.6g} in {theirs:.2f} s")
            print(f"  ratio {theirs / ours:,.0f}")
            theirs, result = timed(
                lambda units=units: stats.bootstrap(
                    (units / 60,), np.mean, method="BCa", n_resamples=9999, batch=1000, rng=1
                )
            )
            ours, interval = timed(
                lambda units=units: bca_interval(sample_of_units(units, 60), 0.95, "speed")
            )
            low, high = result.confidence_interval
            print(f"  BCa {interval.low:.4f} to {interval.high:.4f} in {ours:.3f} s")
            print(f"  scipy.stats.bootstrap {low:.4f} to {high:.4f} in {theirs:.2f} s")
            print(f"  ratio {theirs / ours:,.1f}")


if __name__ == "__main__":
    main()

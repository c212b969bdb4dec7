"""The permutation test and the t-test, against enumeration with fractions, scipy, and worked values."""

from __future__ import annotations

import math
import random
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analyses import significance
from analyses.samples import Sample, common_units, sample_of, sample_of_units
from analyses.significance import SMALLEST, sign_flip_test, smallest_p, t_test_p
from analyses.tails import count_by_halves, count_dense, tilted_tail

AGENT = [Fraction(n, 3) for n in (3, 2, 2, 1, 1, -1, -1, -1, -1)] + [Fraction(0)] * 21


def enumerated(differences: list[Fraction]) -> Fraction:
    """p from its definition: every way to flip the signs, in fractions."""
    observed = abs(sum(differences))
    hits = sum(
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed
        for signs in product((1, -1), repeat=len(differences))
    )
    return Fraction(hits, 2 ** len(differences))


def counted(values: list[int], counts: list[int], x: int) -> Fraction:
    """P(X <= x) from big integers: the polynomial's coefficients, packed into one number."""
    n = sum(counts)
    packed = 1
    for value, count in zip(values, counts, strict=True):
        for _ in range(count):
            packed += packed << ((n + 1) * value)
    mask = (1 << (n + 1)) - 1
    return Fraction(sum((packed >> ((n + 1) * i)) & mask for i in range(x + 1)), 2**n)


def test_worked_values() -> None:
    assert sign_flip_test(sample_of(AGENT), "agent").p == 218 / 512
    tenths = [Fraction(n, 10) for n in (1, 1, 1, -3, 2, 0, 0)]
    assert sign_flip_test(sample_of(tenths), "tenths").p == 104 / 128
    assert t_test_p(sample_of(AGENT)) == pytest.approx(0.305, abs=5e-4)


def test_degenerate_differences() -> None:
    twenty = sample_of([Fraction(1, 10)] * 20)
    assert sign_flip_test(twenty, "d").p == 2 / 2**20
    assert t_test_p(twenty) is None
    nothing = sample_of([0] * 20)
    flip = sign_flip_test(nothing, "d")
    assert (flip.p, flip.smallest_p, flip.method) == (1.0, 1.0, "exact")
    assert t_test_p(nothing) is None
    assert t_test_p(sample_of([1])) is None


@pytest.mark.parametrize(("n", "p"), [(5, 0.0625), (6, 0.03125)])
def test_few_positive_pairs(n: int, p: float) -> None:
    flip = sign_flip_test(sample_of([Fraction(1, 3)] * n), "few")
    assert flip.p == flip.smallest_p == p


def test_without_pairs_there_is_no_test() -> None:
    with pytest.raises(ValueError, match="no pairs"):
        sign_flip_test(sample_of([]), "none")


fractions = st.builds(Fraction, st.integers(-30, 30), st.sampled_from([1, 2, 3, 5, 7, 11, 60, 77]))


@settings(deadline=None, max_examples=60)
@given(st.lists(fractions, min_size=1, max_size=11))
def test_equals_enumeration(differences: list[Fraction]) -> None:
    flip = sign_flip_test(sample_of(differences), "any")
    assert flip.method == "exact"
    assert flip.p == float(enumerated(differences))


@settings(deadline=None, max_examples=40)
@given(st.lists(fractions, min_size=1, max_size=120), st.randoms(use_true_random=False), st.integers(0, 9))
def test_signs_order_and_zeros_change_nothing(
    differences: list[Fraction], rng: random.Random, n_zeros: int
) -> None:
    before = sign_flip_test(sample_of(differences), "any")
    changed = [-d for d in differences] + [Fraction(0)] * n_zeros
    rng.shuffle(changed)
    assert sign_flip_test(sample_of(changed), "any") == before
    doubles = sample_of([float(d) for d in differences])
    sampled = sign_flip_test(doubles, "any", draws=99)
    shuffled = [float(d) for d in differences]
    rng.shuffle(shuffled)
    assert sign_flip_test(sample_of(shuffled), "any", draws=99) == sampled
    assert 0 < before.p <= 1 and before.p >= before.smallest_p * (1 - 1e-9)


def small_sums(n: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    pairs = st.tuples(st.integers(1, 40), st.integers(1, n))
    return st.lists(pairs, min_size=1, max_size=4, unique_by=lambda p: p[0])


@settings(deadline=None, max_examples=40)
@given(small_sums(9), st.floats(0, 1))
def test_three_ways_to_the_same_tail(groups: list[tuple[int, int]], share: float) -> None:
    values, counts = [v for v, _ in groups], [c for _, c in groups]
    x = max(1, int(share * sum(v * c for v, c in groups) / 2))
    right = counted(values, counts, x)
    assert count_dense(values, counts, x) == right * 2 ** sum(counts)
    assert count_by_halves(values, counts, x) == right * 2 ** sum(counts)
    if x >= min(values) and 2 * x <= sum(v * c for v, c in groups):
        assert math.exp(tilted_tail(values, counts, x)) == pytest.approx(float(right), rel=1e-11)


@pytest.mark.parametrize("x", [1, 2, 5, 50, 200, 500, 548, 550])
def test_the_tail_keeps_its_relative_precision(x: int) -> None:
    """Down to 1e-88, where an untilted convolution by FFT has nothing left."""
    right = counted([1, 3, 7], [100, 100, 100], x)
    logarithm = math.log(right.numerator) - math.log(right.denominator)
    assert tilted_tail([1, 3, 7], [100, 100, 100], x) == pytest.approx(logarithm, abs=1e-11)


def test_sums_beyond_int64() -> None:
    """Denominators whose common multiple has some 40 digits."""
    primes = [101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191]
    differences = [Fraction((-1) ** (p % 4 // 2) * (p % 7 + 1), p) for p in primes[:13]]
    flip = sign_flip_test(sample_of(differences), "primes")
    assert (flip.method, flip.p) == ("exact", float(enumerated(differences)))


def test_too_fine_a_denominator_is_sampled_with_exact_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    primes = [p for p in range(100, 700) if all(p % d for d in range(2, 27))]
    # Pairs of opposite differences: the sum is 0, and every |sum| reaches it. Doubles would miss some.
    differences = [Fraction(s, p) for p in primes for s in (1, -1)]
    flip = sign_flip_test(sample_of(differences), "primes", draws=499)
    assert flip.p == 1.0
    shifted = [Fraction(1 + (p % 5), p) for p in primes]
    flip = sign_flip_test(sample_of([*shifted[:40], *(-s for s in shifted[40:])]), "primes", draws=499)
    assert (flip.method, flip.n_draws) == ("sampled", 499)
    # The agent's differences, with many ties: sampled and exact agree within 5 standard errors.
    monkeypatch.setattr(significance, "_exact", lambda *_: None)
    flip = sign_flip_test(sample_of(AGENT), "agent", draws=9999)
    assert flip.method == "sampled"
    assert abs(flip.p - 218 / 512) < 5 * math.sqrt(0.25 / 9999)


def test_doubles_are_sampled_and_ties_are_ties() -> None:
    tenths = [0.1, 0.1, 0.1, -0.3, 0.2, 0.0, 0.0]
    flip = sign_flip_test(sample_of(tenths), "tenths")
    assert (flip.method, flip.n_draws) == ("sampled", 9999)
    # Sums of doubles miss the ties and say .56.
    assert abs(flip.p - 104 / 128) < 5 * math.sqrt(0.25 / 9999)
    thirds = sign_flip_test(sample_of([1 / 3, 1 / 3, 1 / 3, -1.0, 2 / 3]), "thirds")
    right = enumerated([Fraction(n, 3) for n in (1, 1, 1, -3, 2)])
    assert abs(thirds.p - right) < 5 * math.sqrt(0.25 / 9999)


def test_sampled_p_depends_on_the_name_alone_and_is_never_0() -> None:
    values = np.random.default_rng(7).normal(1, 0.1, 300).tolist()
    flip = sign_flip_test(sample_of(values), "a", draws=999)
    assert flip.p == 1 / 1000
    near = np.random.default_rng(8).normal(0.05, 1, 300).tolist()
    a, b = (sign_flip_test(sample_of(near), name, draws=999).p for name in "ab")
    assert a == sign_flip_test(sample_of(near), "a", draws=999).p
    assert a != b


def test_sampling_in_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = sample_of(np.random.default_rng(9).normal(0.1, 1, 500).tolist())
    whole = sign_flip_test(values, "blocks", draws=999)
    monkeypatch.setattr(significance, "_TABLE_BYTES", 4096)
    assert sign_flip_test(values, "blocks", draws=999) == whole


def test_a_p_too_small_for_a_double_is_a_bound() -> None:
    flip = sign_flip_test(sample_of([Fraction(1, 3)] * 2000), "bound")
    assert (flip.p, flip.is_bound, flip.method) == (SMALLEST, True, "exact")
    mixed = sign_flip_test(sample_of([Fraction(1, 3)] * 2000 + [Fraction(1, 2)] * 2000 + [Fraction(-1)]), "b")
    assert (mixed.p, mixed.is_bound) == (SMALLEST, True)
    assert smallest_p(5000) == SMALLEST == sys.float_info.min
    assert not sign_flip_test(sample_of([Fraction(1, 3)] * 1000), "no bound").is_bound


def test_agrees_with_scipy() -> None:
    rng = np.random.default_rng(3)
    units = rng.integers(-6, 8, 11)
    theirs = stats.permutation_test(
        (units / 4.0,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    assert sign_flip_test(sample_of_units(units, 4), "scipy").p == theirs.pvalue


@pytest.mark.parametrize("n", [2, 3, 30, 500])
def test_t_test_agrees_with_scipy(n: int) -> None:
    units = np.random.default_rng(n).integers(-60, 70, n)
    theirs = stats.ttest_1samp(units / 60, 0).pvalue
    assert t_test_p(sample_of_units(units, 60)) == pytest.approx(theirs, rel=1e-9)


def test_common_units_keep_what_int64_cannot() -> None:
    numerators, denominators = np.array([1, -2, 5]), np.array([10**10 + 19, 10**9 + 7, 3])
    units, common = common_units(numerators, denominators)
    assert [Fraction(int(u), common) for u in units] == [
        Fraction(int(n), int(d)) for n, d in zip(numerators, denominators, strict=True)
    ]
    with pytest.raises(ValueError, match="not positive"):
        common_units(np.array([1]), np.array([0]))


def test_a_sample_is_reduced_and_ordered() -> None:
    sample = sample_of_units(np.array([4, 2, 2, 0]), 6)
    assert sample == Sample((0, 1, 2), (1, 2, 1), 3)
    assert (sample.n, sample.mean, sample.variance) == (4, Fraction(1, 3), Fraction(2, 27))

"""From both sides' values to a comparison's row."""

from __future__ import annotations

import random
from fractions import Fraction

import duckdb
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyses.comparisons import COLUMNS, comparison_tests
from analyses.frames import read_frame, write_frame

VALUE_COLUMNS = {
    "comparison_id": "string",
    "side": "string",
    "query_id": "string",
    "trial": "bigint",
    "numerator": "bigint",
    "denominator": "bigint",
    "value": "double",
    "is_missing": "boolean",
    "is_broken": "boolean",
}


def value(side: str, query: int, fraction: Fraction | float | None, trial: int = 1, **more: object) -> dict:
    whole = isinstance(fraction, Fraction)
    return {
        "comparison_id": "c",
        "side": side,
        "query_id": str(query),
        "trial": trial,
        "numerator": fraction.numerator if isinstance(fraction, Fraction) else None,
        "denominator": fraction.denominator if whole else None,
        "value": None if fraction is None else float(fraction),
        "is_missing": False,
        "is_broken": False,
        **more,
    }


def result_of(rows: list[dict], threshold: float = 0.05, seed: int = 0) -> pd.Series:
    random.Random(seed).shuffle(rows)
    planned = pd.DataFrame({"comparison_id": ["c", "without values"], "threshold": [threshold, 0.05]})
    result = comparison_tests(planned, write_frame(rows, VALUE_COLUMNS), draws=999)
    assert list(result["comparison_id"]) == ["c"]
    return result.iloc[0]


def pairs(differences: list[Fraction]) -> list[dict]:
    return [
        row
        for query, d in enumerate(differences)
        for row in (
            value("candidate", query, max(d, Fraction(0))),
            value("baseline", query, max(-d, Fraction(0))),
        )
    ]


def test_the_agents_picks() -> None:
    """Worked: mean .056, 5-4-21, p 218/512, t-test .305; the chapter prints the interval -.033 to .209."""
    differences = [Fraction(n, 3) for n in (3, 2, 2, 1, 1, -1, -1, -1, -1)] + [Fraction(0)] * 21
    row = result_of(pairs(differences), threshold=0.025)
    assert row["mean_difference"] == float(Fraction(1, 18))
    assert (row["wins"], row["losses"], row["ties"], row["n_pairs"]) == (5, 4, 21, 30)
    assert (row["p_value"], row["p_method"]) == (218 / 512, "exact")
    assert row["smallest_p"] == 2 / 2**9
    assert row["t_test_p"] == pytest.approx(0.305, abs=5e-4)
    assert row["interval_level"] == 0.975
    assert row["interval_low"] == pytest.approx(-0.033, abs=0.02)
    assert row["interval_high"] == pytest.approx(0.209, abs=0.02)


def test_incomplete_pairs_are_counted_and_left_out() -> None:
    half, one, nothing = Fraction(1, 2), Fraction(1), Fraction(0)
    rows = [
        *(value(s, 1, v) for s, v in (("candidate", one), ("baseline", half))),
        *(value(s, 2, v) for s, v in (("candidate", one), ("baseline", half))),
        value("candidate", 3, nothing, is_missing=True),
        value("baseline", 3, one),
        value("candidate", 4, one),
        value("baseline", 4, nothing, is_broken=True),
        value("candidate", 5, None),
        value("baseline", 5, one),
        # One side only: the other is missing, whatever the frame says.
        value("candidate", 6, one),
        # Missing is more than undefined.
        value("candidate", 7, None, is_missing=True),
        value("baseline", 7, None),
    ]
    row = result_of(rows)
    counts = [row[c] for c in ("n_queries", "n_pairs", "n_missing", "n_broken", "n_undefined")]
    assert counts == [7, 2, 3, 1, 1]
    assert row["mean_difference"] == 0.5


def test_a_querys_value_is_its_mean_over_the_trials_where_it_is_defined() -> None:
    rows = [
        value("candidate", 1, Fraction(1, 2), 1),
        value("candidate", 1, Fraction(1, 3), 2),
        value("candidate", 1, None, 3),
        value("baseline", 1, Fraction(5, 12)),
        value("candidate", 2, Fraction(1), 1),
        value("candidate", 2, Fraction(1, 7), 2),
        value("candidate", 2, Fraction(1, 7), 3),
        value("baseline", 2, Fraction(0)),
    ]
    row = result_of(rows)
    # 5/12 = 5/12 is a tie, and 9/21 is the only difference.
    assert (row["wins"], row["losses"], row["ties"]) == (1, 0, 1)
    assert row["mean_difference"] == float(Fraction(9, 42))


def test_degenerate_says_so() -> None:
    row = result_of(pairs([Fraction(1, 10)] * 20))
    assert row["p_value"] == 2 / 2**20
    assert (row["interval_low"], row["interval_high"]) == (0.1, 0.1)
    assert pd.isna(row["t_test_p"]) and pd.isna(row["detectable_difference"])
    assert row["t_test_degenerate_reason"] == row["interval_degenerate_reason"] == "all differences are equal"
    assert result_of(pairs([Fraction(0)] * 20))["p_value"] == 1.0


def test_no_pairs_have_no_p() -> None:
    row = result_of([value("candidate", 1, None), value("baseline", 1, Fraction(1))])
    assert (row["n_pairs"], row["n_undefined"], row["smallest_p"]) == (0, 1, 1.0)
    assert pd.isna(row["p_value"]) and pd.isna(row["mean_difference"])


def test_doubles_are_compared_to_12_decimals() -> None:
    rows = [
        *(value(s, 1, v) for s, v in (("candidate", 0.1 + 0.2), ("baseline", 0.3))),
        *(value(s, 2, v) for s, v in (("candidate", 0.75), ("baseline", 0.25))),
        # One side's fraction beside a double is read as a double.
        *(value(s, 3, v) for s, v in (("candidate", Fraction(1)), ("baseline", 0.25))),
    ]
    row = result_of(rows)
    assert (row["wins"], row["ties"], row["p_method"], row["n_draws"]) == (2, 1, "sampled", 999)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.fractions(-1, 1, max_denominator=11), min_size=1, max_size=25), st.integers(1, 99))
def test_the_order_of_rows_changes_no_bit(differences: list[Fraction], seed: int) -> None:
    pd.testing.assert_series_equal(
        result_of(pairs(differences)), result_of(pairs(differences), seed=seed), check_exact=True
    )


def test_duckdb_keeps_integers_and_types() -> None:
    """Integers beside nulls stay integers on the way in; empty columns keep their types on the way out."""
    frame = read_frame(
        duckdb.sql("select * from (values (9007199254740993, 'a', true), (null, null, null)) t(i, s, b)")
    )
    assert frame["i"].tolist() == [9007199254740993, pd.NA]
    assert frame["s"].tolist() == ["a", None] and frame["b"].isna().tolist() == [False, True]
    empty = comparison_tests(
        pd.DataFrame({"comparison_id": [], "threshold": []}), write_frame([], VALUE_COLUMNS)
    )
    described = duckdb.sql("describe select * from empty").fetchall()
    kinds = {"VARCHAR": "string", "BIGINT": "bigint", "DOUBLE": "double", "BOOLEAN": "boolean"}
    assert {name: kinds[kind] for name, kind, *_ in described} == COLUMNS
    assert len(empty) == 0

"""The discount's literals against the definition, and the two ways to make a double of a decimal."""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext

import duckdb
from conftest import PROJECT


def literals() -> list[str]:
    return re.findall(r"'(\d\.\d+)'", (PROJECT / "macros" / "assay_discounts.sql").read_text())


def test_every_literal_is_the_discount_to_17_places() -> None:
    found = literals()
    assert len(found) == 1000
    with localcontext() as context:
        context.prec = 60
        for rank, literal in enumerate(found, start=1):
            right = Decimal(2).ln() / Decimal(rank + 1).ln()
            assert abs(Decimal(literal) - right) <= Decimal("0.5e-17")
            assert len(literal) == 19
            assert math.isclose(float(literal), 1 / math.log2(rank + 1), rel_tol=1e-15)


def test_a_decimal_becomes_the_same_double_written_out() -> None:
    found = literals()
    with duckdb.connect() as con:
        for grades in ([2], [1, 0, 3], [5, 4, 3, 2, 1] * 8, [100] * 300, list(range(90))):
            terms = " + ".join(
                f"cast(cast({g} as decimal(19, 0)) * {d}::decimal(18, 17) as decimal(38, 17))"
                for g, d in zip(grades, found, strict=False)
            )
            row = con.execute(
                f"with s as (select {terms} as d) select cast(d as double), cast(floor(d) as double) "
                "+ cast(cast((d - floor(d)) * 100000000000000000 as bigint) as double) / 100000000000000000 "
                "from s"
            ).fetchone()
            assert row is not None
            assert row[0] == row[1] > 0

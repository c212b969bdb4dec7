"""Judging the facts with Great Expectations: every fact is known, and none exceeds what is allowed.

The suite is stated over a frame with a row a fact (``fact``, ``observed``, ``allowed``), so that what it costs doesn't grow with
the recording.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any

from ingest.checks.facts import Fact


@functools.cache
def _batch_and_suite() -> tuple[Any, Any]:
    """The batch definition and the suite, made once a process. Great Expectations takes seconds to import."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx

    gxe: Any = importlib.import_module("great_expectations.expectations")
    context: Any = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}
    asset = context.data_sources.add_pandas("load").add_dataframe_asset("facts")
    suite = gx.ExpectationSuite(
        name="what a load must be",
        expectations=[
            gxe.ExpectColumnValuesToBeUnique(column="fact"),
            gxe.ExpectColumnValuesToNotBeNull(column="observed"),
            gxe.ExpectColumnValuesToBeBetween(column="observed", min_value=0),
            gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                column_A="allowed", column_B="observed", or_equal=True, ignore_row_if="neither"
            ),
        ],
    )
    return asset.add_batch_definition_whole_dataframe("all"), context.suites.add(suite)


def failed(facts: list[Fact]) -> set[int]:
    """The places in the list of the facts that don't hold."""
    if not facts:
        return set()
    import pandas as pd

    definition, suite = _batch_and_suite()
    frame = pd.DataFrame(
        {
            "fact": [f"{number} {fact.check} of {fact.subject}" for number, fact in enumerate(facts)],
            "observed": [fact.observed for fact in facts],
            "allowed": [fact.allowed for fact in facts],
        }
    )
    batch = definition.get_batch(batch_parameters={"dataframe": frame})
    found: set[int] = set()
    for result in batch.validate(suite, result_format="COMPLETE").results:
        if result.exception_info and result.exception_info.get("raised_exception"):
            raise RuntimeError(
                f"Great Expectations could not judge: {result.exception_info.get('exception_message')}"
            )
        places = result.result.get("unexpected_index_list") or []
        found |= {int(place) for place in places}
        if not result.success and not places:
            raise RuntimeError(
                f"Great Expectations failed without naming a fact: {result.expectation_config}"
            )
    return found

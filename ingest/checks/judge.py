"""Judging the facts with Great Expectations: a suite a raw table, in which no fact exceeds what is allowed.

A suite is stated over a frame with a row a fact (``fact``, ``observed``, ``allowed``), so that what it costs doesn't grow with the
recording. Which facts a table has, the contract says.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any

from ingest.checks.facts import Fact


@functools.cache
def _context() -> tuple[Any, Any]:
    """The context and the batch definition, made once a process. Great Expectations takes seconds to import."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx

    context: Any = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}
    asset = context.data_sources.add_pandas("load").add_dataframe_asset("facts")
    return context, asset.add_batch_definition_whole_dataframe("all")


@functools.cache
def _suite(subject: str) -> Any:
    """The suite of one raw table, or of what else facts are about."""
    import great_expectations as gx

    gxe: Any = importlib.import_module("great_expectations.expectations")
    allowed = gxe.ExpectColumnPairValuesAToBeGreaterThanB(
        column_A="allowed", column_B="observed", or_equal=True, ignore_row_if="neither"
    )
    return _context()[0].suites.add(gx.ExpectationSuite(name=subject, expectations=[allowed]))


def failed(facts: list[Fact]) -> set[int]:
    """The places in the list of the facts that don't hold."""
    if not facts:
        return set()
    import pandas as pd

    found: set[int] = set()
    for subject in dict.fromkeys(fact.subject for fact in facts):
        places = [place for place, fact in enumerate(facts) if fact.subject == subject]
        frame = pd.DataFrame(
            {
                "fact": [facts[place].check for place in places],
                "observed": [facts[place].observed for place in places],
                "allowed": [facts[place].allowed for place in places],
            }
        )
        batch = _context()[1].get_batch(batch_parameters={"dataframe": frame})
        [result] = batch.validate(_suite(subject), result_format="COMPLETE").results
        if result.exception_info and result.exception_info.get("raised_exception"):
            raise RuntimeError(
                f"Great Expectations could not judge: {result.exception_info.get('exception_message')}"
            )
        wrong = result.result.get("unexpected_index_list") or []
        if bool(wrong) == bool(result.success):
            raise RuntimeError(
                f"Great Expectations failed without naming a fact: {result.expectation_config}"
            )
        found |= {places[int(row)] for row in wrong}
    return found

"""Comparisons in words: what is held against what, and what it shows."""

from __future__ import annotations

from typing import Any

import duckdb

from analyses.report.blocks import number


def named(measure: str, k: int | None) -> str:
    """A measure in words."""
    return measure.replace("_", " ") + ("" if k is None else f" at {k}")


def anchor(con: duckdb.DuckDBPyConnection, comparison: str) -> str:
    """A comparison's place in the page: its number among all, since its name may hold anything."""
    row = con.execute(
        "select count(*) from assay_comparisons where comparison_id < ?", [comparison]
    ).fetchone()
    return f"comparison-{row[0] + 1 if row else 0}"


def sides(row: dict[str, Any]) -> str:
    """What is held against what."""
    what, other = named(row["measure"], row["k"]), named(row["baseline_measure"], row["baseline_k"])
    one, base = row["retriever"], row["baseline_retriever"]
    if row["recording_id"] != row["baseline_recording_id"]:
        one, base = f"{one} of {row['recording_id']}", f"{base} of {row['baseline_recording_id']}"
    if what == other:
        return f"{one} over {base}, {what}"
    return f"{what} over {other}, {one}" if one == base else f"{what} of {one} over {other} of {base}"


def verdict(row: dict[str, Any]) -> str:
    """The verdict in words, with what these pairs could have shown where nothing is established."""
    said = str(row["verdict"])
    if row["reason"] and row["status"] in ("exploratory", "incomplete", "refused", "cannot reach"):
        said += f" ({row['reason']})"
    detectable = row["detectable_difference"]
    if row["status"] in ("not established", "cannot reach") and detectable:
        said += f". With 80% power, these {row['n_pairs']:,} pairs could not have shown a difference under {number(detectable)}"
    return said[:1].upper() + said[1:] + "."

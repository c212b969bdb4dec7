"""Comparing what two warehouses hold, whatever format it was read from."""

from __future__ import annotations

from conftest import Warehouse

from ingest.contract import TABLES

#: What may differ between two formats that say the same: where it came from, not what it says.
_ABOUT_THE_SOURCE = {
    "line", "load_number", "digest", "manifest", "description", "n_lines", "n_loaded", "n_quarantined", "is_pinned",
    "source", "licence", "asked", "extra", "collection_digest",
}  # fmt: skip
_LOGS = {"loads", "checks", "quarantine", "recording_settings"}


def differences(
    one: Warehouse, other: Warehouse, besides: frozenset[str] = frozenset()
) -> dict[str, list[object]]:
    """For each raw table that differs, up to five rows that only one of the two has; `besides` are more columns to pass over."""
    found: dict[str, list[object]] = {}
    for table in TABLES.values():
        if table.name in _LOGS:
            continue
        columns = [c.name for c in table.columns if c.name not in _ABOUT_THE_SOURCE | besides]
        select = f"select {', '.join(columns)} from assay_raw.{table.name} order by all"
        a, b = one.rows(select), other.rows(select)
        if a != b:
            found[table.name] = [*sorted(set(map(repr, a)) ^ set(map(repr, b)))[:5], len(a), len(b)]
    return found

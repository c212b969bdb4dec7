"""The docs say what the code does: made pages are current, and the tests that they name are there."""

from __future__ import annotations

import re

import pytest
from conftest import PROJECT

from ingest.reference import PAGES


@pytest.mark.parametrize("name", PAGES)
def test_made_pages_are_current(name: str) -> None:
    assert (PROJECT / "docs" / name).read_text(encoding="utf-8") == PAGES[name](), (
        "run python -m ingest.reference"
    )


def test_every_fault_is_backed_by_a_test() -> None:
    rows = [r for r in (PROJECT / "docs" / "faults.md").read_text().splitlines() if r.startswith("|")][2:]
    assert len(rows) > 20
    for row in rows:
        named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", row)
        assert named, row
        for file, test in named:
            assert f"def {test}(" in (PROJECT / "tests" / "python" / file).read_text(), (file, test)

"""Writing what is loaded in the field's own formats, one module each, found by looking into this folder.

A module has ``NAME``, ``SUMMARY`` and ``export(con, what, folder)``, which writes files and returns a sentence for each. So anyone can
re-check our figures with trec_eval, ranx or Ragas.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

import duckdb

from ingest.errors import BadInput
from ingest.exports.base import What


class Export(Protocol):
    """What an export's module holds."""

    NAME: str
    SUMMARY: str
    export: Callable[[duckdb.DuckDBPyConnection, What, Path], list[str]]


def exports() -> dict[str, Export]:
    """Every format that can be written, by its name."""
    found: dict[str, Export] = {}
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        if hasattr(loaded, "export"):
            found[loaded.NAME] = cast(Export, loaded)
    return dict(sorted(found.items()))


def export(con: duckdb.DuckDBPyConnection, name: str, what: What, folder: Path) -> list[str]:
    """Write a format's files into a folder, which must be empty or not be there. Raises BadInput."""
    known = exports()
    if name not in known:
        raise BadInput(f"{name!r} can't be written. These can: {', '.join(known)}.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder}: something stands here already. Name an empty folder, or a new one.")
    folder.mkdir(parents=True, exist_ok=True)
    return known[name].export(con, what, folder)

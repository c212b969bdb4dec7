"""Retrievers: each reads a loaded collection and chooses documents for queries; one module each, found in this folder.

A retriever's module has ``NAME``, ``SUMMARY`` (one line), ``HAS_SCORES``, ``add_arguments(parser)`` and ``retrieve(job)``. One that
takes its queries from elsewhere than the collection has ``asked(job)`` too, and one whose recordings are named
otherwise ``label(job)``. See `ingest.retrieve.base` for what they are given and what they give.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Callable
from typing import Protocol, cast

from ingest.retrieve.base import Job, Retrieved


class Retriever(Protocol):
    """What a retriever's module holds."""

    NAME: str
    SUMMARY: str
    #: Whether its lists are ranked by scores, and so kept deeper than k to show the ties.
    HAS_SCORES: bool
    #: Options of its own, added to those that all retrievers share.
    add_arguments: Callable[[argparse.ArgumentParser], None]
    #: Choose documents for the job's queries; raises BadInput and CannotRun.
    retrieve: Callable[[Job], Retrieved]


def retrievers() -> dict[str, Retriever]:
    """Every retriever by its name, in order."""
    found: dict[str, Retriever] = {}
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        if hasattr(loaded, "retrieve") and hasattr(loaded, "NAME"):
            found[loaded.NAME] = cast(Retriever, loaded)
    return dict(sorted(found.items()))

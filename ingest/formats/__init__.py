"""The formats that can be read, one module each, found by looking into this folder.

A format's module has ``NAME``, ``SUMMARY`` (one line), ``recognise(path)`` and ``find(path, options)``; its docstring is
its page in the docs. See `ingest.formats.base` for what they give.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

from ingest.errors import BadInput
from ingest.formats.base import Found, Options


class Format(Protocol):
    """What a format's module holds."""

    NAME: str
    SUMMARY: str
    __doc__: str | None
    #: Whether a path is of this format, by its name and its first bytes alone.
    recognise: Callable[[Path], bool]
    #: Every collection and recording that the path holds; raises BadInput.
    find: Callable[[Path, Options], list[Found]]


def formats() -> dict[str, Format]:
    """Every format by its name, in order; ``native`` first."""
    found: dict[str, Format] = {}
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        if hasattr(loaded, "recognise"):
            found[loaded.NAME] = cast(Format, loaded)
    return dict(sorted(found.items(), key=lambda item: (item[0] != "native", item[0])))


def format_of(path: Path, name: str | None) -> Format | None:
    """The format of a path: the one that is named, else the one that recognises it, else None.

    Raises BadInput where the name is none, and where two formats recognise the path.
    """
    known = formats()
    if name is not None:
        if name not in known:
            raise BadInput(f"{name!r} is not a format. `python -m ingest formats` lists them.")
        return known[name]
    fitting = [one for one in known.values() if one.recognise(path)]
    if len(fitting) > 1 and fitting[0].NAME != "native":
        names = " and ".join(one.NAME for one in fitting)
        raise BadInput(f"{path}: this could be {names}. Say which with --format.")
    return fitting[0] if fitting else None

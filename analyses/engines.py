"""Two engines' tables held against each other: the same columns, and the same rows to the last bit.

A build on another engine is right only where it says the same. So a double is compared by its 64 bits, not by its digits, a whole
number isn't a double, and a row that stands twice must stand twice.
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: What engines call one type.
_SAME = {"varchar": "string", "long": "bigint", "int": "integer"}

#: Rows that are shown of each side.
_SHOWN = 3


@dataclass(frozen=True)
class Table:
    """A table as read: its columns, name to type in order, and its rows."""

    columns: Mapping[str, str]
    rows: Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Model:
    """A model of the manifest that is compared: where it stands."""

    schema: str
    name: str


def models_of(manifest: Path, layers: Iterable[str] = ("facts", "marts")) -> list[Model]:
    """The models of these layers (folders) in dbt's manifest.json, by name. Raises OSError or ValueError."""
    nodes = json.loads(manifest.read_text(encoding="utf-8"))["nodes"].values()
    wanted = set(layers)
    found = (n for n in nodes if n["resource_type"] == "model" and wanted & set(n["fqn"][1:-1]))
    return sorted((Model(n["schema"], n["alias"]) for n in found), key=lambda m: m.name)


def exact(value: Any) -> Any:
    """A value as something that is equal just where kind and bits are."""
    if isinstance(value, bool) or value is None:
        return value if value is None else ("boolean", value)
    if isinstance(value, float):
        return ("double", struct.pack(">d", value).hex())
    return (type(value).__name__, value)


def differences(one: Table, other: Table) -> list[str]:
    """What differs between two tables, a line each; empty where nothing does. Rows may stand in any order."""
    if list(one.columns) != list(other.columns):
        return [f"columns: {', '.join(one.columns)} against {', '.join(other.columns)}"]
    types = [
        f"column {name} is {kind} against {other.columns[name]}"
        for name, kind in one.columns.items()
        if _plain(kind) != _plain(other.columns[name])
    ]
    if types:
        return types
    counts = Counter(tuple(map(exact, row)) for row in one.rows)
    counts.subtract(Counter(tuple(map(exact, row)) for row in other.rows))
    here = sorted((row for row, n in counts.items() for _ in range(n)), key=repr)
    there = sorted((row for row, n in counts.items() for _ in range(-n)), key=repr)
    if not here and not there:
        return []
    lines = [
        f"{len(one.rows):,} rows against {len(other.rows):,}; {len(here):,} and {len(there):,} have no equal"
    ]
    lines += [_shown(list(one.columns), a, b) for a, b in zip(here[:_SHOWN], there[:_SHOWN], strict=False)]
    lines += [_alone("the first", row) for row in here[len(there) :][:_SHOWN]]
    lines += [_alone("the second", row) for row in there[len(here) :][:_SHOWN]]
    return lines


def _plain(kind: str) -> str:
    kind = kind.lower()
    return _SAME.get(kind, kind)


def _value(value: Any) -> str:
    if value is None:
        return "null"
    if value[0] == "double":
        return repr(struct.unpack(">d", bytes.fromhex(value[1]))[0])
    return repr(value[1])[:80]


def _shown(names: list[str], one: tuple[Any, ...], other: tuple[Any, ...]) -> str:
    """Two rows that should be one: their first columns, and where they differ."""
    head = ", ".join(_value(v) for v in one[:4])
    changed = [
        f"{n}: {_value(a)} against {_value(b)}" for n, a, b in zip(names, one, other, strict=True) if a != b
    ]
    return f"({head}, …): {'; '.join(changed[:6])}"


def _alone(which: str, row: tuple[Any, ...]) -> str:
    return f"only in {which}: {', '.join(_value(v) for v in row[:8])}, …"

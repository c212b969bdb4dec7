"""A dbt target as a place to read tables from and write them to, for engines that can't run dbt's Python models.

The connection is the one that dbt itself would open for the target, so whatever profiles.yml says of it holds here too.
"""

from __future__ import annotations

import importlib
import math
import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from analyses.frames import TYPES

#: Rows of one insert.
_BATCH = 500


class CannotConnect(Exception):
    """The target can't be used; the message says what to do."""


class Cursor(Protocol):
    """What is needed of a database cursor (PEP 249)."""

    @property
    def description(self) -> Sequence[Sequence[Any]]:
        """The columns of the last query: name, type and on."""

    def execute(self, sql: str) -> Any:
        """Run a statement."""

    def fetchall(self) -> Sequence[Sequence[Any]] | None:
        """The rows of the last query."""


class Handle(Protocol):
    """What is needed of a connection."""

    def cursor(self) -> Cursor:
        """A cursor for one statement."""


class Target:
    """An open target: its schema and a connection."""

    def __init__(self, schema: str, handle: Handle) -> None:
        self.schema = schema
        self._handle = handle

    def run(self, sql: str) -> Cursor:
        """Run one statement, on a cursor of its own: dbt-spark's keeps the rows of the first."""
        cursor = self._handle.cursor()
        cursor.execute(sql)
        return cursor

    def rows(self, sql: str) -> tuple[dict[str, str], list[tuple[Any, ...]]]:
        """A query's columns, name to type in lower case, and its rows."""
        cursor = self.run(sql)
        types = {str(c[0]): str(c[1]).lower().removesuffix("_type") for c in cursor.description}
        rows = [tuple(row) for row in cursor.fetchall() or ()]
        return types, rows

    def frame(self, sql: str) -> pd.DataFrame:
        """A query as a frame that keeps integers whole and nulls null, as `analyses.frames.read_frame` does."""
        types, rows = self.rows(sql)
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(types)
        kinds = {"int": "bigint"}
        return pd.DataFrame(
            {
                name: pd.Series(
                    np.array(values, dtype=object),
                    dtype=TYPES.get(kinds.get(kind, kind), object) if kind != "string" else object,
                )
                for (name, kind), values in zip(types.items(), columns, strict=True)
            }
        )

    def write(self, name: str, columns: Mapping[str, str], frame: pd.DataFrame) -> None:
        """Put a frame in a table's place. It is written under another name, so a reader sees the old table, the new one or none."""
        table, new = f"{self.schema}.{name}", f"{self.schema}.{name}__new"
        self.run(f"drop table if exists {new}")
        self.run(f"create table {new} ({', '.join(f'{c} {t}' for c, t in columns.items())})")
        rows = (
            frame[list(columns)].astype(object).where(frame[list(columns)].notna(), None).to_numpy().tolist()
        )
        for start in range(0, len(rows), _BATCH):
            values = (
                f"({', '.join(literal(v, t) for v, t in zip(row, columns.values(), strict=True))})"
                for row in rows[start : start + _BATCH]
            )
            self.run(f"insert into {new} values {', '.join(values)}")
        self.run(f"drop table if exists {table}")
        self.run(f"alter table {new} rename to {table}")


def literal(value: Any, kind: str) -> str:
    """A value as a SQL literal of a type; a double keeps every bit. A text is data: nothing in it ends the literal."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return f"cast(null as {kind})"
    if kind == "double":
        return f"cast('{float(value)!r}' as double)"
    if kind == "bigint":
        return f"cast({int(value)} as bigint)"
    if kind == "boolean":
        return "true" if value else "false"
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


def open_target(
    target: str, project: Path = Path(), profiles: Path | None = None, schema: str | None = None
) -> Target:
    """Open a Spark target of the dbt project's profile. Raises CannotConnect.

    `profiles` is the folder of profiles.yml, the project's own where none is given; `schema` is the target's where none is given.
    """
    from dbt.config.runtime import load_profile
    from dbt.flags import set_from_args
    from dbt_common.context import set_invocation_context
    from dbt_common.exceptions import DbtBaseException

    folder = profiles or project
    set_invocation_context(os.environ)
    set_from_args(Namespace(PROFILES_DIR=str(folder), PROJECT_DIR=str(project)), None)
    try:
        credentials = load_profile(str(project), {}, None, target).credentials
        if credentials.type != "spark":
            raise CannotConnect(
                f"the target {target} is of {credentials.type}, where `dbt build` makes these tables itself. Name a Spark target."
            )
        connections = importlib.import_module("dbt.adapters.contracts.connection")
        manager = importlib.import_module("dbt.adapters.spark.connections").SparkConnectionManager
        connection = connections.Connection(
            type="spark", name="analyses", state="init", credentials=credentials
        )
        handle = manager.open(connection).handle
    except DbtBaseException as error:
        raise CannotConnect(
            f"the target {target} can't be opened: {' '.join(str(error).split())[:300]}"
        ) from None
    return Target(schema or str(credentials.schema), handle)

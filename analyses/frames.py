"""Data frames that keep integers whole and nulls null, on the way in and on the way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: What a column of a result may be, as pandas calls it. All of them hold nulls.
TYPES = {"string": "string", "bigint": "Int64", "double": "Float64", "boolean": "boolean"}


def read_frame(relation: Any) -> pd.DataFrame:
    """A DuckDB relation as a frame. ``relation.df()`` would make doubles of integers beside nulls."""
    columns: dict[str, Any] = {}
    for name, values in relation.fetchnumpy().items():
        mask = np.ma.getmaskarray(values)
        data = np.ma.getdata(values)
        if data.dtype.kind in "iu":
            columns[name] = pd.arrays.IntegerArray(data.astype(np.int64), mask.copy())
        elif data.dtype.kind == "b":
            columns[name] = pd.arrays.BooleanArray(data.astype(bool), mask.copy())
        elif data.dtype.kind == "f":
            columns[name] = pd.arrays.FloatingArray(data.astype(np.float64), mask | np.isnan(data))
        else:
            column = np.array(data, dtype=object)
            column[mask] = None
            columns[name] = pd.Series(column, dtype=object)
    return pd.DataFrame(columns)


def write_frame(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> pd.DataFrame:
    """Rows as a frame with just these columns, name to type (one of `TYPES`), typed without rows too."""
    return pd.DataFrame(
        {name: pd.Series([row[name] for row in rows], dtype=TYPES[kind]) for name, kind in columns.items()}
    )


def integers(column: pd.Series) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """A column's integers, 0 where null, and where it is null."""
    null = column.isna().to_numpy(dtype=bool)
    return column.fillna(0).to_numpy(dtype=np.int64), null


def doubles(column: pd.Series) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A column's doubles, 0 where null, and where it is null."""
    null = column.isna().to_numpy(dtype=bool)
    return column.fillna(0.0).to_numpy(dtype=np.float64), null


def flags(column: pd.Series) -> NDArray[np.bool_]:
    """A column's booleans, false where null."""
    return np.asarray(column.astype("boolean").fillna(False), dtype=np.bool_)

"""The Parquet lake: the raw tables as files that many loaders write and one engine builds from.

A load's rows stand in files of their own, one a raw table that has any::

    DIR/<table>/owner=<name>/load_key=n000000000012/rows.parquet

No file is ever changed. A load counts once its file of the table `loads` is there, which is written last, and of an owner (a
collection or a recording) the load with the highest number counts. So a reader sees a load whole or not at all; one that asked
which loads count (the model stg_assay__lake_loads does, once a build) keeps reading those until they are swept, a day after
they were replaced.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import duckdb

from ingest.checks.run import keep_rules
from ingest.checks.settings import Settings, read_settings
from ingest.contract import COLLECTION_TABLES, RAW_SCHEMA, RECORDING_TABLES, TABLES
from ingest.errors import CannotRun
from ingest.formats.base import Found
from ingest.load import Loaded, load
from ingest.sqltext import create_macros, literal
from ingest.warehouse import limits

#: How long replaced rows are kept for who is reading them, in seconds.
KEPT = 24 * 60 * 60.0

#: Where a table's empty file stands, so that a table without rows has its columns.
_NOBODY = "owner=nobody/load_key=none"

#: The tables with one row an owner, which every load is held against.
_HEADS = {"collections": "collection", "recordings": "recording"}


class Lake:
    """A folder of raw tables in Parquet. Loaders on many machines may write to it at once, over a shared file system."""

    def __init__(self, folder: Path) -> None:
        """Open a lake, or make one. Raises CannotRun where the folder is something else, or another version's."""
        self.folder = folder.resolve()
        try:
            self._make()
        except OSError as error:
            raise CannotRun(
                f"{folder}: the lake can't be opened: {error}. Name a folder that can be written to."
            ) from None

    def _make(self) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise CannotRun(f"{self.folder}: this is no folder. Name one for the lake.")
        if self.folder.is_dir() and not (self.folder / "loads").is_dir() and any(self.folder.iterdir()):
            raise CannotRun(f"{self.folder}: this folder is not empty, and no lake. Name a new one.")
        with duckdb.connect(":memory:", config=dict(limits())) as con:
            con.execute(f"create schema {RAW_SCHEMA}")
            for table in TABLES.values():
                con.execute(table.ddl())
                path = self.folder / table.name / _NOBODY / "rows.parquet"
                if not path.exists():
                    _write(con, f"select * from {RAW_SCHEMA}.{table.name}", path)
                names = con.execute(
                    f"describe select * from read_parquet({literal(str(path))}, hive_partitioning = false)"
                ).fetchall()
                if tuple(row[0] for row in names) != table.column_names:
                    raise CannotRun(
                        f"{self.folder}: its table {table.name} was made by another version. Load into a new folder."
                    )
        (self.folder / "numbers").mkdir(exist_ok=True)

    @contextmanager
    def loading(self) -> Iterator[Loading]:
        """A database of one's own to load in, thrown away at the end."""
        with tempfile.TemporaryDirectory() as folder:
            con = duckdb.connect(str(Path(folder) / "load.duckdb"), config=dict(limits()))
            try:
                yield Loading(self, con, read_settings())
            finally:
                con.close()

    def rows(self, table: str) -> str:
        """SQL: a table's rows of every load, those of replaced ones too, with their load_key."""
        files = literal(f"{self.folder}/{table}/*/*/rows.parquet")
        return f"(from read_parquet({files}, hive_partitioning = true, hive_types = {{'load_key': varchar, 'owner': varchar}}))"

    def current(self) -> str:
        """SQL: the loads that count, one row an owner: load_key, kind (collection or recording), name."""
        return (
            f"(select load_key, case kind when 'collection' then kind else 'recording' end as kind, name from {self.rows('loads')}"
            " qualify row_number() over (partition by kind = 'collection', name order by load_number desc) = 1)"
        )

    def claim(self) -> int:
        """The number of a load, which no other load has or will have."""
        numbers = self.folder / "numbers"
        number = max((int(p.name) for p in numbers.iterdir()), default=0) + 1
        while True:
            try:
                (numbers / f"{number:012d}").touch(exist_ok=False)
                return number
            except FileExistsError:
                number += 1

    def give_back(self, number: int) -> None:
        """Let go of a number under which nothing was written."""
        (self.folder / "numbers" / f"{number:012d}").unlink(missing_ok=True)


class Loading:
    """Loads into a lake, one after the other, through one scratch database."""

    def __init__(self, lake: Lake, con: duckdb.DuckDBPyConnection, settings: Settings) -> None:
        self._lake = lake
        self._con = con
        self._settings = settings
        #: The collections whose rows are in the scratch database, and the load that they are of.
        self._borrowed: dict[str, str] = {}
        con.execute(f"create schema {RAW_SCHEMA}")
        for table in TABLES.values():
            con.execute(table.ddl())
        keep_rules(con, settings)
        # Line numbers are counted in the order of the file.
        con.execute("set preserve_insertion_order = true")
        create_macros(con)

    def load(self, found: Found, *, strict: bool = False) -> Loaded:
        """Load one collection or recording. Raises BadInput or CannotRun, and then the lake is as it was."""
        try:
            self._read_heads()
            if found.kind == "recording":
                self._borrow(found.described.given.get("collection"))
            number = self._lake.claim()
            is_used = False
            try:
                loaded = load(self._con, found, strict=strict, settings=self._settings, number=number)
                is_used = loaded.changed
            finally:
                if not is_used:
                    self._lake.give_back(number)
            if loaded.changed:
                self._commit(found.kind, found.name, number)
            self._forget(found.kind, found.name)
            return loaded
        except (duckdb.IOException, duckdb.OutOfMemoryException, OSError) as error:
            raise CannotRun(f"{found.path}: not loaded: {' '.join(str(error).split())[:300]}") from None

    def _read_heads(self) -> None:
        """What is loaded now, as `load` looks it up: the rows of collections, recordings and loads, and nothing under them."""
        self._con.execute(
            f"create or replace temp table current_loads as select * from {self._lake.current()}"
        )
        for table in ("loads", *_HEADS):
            self._con.execute(f"delete from {RAW_SCHEMA}.{table}")
        for table, kind in _HEADS.items():
            self._insert(
                table, f"where load_key in (select load_key from current_loads where kind = {literal(kind)})"
            )
        self._insert("loads", "")

    def _insert(self, table: str, where: str) -> None:
        names = ", ".join(TABLES[table].column_names)
        self._con.execute(
            f"insert into {RAW_SCHEMA}.{table} select {names} from {self._lake.rows(table)} {where}"
        )

    def _borrow(self, collection: object) -> None:
        """A recording's collection, whose queries and documents it is held against."""
        if not isinstance(collection, str):
            return
        row = self._con.execute(
            "select load_key from current_loads where kind = 'collection' and name = ?", [collection]
        ).fetchone()
        if row is None or self._borrowed.get(collection) == row[0]:
            return
        for table in COLLECTION_TABLES:
            if table.name not in _HEADS:
                self._con.execute(
                    f"delete from {RAW_SCHEMA}.{table.name} where collection = {literal(collection)}"
                )
                self._insert(
                    table.name,
                    f"where load_key = {literal(str(row[0]))} and collection = {literal(collection)}",
                )
        self._borrowed[collection] = str(row[0])

    def _commit(self, kind: str, name: str, number: int) -> None:
        """Write what the scratch database holds of an owner; the row of `loads` last, which makes it count."""
        owned = {t.name: t.owner for t in (COLLECTION_TABLES if kind == "collection" else RECORDING_TABLES)}
        place = f"{owner_folder(kind, name)}/{load_key(number)}/rows.parquet"
        wanted = {table: f"{owner} = {literal(name)}" for table, owner in owned.items()}
        wanted |= dict.fromkeys(
            ("quarantine", "checks"), f"kind = {literal(kind)} and name = {literal(name)}"
        )
        wanted |= {"check_rules": "true", "loads": f"load_number = {number}"}
        for table, condition in wanted.items():
            mine = f"from {RAW_SCHEMA}.{table} where {condition}"
            if self._con.execute(f"select 1 {mine} limit 1").fetchone() is not None:
                _write(self._con, f"select * {mine}", self._lake.folder / table / place)
        if kind == "collection":
            self._borrowed[name] = load_key(number).partition("=")[2]
        sweep(self._lake.folder, kind, name)

    def _forget(self, kind: str, name: str) -> None:
        """Drop a recording's rows from the scratch database; a collection's stay for its recordings."""
        if kind == "recording":
            for table in RECORDING_TABLES:
                self._con.execute(
                    f"delete from {RAW_SCHEMA}.{table.name} where {table.owner} = {literal(name)}"
                )


def load_key(number: int) -> str:
    """The folder of a load, in the order of the numbers, and never taken for a number itself."""
    return f"load_key=n{number:012d}"


def owner_folder(kind: str, name: str) -> str:
    """The folder of a collection or recording: what can be read of its name, and what makes it the only one."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:80]
    return f"owner={kind}-{readable}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def sweep(folder: Path, kind: str, name: str, *, kept: float = KEPT) -> None:
    """Remove the rows of an owner's loads that were replaced, or never finished, more than `kept` seconds ago.

    The rows of `loads` stay: they say what was loaded when.
    """
    owner = owner_folder(kind, name)
    now = time.time()
    finished = sorted(p.parent for p in (folder / "loads" / owner).glob("*/rows.parquet"))
    #: When each finished load was replaced by the next.
    replaced = {old.name: (new / "rows.parquet").stat().st_mtime for old, new in pairwise(finished)}
    for table in TABLES:
        for place in (folder / table / owner).glob("load_key=*"):
            is_finished = place.name in {p.name for p in finished}
            if is_finished and (table == "loads" or place.name not in replaced):
                continue
            since = replaced[place.name] if is_finished else place.stat().st_mtime
            if now - since > kept:
                shutil.rmtree(place, ignore_errors=True)


def _write(con: duckdb.DuckDBPyConnection, select: str, path: Path) -> None:
    """A Parquet file: under a name that no reader looks at, then, whole and on the disk, under its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".new")
    os.close(handle)
    new = Path(name)
    try:
        con.execute(f"copy ({select}) to {literal(name)} (format parquet, compression zstd)")
        new.chmod(0o644)
        _sync(new)
        os.replace(new, path)
        _sync(path.parent)
    finally:
        new.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

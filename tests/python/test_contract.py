"""The raw tables' contract, and that the dbt sources and the staging views say the same."""

from __future__ import annotations

import re

import duckdb
import pytest
import yaml
from conftest import PROJECT

from ingest.contract import COLLECTION_TABLES, RECORDING_TABLES, TABLES, TYPES, Table

STAGING = PROJECT / "models" / "staging"


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_tables_are_whole(table: Table) -> None:
    names = table.column_names
    assert len(set(names)) == len(names)
    assert set(table.key) <= set(names) and table.owner in names
    assert {column.type for column in table.columns} <= set(TYPES)
    assert all(column.meaning.endswith(".") for column in table.columns)
    con = duckdb.connect()
    con.execute("create schema assay_raw")
    con.execute(table.ddl())
    made = con.execute(
        "select column_name, not is_nullable from duckdb_columns() where schema_name = 'assay_raw' order by column_index"
    ).fetchall()
    assert [name for name, _ in made] == list(names)
    assert {name for name, required in made if required} == {c.name for c in table.columns if not c.nullable}


def test_owners_are_what_a_load_replaces() -> None:
    assert {t.owner for t in COLLECTION_TABLES} == {"collection"}
    assert {t.owner for t in RECORDING_TABLES} == {"recording_id"}


def test_sources_are_the_contract() -> None:
    [source] = yaml.safe_load((STAGING / "_sources.yml").read_text())["sources"]
    described = {t["name"]: {c["name"]: c["description"] for c in t["columns"]} for t in source["tables"]}
    assert described == {t.name: {c.name: c.meaning for c in t.columns} for t in TABLES.values()}


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_staging_views_hold_every_column(table: Table) -> None:
    sql = (STAGING / f"stg_assay__{table.name}.sql").read_text()
    [columns] = re.findall(r"final as \(\n\n    select\n(.+?)\n    from source", sql, re.DOTALL)
    # A time is cast, since Parquet keeps it with a zone of its own.
    names = [
        re.sub(r"^cast\((\w+) as timestamp\) as \1$", r"\1", c.strip().rstrip(","))
        for c in columns.splitlines()
    ]
    assert names == list(table.column_names)
    [model] = yaml.safe_load((STAGING / f"stg_assay__{table.name}.yml").read_text())["models"]
    assert [c["name"] for c in model["columns"]] == list(table.column_names)

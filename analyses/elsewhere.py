"""``python -m analyses compare`` and ``engines``: what another engine than DuckDB needs beside `dbt build`, and whether it says the same."""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb

from analyses.comparisons import COLUMNS as TEST_COLUMNS
from analyses.comparisons import comparison_tests
from analyses.engines import Model, Table, differences, models_of
from analyses.intervals import COLUMNS as INTERVAL_COLUMNS
from analyses.intervals import measure_intervals
from analyses.targets import CannotConnect, Target, open_target


def _open(args: argparse.Namespace) -> Target:
    try:
        return open_target(args.target, args.project_dir, args.profiles_dir, args.schema)
    except (CannotConnect, ImportError) as error:
        raise SystemExit(f"error: {error}") from None


def compare(args: argparse.Namespace) -> int:
    """Write fct_assay__comparison_tests and fct_assay__intervals on the target, from the facts that dbt built there."""
    target = _open(args)
    planned = target.frame(f"select * from {target.schema}.fct_assay__planned_comparisons")
    values = target.frame(f"select * from {target.schema}.fct_assay__comparison_values")
    tests = comparison_tests(planned, values, draws=args.draws)
    target.write("fct_assay__comparison_tests", TEST_COLUMNS, tests)
    counts = target.frame(f"select * from {target.schema}.fct_assay__value_counts")
    intervals = measure_intervals(counts, draws=args.draws)
    target.write("fct_assay__intervals", INTERVAL_COLUMNS, intervals)
    print(f"{target.schema}: {len(tests):,} comparisons tested, {len(intervals):,} means with intervals")
    return 0


def engines(args: argparse.Namespace) -> int:
    """Hold every fact and mart of the manifest on the target against the DuckDB file's; 1 where anything differs."""
    target = _open(args)
    if not args.warehouse.exists():
        raise SystemExit(
            f"error: {args.warehouse}: there is no warehouse here. Run dbt build on the target duckdb first."
        )
    try:
        models = models_of(args.manifest)
    except (OSError, ValueError, KeyError) as error:
        raise SystemExit(f"error: {args.manifest}: no manifest of dbt's could be read: {error}") from None
    n_different = 0
    with duckdb.connect(str(args.warehouse), read_only=True) as con:
        for model in models:
            here, there = _on_duckdb(con, model), _on_target(target, model)
            found = differences(here, there)
            n_different += bool(found)
            print(f"{model.name}: {'differs' if found else f'equal, {len(here.rows):,} rows'}")
            for line in found:
                print(f"  {line}")
    print(f"{len(models) - n_different} of {len(models)} tables are equal to the last bit")
    return 1 if n_different or not models else 0


def _on_duckdb(con: duckdb.DuckDBPyConnection, model: Model) -> Table:
    name = f'"{model.schema}"."{model.name}"'
    columns = {str(r[0]): str(r[1]).lower() for r in con.execute(f"describe {name}").fetchall()}
    values = (f"epoch_us({c})" if t == "timestamp" else f'"{c}"' for c, t in columns.items())
    return Table(columns, con.execute(f"select {', '.join(values)} from {name}").fetchall())


def _on_target(target: Target, model: Model) -> Table:
    name = f"{target.schema}.{model.name}"
    columns, _ = target.rows(f"select * from {name} limit 0")
    # A client may shift times to its own zone; counted from the epoch they are what they are.
    values = (f"unix_micros({c})" if t == "timestamp" else f"`{c}`" for c, t in columns.items())
    return Table(columns, target.rows(f"select {', '.join(values)} from {name}")[1])


def add_parsers(commands: argparse._SubParsersAction[argparse.ArgumentParser], warehouse: Path) -> None:
    """Add the two commands."""
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument(
        "--target", default="spark", metavar="NAME", help="the target in profiles.yml (default: spark)"
    )
    where.add_argument(
        "--project-dir", type=Path, default=Path(), metavar="DIR", help="the dbt project (default: here)"
    )
    where.add_argument(
        "--profiles-dir", type=Path, metavar="DIR", help="where profiles.yml is (default: the project)"
    )
    where.add_argument("--schema", metavar="NAME", help="the schema of the tables (default: the target's)")
    sub = commands.add_parser(
        "compare",
        parents=[where],
        help="test comparisons and make intervals where dbt can't run Python models",
    )
    sub.add_argument(
        "--draws", type=int, default=9999, metavar="N", help="the var assay_draws (default: 9999)"
    )
    sub.set_defaults(run=compare)
    sub = commands.add_parser(
        "engines",
        parents=[where],
        help="hold the target's facts and marts against the DuckDB file's, to the last bit",
    )
    sub.add_argument("--warehouse", type=Path, default=warehouse, metavar="FILE", help="the DuckDB file")
    sub.add_argument(
        "--manifest",
        type=Path,
        default=Path("target/manifest.json"),
        metavar="FILE",
        help="dbt's, of the DuckDB build",
    )
    sub.set_defaults(run=engines)

"""Loading a long recording in bounded memory, beside DuckDB's ``read_json`` and an insert written by hand.

    python benchmarks/loading.py --gigabytes 3 --memory 1GB

makes answers of about 1 kB a line, loads them, and prints seconds, the most memory the process held, and the ratio. By hand the same
lines go into the same long tables, without any of the checks: what anyone would write first.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
DOCUMENTS, QUERIES = 50_000, 100_000

_BY_HAND = """
import resource, sys, time, duckdb
con = duckdb.connect(sys.argv[2], config={"memory_limit": sys.argv[3]})
con.execute("set preserve_insertion_order = false")
con.execute("set enable_progress_bar = false")
start = time.perf_counter()
con.execute(f'''
    create temp table lines as select * from read_json('{sys.argv[1]}', format = 'newline_delimited', columns = {{
        query_id: 'varchar', context: 'varchar', trial: 'bigint', context_ids: 'varchar[]', answer: 'varchar', cited: 'varchar[]'}})
''')
con.execute("create table answers as select query_id, context, trial, answer from lines")
con.execute('''create table context_documents as
    select query_id, context, trial, generate_subscripts(context_ids, 1) as rank, unnest(context_ids) as doc_id from lines''')
con.execute('''create table citations as
    select query_id, context, trial, generate_subscripts(cited, 1) as position, unnest(cited) as doc_id from lines''')
con.close()
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def make(folder: Path, gigabytes: float) -> int:
    """Write collection/ and recording/ into the folder; returns the bytes of the answers."""
    import duckdb

    collection, recording = folder / "collection", folder / "recording"
    collection.mkdir(parents=True, exist_ok=True)
    recording.mkdir(exist_ok=True)
    con = duckdb.connect()
    con.execute(
        f"copy (select 'd' || i as doc_id from range({DOCUMENTS}) t(i)) to '{collection}/catalog.parquet'"
    )
    con.execute(
        f"copy (select 'q' || i as query_id, 'query ' || i as query, 'test' as split from range({QUERIES}) t(i)) to '{collection}/queries.parquet'"
    )
    con.execute(
        f"""copy (select 'q' || (i // 10) as query_id, 'd' || (hash(i) % {DOCUMENTS}) as doc_id, cast(min(hash(i) % 3) as bigint) as grade
        from range({QUERIES * 10}) t(i) group by all) to '{collection}/qrels.parquet'"""
    )
    n = int(gigabytes * 1e9 / 1030)
    con.execute(
        f"""
        copy (
            select 'q' || (i % {QUERIES}) as query_id, 'r' || (i // {QUERIES} % 4) as context, 1 + i // ({QUERIES} * 4) as trial,
                list_transform(range(10), lambda j: 'd' || (hash(i * 10 + j) % {DOCUMENTS})) as context_ids,
                'I recommend d' || (hash(i * 10) % {DOCUMENTS}) || ' since ' || repeat('it is what was asked for in the query, ', 20) as answer,
                ['d' || (hash(i * 10) % {DOCUMENTS}), 'd' || (hash(i * 10 + 1) % {DOCUMENTS})] as cited
            from range({n}) t(i)
        ) to '{recording}/answers.jsonl' (format json)
        """
    )
    grades = {"0": "no", "1": "partly", "2": "yes"}
    (collection / "collection.json").write_text(
        json.dumps({"collection": "bench", "fields": [], "grades": grades, "exact_grade": 2})
    )
    (recording / "manifest.json").write_text(
        json.dumps({"recording": "bench", "kind": "answers", "collection": "bench", "split": "test"})
    )
    return (recording / "answers.jsonl").stat().st_size


def timed(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    """Seconds, and the most memory in MB, of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env=env, cwd=PROJECT)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)}: failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    """Make the data, run both sides, print the ratio; then build the models under the same limit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gigabytes", type=float, default=3.0)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--folder", type=Path, default=Path("build/benchmark-loading"))
    parser.add_argument(
        "--build", action="store_true", help="run the models of answers under the same limit too"
    )
    args = parser.parse_args()
    folder = args.folder.resolve()
    size = make(folder, args.gigabytes)
    env = os.environ | {"ASSAY_WAREHOUSE": str(folder / "warehouse.duckdb"), "ASSAY_MEMORY": args.memory}
    for old in folder.glob("*.duckdb*"):
        old.unlink()
    ingest = [sys.executable, "-m", "ingest", "load"]
    timed([*ingest, str(folder / "collection")], env)
    seconds, memory = timed([*ingest, str(folder / "recording")], env)
    print(
        f"{size / 1e9:.1f} GB, limit {args.memory}: ingest load {seconds:.1f} s, {memory:,.0f} MB", flush=True
    )
    out = subprocess.run(
        [sys.executable, "-c", _BY_HAND, str(folder / "recording/answers.jsonl"), str(folder / "hand.duckdb"), args.memory],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout.split()  # fmt: skip
    print(
        f"read_json and insert: {float(out[0]):.1f} s, {float(out[1]):,.0f} MB; ratio {seconds / float(out[0]):.2f}",
        flush=True,
    )
    if args.build:
        dbt = [str(Path(sys.executable).parent / "dbt"), "--quiet", "run", "--profiles-dir", "."]
        seconds, memory = timed(
            [*dbt, "--select", "+assay_answers"], env | {"DBT_TARGET_PATH": str(folder / "target")}
        )
        print(f"dbt run +assay_answers: {seconds:.1f} s, {memory:,.0f} MB", flush=True)


if __name__ == "__main__":
    main()

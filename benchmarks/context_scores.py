"""Context measures: Assay's whole road, and its models alone, beside pytrec_eval and ranx from the same files.

    python benchmarks/context_scores.py --rows 1000000

makes 100,000 queries with 10 documents a list, 3,000,000 judgments, and as many retrievers as the rows need, in
Parquet; then runs each side in a process of its own and prints seconds, memory and ratios. pytrec_eval and ranx
come from benchmarks/requirements.txt (they may live in another environment: --peers-python).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

QUERIES, DEPTH, JUDGED = 100_000, 10, 30
CUTOFFS = (1, 3, 5, 10)
PROJECT = Path(__file__).resolve().parents[1]


def make(folder: Path, retrievers: int) -> None:
    """Write collection/ and recording/ into the folder, seeded by DuckDB's hash."""
    import duckdb

    collection, recording = folder / "collection", folder / "recording"
    collection.mkdir(parents=True, exist_ok=True)
    recording.mkdir(exist_ok=True)
    con = duckdb.connect()

    def write(sql: str, path: Path) -> None:
        con.execute(f"copy ({sql}) to '{path}' (format parquet)")

    write("select 'd' || i as doc_id from range(50000) as t (i)", collection / "catalog.parquet")
    write(
        f"select 'q' || i as query_id, 'query ' || i as query, 'test' as split from range({QUERIES}) as t (i)",
        collection / "queries.parquet",
    )
    # The judged documents of a query are 30 that follow each other; a list draws from 60 around them.
    write(
        f"""
        select 'q' || (i // {JUDGED}) as query_id, 'd' || ((hash(i // {JUDGED}) + i % {JUDGED}) % 50000) as doc_id,
            cast(hash(i) % 3 as bigint) as grade
        from range({QUERIES * JUDGED}) as t (i)
        """,
        collection / "qrels.parquet",
    )
    write(
        f"""
        with lists as (select q, r from range({QUERIES}) as a (q), range({retrievers}) as b (r))
        select 'q' || q as query_id, 'retriever ' || r as context,
            list_transform(range({DEPTH}), lambda j: 'd' || ((hash(q) + (hash(q * 1000 + r) % 60 + j * 7) % 60) % 50000)) as doc_ids,
            list_transform(range({DEPTH}), lambda j: cast({DEPTH} - j as double)) as scores
        from lists
        """,
        recording / "contexts.parquet",
    )
    (collection / "collection.json").write_text(
        json.dumps(
            {"collection": "bench", "fields": [], "grades": {"0": "n", "1": "p", "2": "e"}, "exact_grade": 2}
        )
    )
    (recording / "manifest.json").write_text(
        json.dumps(
            {
                "recording": "bench",
                "kind": "contexts",
                "collection": "bench",
                "split": "test",
                "results_shown": DEPTH,
            }
        )
    )


def assay(folder: Path) -> dict[str, float]:
    """Load and build; seconds of each, and of the models that score contexts."""
    warehouse = folder / "warehouse.duckdb"
    warehouse.unlink(missing_ok=True)
    env = os.environ | {"ASSAY_WAREHOUSE": str(warehouse), "DBT_TARGET_PATH": str(folder / "target")}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "ingest", "load", str(folder / "collection"), str(folder / "recording")],
        check=True, env=env, cwd=PROJECT, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    loaded = time.perf_counter()
    subprocess.run(
        [Path(sys.executable).parent / "dbt", "run", "--profiles-dir", ".", "--select", "+assay_context_scores"],
        check=True, env=env, cwd=PROJECT, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    built = time.perf_counter()
    results = json.loads((folder / "target" / "run_results.json").read_text())["results"]
    nodes = {r["unique_id"].split(".")[-1]: r["execution_time"] for r in results}
    for name, seconds in sorted(nodes.items(), key=lambda item: -item[1])[:5]:
        print(f"  {name}: {seconds:.1f} s", file=sys.stderr)
    models = sum(s for n, s in nodes.items() if not n.startswith("stg_"))
    return {"whole road": built - start, "load": loaded - start, "dbt run": built - loaded, "models": models}


def pytrec_eval(folder: Path) -> dict[str, float]:
    """Read the same files into dictionaries and evaluate every retriever."""
    import pyarrow.parquet as parquet
    import pytrec_eval as peer

    start = time.perf_counter()
    qrels: dict[str, dict[str, int]] = {}
    table = parquet.read_table(folder / "collection" / "qrels.parquet")
    columns = (table[name].to_pylist() for name in ("query_id", "doc_id", "grade"))
    for query, doc, grade in zip(*columns, strict=True):
        qrels.setdefault(query, {})[doc] = grade
    runs: dict[str, dict[str, dict[str, float]]] = {}
    table = parquet.read_table(folder / "recording" / "contexts.parquet")
    lists = (table[name].to_pylist() for name in ("query_id", "context", "doc_ids", "scores"))
    for query, name, docs, scores in zip(*lists, strict=True):
        runs.setdefault(name, {})[query] = dict(zip(docs, scores, strict=True))
    read = time.perf_counter()
    cuts = ",".join(map(str, CUTOFFS))
    measures = {f"{m}.{cuts}" for m in ("P", "recall", "ndcg_cut", "map_cut", "success")} | {"recip_rank"}
    evaluator = peer.RelevanceEvaluator(qrels, measures, relevance_level=2)
    for run in runs.values():
        evaluator.evaluate(run)
    return {"whole": time.perf_counter() - start, "evaluate": time.perf_counter() - read}


def ranx(folder: Path) -> dict[str, float]:
    """Read the same files and evaluate every retriever, compiled beforehand on a small run."""
    import pyarrow.parquet as parquet
    from ranx import Qrels, Run, evaluate

    metrics = [f"{m}@{k}" for m in ("precision", "recall", "ndcg", "map", "hit_rate", "mrr") for k in CUTOFFS]
    small = {"q": {"d": 1}}
    evaluate(Qrels(small), Run({"q": {"d": 1.0}}), metrics)
    start = time.perf_counter()
    qrels: dict[str, dict[str, int]] = {}
    table = parquet.read_table(folder / "collection" / "qrels.parquet")
    columns = (table[name].to_pylist() for name in ("query_id", "doc_id", "grade"))
    for query, doc, grade in zip(*columns, strict=True):
        qrels.setdefault(query, {})[doc] = grade
    judgments = Qrels(qrels)
    runs: dict[str, dict[str, dict[str, float]]] = {}
    table = parquet.read_table(folder / "recording" / "contexts.parquet")
    lists = (table[name].to_pylist() for name in ("query_id", "context", "doc_ids", "scores"))
    for query, name, docs, scores in zip(*lists, strict=True):
        runs.setdefault(name, {})[query] = dict(zip(docs, scores, strict=True))
    for run in runs.values():
        evaluate(judgments, Run(run), metrics, return_mean=False)
    return {"whole": time.perf_counter() - start}


SIDES = {"assay": assay, "pytrec_eval": pytrec_eval, "ranx": ranx}


def run_side(name: str, folder: Path, python: str) -> dict[str, float]:
    """One side in a process of its own: its seconds, and the most memory any of its processes held, in MB."""
    out = subprocess.run(
        [python, __file__, "--side", name, "--folder", str(folder)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    found: dict[str, float] = json.loads(out.splitlines()[-1])
    return found


def main() -> None:
    """Make the data, run the sides, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="context rows: 1,000,000 a retriever")
    parser.add_argument("--folder", type=Path, default=Path("build/benchmark"))
    parser.add_argument("--peers-python", default=sys.executable)
    parser.add_argument("--sides", nargs="+", default=list(SIDES))
    parser.add_argument("--side", help=argparse.SUPPRESS)
    args = parser.parse_args()
    folder = args.folder.resolve()
    if args.side:
        found = SIDES[args.side](folder)
        usage = max(
            resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        print(json.dumps(found | {"memory MB": usage / 1024}))
        return
    make(folder, max(1, args.rows // (QUERIES * DEPTH)))
    print(
        f"{args.rows:,} context rows, {QUERIES * JUDGED:,} judgments; {os.cpu_count()} cores, {platform.machine()}"
    )
    found = {}
    for name in args.sides:
        found[name] = run_side(name, folder, sys.executable if name == "assay" else args.peers_python)
        print(
            f"{name}: " + ", ".join(f"{what} {value:,.1f}" for what, value in found[name].items()), flush=True
        )
    if "assay" in found:
        for peer in set(found) - {"assay"}:
            whole = found[peer]["whole"]
            print(
                f"against {peer}: models {found['assay']['models'] / whole:.2f}, "
                f"whole road {found['assay']['whole road'] / whole:.2f} of its time"
            )


if __name__ == "__main__":
    main()

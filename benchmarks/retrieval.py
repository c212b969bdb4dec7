"""Retrieval: `ingest retrieve` beside bm25s and numpy called directly, on the same texts and vectors.

    python benchmarks/retrieval.py --folder /tmp/retrieval

makes 43,000 documents of about 70 words (a Zipf distribution of 60,000 words) and 480 queries, and 43,000 vectors of 768
numbers with 480 more, all seeded; then runs each side in a process of its own, three times, and prints seconds, memory and ratios.

Each side starts from files and ends with a file of 100 documents and scores a query. bm25s tokenises, indexes and retrieves;
numpy reads the vectors, normalises them and takes the best of one matrix product. Assay does the same from its
warehouse, with its checks, exact scores and manifest; what loading the recording takes then is given apart. The vectors' search
alone, from arrays in memory, is timed in one process more.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

DOCUMENTS, QUERIES, DIMENSIONS, DEPTH = 43_000, 480, 768, 100
PROJECT = Path(__file__).resolve().parents[1]


def make(folder: Path) -> None:
    """Write collection/, vectors.parquet and the warehouse."""
    import duckdb
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(1)
    names = np.array([f"word{i}" for i in range(60_000)])
    share = 1 / np.arange(1, len(names) + 1)
    share /= share.sum()

    def texts(n: int, least: int, most: int) -> list[str]:
        return [" ".join(names[rng.choice(len(names), rng.integers(least, most), p=share)]) for _ in range(n)]

    collection = folder / "collection"
    collection.mkdir(parents=True, exist_ok=True)
    ids = [str(i) for i in range(DOCUMENTS)]
    documents = pd.DataFrame({"doc_id": ids, "text": texts(DOCUMENTS, 40, 100)})  # noqa: F841
    queries = pd.DataFrame({"query_id": ids[:QUERIES], "query": texts(QUERIES, 2, 7)})  # noqa: F841
    judgments = pd.DataFrame({"query_id": ["0"], "doc_id": ["0"], "grade": [1]})  # noqa: F841
    con = duckdb.connect()
    for frame, name in (("documents", "catalog"), ("queries", "queries"), ("judgments", "qrels")):
        con.execute(f"copy (select * from {frame}) to '{collection / name}.parquet' (format parquet)")
    description = {"collection": "bench", "fields": ["text"], "grades": {"1": "exact"}, "exact_grade": 1}
    (collection / "collection.json").write_text(json.dumps(description))
    vectors = rng.standard_normal((DOCUMENTS + QUERIES, DIMENSIONS), dtype=np.float32)
    keys = pd.DataFrame(  # noqa: F841
        {
            "doc_id": [*ids, *[None] * QUERIES],
            "query_id": [*[None] * DOCUMENTS, *ids[:QUERIES]],
            "embedding": list(vectors),
        }
    )
    con.execute(
        "copy (select doc_id, query_id, cast(embedding as float[]) as embedding from keys)"
        f" to '{folder / 'vectors.parquet'}' (format parquet, row_group_size 4096)"
    )
    subprocess.run(
        [sys.executable, "-m", "ingest", "load", str(collection)], cwd=PROJECT, env=_env(folder), check=True
    )


def _env(folder: Path) -> dict[str, str]:
    # Bytecode is kept, as it is of an installed package.
    return os.environ | {
        "ASSAY_WAREHOUSE": str(folder / "warehouse.duckdb"), "PYTHONPATH": str(PROJECT),
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "PYTHONDONTWRITEBYTECODE": "",
    }  # fmt: skip


def _write(path: Path, rows: list[tuple[str, list[str], list[float]]]) -> None:
    with path.open("w") as out:
        for query_id, doc_ids, scores in rows:
            out.write(json.dumps({"query_id": query_id, "doc_ids": doc_ids, "scores": scores}) + "\n")


def bm25s_directly(folder: Path) -> None:
    """bm25s's own way, from the catalog's texts."""
    import bm25s
    import duckdb

    con = duckdb.connect()
    catalog = con.execute(f"select doc_id, text from '{folder / 'collection/catalog.parquet'}'").fetchall()
    queries = con.execute(f"select query_id, query from '{folder / 'collection/queries.parquet'}'").fetchall()
    found = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    found.index(
        bm25s.tokenize([t for _, t in catalog], stopwords="en", show_progress=False), show_progress=False
    )
    asked = bm25s.tokenize([t for _, t in queries], stopwords="en", show_progress=False)
    places, scores = found.retrieve(asked, k=DEPTH, show_progress=False)
    rows = [
        (query_id, [catalog[i][0] for i in places[n]], scores[n].tolist())
        for n, (query_id, _) in enumerate(queries)
    ]
    _write(folder / "bm25s.jsonl", rows)


def numpy_directly(folder: Path) -> None:
    """One matrix product of normalised 4-byte floats."""
    import duckdb
    import numpy as np

    con = duckdb.connect()
    of = f"from '{folder / 'vectors.parquet'}' where"
    documents = con.execute(f"select doc_id, embedding {of} doc_id is not null").fetchnumpy()
    queries = con.execute(f"select query_id, embedding {of} query_id is not null").fetchnumpy()
    places, scores = _product(np.stack(queries["embedding"]), np.stack(documents["embedding"]))
    rows = [
        (query_id, [documents["doc_id"][i] for i in places[n]], scores[n].tolist())
        for n, query_id in enumerate(queries["query_id"])
    ]
    _write(folder / "numpy.jsonl", rows)


def _product(q, d):  # type: ignore[no-untyped-def]
    import numpy as np

    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    d = d / np.linalg.norm(d, axis=1, keepdims=True)
    scores = q @ d.T
    best = np.argpartition(-scores, DEPTH, axis=1)[:, :DEPTH]
    values = np.take_along_axis(scores, best, 1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(best, order, 1), np.take_along_axis(values, order, 1)


def in_memory(folder: Path) -> None:
    """The search alone beside numpy's, from the same arrays; prints both."""
    import numpy as np

    from ingest.retrieve.nearest import search

    rng = np.random.default_rng(1)
    d = rng.standard_normal((DOCUMENTS, DIMENSIONS), dtype=np.float32)
    q = rng.standard_normal((QUERIES, DIMENSIONS), dtype=np.float32)
    places = np.arange(DOCUMENTS)
    times: dict[str, list[float]] = {"numpy": [], "search": []}
    for _ in range(5):
        start = time.perf_counter()
        theirs, _scores = _product(q, d)
        times["numpy"].append(time.perf_counter() - start)
        start = time.perf_counter()
        ours = search(q, [(places, d)], DEPTH)
        times["search"].append(time.perf_counter() - start)
    same = np.mean([list(a) == list(b) for a, (b, _) in zip(theirs, ours, strict=True)])
    median = {name: sorted(seconds)[2] for name, seconds in times.items()}
    print(
        f"search in memory: {median['search']:.2f} s, numpy {median['numpy']:.2f} s, ratio {median['search'] / median['numpy']:.2f}"
        f" (medians of 5); the same lists for {same:.1%} of queries, the others differ where 4-byte floats round"
    )


def assay(folder: Path, *args: str) -> None:
    """The command; notes how long loading took after the recording was written."""
    from ingest.__main__ import main

    out = folder / "out" / args[0]
    code = main(["retrieve", *args, "--depth", str(DEPTH), "--out", str(out)])
    written = (out / "manifest.json").stat().st_mtime
    (folder / "loading").write_text(str(time.time() - written))
    sys.exit(code)


SIDES = {
    "bm25s": bm25s_directly,
    "assay bm25": lambda folder: assay(folder, "bm25"),
    "numpy": numpy_directly,
    "assay semantic": lambda folder: assay(
        folder, "semantic", "--embeddings", str(folder / "vectors.parquet")
    ),
    "in memory": in_memory,
}


def run(folder: Path, side: str) -> tuple[float, float]:
    """A side in a process of its own: seconds, and megabytes at most."""
    for made in (folder / "out").glob("*/*"):
        made.unlink()
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, __file__, "--folder", str(folder), "--side", side], env=_env(folder), cwd=PROJECT
    )
    if done.returncode:
        sys.exit(f"{side} failed")
    return time.monotonic() - start, float((folder / "memory").read_text())


def main() -> None:
    """Make the input where it is missing, run every side, print ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--side", choices=SIDES)
    args = parser.parse_args()
    folder = args.folder.resolve()
    if args.side:
        try:
            SIDES[args.side](folder)
        finally:
            # Of this process alone: what getrusage gives begins with its parent's.
            [peak] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
            (folder / "memory").write_text(str(int(peak) / 1024))
        return
    if not (folder / "warehouse.duckdb").exists():
        make(folder)
    for peer, ours in (("bm25s", "assay bm25"), ("numpy", "assay semantic")):
        for _ in range(3):
            theirs, their_memory = run(folder, peer)
            whole, memory = run(folder, ours)
            loading = float((folder / "loading").read_text())
            made = whole - loading
            print(
                f"{peer}: {theirs:.1f} s, {their_memory:.0f} MB; {ours}: {made:.1f} s, {memory:.0f} MB,"
                f" ratio {made / theirs:.2f}; and {loading:.1f} s to check and load the recording"
            )
    run(folder, "in memory")


if __name__ == "__main__":
    main()

"""``python -m ingest retrieve``: choose documents for a loaded collection's queries, write the recording, load it."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb

from ingest.errors import BadInput, shown
from ingest.formats import native
from ingest.formats.base import Options
from ingest.load import load
from ingest.retrieve import Retriever, retrievers
from ingest.retrieve.base import Job, Query, Ranked, Retrieved, first, versions
from ingest.retrieve.order import ORDERS, in_order
from ingest.retrieve.queries import agent_queries, check_split, people_queries
from ingest.retrieve.ranking import documents_in_order
from ingest.retrieve.units import WHOLE
from ingest.retrieve.writing import check_folder, write
from ingest.sqltext import literal
from ingest.staging import Progress
from ingest.warehouse import open_warehouse

#: How deep a list is kept where nothing is said: deeper than k, so that ties across place k can be seen.
USUAL_DEPTH = 100


def add_retrieve_parser(commands: Any) -> None:
    """Add the command with one sub-command a retriever to ``python -m ingest``."""
    parser = commands.add_parser("retrieve", help="make a recording of contexts from a loaded collection")
    methods = parser.add_subparsers(required=True, metavar="RETRIEVER")
    for name, one in retrievers().items():
        sub = methods.add_parser(name, help=one.SUMMARY, parents=[_shared()])
        one.add_arguments(sub)
        sub.set_defaults(run=_run, retriever_module=one)


def _shared() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    add = shared.add_argument
    add("--collection", metavar="NAME", help="the loaded collection, where more than one is loaded")
    add("--split", metavar="NAME", help="the queries of this split; all without it")
    add(
        "--queries",
        choices=("people", "agent"),
        default="people",
        help="people's, or the texts that agents searched for",
    )
    add(
        "--traces",
        action="append",
        default=[],
        metavar="RECORDING",
        help="agents' searches of this recording alone; may be repeated",
    )
    add(
        "--earlier-turns",
        action="store_true",
        help="put a conversation's earlier turns in front of its query",
    )
    add("--k", type=int, default=5, help="documents in one context, 5 by default")
    add(
        "--depth",
        type=int,
        help=f"documents kept, to see ties across place k; {USUAL_DEPTH} by default, or k where that is more",
    )
    add("--unit", help="whole, a field, sentences, or sentences+fields")
    add("--sentences-of", metavar="FIELD", help="the field that is cut into sentences")
    add("--order", choices=ORDERS, default="as_is", help="the order of the context's k documents")
    add("--seed", type=int, default=1, help="the seed of what is drawn, 1 by default")
    add("--out", type=Path, metavar="DIR", help="the recording's folder; recordings/<its name> by default")
    add("--name", help="the recording's name; <collection>-<retriever>[-<unit>][-<order>] by default")
    add(
        "--as",
        dest="context",
        metavar="NAME",
        help="what the recording calls its retriever; the unit where one is named, else the retriever",
    )
    add("--recorded-at", metavar="TIME", help="when, for the manifest; left out by default")
    add("--wait", type=float, default=0.0, metavar="SECONDS", help="how long to wait for a locked warehouse")
    return shared


def _collection(con: duckdb.DuckDBPyConnection, named: str | None) -> tuple[str, str]:
    """The collection's name and digest. Raises BadInput where it is not loaded, is empty, or which one is not clear."""
    loaded = {
        str(name): (str(digest), int(n))
        for name, digest, n in con.execute(
            "select collection, digest, n_documents from assay_raw.collections order by collection"
        ).fetchall()
    }
    if named is None:
        if len(loaded) != 1:
            have = f"{', '.join(loaded)} are loaded" if loaded else "none is loaded: load one first"
            raise BadInput(f"which collection? {have}. Name one with --collection.")
        [named] = loaded
    if named not in loaded:
        raise BadInput(
            f"the collection {shown(named)} is not loaded. "
            + (f"Loaded are {', '.join(loaded)}." if loaded else "Load its folder first.")
        )
    digest, n_documents = loaded[named]
    if not n_documents:
        raise BadInput(f"the collection {named!r} has no documents, so nothing can be retrieved from it.")
    return named, digest


def _check(args: argparse.Namespace) -> None:
    """Refuse options that contradict each other."""
    if args.k < 1:
        raise BadInput(f"--k must be 1 or higher, not {args.k}.")
    if args.depth is not None and args.depth < args.k:
        raise BadInput(
            f"--depth {args.depth} is less than --k {args.k}: a list is kept at least as deep as its context."
        )
    if args.order != "as_is" and args.depth is not None and args.depth != args.k:
        raise BadInput(
            f"--order {args.order} keeps the context's {args.k} documents alone. Leave --depth out."
        )
    if args.traces and args.queries != "agent":
        raise BadInput("--traces names where agents' searches are taken from. Add --queries agent.")
    if args.earlier_turns and args.queries == "agent":
        raise BadInput("--earlier-turns is for people's queries: an agent's search has none. Leave it out.")


def _refuse_other(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Refuse to replace a loaded recording that no retriever of ours made."""
    row = first(
        con,
        f"""
        select count(*) from assay_raw.recordings as r
        where recording_id = {literal(name)} and not exists (
            select 1 from assay_raw.recording_settings as s
            where s.recording_id = r.recording_id and s.setting = 'retrieval.method'
        )
        """,
    )
    if row and row[0]:
        raise BadInput(
            f"a recording {name!r} is loaded that `retrieve` did not make, and would be replaced. Give this one another --name."
        )


def _run(args: argparse.Namespace) -> int:
    _check(args)
    module: Retriever = args.retriever_module
    con = open_warehouse(wait=args.wait)
    try:
        collection, digest = _collection(con, args.collection)
        name = args.name or "-".join(
            part for part in (collection, module.NAME, args.unit, "" if args.order == "as_is" else args.order,
                              "agent" if args.queries == "agent" else "") if part
        )  # fmt: skip
        out = args.out or Path("recordings") / name
        check_folder(out, name)
        _refuse_other(con, name)
        check_split(con, collection, args.split)
        queries = _queries(con, args, collection)
        has_ties = args.order == "as_is" and module.HAS_SCORES
        depth = args.depth or (max(args.k, USUAL_DEPTH) if has_ties else args.k)
        with Progress(name) as progress:
            doc_ids, numeric = documents_in_order(con, collection)
            job = Job(
                con,
                collection,
                doc_ids,
                queries,
                args.k,
                depth,
                args.unit or WHOLE,
                args.seed,
                args,
                progress,
            )
            retrieved = module.retrieve(job)
            context = args.context or args.unit or module.NAME
            manifest = _manifest(job, retrieved, name, digest, context, module.NAME, numeric)
            asked = sorted({q.query_id for q in queries}) if args.queries == "agent" else None
            lists = _ordered(retrieved.lists, job) if args.order != "as_is" else retrieved.lists
            written = write(out, manifest, context, lists, asked, with_searched_as=not retrieved.is_floor)
        empty = f", {written.n_empty:,} of them empty" if written.n_empty else ""
        print(f"{out}: {written.n_lists:,} lists{empty}, {written.n_documents:,} documents")
        [found] = native.find(out, Options())
        result = load(con, found)
        print(result.sentence())
        for severity, file, message in result.noticed:
            print(f"  {severity}: {file}: {message}")
    finally:
        con.close()
    return 0


def _queries(con: duckdb.DuckDBPyConnection, args: argparse.Namespace, collection: str) -> list[Query]:
    if args.queries == "agent":
        return agent_queries(con, collection, args.split, args.traces)
    return people_queries(con, collection, args.split, earlier_turns=args.earlier_turns)


def _ordered(lists: Iterable[Ranked], job: Job) -> Iterator[Ranked]:
    for one in lists:
        yield in_order(one, job.args.order, job.k, job.seed)


def _manifest(
    job: Job, retrieved: Retrieved, name: str, digest: str, context: str, method: str, numeric: bool
) -> dict[str, Any]:
    args = job.args
    retrieval: dict[str, Any] = {
        "method": method,
        "unit": job.unit,
        "k": job.k,
        "depth": job.depth,
        "queries": args.queries,
        "order": args.order,
        "ties": "doc_id ascending, as numbers" if numeric else "doc_id ascending, as text",
        **({"traces": sorted(args.traces)} if args.traces else {}),
        **({"earlier_turns": True} if args.earlier_turns else {}),
        **({"seed": job.seed} if args.order == "shuffled" else {}),
        **retrieved.settings,
        "libraries": {"python": platform.python_version(), **versions((*retrieved.libraries, "duckdb"))},
    }
    found: dict[str, Any] = {
        "recording": name,
        "kind": "contexts",
        "collection": job.collection,
        "collection_digest": digest,
        "split": args.split,
        "asked": "asked.txt" if args.queries == "agent" else "split",
        **retrieved.manifest,
        "results_shown": job.k,
        "depth": job.depth,
        "floor": [context] if retrieved.is_floor else None,
        "retrieval": retrieval,
        "recorded_at": args.recorded_at,
    }
    return {key: value for key, value in found.items() if value is not None}

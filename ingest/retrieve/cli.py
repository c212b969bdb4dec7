"""``python -m ingest retrieve``: choose documents for a loaded collection's queries, write the recording, load it."""

from __future__ import annotations

import argparse
import platform
from pathlib import Path
from typing import Any

import duckdb

from ingest.errors import BadInput, CannotRun, shown
from ingest.formats import native
from ingest.formats.base import Options
from ingest.load import load
from ingest.retrieve import Retriever, retrievers
from ingest.retrieve.base import Asked, Job, Retrieved, first, versions
from ingest.retrieve.order import AS_IS, ORDERS, in_order
from ingest.retrieve.queries import asked
from ingest.retrieve.ranking import documents_in_order
from ingest.retrieve.units import WHOLE
from ingest.retrieve.writing import ASKED, check_folder, write
from ingest.sqltext import literal
from ingest.staging import Progress
from ingest.warehouse import open_warehouse

#: How deep a list is kept where nothing is said: deeper than k, so that ties across place k can be seen.
USUAL_DEPTH = 100


def add_retrieve_parser(commands: Any) -> None:
    """Add the command, with one sub-command a retriever, to ``python -m ingest``."""
    parser = commands.add_parser("retrieve", help="make a recording of contexts from a loaded collection")
    methods = parser.add_subparsers(required=True, metavar="RETRIEVER")
    for name, one in retrievers().items():
        sub = methods.add_parser(name, help=one.SUMMARY, description=one.SUMMARY)
        one.add_arguments(sub)
        _add_shared(sub)
        sub.set_defaults(run=_run, retriever_module=one)


def _add_shared(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--collection", metavar="NAME", help="the loaded collection, where more than one is loaded")
    add("--k", type=int, default=5, help="documents in one context, 5 by default")
    add(
        "--depth", type=int,
        help=f"documents kept, to see ties across place k; {USUAL_DEPTH} by default where there are scores, else k",
    )  # fmt: skip
    add("--order", choices=ORDERS, default=AS_IS, help="the order in which the k documents are read")
    add("--seed", type=int, default=1, help="the seed of what is drawn, 1 by default")
    add("--out", type=Path, metavar="DIR", help="the recording's folder; recordings/<its name> by default")
    add("--name", help="the recording's name; <collection>-<retriever>[-<unit>][-<order>][-agent] by default")
    add(
        "--as", dest="context", metavar="NAME",
        help="what the recording calls its retriever; the unit where one is named, else the retriever",
    )  # fmt: skip
    add("--recorded-at", metavar="TIME", help="when, for the manifest; left out by default")
    add("--wait", type=float, default=0.0, metavar="SECONDS", help="how long to wait for a locked warehouse")


def _collection(con: duckdb.DuckDBPyConnection, named: str | None) -> tuple[str, str]:
    """The collection's name and digest. Raises BadInput where it is not loaded, is empty, or which one is not clear."""
    rows = con.execute(
        "select collection, digest, n_documents from assay_raw.collections order by collection"
    ).fetchall()
    loaded = {str(name): (str(digest), int(n)) for name, digest, n in rows}
    if named is None:
        if len(loaded) != 1:
            have = f"{', '.join(loaded)} are loaded" if loaded else "none is loaded, so load one first"
            raise BadInput(f"which collection? {have}. Name one with --collection.")
        [named] = loaded
    if named not in loaded:
        have = f"Loaded are {', '.join(loaded)}." if loaded else "Load its folder first."
        raise BadInput(f"the collection {shown(named)} is not loaded. {have}")
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
    if args.order != AS_IS and args.depth not in (None, args.k):
        raise BadInput(
            f"--order {args.order} keeps the context's {args.k} documents alone. Leave --depth out."
        )


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


def _label(module: Retriever, job: Job) -> tuple[str, str]:
    """The recording's name and what it calls its retriever."""
    args = job.args
    unit = getattr(args, "unit", None)
    if hasattr(module, "label"):
        name, context = module.label(job)
    else:
        name = "-".join(part for part in (job.collection, module.NAME, unit) if part)
        context = unit or module.NAME
    if args.order != AS_IS:
        name, context = f"{name}-{args.order}", f"{context} {args.order}"
    if getattr(args, "queries", "people") == "agent":
        name += "-agent"
    return args.name or name, args.context or context


def _run(args: argparse.Namespace) -> int:
    _check(args)
    module: Retriever = args.retriever_module
    con = open_warehouse(wait=args.wait)
    try:
        collection, digest = _collection(con, args.collection)
        deep = args.order == AS_IS and module.HAS_SCORES
        depth = args.depth or (max(args.k, USUAL_DEPTH) if deep else args.k)
        unit = getattr(args, "unit", None) or WHOLE
        with Progress(collection) as progress:
            nothing = Asked([], None, None, "people")
            job = Job(con, collection, [], nothing, args.k, depth, unit, args.seed, args, progress)
            name, context = _label(module, job)
            out = args.out or Path("recordings") / name
            check_folder(out, name)
            _refuse_other(con, name)
            job.asked = module.asked(job) if hasattr(module, "asked") else asked(job)
            job.doc_ids, numeric = documents_in_order(con, collection)
            retrieved = module.retrieve(job)
            manifest = _manifest(job, retrieved, name, digest, context, module.NAME, numeric)
            lists = retrieved.lists
            if args.order != AS_IS:
                lists = (in_order(one, args.order, job.k, job.seed) for one in lists)
            with_text = retrieved.reads_query
            written = write(out, manifest, context, lists, job.asked.listed, with_searched_as=with_text)
        empty = f", {written.n_empty:,} of them empty" if written.n_empty else ""
        print(f"{out}: {written.n_lists:,} lists{empty}, {written.n_documents:,} documents")
        [found] = native.find(out, Options())
        result = load(con, found)
        print(result.sentence())
        for severity, file, message in result.noticed:
            print(f"  {severity}: {file}: {message}")
    except duckdb.OutOfMemoryException as error:
        said = " ".join(str(error).split())[:200]
        raise CannotRun(f"not enough memory ({said}). Raise ASSAY_MEMORY, or free some.") from None
    finally:
        con.close()
    return 0


def _manifest(
    job: Job, retrieved: Retrieved, name: str, digest: str, context: str, method: str, numeric: bool
) -> dict[str, Any]:
    args = job.args
    retrieval: dict[str, Any] = {
        "method": method,
        "unit": job.unit,
        "k": job.k,
        "depth": job.depth,
        "queries": job.asked.kind,
        "order": args.order,
        "ties": "doc_id ascending, as numbers" if numeric else "doc_id ascending, as text",
        **({"traces": sorted(args.traces)} if getattr(args, "traces", None) else {}),
        **({"earlier_turns": True} if getattr(args, "earlier_turns", False) else {}),
        **({"seed": job.seed} if args.order == "shuffled" else {}),
        **retrieved.settings,
        "libraries": {"python": platform.python_version(), **versions((*retrieved.libraries, "duckdb"))},
    }
    found: dict[str, Any] = {
        "recording": name,
        "kind": "contexts",
        "collection": job.collection,
        "collection_digest": digest,
        "split": job.asked.split,
        "asked": "split" if job.asked.listed is None else ASKED,
        **retrieved.manifest,
        "results_shown": job.k,
        "depth": job.depth,
        "floor": [context] if retrieved.is_floor else None,
        "retrieval": retrieval,
        "recorded_at": args.recorded_at,
    }
    return {key: value for key, value in found.items() if value is not None}

"""``python -m ingest record answers | traces | support``: its options. What they do is `ingest.record.run`, imported when it is asked for."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ingest.retrieve.base import library


def add_record_parser(commands: Any) -> None:
    """Add the command to ``python -m ingest``."""
    parser = commands.add_parser(
        "record", help="record what a model answers or judges, or how an agent searches"
    )
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    sub = kinds.add_parser("answers", help="one call for each query and context: an answer that cites")
    sub.add_argument(
        "--contexts", action="append", required=True, metavar="RUN", nargs="+",
        help="a loaded recording of contexts, or RECORDING:RETRIEVER; several are retrievers of one recording",
    )  # fmt: skip
    sub.add_argument(
        "--citation-form", metavar="FORM", help="how the text writes a citation, such as '(ID {id})'"
    )
    _add_shared(sub)
    sub.set_defaults(run=_answers)
    sub = kinds.add_parser("traces", help="an agent with one search tool, then its picks")
    sub.add_argument(
        "--retriever", action="append", required=True, metavar="SPEC",
        help="what searches: a retriever with its options, such as 'bm25' or 'semantic --unit name'; may be repeated",
    )  # fmt: skip
    sub.add_argument(
        "--max-searches", type=int, default=3, metavar="N", help="searches allowed, 3 by default"
    )
    sub.add_argument(
        "--results-shown",
        type=int,
        default=5,
        metavar="N",
        help="documents that one search returns, 5 by default",
    )
    sub.add_argument("--answers-recording", metavar="NAME", help="the answers to hold first searches against")
    _add_shared(sub)
    sub.set_defaults(run=_traces)
    sub = kinds.add_parser("support", help="a judge: one call for each claim of recorded answers, a label")
    sub.add_argument(
        "--recording",
        required=True,
        metavar="NAME",
        help="the loaded recording of answers whose claims are judged",
    )
    sub.add_argument(
        "--claims", choices=("labelled", "answers"), default="labelled",
        help="claims that somebody labelled, the default, or every answer as one claim",
    )  # fmt: skip
    sub.add_argument("--prompt", type=Path, metavar="FILE", help="the instructions: a text file")
    sub.add_argument(
        "--schema", type=Path, metavar="FILE", help="the JSON schema of the reply, with 'label' in it"
    )
    sub.add_argument("--limit", type=int, metavar="N", help="the first N claims alone")
    sub.add_argument("--name", help="the recording's name; <recording>-support-by-<model> by default")
    _add_model(sub)
    sub.set_defaults(run=_support)


def _add_shared(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--collection", metavar="NAME", help="the loaded collection, where more than one is loaded")
    add("--split", metavar="NAME", help="the queries of this split; all without it")
    add(
        "--prompt",
        type=Path,
        metavar="FILE",
        help="the instructions: a text file, or TOML with system and examples; for traces TOML with system, tool, picks and examples",
    )
    add(
        "--schema", type=Path, metavar="FILE",
        help="the JSON schema of the reply, with 'cited' in it, or of the picks, with 'picked'",
    )  # fmt: skip
    add(
        "--ask",
        metavar="TEXT",
        help='how a query is put, "I\'m looking for {query}" by default',
    )
    add(
        "--show",
        action="append",
        metavar="FIELD",
        help="a field that the model reads; may be repeated; all by default",
    )
    add(
        "--max-recommendations", type=int, default=3, metavar="N", help="what the prompt allows, 3 by default"
    )
    add("--trials", type=int, default=1, metavar="N", help="record the same N times")
    add("--limit", type=int, metavar="N", help="the first N queries alone")
    add("--name", help="the recording's name; <collection>-answers or -agent by default")
    _add_model(parser)


def _add_model(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", required=True, metavar="NAME", help="the model, as the server names it")
    add("--host", metavar="URL", help="the server; OLLAMA_HOST, or Ollama's usual place, without it")
    add(
        "--num-ctx", type=int, default=8192, metavar="N", help="the context window in tokens, 8192 by default"
    )
    add(
        "--num-predict",
        type=int,
        default=1024,
        metavar="N",
        help="the longest reply in tokens, 1024 by default",
    )
    add("--temperature", type=float, default=0.0, metavar="X", help="0 by default")
    add("--seed", type=int, default=1, metavar="N", help="the model's seed, 1 by default")
    add("--think", action="store_true", help="let the model think first")
    add(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="another option of the server's; may be repeated",
    )
    add("--dry-run", action="store_true", help="print the first call and how many there would be; ask nobody")
    add(
        "--timeout",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="how long one call may take, 300 by default",
    )
    add(
        "--retries",
        type=int,
        default=3,
        metavar="N",
        help="how often a call that fails is tried again, 3 by default",
    )
    add("--retry-errors", action="store_true", help="do again what an earlier run recorded as an error")
    add("--out", type=Path, metavar="DIR", help="its folder; recordings/<its name> by default")
    add("--recorded-at", metavar="TIME", help="when, for the manifest; now by default")
    add("--note", action="append", metavar="TEXT", help="a note for the manifest; may be repeated")
    add("--no-load", action="store_true", help="write the recording and leave the warehouse alone")
    add("--wait", type=float, default=0.0, metavar="SECONDS", help="how long to wait for a locked warehouse")


def _answers(args: argparse.Namespace) -> int:
    _needed()
    from ingest.record.run import record_answers

    return record_answers(args)


def _traces(args: argparse.Namespace) -> int:
    _needed()
    from ingest.record.run import record_traces

    return record_traces(args)


def _support(args: argparse.Namespace) -> int:
    _needed()
    from ingest.record.support import record_support

    return record_support(args)


def _needed() -> None:
    """Raise CannotRun where the libraries that ask a model aren't there."""
    for name in ("ollama", "httpx", "jsonschema"):
        library(name, "record")

"""Recording: ask a model for each task, write its lines, go on where an earlier run stopped, load the recording."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ingest.errors import AssayError, BadInput, CannotRun, shown
from ingest.formats import native
from ingest.formats.base import Options
from ingest.load import load
from ingest.record import answers, traces
from ingest.record.collection import Copied, Query, copied
from ingest.record.journal import ASKED, Journal
from ingest.record.prompts import (
    ASK,
    answer_schema,
    check_ask,
    picks_schema,
    read_agent_prompts,
    read_answer_prompt,
    read_schema,
    search_tool,
)  # fmt: skip
from ingest.record.server import Model, Reply, Server, client_versions
from ingest.record.tool import Tool
from ingest.retrieve.loaded import described, find_runs
from ingest.sqltext import literal
from ingest.staging import Progress
from ingest.warehouse import open_warehouse, warehouse_path

#: Calls in a row that nobody answers, after which the command ends: it goes on when it is started again.
_UNREACHABLE = 3


def checked(args: argparse.Namespace) -> None:
    """Raise BadInput for options that can't be meant."""
    whole = ("max_recommendations", "num_ctx", "num_predict", "trials", "limit", "results_shown")
    for name in whole:
        value = getattr(args, name, None)
        if value is not None and value < 1:
            raise BadInput(f"--{name.replace('_', '-')} must be 1 or higher, not {value}.")
    for name in ("retries", "max_searches"):
        if getattr(args, name, 0) < 0:
            raise BadInput(f"--{name.replace('_', '-')} must be 0 or higher, not {getattr(args, name)}.")
    if not args.timeout > 0:
        raise BadInput(f"--timeout must be above 0, not {args.timeout}.")


def options_of(args: argparse.Namespace) -> dict[str, Any]:
    """The options that the model is sent. Raises BadInput."""
    found: dict[str, Any] = {
        "num_ctx": args.num_ctx, "temperature": args.temperature, "seed": args.seed, "num_predict": args.num_predict,
    }  # fmt: skip
    for one in args.option:
        key, equals, value = one.partition("=")
        if not equals or not key.strip():
            raise BadInput(f"--option {shown(one)}: this must be KEY=VALUE, such as top_k=1.")
        try:
            found[key.strip()] = json.loads(value)
        except ValueError:
            found[key.strip()] = value
    return found


def record_answers(args: argparse.Namespace) -> int:
    """Record answers; the exit code. Raises BadInput and CannotRun."""
    checked(args)
    ask = args.ask if args.ask is not None else ASK
    check_ask(ask)
    schema = read_schema(args.schema, answer_schema(), "cited")
    prompts = read_answer_prompt(args.prompt, {"max_recommendations": args.max_recommendations})
    with copied(warehouse_path(), args.collection, args.wait) as held:
        queries = held.queries(args.split, args.limit)
        fields = _fields(args, held)
        runs = find_runs(held.con, held.collection, [name for group in args.contexts for name in group])
        contexts = {}
        for run in runs:
            if run.retriever in contexts:
                raise BadInput(
                    f"two runs call their retriever {run.retriever!r}, and a recording can't tell them apart. Record them one by one."
                )
            contexts[run.retriever] = answers.contexts_of(held, run)
        tasks = list(answers.tasks(queries, contexts, args.trials))
        if not tasks:
            raise BadInput(
                f"{runs[0].is_named!r} has no context for any of these queries. Name another --split or run."
            )
        sizes = {answers.shown_of(held, run) for run in runs}
        floors = held.con.execute(
            f"select distinct f.retriever from assay_raw.recording_floors as f where recording_id in ({', '.join(literal(r.recording_id) for r in runs)})"
        ).fetchall()
        name = args.name or f"{held.collection}-answers"
        manifest = {
            **_about(args, held, name, "answers"),
            "prompts": prompts.texts.get("instructions") or prompts.given, "ask": ask, "schemas": {"answer": schema},
            "results_shown": max((len(t.context) for t in tasks), default=None) if None in sizes else max(s for s in sizes if s),
            "citation_form": args.citation_form, "contexts": described(held.con, runs),
            "floor": sorted(str(f) for (f,) in floors if f in contexts) or None,
        }  # fmt: skip

        def messages(task: answers.Task) -> list[dict[str, str]]:
            return answers.messages_of(held, task, prompts, fields, ask)

        if args.dry_run:
            return dry_run(
                len(tasks), {"messages": messages(tasks[0]), "format": schema, "options": options_of(args)}
            )

        def one(task: answers.Task, server: Server, model: Model) -> tuple[list[dict[str, Any]], bool]:
            sent = messages(task)
            reply = server.chat(model.name, sent, options=options_of(args), think=args.think, schema=schema)
            n_words = sum(len(m["content"].split()) for m in sent)
            return [answers.line_of(task, reply, schema, n_words, args.num_ctx)], reply.is_unreachable

        return record_tasks(
            args, name, manifest, answers.FILE, queries, tasks, one, answers.key_of, lambda line: True
        )


def record_traces(args: argparse.Namespace) -> int:
    """Record an agent's traces; the exit code. Raises BadInput and CannotRun."""
    checked(args)
    ask = args.ask if args.ask is not None else ASK
    check_ask(ask)
    schema = read_schema(args.schema, picks_schema(), "picked")
    settings = {
        "max_recommendations": args.max_recommendations, "max_searches": args.max_searches, "results_shown": args.results_shown,
    }  # fmt: skip
    prompts = read_agent_prompts(args.prompt, settings)
    with copied(warehouse_path(), args.collection, args.wait) as held:
        # What the search does is said by nobody: a line of progress tells of tasks.
        progress = Progress(held.collection)
        queries = held.queries(args.split, args.limit)
        fields = _fields(args, held)
        tools = [Tool(held, said, args.results_shown, progress) for said in args.retriever]
        by_name = {tool.name: tool for tool in tools}
        if len(by_name) != len(tools):
            raise BadInput(
                "two retrievers have one name. Name one of them otherwise, as in 'short=bm25 --unit name'."
            )
        setting = traces.Setting(prompts, ask, fields, args.max_searches, schema, args.max_searches + 3)
        tasks = list(traces.tasks(queries, list(by_name), args.trials))
        name = args.name or f"{held.collection}-agent"
        tool = search_tool(prompts.texts["tool"])
        manifest = {
            **_about(args, held, name, "traces"),
            "prompts": prompts.given, "ask": ask, "schemas": {"search": tool, "picks": schema},
            "results_shown": args.results_shown, "max_searches": args.max_searches,
            "shown_fields": list(fields), "answers_recording": args.answers_recording,
            "retrievers": {tool.name: tool.settings for tool in tools},
        }  # fmt: skip
        if args.dry_run:
            first = {
                "messages": traces.first_messages(setting, tasks[0].query),
                "tools": [tool],
                "options": options_of(args),
            }
            return dry_run(len(tasks), first)

        def one(task: traces.Task, server: Server, model: Model) -> tuple[list[dict[str, Any]], bool]:
            gone = False

            def chat(
                messages: list[dict[str, Any]],
                tools: Sequence[Mapping[str, Any]],
                schema: Mapping[str, Any] | None,
            ) -> Reply:
                nonlocal gone
                reply = server.chat(
                    model.name,
                    messages,
                    options=options_of(args),
                    think=args.think,
                    schema=schema,
                    tools=tools,
                )
                gone = reply.is_unreachable
                return reply

            return traces.record(task, setting, held, by_name[task.retriever].search, chat), gone

        return record_tasks(
            args, name, manifest, traces.FILE, queries, tasks, one, traces.key_of, traces.is_last
        )


def _fields(args: argparse.Namespace, held: Copied) -> tuple[str, ...]:
    if args.show is None:
        return held.fields
    held.check_fields(args.show)
    return tuple(dict.fromkeys(args.show))


def _about(args: argparse.Namespace, held: Copied, name: str, kind: str) -> dict[str, Any]:
    """The keys of the manifest that both kinds have; the model's come when the server was asked."""
    return {
        "recording": name, "kind": kind, "collection": held.collection, "collection_digest": held.digest, "split": args.split,
        "asked": ASKED if args.limit is not None else None, "model": args.model,
        "options": {**options_of(args), "think": args.think}, "shown_fields": None if args.show is None else list(dict.fromkeys(args.show)),
        "max_recommendations": args.max_recommendations, "trials": args.trials if args.trials > 1 else None,
        "notes": args.note,
    }  # fmt: skip


def dry_run(n_tasks: int, call: Mapping[str, Any]) -> int:
    """Print what the first call would be; the exit code."""
    print(json.dumps(call, ensure_ascii=False, indent=1))
    for message in call["messages"]:
        print(f"\n[{message['role']}]\n{message['content']}")
    print(f"\n{n_tasks:,} tasks would be recorded; nobody was asked.")
    return 0


def record_tasks(
    args: argparse.Namespace, name: str, manifest: dict[str, Any], file: str, queries: list[Query] | None, tasks: list[Any],
    one: Any, key_of: Any, is_last: Any,
) -> int:  # fmt: skip
    """Ask for every task that isn't recorded yet, then load the recording; the exit code. `queries` are those asked; None where none are."""
    out = args.out or Path("recordings") / name
    server = Server(args.host, timeout=args.timeout, retries=args.retries)
    model = server.model(args.model)
    manifest |= {
        "model": model.name, "model_digest": model.digest, "model_licence": model.licence, "model_details": dict(model.details),
        "server": {"name": "ollama", "version": model.server}, "libraries": {"python": platform.python_version(), **client_versions()},
        "recorded_at": args.recorded_at or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }  # fmt: skip
    manifest = {key: value for key, value in manifest.items() if value is not None}
    asked = [query.query_id for query in queries] if queries is not None and args.limit is not None else None
    journal = Journal(out, file, manifest, asked, key_of, is_last)
    try:
        if not journal.is_finished:
            if args.retry_errors and (
                again := journal.forget(
                    lambda line: line.get("error") is None or line.get("event", "end") != "end"
                )
            ):
                print(f"{again} tasks with an error are done again")
            _ask(journal, tasks, server, model, one)
            journal.finish()
        print(
            f"{out}: {len(list(tasks)):,} tasks recorded"
            if not journal.done
            else f"{out}: {len(journal.done):,} tasks recorded"
        )
    except KeyboardInterrupt:
        print(f"\nstopped; the same command goes on after {len(journal.done):,} tasks", file=sys.stderr)
        return 130
    finally:
        journal.close()
        server.close()
    return 0 if args.no_load else _load(out, args.wait)


def _ask(journal: Journal, tasks: list[Any], server: Server, model: Model, one: Any) -> None:
    left = [task for task in tasks if task.key not in journal.done]
    if len(left) < len(tasks):
        print(f"{len(tasks) - len(left):,} of {len(tasks):,} tasks are recorded already; going on")
    start, unreachable, errors = time.monotonic(), 0, 0
    for n, task in enumerate(left, start=1):
        lines, is_gone = one(task, server, model)
        unreachable = unreachable + 1 if is_gone else 0
        if unreachable >= _UNREACHABLE:
            raise CannotRun(
                f"{server.host}: nobody answered {_UNREACHABLE} calls in a row. Start the server; the same command goes on after {len(journal.done):,} tasks"
                " (--retry-errors does the failed ones again)."
            )
        journal.keep(task.key, lines)
        errors += lines[-1].get("error") is not None
        _show(n, len(left), time.monotonic() - start, errors)


def _show(n: int, of: int, elapsed: float, errors: int) -> None:
    """How far it is, how fast, and how long it will take: on a terminal always, else now and then."""
    each = elapsed / n
    left = int(each * (of - n))
    said = f"{n:,}/{of:,}  {each:.1f} s each  {left // 60}:{left % 60:02d} left" + (
        f"  {errors} errors" if errors else ""
    )
    if sys.stderr.isatty():
        print(f"\r\033[K{said}", end="\n" if n == of else "", file=sys.stderr, flush=True)
    elif n == of or n % 10 == 0:
        print(said, file=sys.stderr, flush=True)


def _load(out: Path, wait: float) -> int:
    [found] = native.find(out, Options())
    try:
        con = open_warehouse(wait=wait)
    except AssayError as error:
        raise CannotRun(
            f"{out} is recorded, and not loaded: {error} Then run: python -m ingest load {out}"
        ) from None
    try:
        result = load(con, found)
    finally:
        con.close()
    print(result.sentence())
    for severity, file, message in result.noticed:
        print(f"  {severity}: {file}: {message}")
    return 0

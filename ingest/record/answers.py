"""Answers: for each query and context one chat call, its reply as it came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.errors import BadInput
from ingest.record.collection import Copied, Query
from ingest.record.journal import Key
from ingest.record.prompts import Prompts, answer_messages, parsed
from ingest.record.server import Reply
from ingest.retrieve.loaded import Run
from ingest.sqltext import literal

FILE = "answers.jsonl"


@dataclass(frozen=True)
class Task:
    """One answer to be recorded: the query, which run chose its context, and the context."""

    query: Query
    retriever: str
    trial: int
    context: tuple[str, ...]

    @property
    def key(self) -> Key:
        """What is different for each."""
        return self.query.query_id, self.retriever, self.trial


def key_of(line: Mapping[str, Any]) -> Key:
    """The task of a recorded line."""
    return str(line["query_id"]), str(line["context"]), int(line.get("trial", 1))


def shown_of(copied: Copied, run: Run) -> int | None:
    """How many documents of a run's lists a model is shown: its results_shown; None for all."""
    row = copied.con.execute(
        f"select results_shown from assay_raw.recordings where recording_id = {literal(run.recording_id)}"
    ).fetchone()
    return None if row is None or row[0] is None else int(row[0])


def contexts_of(copied: Copied, run: Run) -> dict[str, tuple[str, ...]]:
    """The context of each query in a run, in its order. Raises BadInput where a query has several, or a document is unknown."""
    shown = shown_of(copied, run)
    depth = "" if shown is None else f" and d.rank <= {shown}"
    where = f"c.recording_id = {literal(run.recording_id)} and c.retriever = {literal(run.retriever)}"
    rows = copied.con.execute(
        f"""
        select c.query_id, count(distinct c.trial), coalesce(list(d.doc_id order by d.rank) filter (where d.doc_id is not null), [])
        from assay_raw.contexts as c
        left join assay_raw.context_documents as d
            on d.recording_id = c.recording_id and d.retriever = c.retriever and d.query_id = c.query_id and d.trial = c.trial{depth}
        where {where} and c.has_documents group by c.query_id
        """
    ).fetchall()
    several = next((query_id for query_id, n, _ in rows if n > 1), None)
    if several is not None:
        raise BadInput(
            f"the run {run.is_named!r} has more than one list for the query {several!r}. Name a run with one list a query."
        )
    return {str(query_id): tuple(str(d) for d in docs) for query_id, _, docs in rows}


def tasks(
    queries: Sequence[Query], contexts: Mapping[str, Mapping[str, tuple[str, ...]]], trials: int
) -> Iterator[Task]:
    """Every answer to be recorded: retriever by retriever, query by query; `contexts` by retriever and query."""
    for trial in range(1, trials + 1):
        for retriever, by_query in contexts.items():
            for query in queries:
                if query.query_id in by_query:
                    yield Task(query, retriever, trial, by_query[query.query_id])


def messages_of(
    copied: Copied, task: Task, prompts: Prompts, fields: Sequence[str], ask: str
) -> list[dict[str, str]]:
    """What is sent for a task."""
    return answer_messages(prompts, copied.texts(task.context, fields), ask, task.query.text)


def cut_reason(reply: Reply, n_words: int, num_ctx: int) -> str | None:
    """Why the prompt may have been cut by the server; None where it wasn't, or no count says so."""
    if reply.prompt_tokens is None:
        return None
    if reply.prompt_tokens < n_words:
        return f"{reply.prompt_tokens} tokens were counted, and {n_words} words were sent"
    if reply.prompt_tokens >= num_ctx:
        return f"as many tokens as num_ctx allows ({num_ctx})"
    return None


def line_of(
    task: Task, reply: Reply, schema: Mapping[str, Any], n_words: int, num_ctx: int
) -> dict[str, Any]:
    """A reply as a line of the recording. What breaks the schema is an error with its raw text, and no abstention."""
    read = parsed(reply.content, schema) if reply.error is None else None
    problem = reply.error if read is None else read.problem
    value: Mapping[str, Any] = {} if read is None else read.value
    extra = {
        "attempts": reply.attempts if reply.attempts > 1 else None,
        "done_reason": reply.done_reason if reply.done_reason not in (None, "stop") else None,
        "prompt_cut": cut_reason(reply, n_words, num_ctx),
    }
    extra = {key: given for key, given in extra.items() if given is not None}
    return {
        "query_id": task.query.query_id,
        "context": task.retriever,
        "trial": task.trial if task.trial > 1 else None,
        "context_ids": list(task.context),
        "answer": value.get("answer") if isinstance(value.get("answer"), str) else None,
        "cited": value.get("cited"),
        "raw": reply.body,
        "prompt_tokens": reply.prompt_tokens,
        "answer_tokens": reply.answer_tokens,
        "duration_ms": reply.duration_ms,
        "error": problem,
        "extra": extra or None,
    }

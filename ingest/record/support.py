"""Labels of support: for each claim of recorded answers one chat call that shows what the claim cites, and a label by a fixed schema.

The labels become a recording of their own (kind "labels"), so that the answers' bytes stay as they are pinned, and so that two judges, or one judge
with two prompts, are two recordings.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.errors import BadInput
from ingest.record.answers import cut_reason
from ingest.record.collection import Copied, copied
from ingest.record.journal import Key
from ingest.record.prompts import parsed, read_instructions, read_schema
from ingest.record.run import checked, dry_run, options_of, record_tasks
from ingest.record.server import Model, Reply, Server
from ingest.sqltext import literal
from ingest.warehouse import warehouse_path

FILE = "support.jsonl"

LABELS = ("supported", "partly", "unsupported")

INSTRUCTIONS = (
    "You check claims against the documents that they cite. Using only the documents below, say whether they support the claim: "
    '"supported" where they say all of it, "partly" where they say some of it, "unsupported" where they say none of it or the contrary.'
)


def support_schema() -> dict[str, Any]:
    """The reply of a judge: one label."""
    return {
        "type": "object",
        "properties": {"label": {"type": "string", "enum": list(LABELS)}},
        "required": ["label"],
    }


@dataclass(frozen=True)
class Task:
    """One claim to be judged: whose answer it is of, its text, what it cites, and those documents' texts."""

    query_id: str
    retriever: str
    trial: int
    #: None where the whole answer is judged.
    claim: str | None
    text: str
    doc_ids: tuple[str, ...]
    documents: tuple[str, ...]

    @property
    def key(self) -> Key:
        """What is different for each."""
        return _key(self.query_id, self.retriever, self.trial, self.claim, self.doc_ids)


def _key(query_id: str, retriever: str, trial: int, claim: str | None, doc_ids: Sequence[str]) -> Key:
    item = json.dumps([query_id, claim, sorted(set(doc_ids))])
    return hashlib.sha256(item.encode()).hexdigest(), retriever, trial


def key_of(line: Mapping[str, Any]) -> Key:
    """The task of a recorded line."""
    return _key(
        str(line["query_id"]),
        str(line["context"]),
        int(line.get("trial", 1)),
        line.get("claim"),
        line["doc_ids"],
    )


@dataclass(frozen=True)
class Claims:
    """The claims of a recording that can be judged, in its order, and how many can't."""

    tasks: tuple[Task, ...]
    n_without_documents: int
    n_without_text: int


def claims_of(held: Copied, recording: str, which: str, fields: Sequence[str]) -> Claims:
    """The claims of a recording of answers: those that somebody labelled, or every answer as one claim.

    A claim that cites nothing has nothing to be supported by, and one with a document whose text isn't there can't be
    read: neither is judged. A document's text is what the answer's context gives of it, else the catalog's fields.
    """
    name = literal(recording)
    if which == "labelled":
        sql = f"""
            select s.query_id, s.retriever, s.trial, s.claim, coalesce(s.claim, any_value(a.answer)),
                coalesce(any_value(d.doc_ids), []), min(s.line) as place
            from assay_raw.support as s
            left join assay_raw.answers as a
                on a.recording_id = s.recording_id and a.query_id = s.query_id and a.retriever = s.retriever and a.trial = s.trial
            left join (
                select line, list(doc_id order by position) as doc_ids from assay_raw.support_documents
                where recording_id = {name} group by line
            ) as d on d.line = s.line
            where s.recording_id = {name}
            group by s.query_id, s.retriever, s.trial, s.claim, s.documents order by place
        """
    else:
        sql = f"""
            select a.query_id, a.retriever, a.trial, null, a.answer, coalesce(c.doc_ids, []), a.line
            from assay_raw.answers as a
            left join (
                select query_id, retriever, trial, list(doc_id order by position) as doc_ids from assay_raw.answer_citations
                where recording_id = {name} and doc_id is not null group by query_id, retriever, trial
            ) as c on c.query_id = a.query_id and c.retriever = a.retriever and c.trial = a.trial
            where a.recording_id = {name} and a.error is null and trim(a.answer) != '' order by a.line
        """
    tasks, n_bare, n_unread = [], 0, 0
    for query_id, retriever, trial, claim, text, doc_ids, _ in held.con.execute(sql).fetchall():
        ids = tuple(dict.fromkeys(str(d) for d in doc_ids))
        documents = _documents(held, recording, (query_id, retriever, trial), ids, fields) if ids else ()
        if not ids or not text:
            n_bare += 1
        elif documents is None:
            n_unread += 1
        else:
            tasks.append(Task(str(query_id), str(retriever), int(trial), claim, str(text), ids, documents))
    return Claims(tuple(tasks), n_bare, n_unread)


def _documents(
    held: Copied, recording: str, answer: tuple[Any, ...], ids: tuple[str, ...], fields: Sequence[str]
) -> tuple[str, ...] | None:
    """Each document as the judge reads it; None where one has no text."""
    rows = held.con.execute(
        "select doc_id, text from assay_raw.context_documents where recording_id = ? and query_id = ? and retriever = ? and trial = ?"
        " and text != '' order by rank",
        [recording, *answer],
    ).fetchall()
    shown: dict[str, list[str]] = {}
    for doc_id, text in rows:
        passages = shown.setdefault(str(doc_id), [])
        if text not in passages:
            passages.append(str(text))
    values = held.values([d for d in ids if d not in shown], fields)
    if any(doc_id not in shown and not values[doc_id] for doc_id in ids):
        return None
    return tuple(
        "\n".join([f"ID: {doc_id}", *(shown.get(doc_id) or [f"{f}: {v}" for f, v in values[doc_id].items()])])
        for doc_id in ids
    )


def messages_of(task: Task, instructions: str) -> list[dict[str, str]]:
    """What is sent for a task: instructions, documents and the claim, with a blank line between."""
    parts = [instructions, *task.documents, f"Claim: {task.text.strip()}"]
    return [{"role": "user", "content": "\n\n".join(parts)}]


def line_of(
    task: Task, judge: str, reply: Reply, schema: Mapping[str, Any], n_words: int, num_ctx: int
) -> dict[str, Any]:
    """A reply as a line of support.jsonl. What breaks the schema is an error with its raw text, and no label."""
    read = parsed(reply.content, schema) if reply.error is None else None
    problem = reply.error if read is None else read.problem
    label = None if read is None else read.value.get("label")
    if problem is None and label not in LABELS:
        problem, label = f"the reply's label is none of {', '.join(LABELS)}", None
    extra = {
        "attempts": reply.attempts if reply.attempts > 1 else None,
        "done_reason": reply.done_reason if reply.done_reason not in (None, "stop") else None,
        "prompt_cut": cut_reason(reply, n_words, num_ctx),
    }
    extra = {key: given for key, given in extra.items() if given is not None}
    return {
        "query_id": task.query_id,
        "context": task.retriever,
        "trial": task.trial if task.trial > 1 else None,
        "claim": task.claim,
        "doc_ids": list(task.doc_ids),
        "judge": judge,
        "label": label if problem is None else None,
        "raw": reply.body,
        "prompt_tokens": reply.prompt_tokens,
        "answer_tokens": reply.answer_tokens,
        "duration_ms": reply.duration_ms,
        "error": problem,
        "extra": extra or None,
    }


def record_support(args: argparse.Namespace) -> int:
    """Record a judge's labels of a loaded recording's claims; the exit code. Raises BadInput and CannotRun."""
    checked(args)
    schema = read_schema(args.schema, support_schema(), "label")
    instructions = INSTRUCTIONS if args.prompt is None else read_instructions(args.prompt)
    with copied(warehouse_path(), None, args.wait, args.recording) as held:
        claims = claims_of(held, args.recording, args.claims, _fields(held, args.recording))
        tasks = list(claims.tasks[: args.limit])
        if not tasks:
            raise BadInput(_nothing(args, claims))
        [(digest,)] = held.con.execute("select digest from assay_raw.recordings").fetchall()
        name = args.name or f"{args.recording}-support-by-{_slug(args.model)}"
        manifest = {
            "recording": name, "kind": "labels", "collection": held.collection, "collection_digest": held.digest,
            "answers_recording": args.recording, "answers_digest": digest, "claims": args.claims, "limit": args.limit,
            "left_out": {"without_documents": claims.n_without_documents, "without_text": claims.n_without_text},
            "options": {**options_of(args), "think": args.think}, "prompts": instructions, "schemas": {"support": schema},
        }  # fmt: skip
        if args.dry_run:
            call = {
                "messages": messages_of(tasks[0], instructions),
                "format": schema,
                "options": options_of(args),
            }
            return dry_run(len(tasks), call)

        def one(task: Task, server: Server, model: Model) -> tuple[list[dict[str, Any]], bool]:
            sent = messages_of(task, instructions)
            reply = server.chat(model.name, sent, options=options_of(args), think=args.think, schema=schema)
            n_words = sum(len(m["content"].split()) for m in sent)
            return [line_of(task, model.name, reply, schema, n_words, args.num_ctx)], reply.is_unreachable

        args.out = args.out or Path("recordings") / name
        return record_tasks(args, name, manifest, FILE, None, tasks, one, key_of, lambda line: True)


def _fields(held: Copied, recording: str) -> tuple[str, ...]:
    """The fields that the answers' model was shown; all where the manifest names none."""
    rows = held.con.execute(
        f"select field from assay_raw.recording_fields where recording_id = {literal(recording)} order by position"
    ).fetchall()
    return tuple(str(f) for (f,) in rows) or held.fields


def _nothing(args: argparse.Namespace, claims: Claims) -> str:
    lost = claims.n_without_documents + claims.n_without_text
    if not lost:
        other = (
            "Judge whole answers with --claims answers."
            if args.claims == "labelled"
            else "It has no answers."
        )
        return f"the recording {args.recording!r} has no {args.claims} claims. {other}"
    return (
        f"none of the {lost:,} claims of {args.recording!r} can be judged: {claims.n_without_documents:,} cite no document, and of "
        f"{claims.n_without_text:,} a document's text is not there. Load a catalog with texts, or answers with context_texts."
    )


def _slug(model: str) -> str:
    return "".join(c if c.isalnum() or c in ".-" else "-" for c in model)

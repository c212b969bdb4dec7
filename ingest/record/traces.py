"""Traces: the loop of an agent with one search tool, then its picks by a schema. Everything that happens is an event.

A task ends in one of these ways, and each is recorded, none is a crash: it picks; its picks break the schema (the pick has an error, so the task didn't
finish); a call fails (the last event has the error: the task is broken); it goes on and on (the last event says so, the task didn't finish). On
the way: a reply without a call, and a search beyond the allowed number, end the searching and ask for the picks; a call of another tool and arguments that can't
be read are answered by the tool in words. All of it is recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.record.collection import Copied, Query
from ingest.record.journal import Key
from ingest.record.prompts import Prompts, agent_messages, parsed, search_tool
from ingest.record.server import Reply
from ingest.retrieve.base import Ranked

FILE = "traces.jsonl"
_END = "end"

#: One call of the model: messages, tools (none to ask for the picks), the picks' schema or none.
Chat = Callable[[list[dict[str, Any]], Sequence[Mapping[str, Any]], Mapping[str, Any] | None], Reply]


@dataclass(frozen=True)
class Setting:
    """What is the same for all tasks."""

    prompts: Prompts
    ask: str
    fields: tuple[str, ...]
    max_searches: int
    picks_schema: Mapping[str, Any]
    #: Calls after which a task that is still searching is ended.
    max_calls: int


@dataclass(frozen=True)
class Task:
    """One task to be recorded."""

    query: Query
    retriever: str
    trial: int

    @property
    def key(self) -> Key:
        """What is different for each."""
        return self.query.query_id, self.retriever, self.trial


def key_of(line: Mapping[str, Any]) -> Key:
    """The task of a recorded event."""
    return str(line["query_id"]), str(line["retriever"]), int(line.get("trial", 1))


def is_last(line: Mapping[str, Any]) -> bool:
    """Whether an event is its task's last."""
    return line.get("event") == _END


def tasks(queries: Sequence[Query], retrievers: Sequence[str], trials: int) -> Iterator[Task]:
    """Every task to be recorded: retriever by retriever, query by query."""
    for trial in range(1, trials + 1):
        for retriever in retrievers:
            for query in queries:
                yield Task(query, retriever, trial)


def first_messages(setting: Setting, query: Query) -> list[dict[str, Any]]:
    """What a task begins with."""
    return agent_messages(setting.prompts, setting.ask, query.text)


def record(
    task: Task, setting: Setting, copied: Copied, search: Callable[[str], Ranked], chat: Chat
) -> list[dict[str, Any]]:
    """The events of one task, in order."""
    about = {
        "trace_id": f"{task.retriever}/{task.query.query_id}/{task.trial}", "query_id": task.query.query_id, "retriever": task.retriever,
        "trial": task.trial if task.trial > 1 else None,
    }  # fmt: skip
    loop = _Loop(setting, copied, search, chat, first_messages(setting, task.query))
    events = list(loop.run())
    return [{**about, "seq": seq, **event} for seq, event in enumerate(events, start=1)]


class _Loop:
    def __init__(
        self,
        setting: Setting,
        copied: Copied,
        search: Callable[[str], Ranked],
        chat: Chat,
        messages: list[dict[str, Any]],
    ) -> None:
        self.setting, self.copied, self.search, self.chat, self.messages = (
            setting,
            copied,
            search,
            chat,
            messages,
        )
        self.tool = search_tool(setting.prompts.texts["tool"])
        self.n_searches = self.n_refused = 0
        self.n_tokens: dict[str, int] = {}

    def run(self) -> Iterator[dict[str, Any]]:
        for step in range(1, self.setting.max_calls + 1):
            reply = self.chat(self.messages, [self.tool], None)
            yield self._called(step, reply)
            if reply.error is not None:
                yield self._end(f"call {step}: {reply.error}", is_broken=True)
                return
            calls = reply.message.get("tool_calls")
            calls = calls if isinstance(calls, list) else []
            self.messages.append(_sent_back(reply.message, calls))
            if not calls:
                yield from self._picks(step + 1)
                return
            before = self.n_refused
            for call in calls:
                event, said = self._one(step, call)
                yield event
                self.messages.append({"role": "tool", "tool_name": _name(call) or "search", "content": said})
            if self.n_refused > before:
                # A model that wants more than it may is asked for its picks.
                yield from self._picks(step + 1)
                return
        yield self._end(f"still searching after {self.setting.max_calls} calls", is_broken=False)

    def _called(self, step: int, reply: Reply) -> dict[str, Any]:
        """The event of a model's call: the reply as it came, its tokens and time."""
        for name, n in (("prompt_tokens", reply.prompt_tokens), ("answer_tokens", reply.answer_tokens)):
            if n is not None:
                self.n_tokens[name] = self.n_tokens.get(name, 0) + n
        extra = {
            "raw": reply.body, "prompt_tokens": reply.prompt_tokens, "answer_tokens": reply.answer_tokens, "duration_ms": reply.duration_ms,
            "attempts": reply.attempts if reply.attempts > 1 else None,
            "done_reason": reply.done_reason if reply.done_reason not in (None, "stop") else None,
        }  # fmt: skip
        return {
            "event": "model_call",
            "step": step,
            "error": reply.error,
            "extra": {k: v for k, v in extra.items() if v is not None},
        }

    def _one(self, step: int, call: Any) -> tuple[dict[str, Any], str]:
        """One tool call: its event, and what the tool says to it."""
        name, arguments = _name(call), _arguments(call)
        sent = {"arguments": arguments} if arguments is not None else {}
        if name != "search":
            said = f"there is no tool {name!r}; the only one is search"
            return {"event": "other_tool", "step": step, "error": said, "extra": {"name": name, **sent}}, said
        given = _decoded(arguments)
        query = given.get("query") if isinstance(given, dict) else None
        event: dict[str, Any] = {
            "event": "search", "step": step, "call_id": _call_id(call), "query": query if isinstance(query, str) else None,
            "extra": sent or None,
        }  # fmt: skip
        if not isinstance(query, str) or not query.strip():
            said = "the arguments must be an object with a text 'query'"
            return {**event, "results": [], "error": said}, said
        if self.n_searches >= self.setting.max_searches:
            self.n_refused += 1
            said = f"only {self.setting.max_searches} searches are allowed"
            return {**event, "results": [], "error": said}, said
        self.n_searches += 1
        found = self.search(query)
        scores = None if found.scores is None else list(found.scores)
        texts = self.copied.texts(list(found.doc_ids), self.setting.fields)
        return {**event, "results": list(found.doc_ids), "scores": scores}, "\n\n".join(
            texts
        ) or "nothing was found"

    def _picks(self, step: int) -> Iterator[dict[str, Any]]:
        schema = self.setting.picks_schema
        self.messages.append({"role": "user", "content": self.setting.prompts.texts["picks"]})
        reply = self.chat(self.messages, [], schema)
        yield self._called(step, reply)
        if reply.error is not None:
            yield self._end(f"call {step}: {reply.error}", is_broken=True)
            return
        read = parsed(reply.content, schema)
        yield {
            "event": "pick",
            "step": step,
            "picked": list(read.value.get("picked", [])),
            "error": read.problem,
        }
        yield self._end(None, is_broken=False)

    def _end(self, why: str | None, *, is_broken: bool) -> dict[str, Any]:
        """The last event. Only what broke the task is its error: one that never picks didn't finish, which is no fault of the call's."""
        extra = {**self.n_tokens, **({"reason": why} if why is not None and not is_broken else {})}
        return {"event": _END, "error": why if is_broken else None, "extra": extra or None}


def _function(call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    return function if isinstance(function, dict) else {}


def _name(call: Any) -> str | None:
    name = _function(call).get("name")
    return name if isinstance(name, str) else None


def _arguments(call: Any) -> Any:
    """A call's arguments as they were sent."""
    return _function(call).get("arguments")


def _call_id(call: Any) -> str | None:
    given = call.get("id") if isinstance(call, dict) else None
    return given if isinstance(given, str) and given else None


def _decoded(arguments: Any) -> Any:
    """Arguments that came as a text, read as JSON where they are such."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None


def _sent_back(message: Mapping[str, Any], calls: list[Any]) -> dict[str, Any]:
    """The model's message as the next call has it: without its thoughts, and with arguments as the client can send them."""
    content = message.get("content")
    found: dict[str, Any] = {"role": "assistant", "content": content if isinstance(content, str) else ""}
    named = [(name, _decoded(_arguments(call))) for call in calls if (name := _name(call)) is not None]
    if named:
        found["tool_calls"] = [
            {"function": {"name": name, "arguments": given if isinstance(given, dict) else {}}}
            for name, given in named
        ]
    return found

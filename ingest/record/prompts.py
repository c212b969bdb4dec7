"""What a model is sent: instructions, documents as text, the query; and what it must reply, as JSON schemas."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]

from ingest.errors import BadInput, shown

#: How a query is put, where the user says nothing else.
ASK = "I'm looking for {query}"

ANSWER = (
    "You help people find what they are looking for. Using only the documents listed below, answer. Recommend up to {max_recommendations} documents "
    "that fit, cite each one by its ID, and say plainly if none of them fit. Don't mention documents that aren't listed."
)

AGENT = {
    "system": (
        "You help people find what they are looking for. Search with the tool, up to {max_searches} times, with any wording. "
        "When you have seen enough, stop searching."
    ),
    "tool": "Search the collection. Returns the top {results_shown} documents.",
    "picks": "Reply with the IDs of the {max_recommendations} documents that fit best, best first.",
}

#: The most that a list in a reply can hold: without an end a small model goes on to the limit of its window.
MOST = 10


def answer_schema() -> dict[str, Any]:
    """The reply of an answer: a text, and the IDs that it cites in a field of their own."""
    return {
        "type": "object",
        "properties": {
            "answer": {"type": "string"},
            "cited": {"type": "array", "items": {"type": "string"}, "maxItems": MOST},
        },
        "required": ["answer", "cited"],
    }


def picks_schema() -> dict[str, Any]:
    """The reply at the end of a task: the IDs that were picked."""
    return {
        "type": "object",
        "properties": {"picked": {"type": "array", "items": {"type": "string"}, "maxItems": MOST}},
        "required": ["picked"],
    }


def search_tool(description: str) -> dict[str, Any]:
    """The one tool of an agent."""
    return {
        "type": "function",
        "function": {
            "name": "search",
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string", "description": "What to search for."}},
                "required": ["query"],
            },
        },
    }


def read_schema(path: Path | None, usual: dict[str, Any], needs: str) -> dict[str, Any]:
    """A schema from a JSON file, else the usual one. Raises BadInput where it is none, or has no list `needs`."""
    if path is None:
        return usual
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(found)
    except OSError as error:
        raise BadInput(f"{path}: it can't be read: {error.strerror or error}. Name a JSON file.") from None
    except (ValueError, jsonschema.SchemaError) as error:
        raise BadInput(
            f"{path}: this is no JSON schema: {str(error).splitlines()[0]}. Put that right."
        ) from None
    if not isinstance(found, dict) or needs not in found.get("properties", {}):
        raise BadInput(f"{path}: the schema has no property {needs!r}, which is what is recorded. Add it.")
    return found


def filled(text: str, settings: Mapping[str, object]) -> str:
    """A prompt with ``{max_searches}`` and the like replaced; other braces stay."""
    for name, value in settings.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


@dataclass(frozen=True)
class Prompts:
    """What stands before a task: texts by name, and finished turns as an example, in Ollama's form of messages."""

    texts: Mapping[str, str]
    examples: tuple[Mapping[str, Any], ...] = ()

    @property
    def given(self) -> dict[str, Any]:
        """For the manifest."""
        return {**self.texts, **({"examples": [dict(e) for e in self.examples]} if self.examples else {})}


#: What one example has, as a JSON schema: of an answer, and of an agent's task. `enough` is what the model says instead of another search.
_TEXT = {"type": "string", "minLength": 1}
_SEARCH = {
    "type": "object", "properties": {"query": _TEXT, "results": {"type": "string"}}, "required": ["query", "results"],
    "additionalProperties": False,
}  # fmt: skip
_ANSWER_EXAMPLE = {"user": _TEXT, "assistant": _TEXT}
_AGENT_EXAMPLE = {
    "user": _TEXT,
    "searches": {"type": "array", "items": _SEARCH},
    "enough": _TEXT,
    "assistant": _TEXT,
}


def read_answer_prompt(path: Path | None, settings: Mapping[str, object]) -> Prompts:
    """The instructions of an answer: a text, or TOML with ``system`` and examples of ``user`` and ``assistant``. Raises BadInput."""
    if path is not None and path.suffix == ".toml":
        return _toml(path, {"system": ANSWER}, _ANSWER_EXAMPLE, settings)
    return Prompts({"instructions": filled(ANSWER if path is None else read_instructions(path), settings)})


def read_instructions(path: Path) -> str:
    """The text of a file. Raises BadInput."""
    text = _read(path).strip()
    if not text:
        raise BadInput(f"{path}: it is empty. Write the instructions into it.")
    return text


def read_agent_prompts(path: Path | None, settings: Mapping[str, object]) -> Prompts:
    """The prompts of an agent, from TOML: ``system``, ``tool``, ``picks`` (the usual ones where it leaves them out), and
    examples of ``user``, ``searches`` (each ``query`` and ``results``), ``enough`` and ``assistant``. Raises BadInput."""
    if path is None:
        return Prompts({key: filled(text, settings) for key, text in AGENT.items()})
    return _toml(path, AGENT, _AGENT_EXAMPLE, settings)


def _toml(
    path: Path, usual: Mapping[str, str], example: Mapping[str, Any], settings: Mapping[str, object]
) -> Prompts:
    try:
        found = tomllib.loads(_read(path))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: this is not valid TOML: {error}. Put that right.") from None
    examples = found.pop("examples", [])
    for key, value in found.items():
        if key not in usual or not isinstance(value, str) or not value.strip():
            raise BadInput(
                f"{path}: {shown(key)} is no prompt: there are {', '.join(usual)}, each a text, and examples. Put that right."
            )
    schema = {"type": "object", "properties": example, "required": [*example], "additionalProperties": False}
    wrong = next(
        jsonschema.Draft202012Validator({"type": "array", "items": schema}).iter_errors(examples), None
    )
    if wrong is not None:
        where = "/".join(str(p + 1 if isinstance(p, int) else p) for p in wrong.absolute_path)
        raise BadInput(
            f"{path}: examples/{where}: {str(wrong.message)[:200]}. An example has {', '.join(example)}. Put that right."
        )
    texts = {key: filled(text.strip(), settings) for key, text in {**usual, **found}.items()}
    return Prompts(texts, tuple(_stripped(one) for one in examples))


def _stripped(value: Any) -> Any:
    """An example without the blank lines that TOML's long texts have at their ends."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return [_stripped(one) for one in value]
    return {key: _stripped(one) for key, one in value.items()}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: it can't be read: {error.strerror or error}. Name a file of text.") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: this is not UTF-8. Save it as UTF-8.") from None


def check_ask(ask: str) -> None:
    """Raise BadInput where the query has no place."""
    if "{query}" not in ask:
        raise BadInput(f"--ask {shown(ask)}: it must hold {{query}}, as in {ASK!r}.")


def asked(ask: str, query: str) -> str:
    """A query as it is put."""
    return ask.replace("{query}", query)


def answer_messages(prompts: Prompts, documents: Sequence[str], ask: str, query: str) -> list[dict[str, str]]:
    """What is sent for an answer: documents and the query, a blank line between, after the instructions or after the examples' turns."""
    task = [*documents, asked(ask, query)]
    if "instructions" in prompts.texts:
        return [{"role": "user", "content": "\n\n".join([prompts.texts["instructions"], *task])}]
    turns = [{"role": role, "content": one[role]} for one in prompts.examples for role in _ANSWER_EXAMPLE]
    system = {"role": "system", "content": prompts.texts["system"]}
    return [system, *turns, {"role": "user", "content": "\n\n".join(task)}]


def agent_messages(prompts: Prompts, ask: str, query: str) -> list[dict[str, Any]]:
    """What an agent's task begins with: the system's text, the examples as finished tasks, the query."""
    found: list[dict[str, Any]] = [{"role": "system", "content": prompts.texts["system"]}]
    for one in prompts.examples:
        found.append({"role": "user", "content": one["user"]})
        for search in one["searches"]:
            call = {"function": {"name": "search", "arguments": {"query": search["query"]}}}
            found.append({"role": "assistant", "content": "", "tool_calls": [call]})
            found.append({"role": "tool", "tool_name": "search", "content": search["results"]})
        found.append({"role": "assistant", "content": one["enough"]})
        found.append({"role": "user", "content": prompts.texts["picks"]})
        found.append({"role": "assistant", "content": one["assistant"]})
    return [*found, {"role": "user", "content": asked(ask, query)}]


@dataclass(frozen=True)
class Parsed:
    """A reply by its schema, or what is wrong with it."""

    value: Mapping[str, Any]
    problem: str | None


def parsed(content: str, schema: Mapping[str, Any]) -> Parsed:
    """A reply's content, held against its schema."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        return Parsed({}, f"the reply is no JSON: {error}")
    if not isinstance(value, dict):
        return Parsed({}, "the reply is no JSON object")
    wrong = next(iter(jsonschema.Draft202012Validator(dict(schema)).iter_errors(value)), None)
    if wrong is not None:
        where = "/".join(str(p) for p in wrong.absolute_path) or "the reply"
        return Parsed({}, f"the reply breaks its schema at {where}: {str(wrong.message)[:200]}")
    return Parsed(value, None)

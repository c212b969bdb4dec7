"""A plain log of tool calls as JSONL, one call a line, with a small TOML file that says which key is what (``--mapping FILE``).

    [fields]                     # keys of a line, nested ones with dots
    trace = "session"            # the task that the call belongs to
    query = "task"               # the task's query by its text; or query_id
    tool = "name"
    arguments = "arguments"      # an object, or the same as JSON text
    result = "result"            # likewise; a list, or an object
    call_id = "id"               # optional: a retried call has the ID of the first
    error = "error"              # optional: what the tool answered in its results' place
    step = "turn"                # optional: the model call that made it
    retriever = "agent"          # optional: else the file's name

    [search]                     # the tool that searches
    tools = ["search"]
    query = "q"                  # its argument with the text
    results = "hits"             # where the documents are in its result; left out where that is the list itself
    doc_id = "id"                # the ID of each, left out where a result is the ID itself
    score = "score"              # optional

    [open]                       # optional: the tool that reads one document
    tools = ["get"]
    doc_id = "id"                # its argument

    [pick]                       # optional: the tool that ends the task
    tools = ["submit"]
    doc_ids = "ids"              # its argument: a list, or one ID

Every line becomes an event of its trace, in the file's order; other tools' calls are kept by their names. Arguments that are absent, ``""`` or cut are
unknown, never empty: so is a search's text without its argument, and its results without a result. Two calls with one ``call_id`` are one search with
two attempts.

With ``--collection`` a query's text must be that of just one query there; without it a collection is made of the log: its queries, and the documents that
it names (``"seen"``, no judgments). A line without a trace, a query or a tool goes to quarantine.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.errors import BadInput, shown
from ingest.files import Given, SourceFile
from ingest.formats._seen import ignoring, jsonl, refusing, seen_collection, stem, text_id
from ingest.formats.base import Found, Options, from_records
from ingest.formats.marked import query_of
from ingest.staging import Load

NAME = "tool_log"
SUMMARY = "tool calls as JSONL, with a TOML file that names the fields (--mapping)"

_FIELDS = (
    "trace",
    "query",
    "query_id",
    "tool",
    "arguments",
    "result",
    "call_id",
    "error",
    "step",
    "retriever",
)
_PARTS = {
    "search": ("tools", "query", "results", "doc_id", "score"),
    "open": ("tools", "doc_id"),
    "pick": ("tools", "doc_ids"),
}


@dataclass(frozen=True)
class Mapping:
    """What the TOML file says: keys of a line, and of the tools."""

    fields: dict[str, str]
    parts: dict[str, dict[str, Any]]

    def tool(self, name: str) -> str | None:
        """search, open or pick; None for another tool."""
        return next((part for part, said in self.parts.items() if name in said["tools"]), None)


def recognise(path: Path) -> bool:
    """Never: only the mapping says what a line is."""
    return False


def find(path: Path, options: Options) -> list[Found]:
    """The traces of a log, and the collection that it shows."""
    if options.mapping is None:
        raise BadInput(
            f"{path}: say which key is what, with --mapping FILE (a TOML file; docs/formats.md shows one)."
        )
    mapping = read_mapping(options.mapping)
    name = options.name or stem(path)
    found = []
    if options.collection is None:
        found.append(
            seen_collection(
                path,
                NAME,
                name,
                options,
                lambda: _queries(path, mapping),
                lambda: _documents(path, mapping),
                fields=(),
            )
        )
    recording = f"{name}-traces"
    given = {"recording": recording, "kind": "traces", "collection": options.collection or name}
    described = options.described(path, {**given, "mapping": {"fields": mapping.fields, **mapping.parts}})
    files: dict[str, Given] = {"traces": from_records(path, _events(path, mapping, options.collection))}
    found.append(Found(path, NAME, "recording", recording, described, files, (path, options.mapping)))
    return found


def read_mapping(path: Path) -> Mapping:
    """The mapping. Raises BadInput for what isn't there or can't be meant."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path}: it can't be read as TOML: {error}. Put that right.") from None
    fields = given.get("fields", {})
    unknown = [f"[{k}]" for k in given if k not in ("fields", *_PARTS)]
    unknown += [k for k in fields if k not in _FIELDS]
    for part, keys in _PARTS.items():
        unknown += [f"{k} in [{part}]" for k in given.get(part, {}) if k not in keys]
    if unknown:
        raise BadInput(f"{path}: {unknown[0]} is no part of a mapping. docs/formats.md shows what is.")
    lacking = [k for k in ("trace", "tool", "arguments", "result") if k not in fields]
    if lacking or not ("query" in fields or "query_id" in fields):
        raise BadInput(
            f"{path}: [fields] must name {lacking[0] if lacking else 'query or query_id'}. Add it."
        )
    parts = {part: dict(given[part]) for part in _PARTS if part in given}
    if "search" not in parts:
        raise BadInput(f"{path}: [search] is not there. Say which tool searches, and its argument.")
    for part, said in parts.items():
        tools = said.get("tools")
        if not isinstance(tools, list) or not tools or not all(isinstance(t, str) for t in tools):
            raise BadInput(f"{path}: tools in [{part}] must be a list of names, not {shown(tools)}.")
        for key, value in said.items():
            if key != "tools" and not isinstance(value, str):
                raise BadInput(f"{path}: {key} in [{part}] must be a name, not {shown(value)}.")
    for part, key in (("search", "query"), ("open", "doc_id"), ("pick", "doc_ids")):
        if part in parts and key not in parts[part]:
            raise BadInput(f"{path}: [{part}] must name {key}. Add it.")
    return Mapping({str(k): str(v) for k, v in fields.items()}, parts)


def at(value: Any, path: str | None) -> Any:
    """What stands under a key, nested ones with dots; None where it isn't there."""
    for key in path.split(".") if path else ():
        value = value.get(key) if isinstance(value, dict) else None
    return value


def decoded(value: Any) -> Any:
    """An object or a list, from itself or from JSON text; None for what is absent, empty, cut or anything else."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, (dict, list)) else None


def _id(value: Any) -> str | None:
    is_id = isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip()
    return str(value) if is_id else None


def _calls(path: Path, mapping: Mapping, refuse: Any) -> Iterator[tuple[int, str, str, str, dict[str, Any]]]:
    """Line, trace, query (its ID, or its text), tool and the line itself."""
    for line, entry in jsonl(path, refuse):
        trace, tool = _id(at(entry, mapping.fields["trace"])), at(entry, mapping.fields["tool"])
        query = _id(at(entry, mapping.fields["query_id"])) if "query_id" in mapping.fields else None
        if query is None:
            text = at(entry, mapping.fields.get("query")) if "query" in mapping.fields else None
            query = text if isinstance(text, str) and text.strip() else None
        lacks = (
            "a trace"
            if trace is None
            else "a query"
            if query is None
            else "a tool"
            if not isinstance(tool, str)
            else None
        )
        if lacks:
            refuse(line, f"the line has not {lacks}", json.dumps(entry, ensure_ascii=False)[:1000])
        elif trace is not None and query is not None:
            yield line, trace, query, str(tool), entry


def _results(mapping: Mapping, entry: dict[str, Any]) -> tuple[list[str] | None, list[float | None] | None]:
    """A search's documents and scores; None where they are unknown."""
    said = mapping.parts["search"]
    found = at(decoded(at(entry, mapping.fields["result"])), said.get("results"))
    if not isinstance(found, list):
        return None, None
    ids = [_id(at(one, said["doc_id"]) if "doc_id" in said else one) for one in found]
    if any(i is None for i in ids):
        return None, None
    scores = None
    if "score" in said:
        given = [at(one, said["score"]) for one in found]
        scores = [s if isinstance(s, (int, float)) and not isinstance(s, bool) else None for s in given]
    return [str(i) for i in ids], scores


def _query_id(mapping: Mapping, query: str) -> str:
    return query if "query_id" in mapping.fields else text_id(query)


def _queries(path: Path, mapping: Mapping) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, _, query, _, entry in _calls(path, mapping, ignoring):
        text = at(entry, mapping.fields.get("query")) if "query" in mapping.fields else ""
        yield line, {"query_id": _query_id(mapping, query), "query": text if isinstance(text, str) else ""}


def _documents(path: Path, mapping: Mapping) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, _, _, tool, entry in _calls(path, mapping, ignoring):
        if mapping.tool(tool) == "search":
            for doc_id in _results(mapping, entry)[0] or []:
                yield line, {"doc_id": doc_id}


def _events(path: Path, mapping: Mapping, collection: str | None) -> Any:
    def records(load: Load, source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
        refuse, known = refusing(load, source), dict[str, str | None]()
        for line, trace, query, tool, entry in _calls(path, mapping, refuse):
            if collection is None or "query_id" in mapping.fields:
                query_id: str | None = _query_id(mapping, query)
            else:
                if query not in known:
                    known[query] = query_of(load, collection, query)
                query_id = known[query]
            if query_id is None:
                refuse(line, f"not just one query of {collection!r} has this text", query)
                continue
            yield (
                line,
                {
                    "trace_id": trace,
                    "query_id": query_id,
                    "retriever": _id(at(entry, mapping.fields.get("retriever")))
                    if "retriever" in mapping.fields
                    else stem(path),
                    "seq": line,
                    "step": at(entry, mapping.fields.get("step")) if "step" in mapping.fields else None,
                    **_event(mapping, tool, entry),
                },
            )

    return records


def _event(mapping: Mapping, tool: str, entry: dict[str, Any]) -> dict[str, Any]:
    """A line as an event of its trace."""
    part = mapping.tool(tool)
    arguments = decoded(at(entry, mapping.fields["arguments"]))
    error = at(entry, mapping.fields.get("error")) if "error" in mapping.fields else None
    if part == "search":
        text = at(arguments, mapping.parts["search"]["query"])
        ids, scores = _results(mapping, entry)
        call = at(entry, mapping.fields.get("call_id")) if "call_id" in mapping.fields else None
        event: dict[str, Any] = {"event": "search", "call_id": call, "error": error}
        if isinstance(text, str):
            event["query"] = text
        if ids is not None:
            event["results"] = ids
            event["scores"] = scores
        return event
    if part == "open":
        return {
            "event": "open",
            "doc_id": _id(at(arguments, mapping.parts["open"]["doc_id"])),
            "error": error,
        }
    if part == "pick":
        picked = at(arguments, mapping.parts["pick"]["doc_ids"])
        is_one = isinstance(picked, (str, int)) and not isinstance(picked, bool)
        return {"event": "pick", "picked": [picked] if is_one else picked, "error": error}
    return {"event": tool, "error": error}

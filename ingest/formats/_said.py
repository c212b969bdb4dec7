"""What the inputs and outputs of spans say: the text of a search, a question, an answer, the documents of a result."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from ingest.formats._seen import text_id

_TURN = re.compile(r"^(developer|system|user|assistant|tool): ", re.MULTILINE)
_QUERY_KEYS = ("query", "q", "search_query", "user_query", "keywords", "question", "input", "query_text")
_ID_KEYS = ("id", "doc_id", "document_id", "docid", "_id", "url", "href", "link", "source")
_TEXT_KEYS = ("content", "page_content", "text", "body", "snippet")
_TEXT_PARTS = ("text", "input_text", "output_text")
_LIST_KEYS = ("results", "documents", "hits", "data", "items", "matches", "content", "retrievalResults")


def decoded(value: Any) -> Any:
    """What a text of JSON, or of Python's own writing, says, through two layers of it; the value itself where it is neither."""
    for _ in range(2):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            break
        try:
            value = json.loads(value)
            continue
        except (ValueError, RecursionError):
            pass
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            break
    return value


def searched(value: Any) -> str | None:
    """The text of a search, from its input."""
    found = decoded(value)
    if isinstance(found, dict):
        text = next((found[k] for k in _QUERY_KEYS if isinstance(found.get(k), str)), None)
        return text if text is not None or "arguments" not in found else searched(found["arguments"])
    is_cut = isinstance(found, str) and found.lstrip()[:1] in ("{", "[")
    return found if isinstance(found, str) and found.strip() and not is_cut else None


def asked(value: Any) -> str | None:
    """The question of a trace, from its root's input: a text, its question, or the last message of a user."""
    found = decoded(value)
    if isinstance(found, dict):
        messages = found.get("messages")
        return asked(messages) if isinstance(messages, list) else searched(found)
    if isinstance(found, list):
        texts = [
            content(m)
            for m in found
            if isinstance(m, dict) and (m.get("role") or m.get("type")) in ("user", "human")
        ]
        return next((t for t in reversed(texts) if t), None)
    if not isinstance(found, str) or found.lstrip()[:1] in ("{", "["):
        return None
    turns = _TURN.split(found)
    if len(turns) > 1:
        # A transcript: roles and what they said, one after the other.
        users = [text.strip() for role, text in zip(turns[1::2], turns[2::2], strict=True) if role == "user"]
        return users[-1] or None if users else None
    return found.strip() or None


def content(message: dict[str, Any]) -> str | None:
    """A message's text: its content, or the texts among its parts (``text`` or, in the GenAI conventions, ``content``)."""
    given = message.get("content")
    if given is None:
        given = message.get("parts")
    if isinstance(given, list):
        parts = [p for p in given if isinstance(p, dict) and p.get("type", "text") in _TEXT_PARTS]
        texts = [next((p[k] for k in ("text", "content") if isinstance(p.get(k), str)), None) for p in parts]
        given = "\n".join(text for text in texts if text is not None)
    return given if isinstance(given, str) and given.strip() else None


def said(value: Any) -> str | None:
    """An answer's text, from an output."""
    found = decoded(value)
    if isinstance(found, dict):
        messages = found.get("messages")
        if isinstance(messages, list):
            found = messages
        else:
            return content(found) or next(
                (found[k] for k in ("output", "answer", "text") if isinstance(found.get(k), str)), None
            )
    if isinstance(found, list):
        texts = [content(m) for m in found if isinstance(m, dict)]
        return next((t for t in reversed(texts) if t), None)
    return found if isinstance(found, str) and found.strip() else None


def listed(value: Any) -> list[Any] | None:
    """The documents in a search's output; None where it holds no list of them."""
    found = decoded(value)
    for _ in range(3):
        if isinstance(found, list):
            return (
                found
                if all(isinstance(d, (dict, str, int)) and not isinstance(d, bool) for d in found)
                else None
            )
        if not isinstance(found, dict):
            return None
        found = decoded(next((found[k] for k in _LIST_KEYS if k in found), None))
    return found if isinstance(found, list) else None


def document(value: Any) -> tuple[dict[str, str], float | None]:
    """A document's ID and text, and its score; one without an ID is known by its text."""
    if not isinstance(value, dict):
        return {
            "doc_id": str(value) if isinstance(value, int) or len(str(value)) <= 200 else text_id(str(value)),
            "text": str(value),
        }, None
    nested = value.get("document")
    inner: dict[str, Any] = nested if isinstance(nested, dict) else value
    about = inner.get("metadata")
    meta: dict[str, Any] = about if isinstance(about, dict) else {}
    text = next((str(inner[k]) for k in _TEXT_KEYS if isinstance(inner.get(k), str)), "")
    given = next(
        (
            w[k]
            for w in (inner, meta)
            for k in _ID_KEYS
            if isinstance(w.get(k), (str, int)) and str(w[k]).strip()
        ),
        None,
    )
    score = next(
        (
            w[k]
            for w in (value, inner)
            for k in ("score", "relevance_score")
            if isinstance(w.get(k), (int, float))
        ),
        None,
    )
    return {
        "doc_id": text_id(text or json.dumps(inner, sort_keys=True)) if given is None else str(given),
        "text": text,
    }, score

"""Markup that can't be broken by what it shows: every text is escaped unless it is `Html` already."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any

_VOID = {"meta", "input", "br", "hr"}
#: What HTML can't hold: control characters other than tab and line ends.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Html(str):
    """Markup that is safe as it stands."""


def text(value: object) -> Html:
    """Any value as escaped text; `Html` stays as it is. Control characters become U+FFFD."""
    if isinstance(value, Html):
        return value
    return Html(escape(_CONTROL.sub("\ufffd", str(value)), quote=True))


def el(tag: str, *children: object, **attributes: object) -> Html:
    """An element. An attribute's `_` is written as `-`, a trailing one dropped; None and False leave it out."""
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(value)}"')
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    if tag in _VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{join(*children)}</{tag}>")


def join(*children: object, by: str = "") -> Html:
    """Children one after the other; None is left out."""
    return Html(text(by).join(text(c) for c in children if c is not None))


def data(value: object) -> Html:
    """A text from a recording: in an element of its own, so that its writing direction stays inside."""
    return el("bdi", value)


def prose(value: object) -> Html:
    """A long text from a recording, its line ends kept."""
    return el("div", value, class_="text", dir="auto")


def details(summary: object, *children: object, **attributes: object) -> Html:
    """What is shown on demand."""
    return el("details", el("summary", summary), *children, **attributes)


def json_block(name: str, value: Any) -> Html:
    """A value as a block of JSON that no text in it can end."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # In JSON these characters stand in strings only, so their escapes mean the same.
    for character in "<>&\u2028\u2029":
        written = written.replace(character, f"\\u{ord(character):04x}")
    written = _CONTROL.sub(lambda m: f"\\u{ord(m.group()):04x}", written)
    return Html(f'<script type="application/json" id="{text(name)}">{written}</script>')

"""Citations that stand in an answer's text: one grammar, one parser.

    mark   = "[" items "]"  |  "【" items "】"  |  "(ID" items ")"  (also "(IDs …)", with ":" or "#" after it)
    items  = item { ("," | ";") item }
    item   = [label] name [ "†" anything ]
    label  = "doc", "document", "source", "passage", "reference", "ref", "result", "ID", or "^"; with " ", "_", ":" or "#" after it

A name has no white space and holds a digit, or is the ID of a document of the context. A bracket without such a name (`[sic]`,
`[see above]`) is no mark. What stands between the brackets may be one ID as a whole, commas and all.

An item resolves to a document in this order:

1. with a declared base (0 or 1), a whole number (after its label) is a place in the context, counted from the base;
2. the item as it stands is the ID of a document of the context;
3. so is what stands after its label.

Nothing else is resolved and nothing is guessed. With a base, an item that doesn't resolve is kept as ``[item]``, which is the ID
of no document; without one the item is what the answer names as an ID, and is kept as that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.errors import BadInput, shown

_LONGEST = 2000
_MARK = re.compile(
    rf"\[([^\[\]\n]{{1,{_LONGEST}}})\]|【([^【】\n]{{1,{_LONGEST}}})】|\((?i:IDs?)\b[\s:#]*([^()\n]{{1,{_LONGEST}}})\)"
)
_LABEL = re.compile(
    r"(?:\^|(?i:documents?|docs?|sources?|passages?|references?|refs?|results?|ids?)(?:[\s_:#]+|(?=\d)))\s*(?=\S)"
)
_NUMBER = re.compile(r"[0-9]+")
_SEPARATOR = re.compile(r"[,;]")


@dataclass(frozen=True)
class Cited:
    """One citation: the document's ID (or what stands in its stead), whether it was resolved, and its number as written."""

    value: str
    is_resolved: bool
    number: str | None


def _unlabelled(item: str) -> str:
    label = _LABEL.match(item)
    return item[label.end() :] if label else item


def _is_name(item: str) -> bool:
    name = _unlabelled(item)
    return bool(name) and not any(c.isspace() for c in name) and any(c.isdigit() for c in name)


def _items(inner: str, known: frozenset[str]) -> list[str]:
    """The items between two brackets; an empty list where they are no mark."""
    inner = inner.strip()
    if inner in known:
        return [inner]
    items = [part.split("†", 1)[0].strip() for part in _SEPARATOR.split(inner)]
    items = [item for item in items if item]
    if not any(item in known or _is_name(item) for item in items):
        return []
    return items


def cited_in(text: str | None, doc_ids: Sequence[str], base: int | None) -> list[Cited] | None:
    """The citations of a text in their order, repeats and all; None without a text.

    `doc_ids` is the context in its order; `base` is the number of its first place, None where numbers are IDs.
    """
    if text is None:
        return None
    known = frozenset(doc_ids)
    found: list[Cited] = []
    for mark in _MARK.finditer(text):
        inner = next(group for group in mark.groups() if group is not None)
        found += [_resolved(item, doc_ids, known, base) for item in _items(inner, known)]
    return found


def _resolved(item: str, doc_ids: Sequence[str], known: frozenset[str], base: int | None) -> Cited:
    name = _unlabelled(item)
    number = name if _NUMBER.fullmatch(name) else None
    if base is not None and number is not None:
        place = int(number) - base if len(number) < 10 else -1
        if 0 <= place < len(doc_ids):
            return Cited(doc_ids[place], True, number)
        return Cited(f"[{number}]", False, number)
    for candidate in (item, name):
        if candidate in known:
            return Cited(candidate, True, number)
    return Cited(f"[{item}]" if base is not None else item, False, number)


def declared_base(value: object, where: str) -> int | None:
    """The base that a user declared: 0, 1 or none. Raises BadInput for anything else."""
    if value is None:
        return None
    if value not in (0, 1) or isinstance(value, bool):
        raise BadInput(
            f"{where}: base must be 0 or 1, the number of the first document of a context, not {shown(value)}."
        )
    return int(str(value))

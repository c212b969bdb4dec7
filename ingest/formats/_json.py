"""JSON files that are one document, an entry at a time: the file is never held whole."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from ingest.errors import BadInput, shown
from ingest.files import open_plain

#: How much is read at first, in characters; an entry that is longer is read at twice as much each time.
_BLOCK = 1 << 20
_AFTER = frozenset(",]}: \t\r\n")
_SPACE = re.compile(r"[ \t\r\n]*")


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number of JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


class _Reader:
    """A document's text, read as far as its next value needs."""

    def __init__(self, stream: io.TextIOBase) -> None:
        self._stream, self._text, self._at, self._is_whole = stream, "", 0, False

    def _more(self, size: int) -> None:
        block = self._stream.read(size)
        self._is_whole = not block
        self._text, self._at = self._text[self._at :] + block, 0

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or self._is_whole:
                return self._text[self._at : self._at + 1]
            self._more(_BLOCK)

    def take(self, expected: str) -> str:
        """The next character, which must be one of those that are expected."""
        found = self.peek()
        if not found or found not in expected:
            wanted = " or ".join(map(repr, expected)) or "nothing more"
            raise ValueError(f"{wanted} was expected, and not {shown(found) if found else 'the end'}")
        self._at += 1
        return found

    def value(self) -> Any:
        """The next value."""
        self.peek()
        size = _BLOCK
        while True:
            try:
                found, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                if self._is_whole:
                    raise
            else:
                # A number may go on where the text ends, and after a point or a letter there.
                if self._is_whole or self._text[end : end + 1] in _AFTER:
                    self._at = end
                    return found
            self._more(size)
            size *= 2

    def items(self) -> Iterator[Any]:
        """The items of a list whose bracket is next."""
        self.take("[")
        if self.peek() == "]":
            self.take("]")
            return
        while True:
            yield self.value()
            if self.take(",]") == "]":
                return

    def members(self) -> Iterator[str]:
        """The keys of an object whose bracket is next; whoever asks takes the value after each."""
        self.take("{")
        if self.peek() == "}":
            self.take("}")
            return
        while True:
            if self.peek() != '"':
                self.take('"')
            yield cast(str, self.value())
            if self.take(",}") == "}":
                return

    def end(self) -> None:
        """See that nothing more stands here."""
        if self.peek():
            self.take("")


def document(path: Path, streams: Callable[[str | None], bool]) -> Iterator[tuple[str | None, Any]]:
    """A document in parts: an object's keys with their values, or the items of a list, each with None for a key.

    `streams` is asked of each key that has a list (of None where the document is one) whether it is given an item at a time; any other
    value is one part. Raises BadInput for what is no JSON.
    """
    try:
        with open_plain(path) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as stream:
            reader = _Reader(stream)
            if reader.peek() == "{":
                for key in reader.members():
                    reader.take(":")
                    yield from _parts(reader, key, streams)
            else:
                yield from _parts(reader, None, streams)
            reader.end()
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: this is not UTF-8: {error.reason}. Save it as UTF-8.") from None
    except RecursionError:
        raise BadInput(f"{path}: its brackets stand too deep inside each other. Put that right.") from None
    except (ValueError, OSError, EOFError) as error:
        raise BadInput(f"{path}: this is not valid JSON: {error}. Put that right.") from None


def _parts(
    reader: _Reader, key: str | None, streams: Callable[[str | None], bool]
) -> Iterator[tuple[str | None, Any]]:
    if reader.peek() == "[" and streams(key):
        for item in reader.items():
            yield key, item
    else:
        yield key, reader.value()


def entries(path: Path, keys: tuple[str, ...] = ()) -> Iterator[Any]:
    """The items of the list that a document is, or that stands under the first of `keys` that has one.

    Raises BadInput where there is no such list.
    """
    chosen = _list_of(path, keys)
    for key, item in document(path, lambda key: key == chosen):
        if key == chosen:
            yield item


def _list_of(path: Path, keys: tuple[str, ...]) -> str | None:
    """The key whose list is meant; None where the document is the list."""
    found: set[str | None] = set()

    def streams(key: str | None) -> bool:
        found.add(key)
        return True

    for _ in document(path, streams):
        if None in found or found & {*keys[:1]}:
            break
    if None in found:
        return None
    chosen = next((key for key in keys if key in found), None)
    if chosen is None:
        under = f", as it is or under {' or '.join(map(repr, keys))}" if keys else ""
        raise BadInput(f"{path}: it must hold a list{under}. Put that right.")
    return chosen


def objects(path: Path) -> Iterator[Any]:
    """The items of the list that a document is, or the one object."""
    one: dict[str, Any] = {}
    is_list = False
    for key, part in document(path, lambda key: key is None):
        if key is None:
            is_list = True
            yield part
        else:
            one[key] = part
    if not is_list and one:
        yield one

"""collection.json and manifest.json: reading them, and refusing what can't be meant.

Every function raises BadInput with the file, the key, the value and what to do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from ingest.errors import BadInput, shown

#: What `ingest init` writes where only a person knows: loading names each that is left.
PLACEHOLDER = "FILL IN"

KINDS = ("answers", "traces", "contexts", "labels")

LONGEST_NAME = 200


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} stands in it twice")
        found[key] = value
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not a number of JSON")


def _whole(text: str) -> int:
    if len(text) > 40:
        raise ValueError(f"{text[:20]}… is too long to be a number that is meant")
    return int(text)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file that holds one object."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(
            f"{path}: there is no such file. `python -m ingest init {path.parent}` writes one."
        ) from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: this is not UTF-8 (byte {error.start + 1}). Save it as UTF-8.") from None
    try:
        found = json.loads(text, object_pairs_hook=_no_repeats, parse_constant=_no_number, parse_int=_whole)
        text.encode("utf-8")
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise BadInput(
            f"{path}, line {error.lineno}: this is not valid JSON: {error.msg}. Put that right."
        ) from None
    except UnicodeEncodeError:
        raise BadInput(f"{path}: it holds half of a surrogate pair, which is no text. Take it out.") from None
    except RecursionError:
        raise BadInput(f"{path}: it is nested too deep to be meant. Flatten it.") from None
    except ValueError as error:
        raise BadInput(f"{path}: {error}. Put that right.") from None
    if not isinstance(found, dict):
        raise BadInput(f"{path}: it must hold one JSON object, not {shown(found)}.")
    return found


class Described:
    """The settings of a collection.json or manifest.json, each checked as it is asked for."""

    def __init__(self, path: Path, given: Mapping[str, Any] | None = None) -> None:
        """Read the file at `path`; or take what is given, and name `path` in messages."""
        self.path = path
        self.is_read = given is None
        self.given = read_json(path) if given is None else dict(given)
        left = [
            key
            for key, value in self.given.items()
            if isinstance(value, str) and value.startswith(PLACEHOLDER)
        ]
        if left:
            raise BadInput(
                f"{path}: {', '.join(map(repr, left))} still {'says' if len(left) == 1 else 'say'} {PLACEHOLDER!r}. "
                "Write what is true, or take the key out where nothing is known."
            )

    def _bad(self, key: str, value: object, must_be: str) -> BadInput:
        return BadInput(f"{self.path}: {key!r} must be {must_be}, not {shown(value)}. Put that right.")

    def name(self, key: str) -> str:
        """A required name: a text that is not blank."""
        value = self.given.get(key)
        if value is None:
            raise BadInput(f"{self.path}: the key {key!r} is not there. Add it: it names what this is.")
        if (
            not isinstance(value, str)
            or not value.strip()
            or not value.isprintable()
            or len(value) > LONGEST_NAME
        ):
            raise self._bad(key, value, f"a name of up to {LONGEST_NAME} characters that can be printed")
        return value

    def text(self, key: str) -> str | None:
        """A text, or None where it is absent."""
        value = self.given.get(key)
        if value is not None and not isinstance(value, str):
            raise self._bad(key, value, "a text")
        return value

    def one_of(self, key: str, values: tuple[str, ...], default: str | None) -> str:
        """One of a few words."""
        value = self.given.get(key)
        if value is None and default is not None:
            return default
        if value not in values:
            raise self._bad(key, value, "one of " + ", ".join(values))
        return str(value)

    def truth(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.given.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._bad(key, value, "true or false")
        return value

    def whole(self, key: str, least: int | None = None) -> int | None:
        """A whole number of at least `least`, or None where it is absent."""
        value: object = self.given.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 1 << 63:
            raise self._bad(key, value, "a whole number")
        if least is not None and value < least:
            raise self._bad(key, value, f"{least} or higher")
        return value

    def names(self, key: str) -> list[str] | None:
        """A list of different names, or None where it is absent."""
        value = self.given.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
            raise self._bad(key, value, "a list of names")
        if len(set(value)) != len(value):
            raise self._bad(key, value, "a list without repeats")
        return list(value)

    def time(self, key: str) -> tuple[datetime | None, bool | None, bool]:
        """A time in UTC without a zone; whether it is a date alone; whether it was given without a zone."""
        value = self.given.get(key)
        if value is None:
            return None, None, False
        try:
            if isinstance(value, str) and len(value) == 10:
                day = date.fromisoformat(value)
                return datetime(day.year, day.month, day.day), True, False
            if not isinstance(value, str):
                raise ValueError
            moment = datetime.fromisoformat(value)
            zoneless = moment.tzinfo is None
            return (moment if zoneless else moment.astimezone(UTC).replace(tzinfo=None)), False, zoneless
        except (ValueError, OverflowError):
            raise self._bad(key, value, "a time such as 2026-03-01T10:00:00Z, or a date") from None

    def grades(self) -> dict[int, str]:
        """collection.json's grades: the grade and what it is called."""
        value = self.given.get("grades")
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._bad("grades", value, 'an object such as {"1": "relevant"}')
        found: dict[int, str] = {}
        for grade, label in value.items():
            try:
                number = int(grade)
                if abs(number) >= 1 << 63:
                    raise ValueError
            except ValueError:
                raise self._bad("grades", grade, "named by whole numbers") from None
            if not isinstance(label, str):
                raise self._bad("grades", label, "labelled by texts")
            if number in found:
                raise self._bad("grades", grade, "without repeats")
            found[number] = label
        return found

    def files(self) -> dict[str, dict[str, Any]]:
        """The files that are pinned, each with its sha256 and rows."""
        value = self.given.get("files")
        if value is None:
            return {}
        if not isinstance(value, dict) or not all(isinstance(v, dict) for v in value.values()):
            raise self._bad(
                "files", value, 'an object such as {"answers.jsonl": {"sha256": "…", "rows": 90}}'
            )
        return value

    def as_json(self) -> str:
        """All of it, as JSON text."""
        return json.dumps(self.given, ensure_ascii=False)

    def settings(self) -> dict[str, str]:
        """Every setting by its path, its value as JSON text; files are left out."""
        found: dict[str, str] = {}

        def walk(path: str, value: object) -> None:
            if isinstance(value, dict) and value:
                for key, inner in value.items():
                    walk(f"{path}.{key}" if path else str(key), inner)
            else:
                found[path] = json.dumps(value, ensure_ascii=False, sort_keys=True)

        walk("", {k: v for k, v in self.given.items() if k != "files"})
        return found


def texts_in(value: object) -> list[str]:
    """Every text in a value of JSON, in order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [t for inner in value.values() for t in texts_in(inner)]
    if isinstance(value, list):
        return [t for inner in value for t in texts_in(inner)]
    return []

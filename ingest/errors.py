"""The errors that a user sees: one sentence each, with the file, the line, the value and what to do."""

from __future__ import annotations


class AssayError(Exception):
    """Something the user can put right. The message is all that is shown; never a traceback."""


class BadInput(AssayError):
    """The data is wrong: nothing of it was loaded, and what was loaded before is as it was."""


class CannotRun(AssayError):
    """The command could not do its work: no such path, a locked warehouse, no space left."""


def shown(value: object, most: int = 80) -> str:
    """A value as a message shows it: quoted, escaped, and cut after `most` characters."""
    text = repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"

"""How deep the brackets of a line of JSON stand inside each other."""

from __future__ import annotations

import re

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')


def nesting_of(text: str) -> int:
    """The most brackets that are open at once; those in strings don't count."""
    depth = deepest = 0
    for token in _TOKENS.finditer(text):
        character = text[token.start()]
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest

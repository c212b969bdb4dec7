"""Which IDs of a context stand bare in a text: longest first, a place in the text used once.

Where every ID that could stand there is made of letters and digits, it does so just where it is a word, and SQL finds it
(`sqltext.bare_ids_in_text`). Others, such as ``MED-10`` or a URL, can touch and overlap, and come here.
"""

from __future__ import annotations

import unicodedata


def _is_word_character(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LM" or category == "Nd"


def bare_ids(text: str, ids: list[str]) -> list[str]:
    """The IDs that stand in the text with no letter or digit touching either end; case counts.

    The longest are looked for first, and a place is used once, so that ``MED-10`` is not also ``10``.
    """
    used = bytearray(len(text))
    found: list[str] = []
    for wanted in sorted(set(ids), key=lambda i: (-len(i), i)):
        at = text.find(wanted) if wanted else -1
        is_found = False
        while at >= 0:
            end = at + len(wanted)
            is_touched = (at > 0 and _is_word_character(text[at - 1])) or (
                end < len(text) and _is_word_character(text[end])
            )
            if is_touched or any(used[at:end]):
                at = text.find(wanted, at + 1)
                continue
            used[at:end] = b"\1" * len(wanted)
            is_found = True
            at = text.find(wanted, end)
        if is_found:
            found.append(wanted)
    return found

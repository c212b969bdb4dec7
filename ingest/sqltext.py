"""SQL that turns text into words, pieces and IDs. Created once in each connection, as temporary macros.

The definitions are those of the recording format: `words` is the set of maximal runs of letters, marks and
digits of the NFC, lower-case text; `pieces` counts what stands between white space, as Python's ``str.split`` does.
"""

from __future__ import annotations

import duckdb

from ingest.named import bare_ids
from ingest.nesting import nesting_of

#: What a word is made of, and (for an ID in a text) what must not touch it.
WORD_CHARACTER = r"\p{L}\p{M}\p{Nd}"

#: White space, as ``str.split`` sees it.
WHITE_SPACE = r"\x{09}-\x{0d}\x{1c}-\x{1f}\x{85}\p{Z}"

#: What DuckDB's parser of JSON lets pass and JSON doesn't know: NaN, Infinity, a comma before a closing bracket.
_LOOSE = r"[:,\[]\s*-?(?i:nan|inf|infinity)\s*[,}\]]|,\s*[}\]]"

#: A line with more opening brackets than this inside each other is not read.
DEEPEST = 500

#: All of it but the space, the tab and the line's ends.
OTHER_WHITE_SPACE = (
    r"\x0b\x0c\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
)

_MACROS = (
    # Whether a text that DuckDB takes for JSON is none. What stands in strings is looked at only where there is a doubt.
    rf"""is_loose_json(t) as case
        when regexp_matches(t, ',\s*[}}\]]') or contains(t, 'NaN') or contains(t, 'nan') or contains(t, 'inf')
            or contains(t, 'Inf') or contains(t, 'NAN') or contains(t, 'INF')
            then regexp_matches(regexp_replace(t, '"(?:[^"\\]|\\.)*"', '""', 'g'), '{_LOOSE}')
        else false
    end""",
    # Whether brackets stand too deep inside each other. Few lines have as many brackets at all.
    f"""is_too_deep(t) as case
        when strlen(t) <= {2 * DEEPEST} then false
        when strlen(t) - strlen(replace(replace(t, '[', ''), '{{', '')) <= {DEEPEST} then false
        else nesting_of(t) > {DEEPEST}
    end""",
    # The distinct words of a text.
    f"""words(t) as list_distinct(regexp_extract_all(lower(nfc_normalize(t)), '[{WORD_CHARACTER}]+'))""",
    # How many white-space-separated pieces a text has. Splitting at spaces is ten times quicker than the general pattern.
    rf"""pieces(t) as case
        when regexp_matches(t, '[{OTHER_WHITE_SPACE}]') then len(regexp_extract_all(t, '[^{WHITE_SPACE}]+'))
        else len(list_filter(
            string_split(replace(replace(replace(t, chr(10), ' '), chr(9), ' '), chr(13), ' '), ' '), lambda x: x != ''
        ))
    end""",
    # How many sentences a text has, by the rule of `ingest.retrieve.units`: ends of sentences become ends of lines, and a piece without a
    # letter or digit belongs to a neighbour.
    r"""n_sentences(t) as case when regexp_matches(t, '[^\s\p{Z}]') then greatest(1, len(list_filter(
        string_split(regexp_replace(regexp_replace(
            t, '([.!?…]+["''”’»)\]}]*)[\s\p{Z}]', '\1' || chr(10), 'g'
        ), '([。！？]+[”’」』）]*|\r)', '\1' || chr(10), 'g'), chr(10)),
        lambda x: regexp_matches(x, '[\p{L}\p{N}]')
    ))) else 0 end""",
    # A leaf of JSON (as JSON text) as an ID: a string, or a whole number's digits; else null.
    r"""id_text(j) as case
        when j[1] = '"' then case when contains(j, chr(92)) then cast(j as json) ->> '$' else j[2:-2] end
        when regexp_full_match(j, '-?[0-9]+') then j
    end""",
    # A leaf as text: a string's own text, any other leaf as its JSON text, null for null.
    r"""any_text(j) as case
        when j[1] = '"' then case when contains(j, chr(92)) then cast(j as json) ->> '$' else j[2:-2] end
        when j != 'null' then j
    end""",
    # The list with each item's first place in it; the list operation is paid only where something repeats.
    """first_places(l) as case
        when len(l) = len(list_distinct(l)) then range(1, len(l) + 1)
        else list_transform(l, lambda x: list_position(l, x))
    end""",
    # The IDs of a context that stand bare in a text. An ID of letters and digits alone does where it is a word: where it stands, a
    # mark is put in its place, and a mark without a letter or digit at either end is looked for.
    rf"""bare_ids_in_text(t, ids) as case
        when t is null or ids is null then null
        when contains(t, chr(1)) or len(list_filter(ids, lambda x: contains(t, x) and not regexp_full_match(x, '[{WORD_CHARACTER}]+'))) > 0
            then bare_ids(t, list_distinct(ids))
        else list_filter(
            list_filter(list_distinct(ids), lambda x: contains(t, x)),
            lambda x: regexp_matches(
                replace(t, x, chr(1)), '(^|[^{WORD_CHARACTER}\x01])\x01($|[^{WORD_CHARACTER}\x01])'
            )
        )
    end""",
    # The same where citations are written in a form such as '(ID {id})'.
    """formed_ids_in_text(t, ids, form) as case
        when t is not null then list_filter(list_distinct(ids), lambda x: contains(t, replace(form, '{id}', x)))
    end""",
)


def literal(value: str | None) -> str:
    """A text as a SQL literal."""
    if value is None:
        return "null"
    return "'" + value.replace("'", "''") + "'"


def create_macros(con: duckdb.DuckDBPyConnection) -> None:
    """Create the macros in this connection, and the two functions of Python's that they call."""
    con.create_function("bare_ids", bare_ids, ["varchar", "varchar[]"], "varchar[]")
    con.create_function("nesting_of", nesting_of, ["varchar"], "bigint")
    for macro in _MACROS:
        con.execute(f"create or replace temp macro {macro}")

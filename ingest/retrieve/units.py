"""Retrievable units: what is indexed of a document. A document ranks by its best unit.

- ``whole``: the values of all its fields that are not empty, in reading order, a line each.
- a field's name (or ``field:NAME``): that field's value. A document whose field is empty has no unit, and can't be found.
- ``sentences``: each sentence of one field (see `sentences_of`).
- ``sentences+fields``: each of those with the values of the other fields in front, a line each; a document whose cut
  field is empty has one unit of the other fields.

A document without any text has no unit. `sentences` is the rule by which a text is cut.
"""

from __future__ import annotations

import argparse
import re

import duckdb

from ingest.errors import BadInput, shown
from ingest.retrieve.base import first
from ingest.sqltext import literal

WHOLE, SENTENCES, SENTENCES_AND_FIELDS = "whole", "sentences", "sentences+fields"

# Marks that end a sentence, with the quotes and brackets that close behind them.
_END = re.compile(r"""[.!?…]+["'”’»)\]}]*(?=\s)|[。！？]+[”’」』）]*|\n+|\r+""")
_WORD = re.compile(r"[^\W_]")

#: The rule in words, for the manifest.
SPLITTER = (
    "a sentence ends after a run of . ! ? or … (and quotes or brackets that close behind it) before white space, "
    "after 。！？, and at the end of a line; a piece without a letter or digit belongs to the sentence before it (the first, to the one after)"
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, without white space around them; none of a blank text.

    The rule is `SPLITTER`. It knows no abbreviations: ``approx. 5 in`` is two.
    """
    found: list[str] = []
    start = 0
    ends = [match.end() for match in _END.finditer(text)]
    for end in (*ends, len(text)):
        piece = text[start:end].strip()
        start = end
        if not piece:
            continue
        if found and not (_WORD.search(piece) and _WORD.search(found[-1])):
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    return found


def add_unit_arguments(parser: argparse.ArgumentParser) -> None:
    """What is indexed."""
    parser.add_argument(
        "--unit", metavar="UNIT", help="whole (the default), a field, sentences, or sentences+fields"
    )
    parser.add_argument("--sentences-of", metavar="FIELD", help="the field that is cut into sentences")


def fields_of(con: duckdb.DuckDBPyConnection, collection: str) -> list[str]:
    """The collection's text fields, in reading order."""
    rows = con.execute(
        f"select field from assay_raw.collection_fields where collection = {literal(collection)} order by position"
    ).fetchall()
    return [str(field) for (field,) in rows]


def sentences_of(fields: list[str], named: str | None, collection: str) -> str:
    """The field that is cut into sentences: the one named, else ``description``, else the only one. Raises BadInput."""
    if named is not None:
        if named not in fields:
            raise BadInput(_no_field(named, fields, collection))
        return named
    if "description" in fields:
        return "description"
    if len(fields) == 1:
        return fields[0]
    raise BadInput(
        f"the collection {collection!r} has no field 'description' to cut into sentences. "
        f"Name one with --sentences-of: {', '.join(fields) or 'it has none'}."
    )


def _no_field(name: str, fields: list[str], collection: str) -> str:
    has = ", ".join(fields) or "no text at all"
    return (
        f"{shown(name)} is neither a unit nor a field of the collection {collection!r}. Units are {WHOLE}, {SENTENCES}, "
        f"{SENTENCES_AND_FIELDS} and its fields: {has}."
    )


def make_units(con: duckdb.DuckDBPyConnection, collection: str, unit: str, cut: str | None) -> dict[str, str]:
    """Make the temporary table ``retrieve_units`` (unit bigint from 0, place bigint, text varchar); returns settings.

    Units are in the order of their documents in ``retrieve_documents``, and of the text within one. `cut` names the
    field for sentences. Raises BadInput for an unknown unit or field, and for a unit that no document has.
    """
    fields = fields_of(con, collection)
    settings: dict[str, str] = {}
    if unit == WHOLE:
        select = _joined(collection, None)
    elif unit in (SENTENCES, SENTENCES_AND_FIELDS):
        field = sentences_of(fields, cut, collection)
        settings = {"sentences_of": field, "splitter": SPLITTER}
        con.create_function("retrieve_sentences", sentences, ["varchar"], "varchar[]")
        select = _pieces(collection, field, with_others=unit == SENTENCES_AND_FIELDS)
    else:
        field = unit.removeprefix("field:")
        if field not in fields:
            raise BadInput(_no_field(field, fields, collection))
        select = (
            "select doc_id, 1 as piece, value as text from assay_raw.document_fields"
            f" where collection = {literal(collection)} and field = {literal(field)}"
        )
    try:
        con.execute(
            f"""
            create or replace temp table retrieve_units as
            select row_number() over (order by place, piece) - 1 as unit, place, text
            from ({select}) as pieces
            inner join retrieve_documents using (doc_id)
            """
        )
    finally:
        if unit in (SENTENCES, SENTENCES_AND_FIELDS):
            con.remove_function("retrieve_sentences")
    row = first(con, "select count(*) from retrieve_units")
    if not row or not row[0]:
        raise BadInput(
            f"no document of the collection {collection!r} has a text for the unit {unit!r}, so nothing can be found by it. "
            "Name another unit, or load a catalog with texts."
        )
    return settings


def _joined(collection: str, without: str | None) -> str:
    """Documents with the values of their fields a line each, in reading order."""
    but = "" if without is None else f" and field != {literal(without)}"
    return f"""
        select doc_id, 1 as piece, string_agg(value, chr(10) order by position) as text
        from assay_raw.document_fields
        inner join assay_raw.collection_fields using (collection, field)
        where collection = {literal(collection)}{but}
        group by doc_id"""


def _pieces(collection: str, field: str, *, with_others: bool) -> str:
    cut = f"""
        select doc_id, unnest(retrieve_sentences(value)) as text, generate_subscripts(retrieve_sentences(value), 1) as piece
        from assay_raw.document_fields
        where collection = {literal(collection)} and field = {literal(field)}"""
    if not with_others:
        return cut
    return f"""
        select doc_id, coalesce(cut.piece, 1) as piece, concat_ws(chr(10), others.text, cut.text) as text
        from ({cut}) as cut
        full join ({_joined(collection, field)}) as others using (doc_id)"""

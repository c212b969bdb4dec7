"""Which IDs a text names: SQL's short way and the long way agree, and the long way is the definition."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.named import bare_ids
from ingest.sqltext import create_macros

WORD = st.text("a1éB", min_size=1, max_size=3)
ANY = st.text("a1é-.(", min_size=1, max_size=4)
TEXT = st.text("a1éB-.( ", max_size=20)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    con = duckdb.connect()
    create_macros(con)
    yield con
    con.close()


@given(TEXT, st.lists(WORD, max_size=5))
def test_plain_ids_are_found_as_words(con: duckdb.DuckDBPyConnection, text: str, ids: list[str]) -> None:
    [(found,)] = con.execute("select bare_ids_in_text(?, cast(? as varchar[]))", [text, ids]).fetchall()
    assert set(found) == set(bare_ids(text, ids)) == set(ids) & set(re.findall(r"[a1éB]+", text))


@given(TEXT, st.lists(ANY, max_size=5))
def test_any_ids_are_found_the_same_way(con: duckdb.DuckDBPyConnection, text: str, ids: list[str]) -> None:
    [(found,)] = con.execute("select bare_ids_in_text(?, cast(? as varchar[]))", [text, ids]).fetchall()
    assert set(found) == set(bare_ids(text, ids))


@given(TEXT, ANY)
def test_one_id_is_found_where_nothing_touches_it(text: str, wanted: str) -> None:
    def is_word(c: str) -> bool:
        return unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd"

    places = [m.start() for m in re.finditer(f"(?={re.escape(wanted)})", text)]
    free = [
        i for i in places
        if not (i > 0 and is_word(text[i - 1])) and not (i + len(wanted) < len(text) and is_word(text[i + len(wanted)]))
    ]  # fmt: skip
    assert bare_ids(text, [wanted]) == ([wanted] if free else [])


def test_unknown_texts_name_nothing_known(con: duckdb.DuckDBPyConnection) -> None:
    sql = "select bare_ids_in_text(cast(? as varchar), cast(? as varchar[]))"
    assert con.execute(sql, [None, ["a", "a-b"]]).fetchall() == [(None,)]
    assert con.execute(sql, ["a a-b", None]).fetchall() == [(None,)]
    assert con.execute(sql, ["", ["a", "a-b"]]).fetchall() == [([],)]

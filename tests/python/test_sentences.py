"""Sentences are counted in SQL by the rule that retrieval cuts by."""

from __future__ import annotations

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.retrieve.units import sentences
from ingest.sqltext import create_macros

_PIECES = st.sampled_from(
    [
        "a",
        "B ",
        ". ",
        ".",
        "!? ",
        "…",
        "\n",
        '"',
        ") ",
        "。",
        "」",
        "1",
        "\r",
        "\u00a0",
        "  ",
        "-",
        "_",
        "x.y ",
        " ...",
        "",
    ]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(_PIECES, max_size=12).map("".join), min_size=50, max_size=50))
def test_sql_counts_what_python_cuts(texts: list[str]) -> None:
    con = duckdb.connect()
    create_macros(con)
    con.execute("create table t (i bigint, t varchar)")
    con.executemany("insert into t values (?, ?)", list(enumerate(texts)))
    found = con.execute("select t, n_sentences(t) from t order by i").fetchall()
    assert [(t, n) for t, n in found] == [(t, len(sentences(t))) for t in texts]

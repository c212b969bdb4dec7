"""JSON documents read an entry at a time say what they say read whole; what is no JSON is refused, wherever it breaks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import BadInput
from ingest.formats import _json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def parts(path: Path, block: int) -> list[tuple[str | None, Any]]:
    with patch.object(_json, "_BLOCK", block):
        return list(_json.document(path, lambda key: True))


@settings(max_examples=200, deadline=None)
@given(VALUES, st.integers(1, 9), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_parts_are_the_document(
    tmp_path_factory: pytest.TempPathFactory, value: Any, block: int, indent: Any, is_ascii: bool
) -> None:
    path = tmp_path_factory.mktemp("j") / "x.json"
    path.write_text(
        json.dumps(value, indent=indent, ensure_ascii=is_ascii), encoding="utf-8", errors="surrogatepass"
    )
    found = parts(path, block)
    if isinstance(value, list):
        assert found == [(None, item) for item in value]
    elif isinstance(value, dict):
        whole = {key: item for key, item in value.items() if not isinstance(item, list)}
        assert {key: item for key, item in found if not isinstance(value[str(key)], list)} == whole
        for key, items in value.items():
            if isinstance(items, list):
                assert [item for k, item in found if k == key] == items
    else:
        assert found == [(None, value)]


@settings(max_examples=100, deadline=None)
@given(VALUES, st.data())
def test_a_cut_document_is_refused(
    tmp_path_factory: pytest.TempPathFactory, value: Any, data: st.DataObject
) -> None:
    text = json.dumps([value, {"a": value}])
    path = tmp_path_factory.mktemp("j") / "x.json"
    path.write_text(text[: data.draw(st.integers(0, len(text) - 1))])
    with pytest.raises(BadInput, match="not valid JSON"):
        parts(path, 4)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1,]",
        '{"a": 1,}',
        "[NaN]",
        "[1] x",
        '{"a" 1}',
        "{1: 2}",
        "[1 2]",
        '["\x01"]',
        "[01]",
        "[" * 100_000,
    ],
)
def test_what_is_no_json_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"x\.json: .*Put that right"):
        parts(path, 5)


def test_marks_gz_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    with gzip.open(path, "wb") as out:
        out.write(b"\xef\xbb\xbf[1]")
    assert parts(path, 1) == [(None, 1)]
    odd = tmp_path / "odd.json"
    odd.write_bytes(b'["caf\xe9"]')
    with pytest.raises(BadInput, match="not UTF-8"):
        parts(odd, 2)


def test_the_list_that_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"b": [2], "a": [1, 3], "c": 4}')
    assert list(_json.entries(path, ("a", "b"))) == [1, 3]
    assert list(_json.entries(path, ("x", "b"))) == [2]
    for keys in (("c",), ("x",), ()):
        with pytest.raises(BadInput, match="must hold a list"):
            list(_json.entries(path, keys))
    path.write_text("[]")
    assert list(_json.entries(path, ("a",))) == []
    path.write_text('{"a": []}')
    assert list(_json.entries(path, ("a",))) == []

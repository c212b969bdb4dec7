"""`ingest check`: the same words as loading, nothing loaded, and codes that a CI job can use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Warehouse, write_collection, write_recording

GOOD = {"query_id": "q", "context": "x", "context_ids": ["a", "ghost"], "answer": "", "cited": ["a"]}
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    collection = write_collection(tmp_path / "c", docs=["a"], queries=["q", "r"], qrels=[("q", "a", 1)])
    return collection, write_recording(tmp_path / "r", "r", "answers", [GOOD, '{"query_id": "' + SCRIPT])


def test_a_folder_is_checked_without_a_warehouse(
    warehouse: Warehouse, folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert warehouse.run("check", "--json", *folders) == 0
    collection, recording = json.loads(capsys.readouterr().out)
    assert (collection["status"], collection["counts"]["documents"]) == ("ok", 1)
    assert (recording["status"], recording["counts"]) == ("warning", {"answers": 1, "citations": 1})
    found = {(f["check"], f["severity"], f["line"]) for f in recording["findings"]}
    assert found == {
        ("unknown_document", "warning", None),
        ("not_pinned", "warning", None),
        ("incomplete_manifest", "warning", None),
        ("missing_queries", "warning", None),
        ("quarantined", "warning", 2),
    }
    assert not warehouse.path.exists()


def test_errors_and_what_cannot_run_have_codes(
    warehouse: Warehouse, folders: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert warehouse.run("check", "--strict", *folders) == 1
    assert "answers.jsonl, line 2: this is not valid JSON" in capsys.readouterr().out
    assert warehouse.run("check", folders[1]) == 1
    assert "the collection 'c' is not loaded" in capsys.readouterr().out
    assert warehouse.run("check", tmp_path / "nowhere", folders[0]) == 1
    said = capsys.readouterr().out
    assert "there is no such file or folder" in said and "OK       collection c" in said
    assert warehouse.run("check", "--html", tmp_path / "no" / "page.html", folders[0]) == 2
    warehouse.path.write_text("no database")
    assert warehouse.run("check", folders[1]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_loaded_collection_is_only_read(
    warehouse: Warehouse, folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse.load(folders[0])
    before = warehouse.everything()
    assert warehouse.run("check", folders[1]) == 0
    assert warehouse.everything() == before


def test_the_page_shows_hostile_text_as_text(
    warehouse: Warehouse, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert warehouse.run("check", "--html", page, *folders) == 0
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text and "&lt;script&gt;" in text
    assert "http" not in text.replace("http-equiv", "")

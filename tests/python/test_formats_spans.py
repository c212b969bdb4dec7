"""Spans of OpenTelemetry, OpenInference, TruLens and Langfuse as searches and answers, small and real."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import SHARED, Warehouse, write_collection, write_lines

from ingest.formats import format_of
from ingest.formats._said import asked, listed, said, searched

needs_data = pytest.mark.skipif(not SHARED.exists(), reason="the real data is not here")

SEARCHES = "select search, query, has_results, n_attempts, n_errors from assay_raw.searches order by 1"
RESULTS = "select search, list(doc_id order by rank), list(score order by rank) from assay_raw.search_results group by 1 order by 1"


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def span(
    number: int, name: str, start: int, parent: int | None = 1, error: bool = False, **attributes: Any
) -> dict[str, Any]:
    """A span in OTLP's JSON; attributes by their names with `__` for dots."""
    found = {
        "traceId": "t", "spanId": str(number), "name": name, "startTimeUnixNano": str(start), "status": {"code": 2 if error else 0},
        "attributes": [
            {"key": k.replace("__", "."), "value": {"intValue": str(v)} if isinstance(v, int) else {"doubleValue": v} if isinstance(v, float) else {"stringValue": v}}
            for k, v in attributes.items()
        ],
    }  # fmt: skip
    return found if parent is None else {**found, "parentSpanId": str(parent)}


def tool(
    number: int, start: int, arguments: Any = None, result: Any = None, name: str = "web_search", **more: Any
) -> dict[str, Any]:
    given = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": name}
    if arguments is not None:
        given["gen_ai__tool__call__arguments"] = arguments
    if result is not None:
        given["gen_ai__tool__call__result"] = json.dumps(result)
    return span(number, "execute_tool", start, **given, **more)


ROOT = span(1, "agent", 10, None, input__value="a desk?", output__value="Take 7.")


def test_the_genai_conventions_retrievals_and_messages(warehouse: Warehouse, tmp_path: Path) -> None:
    """As the GenAI conventions write them: documents as JSON text, messages in parts."""
    path = tmp_path / "spans.json"
    asked_for = [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {
            "role": "user",
            "parts": [{"type": "text", "content": "a desk?"}, {"type": "image", "content": "aGk="}],
        },
    ]
    answered = [
        {
            "role": "assistant",
            "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "Take 7."}],
        }
    ]
    model = span(
        2, "chat m", 20, gen_ai__operation__name="chat", gen_ai__input__messages=json.dumps(asked_for),
        gen_ai__output__messages=json.dumps(answered),
    )  # fmt: skip
    retrieval = span(
        3, "retrieval", 15, gen_ai__operation__name="retrieval", gen_ai__retrieval__query__text="oak desk",
        gen_ai__retrieval__documents=json.dumps([{"id": "7", "score": 0.95}, {"id": "x", "score": 0.5}]),
    )  # fmt: skip
    path.write_text(json.dumps(otlp(span(1, "agent", 10, None), retrieval, model)))
    warehouse.load(path)
    assert warehouse.rows(SEARCHES) == [(1, "oak desk", True, 1, 0)]
    assert warehouse.rows(RESULTS) == [(1, ["7", "x"], [0.95, 0.5])]
    assert warehouse.rows("select query from assay_raw.queries") == [("a desk?",)]
    assert warehouse.rows("select answer from assay_raw.answers") == [("Take 7.",)]


def test_tools_and_retrievers_are_searches(warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "spans.json"
    retriever = span(
        3, "vectors", 30, openinference__span__kind="RETRIEVER", input__value="oak",
        **{"retrieval__documents__0__document__id": "B", "retrieval__documents__0__document__score": 0.5,
           "retrieval__documents__1__document__id": 8, "retrieval__documents__1__document__content": "text of 8"},
    )  # fmt: skip
    # A search inside a search is part of it; the weather is none; the file's order is not that of time.
    inner = span(4, "faiss", 31, 3, openinference__span__kind="RETRIEVER", input__value="oak")
    path.write_text(
        json.dumps(
            otlp(
                retriever,
                inner,
                tool(5, 40, "{}", {"t": 1}, "weather"),
                tool(2, 20, '{"query": "pine"}', {"results": [{"url": "u"}]}),
                ROOT,
            )
        )
    )
    found = format_of(path, None)
    assert found is not None and found.NAME == "otel"
    warehouse.load(path)
    assert warehouse.rows(SEARCHES) == [(1, "pine", True, 1, 0), (2, "oak", True, 1, 0)]
    assert warehouse.rows(RESULTS) == [(1, ["u"], [None]), (2, ["B", "8"], [0.5, None])]
    assert warehouse.rows("select query from assay_raw.queries") == [("a desk?",)]
    assert warehouse.rows("select answer from assay_raw.answers") == [("Take 7.",)]
    assert warehouse.rows("select list(doc_id order by rank) from assay_raw.context_documents") == [
        (["u", "B", "8"],)
    ]


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ('{"query": "oak"}', "oak"),
        ("oak", "oak"),
        ("", None),
        (None, None),
        ('{"query": "oa', None),
        ('{"top_k": 3}', None),
    ],
)
def test_cut_or_missing_arguments_are_unknown(
    warehouse: Warehouse, tmp_path: Path, arguments: Any, query: str | None
) -> None:
    path = tmp_path / "spans.jsonl"
    write_lines(path, [otlp(ROOT), otlp(tool(2, 20, arguments, [{"id": 1}]))])
    warehouse.load(path)
    assert warehouse.rows(SEARCHES) == [(1, query, True, 1, 0)]


def test_retries_ties_and_unknown_results(warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "spans.json"
    failed = tool(2, 20, '{"query": "a"}', None, error=True, gen_ai__tool__call__id="c1")
    again = tool(3, 20, '{"query": "a"}', [{"id": i} for i in range(5)], gen_ai__tool__call__id="c1")
    # Of two that began at one time the first in the file is the first; a result that is cut is unknown.
    third, fourth = tool(4, 30, '{"query": "b"}'), tool(5, 30, '{"query": "c"}', [])
    third["attributes"].append({"key": "gen_ai.tool.call.result", "value": {"stringValue": '[{"id": '}})
    path.write_text(json.dumps(otlp(ROOT, failed, again, third, fourth)))
    warehouse.load(path)
    assert warehouse.rows(SEARCHES) == [(1, "a", True, 2, 1), (2, "b", False, 1, 0), (3, "c", True, 1, 0)]
    # One search's results are unknown: so is the context.
    assert warehouse.rows("select has_documents from assay_raw.contexts") == [(False,)]


def test_named_search_tools_and_a_collection_that_is_there(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.load(
        write_collection(tmp_path / "c", docs=["7"], queries=[{"query_id": "58", "query": "a desk?"}])
    )
    path = tmp_path / "spans.json"
    path.write_text(
        json.dumps(
            otlp(ROOT, tool(2, 20, '{"query": "a"}', [], "catalog"), tool(3, 30, '{"query": "b"}', []))
        )
    )
    assert warehouse.run("load", "--collection", "c", "--set", 'search_tools=["catalog"]', path) == 0
    assert warehouse.rows("select query_id from assay_raw.traces") == [("58",)]
    assert warehouse.rows(SEARCHES) == [(1, "a", True, 1, 0)]


def test_openinference_as_jsonl_and_parquet(warehouse: Warehouse, tmp_path: Path) -> None:
    def row(
        number: int, kind: str, start: str, parent: str | None, attributes: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            "name": kind.lower(), "context": {"trace_id": "t", "span_id": f"s{number}"}, "parent_id": parent, "start_time": start,
            "status_code": "OK", "attributes": {"openinference": {"span": {"kind": kind}}, **attributes},
        }  # fmt: skip

    documents = [
        {"document": {"id": "d1", "score": 1.5, "content": "x"}},
        {"document": {"id": "d2", "content": "y"}},
    ]
    rows = [
        row(1, "CHAIN", "2023-09-07T12:54:47.293922-06:00", None, {"input": {"value": "Is anybody there?"}, "output": {"value": "Yes."}}),
        row(2, "RETRIEVER", "2023-09-07T12:54:48-06:00", "s1", {"input": {"value": "anybody"}, "retrieval": {"documents": documents}}),
    ]  # fmt: skip
    write_lines(tmp_path / "phoenix.jsonl", rows)
    warehouse.load(tmp_path / "phoenix.jsonl")
    assert warehouse.rows(RESULTS) == [(1, ["d1", "d2"], [1.5, None])]
    con = duckdb.connect()
    con.execute(
        f"""copy (select * from (values
            ('chain', 't', 's1', null, timestamptz '2023-09-07 12:54:47+00', 'OK', 'CHAIN', 'Is anybody there?', 'Yes.', null),
            ('vectors', 't', 's2', 's1', timestamptz '2023-09-07 12:54:48+00', 'OK', 'RETRIEVER', 'anybody', null,
             [{{'document.id': 'd1', 'document.score': 1.5}}])
        ) s(name, "context.trace_id", "context.span_id", parent_id, start_time, status_code, "attributes.openinference.span.kind",
            "attributes.input.value", "attributes.output.value", "attributes.retrieval.documents")) to '{tmp_path / "phoenix.parquet"}'"""
    )
    assert warehouse.run("load", "--format", "otel", "--name", "parquet", tmp_path / "phoenix.parquet") == 0
    assert warehouse.rows("select query from assay_raw.searches where recording_id = 'parquet-traces'") == [
        ("anybody",)
    ]
    assert warehouse.rows(
        "select doc_id from assay_raw.search_results where recording_id = 'parquet-traces'"
    ) == [("d1",)]


def test_langfuse(warehouse: Warehouse, tmp_path: Path) -> None:
    def observation(number: int, kind: str, name: str, start: str, **more: Any) -> dict[str, Any]:
        return {
            "id": str(number),
            "type": kind,
            "name": name,
            "startTime": start,
            "parentObservationId": None,
            "level": "DEFAULT",
        } | more

    messages = json.dumps(
        {
            "messages": [
                {"role": "user", "content": "first"},
                {"role": "assistant", "content": "x"},
                {"role": "user", "content": "a desk?"},
            ]
        }
    )
    trace = {
        "id": "t",
        "projectId": "p",
        "name": "agent",
        "timestamp": "2025-01-01T00:00:00Z",
        "input": json.dumps(messages),
        "output": "Take 7.",
    }
    observations = [
        observation(2, "RETRIEVER", "vectors", "2025-01-01T00:00:02Z", input={"query": "pine"}, output=[{"id": 9}], level="ERROR", statusMessage="slow"),
        observation(1, "SPAN", "Web-Search", "2025-01-01T00:00:01Z", input="{'query': 'oak'}", output=json.dumps({"content": json.dumps([{"url": "u"}])})),
        observation(3, "TOOL", "weather", "2025-01-01T00:00:03Z", input={"query": "no"}, output=[]),
    ]  # fmt: skip
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"trace": trace, "observations": observations}))
    found = format_of(path, None)
    assert found is not None and found.NAME == "langfuse"
    warehouse.load(path)
    assert warehouse.rows("select query from assay_raw.queries") == [("a desk?",)]
    assert warehouse.rows(SEARCHES) == [(1, "oak", True, 1, 0), (2, "pine", True, 1, 1)]


@pytest.mark.parametrize(
    ("function", "given", "found"),
    [
        (asked, "system: be kind\nuser: one?\nassistant: yes\nuser: two?\ntool: x", "two?"),
        (asked, {"messages": [{"type": "human", "content": [{"type": "text", "text": "q"}]}]}, "q"),
        (asked, '{"messages": [', None),
        (asked, "", None),
        (said, {"messages": [{"role": "assistant", "content": "a"}, {"role": "tool", "content": ""}]}, "a"),
        (said, {"output": "b"}, "b"),
        (said, None, None),
        (searched, {"arguments": '{"q": "x"}'}, "x"),
        (listed, {"hits": [1, "b"]}, [1, "b"]),
        (listed, "free text", None),
        (listed, [None], None),
    ],
)
def test_what_inputs_and_outputs_say(function: Any, given: Any, found: Any) -> None:
    assert function(given) == found


@needs_data
@pytest.mark.parametrize(
    ("path", "counts"),
    # Searches, results, answers with a context.
    [
        ("trulens_otel/test_otel_tru_chain__test_smoke.csv", (1, 4, 1)),
        ("langfuse_traces/agno-2025-06-11.trace.json", (1, 5, 1)),
        ("langfuse_traces/langgraph-python-2025-08-22.trace.json", (1, 1, 1)),
        ("langfuse_traces/langgraph-js-2025-10-30.trace.json", (0, 0, 0)),
        ("langfuse_traces/openai-agents-2025-09-30.trace.json", (0, 0, 0)),
        ("langfuse_traces/vercel-aisdk-2025-11-17.trace.json", (0, 0, 0)),
        ("otel_spans/vercel_v6_all-spans.json", (0, 0, 0)),
    ],
)
def test_real_exports(warehouse: Warehouse, path: str, counts: tuple[int, int, int]) -> None:
    warehouse.load(SHARED / path)
    tables = ("searches", "search_results", "answers")
    assert tuple(warehouse.rows(f"select count(*) from assay_raw.{t}")[0][0] for t in tables) == counts
    assert warehouse.rows("select count(*) from assay_raw.quarantine") == [(0,)]
    if "agno" in path:
        assert warehouse.rows("select query from assay_raw.queries") == [
            ("What is currently trending on Twitter?",)
        ]
        assert warehouse.rows("select query from assay_raw.searches") == [("currently trending on Twitter",)]

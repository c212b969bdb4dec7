"""What may not change a result: other names, another order of lines, a recording beside it, more threads."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT, Warehouse, dbt, write_lines

EXAMPLES = PROJECT / "examples"

#: The collection and the scripted recordings, under the names that the planned comparisons have for recordings on this collection.
FOLDERS = {
    "collection": EXAMPLES / "store" / "collection",
    "store-answers": EXAMPLES / "scripted" / "scripted-answers",
    "store-agent": EXAMPLES / "scripted" / "scripted-agent",
}

#: Seeds and models, without tests.
RUN = ("build", "--exclude-resource-type", "test", "unit_test")

#: Every mart and fact with results, without columns that name the run and not the result.
MARTS = (
    "assay_answers", "assay_contexts", "assay_context_scores", "assay_traces", "assay_scores", "assay_summary",
    "assay_correlations", "assay_queries", "fct_assay__citations", "fct_assay__context_documents", "fct_assay__search_words",
    "fct_assay__searches", "fct_assay__picks", "fct_assay__judgments",
)  # fmt: skip


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def copy_store(
    to: Path,
    *,
    shuffled: bool = False,
    doc: str = "",
    query: str = "",
    only: tuple[str, ...] = tuple(FOLDERS),
) -> Path:
    """The example store again: its lines in another order, or every ID with a prefix."""
    order = random.Random(7)

    def renamed(key: str, value: Any) -> Any:
        if key in ("doc_id", "context_ids", "cited", "picked", "results"):
            if isinstance(value, list):
                return [doc + v if isinstance(v, str) and v.isdigit() else v for v in value]
            return doc + value
        if key == "query_id":
            return query + value
        if key == "answer" and doc:
            return value.replace("(ID ", f"(ID {doc}")
        if key == "searches":
            return [{k: renamed(k, v) for k, v in search.items()} for search in value]
        return value

    for folder in only:
        (to / folder).mkdir(parents=True)
        for file in filter(Path.is_file, FOLDERS[folder].iterdir()):
            if file.suffix == ".jsonl":
                rows = [{k: renamed(k, v) for k, v in row.items()} for row in lines(file)]
                if shuffled:
                    order.shuffle(rows)
                write_lines(to / folder / file.name, rows)
            else:
                described = json.loads(file.read_text(encoding="utf-8"))
                described.pop("files")
                if "recording" in described:
                    described["recording"] = folder
                if "answers_recording" in described:
                    described["answers_recording"] = "store-answers"
                (to / folder / file.name).write_text(json.dumps(described), encoding="utf-8")
    return to


def marts(warehouse: Warehouse) -> dict[str, list[str]]:
    """Every row of every mart as text, doubles to their last bit, in an order of their own."""
    return {m: [repr(row) for row in warehouse.rows(f"select * from assay.{m} order by all")] for m in MARTS}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    folder = tmp_path_factory.mktemp("plain")
    warehouse = Warehouse(folder / "warehouse.duckdb")
    warehouse.load(copy_store(folder / "store"))
    dbt(warehouse, *RUN, threads=1)
    return warehouse


def test_order_of_lines_and_threads_change_no_byte(plain: Warehouse, tmp_path: Path) -> None:
    again = Warehouse(tmp_path / "warehouse.duckdb")
    again.load(copy_store(tmp_path / "store", shuffled=True))
    dbt(again, *RUN, threads=8)
    left, right = marts(plain), marts(again)
    for mart in MARTS:
        assert left[mart] == right[mart], mart
    columns = "comparison_id, status, mean_difference, p_value, t_test_p, interval_low, interval_high, detectable_difference"
    compared = f"select {columns} from assay.assay_comparisons order by 1"
    assert sum(row[3] is not None for row in plain.rows(compared)) == 4, "each comparison has its p"
    assert plain.rows(compared) == again.rows(compared)


def test_other_names_change_no_value(plain: Warehouse, tmp_path: Path) -> None:
    """IDs with a quote, a percent sign and a blank before them; integers become texts that sort otherwise."""
    again = Warehouse(tmp_path / "warehouse.duckdb")
    again.load(copy_store(tmp_path / "store", doc="d'% ", query='q"_'))
    dbt(again, *RUN)
    values = "select recording_id, retriever, {} as query_id, trial, measure, k, numerator, denominator, value from assay.assay_scores order by all"
    assert plain.rows(values.format("query_id")) == again.rows(values.format("substr(query_id, 4)"))
    summary = "select * from assay.assay_summary order by all"
    assert plain.rows(summary) == again.rows(summary)


def test_an_unrelated_recording_changes_nothing(plain: Warehouse, tmp_path: Path) -> None:
    again = Warehouse(tmp_path / "warehouse.duckdb")
    other = copy_store(tmp_path / "other", only=("collection", "store-answers"))
    for name, key, value in (
        ("collection/collection.json", "collection", "other"),
        ("store-answers/manifest.json", "recording", "other"),
    ):
        described = json.loads((other / name).read_text()) | {key: value}
        if key == "recording":
            described["collection"] = "other"
        (other / name).write_text(json.dumps(described))
    again.load(other, copy_store(tmp_path / "store"))
    dbt(again, *RUN)
    for mart in MARTS:
        of = (
            "collection != 'other'"
            if mart in ("assay_queries", "fct_assay__judgments")
            else "recording_id != 'other'"
        )
        rows = f"select * from assay.{mart} where {of} order by all"
        assert [repr(r) for r in plain.rows(rows)] == [repr(r) for r in again.rows(rows)], mart

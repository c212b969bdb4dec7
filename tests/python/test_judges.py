"""Judges beside people: agreement, confusion, and the corrected mean with its interval, against independent computations and simulations."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Warehouse, write_collection, write_lines, write_recording
from dbt_build import run_dbt
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

VALUES = {"supported": 1.0, "partly": 0.5, "unsupported": 0.0}
LABELS = list(VALUES)

#: The cases of one build: what a judge and people say of claim 0, 1, …; None where nobody labelled it.
Said = list[tuple[str | float | None, list[str]]]


def mixed(seed: int, n: int, n_labelled: int) -> Said:
    rng = np.random.default_rng(seed)
    said: Said = []
    for i in range(n):
        truth = int(rng.integers(0, 3))
        judge = truth if rng.random() < 0.6 else int(rng.integers(0, 3))
        said.append((LABELS[judge], [LABELS[truth]] if i < n_labelled else []))
    return said


CASES: dict[str, Said] = {
    "all labelled": mixed(1, 40, 40),
    "a part labelled": mixed(2, 90, 35),
    "nobody labelled": mixed(3, 20, 0),
    "one labelled": mixed(4, 20, 1),
    "all labels equal": [("supported", ["supported"])] * 12,
    "equal, a part labelled": [("supported", ["supported"])] * 5 + [("supported", [])] * 7,
    "a constant judge": [("supported", people) for _, people in mixed(5, 60, 30)],
    "constant people": [(judge, ["partly"]) for judge, _ in mixed(6, 30, 30)],
    "several people": [
        ("supported", ["supported", "unsupported"]), ("partly", ["partly", "supported", "supported"]), ("unsupported", ["supported"]),
        ("supported", []),
    ],
    "scores": [(round(0.1 * (i % 11), 1), ["supported" if i % 3 else "unsupported"] if i < 9 else []) for i in range(22)],
}  # fmt: skip


def line(judge: str, claim: str, said: str | float, **more: Any) -> dict[str, Any]:
    label = {"score": said} if isinstance(said, float) else {"label": said}
    return {
        "query_id": "q",
        "context": "x",
        "claim": claim,
        "doc_ids": ["d"],
        "judge": judge,
        **label,
        **more,
    }


#: Simulations whose truth is known: how many, how many claims each, how many of them labelled.
SIMULATIONS, CLAIMS, LABELLED = 500, 120, 50
TRUTH = 0.5 * 0.2 + 0.5


def simulated() -> list[dict[str, Any]]:
    """Claims that people support with 0.5, partly with 0.2; a judge that is right in 70%, and one whose scores shrink to the middle."""
    rng = np.random.default_rng(11)
    rows = []
    for i in range(SIMULATIONS):
        truth = rng.choice(3, CLAIMS, p=[0.5, 0.2, 0.3])
        told = np.where(rng.random(CLAIMS) < 0.7, truth, rng.choice(3, CLAIMS, p=[0.8, 0.1, 0.1]))
        for j in range(CLAIMS):
            claim = f"{i}-{j}"
            rows.append(line(f"kind-{i}", claim, LABELS[int(told[j])]))
            rows.append(line(f"shrunk-{i}", claim, 0.35 + 0.5 * VALUES[LABELS[int(truth[j])]] * 0.6))
            if j < LABELLED:
                rows.append(line("person", claim, LABELS[int(truth[j])]))
    return rows


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    root = tmp_path_factory.mktemp("judges")
    warehouse = Warehouse(root / "w.duckdb")
    write_collection(
        root / "c", docs=["d", "e", "f"], queries=["q", "r"], grades={"2": "a", "1": "b", "0": "c"}, exact_grade=2,
        qrels=[("q", "d", 2), ("q", "e", 1), ("r", "d", 0), ("r", "e", -1)],
    )  # fmt: skip
    answers = [
        {"query_id": q, "context": x, "context_ids": ["d"], "answer": "a", "cited": ["d"]}
        for q in ("q", "r")
        for x in ("x", "y")
    ]
    people, judges = [], []
    for name, said in CASES.items():
        for i, (judge, labels) in enumerate(said):
            if judge is not None:
                judges.append(line(name, f"{name} {i}", judge))
            people += [line(f"person:{n}", f"{name} {i}", label) for n, label in enumerate(labels)]
    # What people alone labelled, a retriever of its own, the same claim with other documents, and repeats.
    people += [
        line("person:0", "people alone", "partly"),
        line("person:0", "two", "supported"),
        line("person:0", "two", "supported"),
    ]
    judges += [
        line("two retrievers", "two", "supported"),
        line("two retrievers", "two", "unsupported", context="y"),
        line("two retrievers", "two", "unsupported", doc_ids=["e"]),
        line("two retrievers", "two", "supported", doc_ids=["d", "d"]),
    ]
    broken = [line("two retrievers", f"broken {i}", "supported") for i in range(2)]
    for row in broken:
        row["error"] = "the reply is no JSON"
        del row["label"]
    write_recording(root / "a", "a", "answers", answers)
    write_lines(root / "a" / "support.jsonl", people)
    (root / "l").mkdir()
    write_lines(root / "l" / "support.jsonl", judges + broken)
    write_lines(
        root / "l" / "relevance.jsonl",
        [{"query_id": q, "doc_id": d, "judge": "g", "grade": g} for q, d, g in (("q", "d", 2), ("q", "e", 2), ("r", "d", 0), ("r", "e", 2))],
    )  # fmt: skip
    manifest = {
        "recording": "l",
        "kind": "labels",
        "collection": "c",
        "answers_recording": "a",
        "model_digest": "sha256:1",
    }
    (root / "l" / "manifest.json").write_text(json.dumps(manifest))
    write_recording(root / "s", "s", "answers", answers)
    write_lines(root / "s" / "support.jsonl", simulated())
    warehouse.load(root / "c", root / "a", root / "l", root / "s")
    run_dbt(
        warehouse.path,
        "build",
        "-s",
        "+assay_judges",
        "+assay_judge_disagreements",
        "+assay_recordings",
        "--exclude-resource-type",
        "unit_test",
        "--indirect-selection",
        "cautious",
    )
    return warehouse


def judges(warehouse: Warehouse, where: str) -> list[dict[str, Any]]:
    import duckdb

    con = duckdb.connect(str(warehouse.path), read_only=True)
    try:
        found = con.execute(f"select * from assay.assay_judges where {where} order by judge, retriever")
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    finally:
        con.close()


def worked_out(said: Said) -> dict[str, float]:
    """The corrected mean and its interval, with the labelled and the others as two samples, by numpy alone."""

    def value(label: str | float) -> float:
        return label if isinstance(label, float) else VALUES[label]

    told = np.array([value(j) for j, _ in said if j is not None])
    rows = [(value(j), np.mean([value(p) for p in people])) for j, people in said if people and j is not None]
    judge, people = np.array(rows).T
    share = 1 - len(judge) / len(told)
    error = np.var(people - share * judge, ddof=1) / len(judge)
    error += share**2 * np.var(told, ddof=1) / max(len(told) - len(judge), 1)
    estimate = told.mean() + (people - judge).mean()
    half = stats.norm.isf(0.025) * math.sqrt(error)
    return {
        "judge_mean": told.mean(), "judge_mean_of_labelled": judge.mean(), "people_mean": people.mean(), "estimate": estimate,
        "interval_low": estimate - half, "interval_high": estimate + half,
    }  # fmt: skip


@pytest.mark.parametrize("case", [c for c in CASES if c not in ("nobody labelled", "one labelled")])
def test_the_corrected_mean_is_what_numpy_says(built: Warehouse, case: str) -> None:
    [row] = judges(built, f"judge = '{case}' and retriever = '(all)'")
    expected = worked_out(CASES[case])
    assert {k: row[k] for k in expected} == pytest.approx(expected, abs=1e-8)
    assert row["judge_digest"] == "sha256:1"
    assert (row["n_judged"], row["n_labelled"]) == (len(CASES[case]), sum(bool(p) for _, p in CASES[case]))


def test_where_all_are_labelled_the_judge_counts_for_nothing(built: Warehouse) -> None:
    """Then the estimate is people's own mean, with the interval of a mean."""
    [row] = judges(built, "judge = 'all labelled' and retriever = '(all)'")
    people = np.array([VALUES[p[0]] for _, p in CASES["all labelled"]])
    half = stats.norm.isf(0.025) * stats.sem(people)
    assert (row["estimate"], row["interval_low"], row["interval_high"]) == pytest.approx(
        (people.mean(), people.mean() - half, people.mean() + half), abs=1e-9
    )


@pytest.mark.parametrize("case", [c for c in CASES if c not in ("nobody labelled", "scores")])
def test_agreement_is_what_statsmodels_says(built: Warehouse, case: str) -> None:
    [row] = judges(built, f"judge = '{case}' and retriever = '(all)'")
    pairs = [(judge, person) for judge, people in CASES[case] for person in people]
    table = np.zeros((3, 3))
    for judge, person in pairs:
        table[LABELS.index(str(judge)), LABELS.index(person)] += 1
    assert row["n_pairs"] == len(pairs)
    assert row["share_equal"] == pytest.approx(np.trace(table) / len(pairs))
    with np.errstate(invalid="ignore"):
        kappa = float(cohens_kappa(table, return_results=False))
    if math.isnan(kappa):
        assert row["kappa"] is None and row["kappa_undefined_reason"] == "all labels are equal"
    else:
        assert row["kappa"] == pytest.approx(kappa) and row["kappa_undefined_reason"] is None
    found = built.rows(
        f"select judge_label, person_label, n from assay.assay_judge_confusion where judge = '{case}' and retriever = '(all)'"
    )
    assert {(j, p): n for j, p, n in found} == Counter(pairs)
    [(n,)] = built.rows(f"select count(*) from assay.assay_judge_disagreements where judge = '{case}'")
    assert n == sum(judge != person for judge, person in pairs)


def test_a_judge_doesnt_stand_alone(built: Warehouse) -> None:
    for case, reason in (
        ("nobody labelled", "people labelled nothing of what it judged"),
        ("one labelled", "people labelled one thing of what it judged"),
    ):
        [row] = judges(built, f"judge = '{case}' and retriever = '(all)'")
        figures = (
            "judge_mean",
            "judge_mean_of_labelled",
            "people_mean",
            "estimate",
            "interval_low",
            "interval_high",
        )
        assert all(row[name] is None for name in figures)
        assert row["undefined_reason"] == reason and row["n_judged"] == 20


def test_constant_labels_are_degenerate_and_say_so(built: Warehouse) -> None:
    for case in ("all labels equal", "equal, a part labelled", "constant people"):
        [row] = judges(built, f"judge = '{case}' and retriever = '(all)'")
        assert row["interval_low"] == row["estimate"] == row["interval_high"]
        assert row["degenerate_reason"] == "all labels are equal, so the interval has no width"
    [row] = judges(built, "judge = 'a constant judge' and retriever = '(all)'")
    assert row["kappa"] == 0 and row["degenerate_reason"] is None and row["interval_low"] < row["estimate"]


def test_what_is_labelled_is_the_claim_of_an_answer_with_its_documents(built: Warehouse) -> None:
    rows = judges(built, "judge = 'two retrievers'")
    assert [(r["retriever"], r["n_judged"], r["n_labelled"], r["n_equal"], r["n_broken"]) for r in rows] == [
        ("(all)", 3, 1, 1, 2),
        ("x", 2, 1, 1, 2),
        ("y", 1, 0, 0, 0),
    ]
    people_alone = 1 + sum(bool(people) for said in CASES.values() for _, people in said)
    assert rows[0]["n_labelled_not_judged"] == people_alone


def test_scores_have_no_agreement(built: Warehouse) -> None:
    [row] = judges(built, "judge = 'scores' and retriever = '(all)'")
    assert row["kappa"] is None and row["share_equal"] is None and row["n_score_pairs"] == row["n_pairs"] == 9
    assert row["kappa_undefined_reason"] == "scores were given in the place of labels"


def test_grades_are_judged_alike(built: Warehouse) -> None:
    """Exact is 1, else 0; people's -1 is no label. Judge 1 1 0 1, people 1 0 0 on the first three."""
    [row] = judges(built, "task = 'relevance'")
    assert (row["recording_id"], row["retriever"], row["n_judged"], row["n_labelled"]) == ("l", "(all)", 4, 3)
    assert (row["judge_mean"], row["people_mean"]) == pytest.approx((0.75, 1 / 3))
    assert row["estimate"] == pytest.approx(0.75 + 1 / 3 - 2 / 3)
    assert (row["n_equal"], row["share_equal"]) == (2, pytest.approx(2 / 3))
    assert built.rows(
        "select query_id, documents, judge_label, person_label, value_difference from assay.assay_judge_disagreements where task = 'relevance'"
    ) == [("q", "e", "2", "1", 1.0)]


def test_nobody_was_asked_for_labels(built: Warehouse) -> None:
    [row] = built.rows(
        "select n_asked, n_missing, is_complete from assay.assay_recordings where recording_id = 'l'"
    )
    assert row == (0, 0, True)


@pytest.mark.parametrize("judge", ["kind", "shrunk"])
def test_intervals_cover_the_truth_as_often_as_they_say(built: Warehouse, judge: str) -> None:
    """A share of 95%, within four standard errors of the simulation; the judge alone is far off."""
    rows = judges(built, f"recording_id = 's' and judge like '{judge}-%' and retriever = '(all)'")
    assert len(rows) == SIMULATIONS
    covered = sum(row["interval_low"] <= TRUTH <= row["interval_high"] for row in rows)
    assert covered / SIMULATIONS == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / SIMULATIONS))
    mean_width = np.mean([row["interval_high"] - row["interval_low"] for row in rows])
    plain = 2 * 1.96 * math.sqrt((0.5 + 0.2 / 4 - TRUTH**2) / LABELLED)
    assert mean_width < plain
    assert abs(np.mean([row["judge_mean"] for row in rows]) - TRUTH) > 0.01
    assert abs(np.mean([row["estimate"] for row in rows]) - TRUTH) < 0.01


def test_labels_of_support_say_whose_answers_they_judge(warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    warehouse.load(write_collection(tmp_path / "c", docs=["d"], queries=["q"]))
    folder = tmp_path / "l"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({"recording": "l", "kind": "labels", "collection": "c"}))
    assert warehouse.run("load", folder) == 1
    assert "support.jsonl or relevance.jsonl is missing" in capsys.readouterr().err
    write_lines(folder / "support.jsonl", [line("m", "one", "supported")])
    assert warehouse.run("load", folder) == 1
    assert "'answers_recording' is not there, and support.jsonl is" in capsys.readouterr().err
    assert warehouse.rows("select count(*) from assay_raw.recordings") == [(0,)]


def test_a_label_and_an_error_exclude_each_other(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.load(write_collection(tmp_path / "c", docs=["d"], queries=["q"]))
    rows = [line("m", str(i), "supported") for i in range(30)]
    rows[7]["error"] = "late"
    folder = tmp_path / "l"
    folder.mkdir()
    write_lines(folder / "support.jsonl", rows)
    (folder / "manifest.json").write_text(
        json.dumps({"recording": "l", "kind": "labels", "collection": "c", "answers_recording": "a"})
    )
    warehouse.load(folder)
    assert warehouse.rows("select line from assay_raw.quarantine") == [(8,)]
    assert warehouse.rows("select count(*) from assay_raw.support") == [(29,)]

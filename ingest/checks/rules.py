"""The one list of checks: what each is called, how severe a failure is, and what it says.

An **error** refuses the load (or fails ``dbt build``), a **warning** loads it and stays visible, a **note** is counted.
Ingest, Great Expectations and dbt's tests all go by this list: each load writes it, with the project's own severities
over it (`ingest.checks.settings`), into the raw table ``check_rules``, where the models read it.
"""

from __future__ import annotations

from dataclasses import dataclass

SEVERITIES = ("error", "warning", "note")

#: What a check is made on: ``warehouse`` ones need more than one load, and are made by ``dbt build``.
SUBJECTS = ("collection", "answers", "traces", "contexts", "labels", "warehouse")
RECORDINGS = ("answers", "traces", "contexts")
#: Labels are recorded too, but no query was asked for them.
RECORDED = (*RECORDINGS, "labels")
LOADS = ("collection", *RECORDED)


@dataclass(frozen=True)
class Rule:
    """One check: its name, its severity unless the project says otherwise, what it is made on, and what it fails for."""

    name: str
    severity: str
    subjects: tuple[str, ...]
    meaning: str


RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        # The contract: what `ingest.contract` says of every raw table.
        Rule("column_types", "error", LOADS, "A raw table's column has another type than the contract says."),
        Rule("required_values", "error", LOADS, "A column that can't be null is null."),
        Rule("value_ranges", "error", LOADS, "A count is below 0, a place below 1, a share outside 0 to 1, or a number not finite."),
        Rule("unique_keys", "error", LOADS, "A raw table's key stands twice."),
        Rule("gapless_places", "error", LOADS, "The places of a list don't count 1, 2, 3 and on."),
        # The files.
        Rule("quarantined", "warning", LOADS, "Lines can't be read; they are kept in quarantine."),
        Rule("not_pinned", "warning", RECORDED, "The manifest gives no sha256 of a file."),
        Rule("incomplete_manifest", "warning", RECORDED, "The manifest lacks what a recording of its kind is known by."),
        Rule("time_without_zone", "note", RECORDED, "recorded_at has no zone and is taken as UTC."),
        Rule("extra_keys", "note", LOADS, "Lines have keys that the format doesn't name."),
        # A collection.
        Rule("field_never_given", "warning", ("collection",), "No document has a field that the collection names."),
        Rule("empty_documents", "note", ("collection",), "Documents have no text in any field."),
        Rule("repeated_judgment", "note", ("collection",), "A judgment stands more than once."),
        Rule("unknown_grade", "warning", ("collection",), "A judgment has a grade that the collection doesn't name."),
        Rule("no_exact_judgment", "note", ("collection",), "A query has judgments and none is exact: its recall is undefined."),
        Rule("several_texts", "warning", ("collection",), "One ID stands for more than one text."),
        Rule("collection_replaced", "note", ("collection",), "The collection was replaced under recordings that are loaded."),
        # What was asked, and what there is.
        Rule("unknown_document", "warning", LOADS, "A document that is judged, read or found is not in the catalog."),
        Rule("missing_queries", "warning", RECORDINGS, "A query was asked and has no row under a retriever."),
        Rule("not_asked", "warning", RECORDINGS, "Rows are of queries that were not asked; no mean counts them."),
        Rule("repeated_asked", "note", RECORDINGS, "A query stands more than once in the list of those asked."),
        Rule("collection_digest_differs", "warning", RECORDED, "The manifest pins another collection_digest than is loaded."),
        Rule("more_than_shown", "warning", ("answers", "traces"), "A list holds more documents than results_shown says."),
        # Answers.
        Rule("repeated_answers", "note", ("answers",), "The same text answers different queries of a retriever."),
        Rule("cut_prompt", "warning", ("answers",), "The server counted fewer tokens than words were sent, or as many as fit: the prompt may be cut."),
        Rule("unresolved_citation", "note", ("answers",), "A citation in the text stands for no document of the context."),
        # What only the warehouse can see.
        Rule("orphan_queries", "error", ("warehouse",), "Rows are of queries that their collection doesn't have any more."),
        Rule("orphan_recording", "error", ("warehouse",), "A recording's collection is not loaded."),
        Rule("pinned_digest_differs", "warning", ("warehouse",), "A recording pins another collection than is loaded now."),
        Rule("answers_recording_unfit", "warning", ("warehouse",), "The answers recording that traces or labels name is not loaded, or of another collection."),
        Rule("unequal_collections", "warning", ("warehouse",), "The two sides of a planned comparison are of different collections."),
        Rule("low_coverage", "warning", ("warehouse",), "Less than half of the queries asked have a row under a retriever."),
    )
}  # fmt: skip


def rules_for(subject: str) -> list[Rule]:
    """The checks that are made on a collection, on a recording of a kind, or by dbt on the warehouse."""
    return [rule for rule in RULES.values() if subject in rule.subjects]

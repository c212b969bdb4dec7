"""A recording's files, in the keys of the recording format, into the raw tables."""

from __future__ import annotations

from ingest.describe import KINDS, Described, texts_in
from ingest.errors import BadInput, shown
from ingest.files import Given, SourceFile
from ingest.keys import Key
from ingest.sqltext import literal
from ingest.staging import Load
from ingest.tables.answers import add_answers
from ingest.tables.collection import is_loaded
from ingest.tables.contexts import add_contexts, add_run, check_contexts
from ingest.tables.support import add_relevance, add_support
from ingest.tables.traces import add_traces

_RETRIEVER = Key("context", "id", required=True, alias="retriever", column="retriever")
_ANSWER_KEYS = (
    Key("query_id", "id", required=True),
    _RETRIEVER,
    Key("trial", "place"),
    Key("context_ids", "ids", column="doc_ids"),
    Key("passage_ids", "known_ids"),
    Key("context_texts", "texts", column="texts"),
    Key("answer", "text"),
    Key("cited", "items"),
    Key("searched_as", "text"),
    Key("raw", "any"),
    Key("prompt_tokens", "count"),
    Key("answer_tokens", "count"),
    Key("duration_ms", "number"),
    Key("recorded_at", "time"),
    Key("error", "any"),
)
_CONTEXT_KEYS = (
    Key("query_id", "id", required=True),
    _RETRIEVER,
    Key("trial", "place"),
    Key("doc_ids", "ids"),
    Key("scores", "numbers"),
    Key("searched_as", "text"),
    Key("duration_ms", "number"),
)
_TRACE_KEYS = (
    Key("query_id", "id", required=True),
    Key("retriever", "id", required=True, alias="context"),
    Key("trial", "place"),
    Key("trace_id", "id"),
    Key("searches", "objects"),
    Key("picked", "items"),
    Key("error", "any"),
    Key("event", "text"),
    Key("seq", "int"),
    Key("step", "int"),
    Key("query", "text"),
    Key("results", "ids"),
    Key("scores", "numbers"),
    Key("call_id", "scalar"),
    Key("attempt", "count"),
    Key("doc_id", "id"),
    Key("text", "text"),
)
_SUPPORT_KEYS = (
    Key("query_id", "id", required=True),
    _RETRIEVER,
    Key("trial", "place"),
    Key("claim", "text"),
    Key("doc_ids", "ids"),
    Key("judge", "id", required=True),
    Key("label", "text"),
    Key("score", "share"),
    Key("error", "any"),
    Key("raw", "any"),
    Key("prompt_tokens", "count"),
    Key("answer_tokens", "count"),
    Key("duration_ms", "number"),
)
_RELEVANCE_KEYS = (
    Key("query_id", "id", required=True),
    Key("doc_id", "id", required=True),
    Key("judge", "id", required=True),
    Key("grade", "grade", required=True),
)
#: The lists of a line that stand beside its documents, item by item.
_PARALLEL = {"doc_ids": ("passage_ids", "texts", "scores"), "results": ("scores",)}


def _check_lengths(load: Load, source: SourceFile, table: str, ids: str, columns: set[str]) -> None:
    """Quarantine lines in which a list that stands beside the documents has another length."""
    for other in _PARALLEL[ids]:
        if other in columns:
            load.quarantine_where(
                source,
                table,
                f"{other} is not null and len({other}) != coalesce(len({ids}), 0)",
                f"'{other} and {ids} differ in length: ' || len({other}) || ' and ' || coalesce(len({ids}), 0)",
            )


def load_recording(load: Load, described: Described, files: dict[str, Given]) -> dict[str, object]:
    """Load a recording's rows from its answers, traces, contexts or run, and from support and asked where they are there.

    Returns the row of ``recordings`` without its load, digest and counts.
    """
    kind = described.one_of("kind", KINDS, None)
    collection = described.name("collection")
    if not is_loaded(load, collection):
        raise BadInput(
            f"{described.path}: the collection {collection!r} is not loaded. Load its folder first, or with this one."
        )
    row = _recording_row(load, described, kind, collection)
    pinned = row["collection_digest"]
    digest = load.first(f"select digest from assay_raw.collections where collection = {literal(collection)}")
    if pinned is not None and digest is not None and pinned != digest[0]:
        load.notice(
            "collection_digest_differs", described.path.name, 1,
            f"collection_digest is {shown(pinned)}, and the collection that is loaded has {digest[0]}",
        )  # fmt: skip
    _keep_settings(load, described)
    _check_split(load, described, collection, row["split"])
    if kind == "answers":
        source = load.typed(files["answers"], _ANSWER_KEYS, "answers_typed")
        load.con.execute("update answers_typed set trial = 1 where trial is null")
        _check_lengths(load, source, "answers_typed", "doc_ids", {"passage_ids", "texts"})
        add_answers(load, source, "answers_typed", collection, described.text("citation_form"))
        load.con.execute("drop table answers_typed")
    elif kind == "traces":
        source = load.typed(files["traces"], _TRACE_KEYS, "traces_typed")
        load.con.execute("update traces_typed set trial = 1 where trial is null")
        _check_lengths(load, source, "traces_typed", "results", {"scores"})
        add_traces(load, source, "traces_typed", collection)
        load.con.execute("drop table traces_typed")
    elif kind == "labels":
        _add_relevance(load, described, files, collection)
    elif "run" in files:
        source = load.lines(files["run"], "run_lines")
        by_rank = described.one_of("order", ("score", "rank"), "score") == "rank"
        add_run(load, source, "run_lines", collection, by_rank=by_rank)
        load.con.execute("drop table run_lines")
    else:
        source = load.typed(files["contexts"], _CONTEXT_KEYS, "contexts_typed")
        load.con.execute("update contexts_typed set trial = 1 where trial is null")
        _check_lengths(load, source, "contexts_typed", "doc_ids", {"scores"})
        load.con.execute(
            "create or replace temp view context_lists as select *, cast(null as varchar[]) as passage_ids,"
            " cast(null as varchar[]) as texts, cast(null as varchar[]) as named from contexts_typed"
        )
        check_contexts(load, source, "contexts_typed", collection)
        add_contexts(load, source, "context_lists", collection)
        load.notice_extra(source, "contexts_typed")
        load.con.execute("drop view context_lists")
        load.con.execute("drop table contexts_typed")
    if "support" in files:
        source = load.typed(files["support"], _SUPPORT_KEYS, "support_typed")
        load.con.execute("update support_typed set trial = 1 where trial is null")
        load.quarantine_where(
            source,
            "support_typed",
            "(error is null and (label is null) = (score is null)) or (error is not null and (label is not null or score is not null))"
            " or label not in ('supported', 'partly', 'unsupported')",
            "'a label of support is supported, partly or unsupported, or a score or an error in its stead: ' || coalesce(label, 'none of them')",
        )
        add_support(load, source, "support_typed", collection)
        load.con.execute("drop table support_typed")
    if "asked" in files:
        _add_asked(load, files["asked"], collection)
    if kind != "labels":
        _notice_not_asked(load, str(row["asked"]), row["split"], collection, kind)
    return row


def _add_relevance(load: Load, described: Described, files: dict[str, Given], collection: str) -> None:
    """The labels of a recording that holds nothing else. Those of support say whose answers they are about."""
    if "support" in files and described.text("answers_recording") is None:
        raise BadInput(
            f"{described.path}: the key 'answers_recording' is not there, and support.jsonl is. Add it: it names the recording "
            "whose claims are judged."
        )
    if "relevance" in files:
        source = load.typed(files["relevance"], _RELEVANCE_KEYS, "relevance_typed")
        add_relevance(load, source, "relevance_typed", collection)
        load.con.execute("drop table relevance_typed")


def _recording_row(load: Load, described: Described, kind: str, collection: str) -> dict[str, object]:
    recorded_at, is_date, zoneless = described.time("recorded_at")
    if zoneless:
        load.notice(
            "time_without_zone", described.path.name, 1, "recorded_at has no zone; it is taken as UTC"
        )
    form = described.text("citation_form")
    if form is not None and "{id}" not in form:
        raise BadInput(
            f"{described.path}: 'citation_form' must hold {{id}}, as in '(ID {{id}})', not {shown(form)}."
        )
    options = described.given.get("options")
    num_ctx = options.get("num_ctx") if isinstance(options, dict) else None
    prompts = described.given.get("prompts")
    return {
        "recording_id": load.name,
        "kind": kind,
        "collection": collection,
        "split": described.text("split"),
        "model": described.text("model"),
        "model_digest": described.text("model_digest"),
        "model_licence": described.text("model_licence"),
        "num_ctx": num_ctx if isinstance(num_ctx, int) and not isinstance(num_ctx, bool) else None,
        "n_prompt_words": None if prompts is None else sum(len(t.split()) for t in texts_in(prompts)),
        "recorded_at": recorded_at,
        "is_recorded_on_a_date": is_date,
        "results_shown": described.whole("results_shown", 1),
        "max_searches": described.whole("max_searches", 0),
        "max_recommendations": described.whole("max_recommendations", 1),
        "shows_all_fields": described.names("shown_fields") is None,
        "answers_recording": described.text("answers_recording"),
        "asked": described.text("asked") or "split",
        "citations": described.one_of("citations", ("field", "text", "not_asked"), "field"),
        "is_ids_in_text_asked": described.truth("ids_in_text", True),
        "citation_form": form,
        "context_is": described.one_of("context_is", ("read", "reported"), "read"),
        "is_judgments_shown": described.truth("judgments_shown", False),
        "collection_digest": described.text("collection_digest"),
        "manifest": described.as_json(),
    }


def _keep_settings(load: Load, described: Described) -> None:
    rows = [(load.name, setting, value) for setting, value in described.settings().items()]
    load.con.executemany("insert into assay_raw.recording_settings values (?, ?, ?)", rows)
    for position, field in enumerate(described.names("shown_fields") or [], start=1):
        load.con.execute(
            "insert into assay_raw.recording_fields values (?, ?, ?)", [load.name, position, field]
        )
    for floor in described.names("floor") or []:
        load.con.execute("insert into assay_raw.recording_floors values (?, ?)", [load.name, floor])


def _check_split(load: Load, described: Described, collection: str, split: object) -> None:
    """Refuse a split that the collection doesn't have, and shown fields that it doesn't name."""
    if split is not None and (described.text("asked") or "split") == "split":
        found = load.first(
            f"select 1 from assay_raw.queries where collection = {literal(collection)} and split = {literal(str(split))}"
        )
        if found is None:
            raise BadInput(
                f"{described.path}: no query of the collection {collection!r} has the split {shown(split)}. "
                "Name one that it has, or take 'split' out where all were asked."
            )
    for field in described.names("shown_fields") or []:
        known = load.first(
            f"select 1 from assay_raw.collection_fields where collection = {literal(collection)} and field = {literal(field)}"
        )
        if known is None:
            raise BadInput(
                f"{described.path}: {shown(field)} in 'shown_fields' is not a field of the collection {collection!r}. "
                "Name fields that its collection.json lists."
            )


def _add_asked(load: Load, given: Given, collection: str) -> None:
    source = load.lines(given, "asked_lines")
    load.con.execute(
        "create or replace temp table asked_typed as select line, rtrim(text, chr(13)) as query_id from asked_lines"
    )
    load.refuse_unknown_queries(source, "asked_typed", collection)
    load.insert(
        "asked_queries", f"select distinct {literal(load.name)} as recording_id, query_id from asked_typed"
    )
    repeats = load.count("select count(*) - count(distinct query_id) from asked_typed")
    load.notice("repeated_asked", source.name, repeats, f"{repeats} lines repeat a query; it counts once")


def _notice_not_asked(load: Load, asked: str, split: object, collection: str, kind: str) -> None:
    """Warn of rows for queries that were not asked: they stand in the tables, and in no mean."""
    name, rows = literal(load.name), "traces" if kind == "traces" else "contexts"
    if asked != "split":
        were = f"select query_id from assay_raw.asked_queries where recording_id = {name}"
    else:
        were = f"select query_id from assay_raw.queries where collection = {literal(collection)}" + (
            "" if split is None else f" and split = {literal(str(split))}"
        )
    row = load.first(
        f"select count(*), min(query_id) from assay_raw.{rows} where recording_id = {name} and query_id not in ({were})"
    )
    if row is not None and row[0]:
        load.notice(
            "not_asked", f"{kind}", int(str(row[0])),
            f"{row[0]} rows are of queries that were not asked, such as {shown(row[1])}; no mean counts them",
        )  # fmt: skip

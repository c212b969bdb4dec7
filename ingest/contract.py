"""The raw tables: every column, its type, its meaning, and which columns are the key.

This is the contract between ``ingest`` and everything behind it. ``ingest`` creates the tables from
it and fills them, ``models/staging`` reads them, and the test ``tests/python/test_contract.py`` holds the
dbt sources to it. Nothing else says what a raw table looks like.

Rules that hold for every table:

* All IDs are text. Ranks, positions and turns start at 1 and have no gaps.
* A column that can't be null says so. Null means unknown; an empty text or an absent row of a
  list means that there was nothing.
* Every row carries ``recording_id`` or ``collection``; the load that wrote it stands in ``recordings``
  or ``collections`` as ``load_number``.
* Lists are flattened here and words are computed here, so no model reads JSON or splits text.
"""

from __future__ import annotations

from dataclasses import dataclass

#: The schema of the raw tables in the warehouse file.
RAW_SCHEMA = "assay_raw"

#: What a column may be. Plain types that DuckDB, Parquet and Spark share.
TYPES = ("varchar", "bigint", "double", "boolean", "timestamp")


@dataclass(frozen=True)
class Column:
    """One column: its name, its type (one of `TYPES`), what it means, and whether it may be null."""

    name: str
    type: str
    meaning: str
    nullable: bool = False
    #: The lowest and the highest value; None where there is none.
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True)
class Table:
    """One raw table: its grain in words, the columns that make a row unique, and its columns."""

    name: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    #: The column that says whose rows these are: a load replaces all rows of one owner.
    owner: str

    def ddl(self, schema: str = RAW_SCHEMA) -> str:
        """The ``create table if not exists`` statement."""
        lines = [f"    {c.name} {c.type}{'' if c.nullable else ' not null'}" for c in self.columns]
        return f"create table if not exists {schema}.{self.name} (\n" + ",\n".join(lines) + "\n)"

    @property
    def is_gapless(self) -> bool:
        """Whether the key's last column counts the places of a list, from 1 without gaps."""
        return self.key[-1] in ("rank", "position", "search", "turn")

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(c.name for c in self.columns)


#: Columns that are places, counted from 1.
_PLACES = ("rank", "first_rank", "position", "search", "turn", "trial", "line", "load_number")
#: Counts and durations that don't begin with ``n_``.
_AMOUNTS = ("prompt_tokens", "answer_tokens", "duration_ms")


def _c(name: str, type_: str, meaning: str, nullable: bool = False, most: int | None = None) -> Column:
    """A column; a count or a share is 0 or higher, a place 1 or higher."""
    is_amount = name.startswith("n_") or name in _AMOUNTS or most is not None
    return Column(name, type_, meaning, nullable, 0 if is_amount else 1 if name in _PLACES else None, most)


_COLLECTION = _c("collection", "varchar", "The collection's name.")
_RECORDING = _c("recording_id", "varchar", "The recording's name.")
_QUERY = _c("query_id", "varchar", "The query, as the collection names it.")
_DOC = _c("doc_id", "varchar", "The document, as the collection names it.")
_RETRIEVER = _c("retriever", "varchar", "What chose the documents, such as bm25 or semantic.")
_TRIAL = _c("trial", "bigint", "1, or higher where the same was recorded more than once.")
_TRACE = _c(
    "trace_id", "varchar", "The task; made from retriever, query and trial where the file gives none."
)
_SEARCH = _c("search", "bigint", "Which search of the trace, from 1.")
_EXTRA = _c("extra", "varchar", "Keys that the format doesn't name, as JSON text; null without any.", True)
_LINE = _c("line", "bigint", "The line (or the row) of the file that it stands on, from 1.")
_LOAD = _c("load_number", "bigint", "The load that wrote it; later loads have higher numbers.")
_DIGEST = _c("digest", "varchar", "sha256 over the names and bytes of all its files.")

_COLLECTION_TABLES: tuple[Table, ...] = (
    Table(
        "collections",
        "one row per collection",
        ("collection",),
        (
            _COLLECTION,
            _LOAD,
            _DIGEST,
            _c("licence", "varchar", "The collection's licence, as stated.", True),
            _c("source", "varchar", "Where the collection comes from, as stated.", True),
            _c("exact_grade", "bigint", "A grade at or above this is exact; null without judgments.", True),
            _c("catalog", "varchar", "whole, or seen: only documents that a recording or judgment names."),
            _c("judgments", "varchar", "graded, or positive_only: nobody wrote down what is not relevant."),
            _c("n_documents", "bigint", "Documents in the catalog."),
            _c("n_queries", "bigint", "Queries."),
            _c("n_judgments", "bigint", "Lines of judgments, repeats included."),
            _c("n_lines", "bigint", "Lines of all its files."),
            _c("n_quarantined", "bigint", "Lines that could not be read."),
            _c("description", "varchar", "collection.json as given, as JSON text."),
        ),
        "collection",
    ),
    Table(
        "collection_fields",
        "one row per text field of a collection",
        ("collection", "field"),
        (
            _COLLECTION,
            _c("position", "bigint", "The field's place in reading order, from 1."),
            _c("field", "varchar", "The field's name."),
            _c("n_label_words", "bigint", "Whitespace-separated pieces of '<field>:'."),
        ),
        "collection",
    ),
    Table(
        "collection_grades",
        "one row per grade that a collection names",
        ("collection", "grade"),
        (
            _COLLECTION,
            _c("grade", "bigint", "The grade."),
            _c("label", "varchar", "What the collection calls it."),
        ),
        "collection",
    ),
    Table(
        "documents",
        "one row per document of a collection's catalog",
        ("collection", "doc_id"),
        (
            _COLLECTION,
            _DOC,
            _c("n_id_words", "bigint", "Whitespace-separated pieces of 'ID: <doc_id>'."),
            _c(
                "n_words",
                "bigint",
                "Pieces of the whole text as a model reads it: the ID's line and every field.",
            ),
            _EXTRA,
        ),
        "collection",
    ),
    Table(
        "document_fields",
        "one row per document and text field that is not empty",
        ("collection", "doc_id", "field"),
        (
            _COLLECTION,
            _DOC,
            _c("field", "varchar", "The field."),
            _c("value", "varchar", "Its text, byte for byte."),
            _c("n_words", "bigint", "Whitespace-separated pieces of the text."),
            _c("n_sentences", "bigint", "Sentences of the text, by the rule that retrieval cuts by."),
            _c("is_cut", "boolean", "The text looks cut: it ends in three dots."),
        ),
        "collection",
    ),
    Table(
        "document_words",
        "one row per document, text field and distinct word",
        ("collection", "doc_id", "field", "word"),
        (
            _COLLECTION,
            _DOC,
            _c("field", "varchar", "The field."),
            _c("word", "varchar", "A word: lower-case, NFC, letters, marks and digits only."),
        ),
        "collection",
    ),
    Table(
        "queries",
        "one row per query of a collection",
        ("collection", "query_id"),
        (
            _COLLECTION,
            _QUERY,
            _c("query", "varchar", "The query as typed."),
            _c("split", "varchar", "train, test, …; null where the collection names none.", True),
            _EXTRA,
        ),
        "collection",
    ),
    Table(
        "query_turns",
        "one row per earlier turn of the conversation that a query goes on",
        ("collection", "query_id", "turn"),
        (
            _COLLECTION,
            _QUERY,
            _c("turn", "bigint", "Which turn, from 1."),
            _c("text", "varchar", "What the asker said then."),
        ),
        "collection",
    ),
    Table(
        "query_words",
        "one row per query and distinct word of the asker, earlier turns included",
        ("collection", "query_id", "word"),
        (_COLLECTION, _QUERY, _c("word", "varchar", "A word of the asker.")),
        "collection",
    ),
    Table(
        "judgments",
        "one row per line of judgments; a pair may stand twice, with one grade",
        ("collection", "line"),
        (
            _COLLECTION,
            _QUERY,
            _DOC,
            _c("grade", "bigint", "The grade; -1 is TREC's mark for pooled but unjudged."),
            _LINE,
        ),
        "collection",
    ),
)

_CONTEXT_KEY = ("recording_id", "query_id", "retriever", "trial")

_RECORDING_TABLES: tuple[Table, ...] = (
    Table(
        "recordings",
        "one row per recording",
        ("recording_id",),
        (
            _RECORDING,
            _LOAD,
            _DIGEST,
            _c("kind", "varchar", "answers, traces, contexts or labels."),
            _COLLECTION,
            _c("split", "varchar", "The split that was asked; null for all queries.", True),
            _c("model", "varchar", "The model's name.", True),
            _c("model_digest", "varchar", "The model's digest.", True),
            _c("model_licence", "varchar", "The model's licence.", True),
            _c("num_ctx", "bigint", "The context window in tokens, from options.", True),
            _c("n_prompt_words", "bigint", "Whitespace-separated pieces of the prompts.", True),
            _c("recorded_at", "timestamp", "When it was recorded, in UTC.", True),
            _c(
                "is_recorded_on_a_date",
                "boolean",
                "True where recorded_at gives a date without a time.",
                True,
            ),
            _c("results_shown", "bigint", "Documents in one context, or that one search returns.", True),
            _c("max_searches", "bigint", "Searches that a task may make.", True),
            _c("max_recommendations", "bigint", "Documents that an answer may cite, or a task pick.", True),
            _c("shows_all_fields", "boolean", "True where the manifest names no shown_fields."),
            _c(
                "answers_recording",
                "varchar",
                "Traces: the answers recording to hold first searches against. Labels: the one whose claims are judged.",
                True,
            ),
            _c("asked", "varchar", "split, or the name of the file that lists the queries asked."),
            _c("citations", "varchar", "field, text or not_asked."),
            _c("is_ids_in_text_asked", "boolean", "False where nobody asked that the text name the IDs."),
            _c("citation_form", "varchar", "How the text writes a citation; null for the bare ID.", True),
            _c("context_is", "varchar", "read, or reported: found or claimed after answering."),
            _c("is_judgments_shown", "boolean", "True where the agent saw grades while it worked."),
            _c("collection_digest", "varchar", "The collection's digest that the manifest pins.", True),
            _c("is_pinned", "boolean", "True where the manifest gives every file's sha256."),
            _c("n_lines", "bigint", "Lines of all its files."),
            _c("n_loaded", "bigint", "Lines that were loaded."),
            _c("n_quarantined", "bigint", "Lines that could not be read."),
            _c("manifest", "varchar", "manifest.json as given, as JSON text."),
        ),
        "recording_id",
    ),
    Table(
        "recording_settings",
        "one row per recording and setting of its manifest, nested ones by their path",
        ("recording_id", "setting"),
        (
            _RECORDING,
            _c("setting", "varchar", "The setting's path, such as options.seed."),
            _c("value", "varchar", "Its value as JSON text."),
        ),
        "recording_id",
    ),
    Table(
        "recording_fields",
        "one row per recording and field that its manifest says was shown",
        ("recording_id", "field"),
        (
            _RECORDING,
            _c("position", "bigint", "The field's place in reading order, from 1."),
            _c("field", "varchar", "The field."),
        ),
        "recording_id",
    ),
    Table(
        "recording_floors",
        "one row per recording and retriever that is a floor, not a candidate",
        ("recording_id", "retriever"),
        (_RECORDING, _RETRIEVER),
        "recording_id",
    ),
    Table(
        "asked_queries",
        "one row per recording and query that its asked file lists",
        ("recording_id", "query_id"),
        (_RECORDING, _QUERY),
        "recording_id",
    ),
    Table(
        "contexts",
        "one row per recording, query, retriever and trial: a list of documents, behind an answer or alone",
        _CONTEXT_KEY,
        (
            _RECORDING,
            _QUERY,
            _RETRIEVER,
            _TRIAL,
            _c("has_documents", "boolean", "False where the list is unknown; an empty list is known."),
            _c("searched_as", "varchar", "The query as the retriever got it.", True),
            _c("duration_ms", "double", "How long it took, in milliseconds.", True),
            _LINE,
            _EXTRA,
        ),
        "recording_id",
    ),
    Table(
        "context_documents",
        "one row per context and rank",
        (*_CONTEXT_KEY, "rank"),
        (
            _RECORDING,
            _QUERY,
            _RETRIEVER,
            _TRIAL,
            _c("rank", "bigint", "The place in the list, from 1, as the model read it."),
            _DOC,
            _c(
                "first_rank",
                "bigint",
                "The first place of this document in the list; equal to rank unless repeated.",
            ),
            _c("passage_id", "varchar", "Which passage of the document.", True),
            _c("text", "varchar", "The text as shown, where it isn't the catalog's.", True),
            _c("n_text_words", "bigint", "Whitespace-separated pieces of that text.", True),
            _c("score", "double", "The retriever's score.", True),
            _c("run_rank", "bigint", "A run file's own rank column.", True),
            _c(
                "is_in_text",
                "boolean",
                "The answer's text names this ID; null without an answer's text.",
                True,
            ),
        ),
        "recording_id",
    ),
    Table(
        "answers",
        "one row per recording, query, retriever and trial: an answer",
        _CONTEXT_KEY,
        (
            _RECORDING,
            _QUERY,
            _RETRIEVER,
            _TRIAL,
            _c("answer", "varchar", "The answer's text.", True),
            _c("n_answer_words", "bigint", "Whitespace-separated pieces of the text.", True),
            _c(
                "has_cited",
                "boolean",
                "False where the list of citations is unknown; an empty list is known.",
            ),
            _c("error", "varchar", "What went wrong; null where nothing did.", True),
            _c("raw", "varchar", "The reply as it came.", True),
            _c("prompt_tokens", "bigint", "Tokens of the prompt, as the server counted.", True),
            _c("answer_tokens", "bigint", "Tokens of the answer, as the server counted.", True),
            _c("duration_ms", "double", "How long it took, in milliseconds.", True),
            _c("recorded_at", "timestamp", "When it was recorded, in UTC.", True),
            _LINE,
            _EXTRA,
        ),
        "recording_id",
    ),
    Table(
        "answer_citations",
        "one row per answer and place in its list of citations",
        (*_CONTEXT_KEY, "position"),
        (
            _RECORDING,
            _QUERY,
            _RETRIEVER,
            _TRIAL,
            _c("position", "bigint", "The place in the list, from 1."),
            _c("cited", "varchar", "What stands there, as text; null for a JSON null.", True),
            _c("doc_id", "varchar", "The same where it is a string or a whole number, else null.", True),
        ),
        "recording_id",
    ),
    Table(
        "traces",
        "one row per recording and trace: one task of an agent",
        ("recording_id", "trace_id"),
        (
            _RECORDING,
            _TRACE,
            _QUERY,
            _RETRIEVER,
            _TRIAL,
            _c("has_searches", "boolean", "False where it is unknown what was searched."),
            _c("is_finished", "boolean", "True where the task ended in picks, an empty list included."),
            _c("error", "varchar", "What went wrong with the task; null where nothing did.", True),
            _LINE,
            _EXTRA,
        ),
        "recording_id",
    ),
    Table(
        "searches",
        "one row per search of a trace; retries of one call are one search",
        ("recording_id", "trace_id", "search"),
        (
            _RECORDING,
            _TRACE,
            _SEARCH,
            _c("seq", "bigint", "Its place among the trace's events."),
            _c("step", "bigint", "The model call that made it, as given.", True),
            _c(
                "step_at",
                "bigint",
                "The seq of its step's first event: results of a lower step_at were readable.",
            ),
            _c("query", "varchar", "The search's text; null where unknown.", True),
            _c(
                "has_results",
                "boolean",
                "False where the results are unknown; a refused search has known, empty ones.",
            ),
            _c("n_attempts", "bigint", "Attempts of the call."),
            _c("n_errors", "bigint", "Attempts that ended in an error."),
            _c("error", "varchar", "The last attempt's error; null where it succeeded.", True),
            _c("call_id", "varchar", "The tool call's ID.", True),
            _EXTRA,
        ),
        "recording_id",
    ),
    Table(
        "search_results",
        "one row per search and rank",
        ("recording_id", "trace_id", "search", "rank"),
        (
            _RECORDING,
            _TRACE,
            _SEARCH,
            _c("rank", "bigint", "The place among the results, from 1."),
            _DOC,
            _c(
                "first_rank",
                "bigint",
                "The first place of this document in the list; equal to rank unless repeated.",
            ),
            _c("score", "double", "The retriever's score.", True),
        ),
        "recording_id",
    ),
    Table(
        "search_words",
        "one row per search and distinct word of its text",
        ("recording_id", "trace_id", "search", "word"),
        (_RECORDING, _TRACE, _SEARCH, _c("word", "varchar", "A word of the search.")),
        "recording_id",
    ),
    Table(
        "trace_events",
        "one row per event of a trace that is neither a search nor the pick that counts",
        ("recording_id", "trace_id", "seq"),
        (
            _RECORDING,
            _TRACE,
            _c("seq", "bigint", "Its place among the trace's events."),
            _c("step", "bigint", "The model call that made it, as given.", True),
            _c("step_at", "bigint", "The seq of its step's first event."),
            _c("event", "varchar", "open, feedback, pick (one that doesn't count), or any other name."),
            _c("doc_id", "varchar", "The document that was opened.", True),
            _c("text", "varchar", "What was shown, such as feedback.", True),
            _c("error", "varchar", "What went wrong; null where nothing did.", True),
            _EXTRA,
        ),
        "recording_id",
    ),
    Table(
        "trace_event_words",
        "one row per feedback event and distinct word of its text",
        ("recording_id", "trace_id", "seq", "word"),
        (
            _RECORDING,
            _TRACE,
            _c("seq", "bigint", "The event's place in the trace."),
            _c("word", "varchar", "A word of the feedback."),
        ),
        "recording_id",
    ),
    Table(
        "picks",
        "one row per trace and place in its list of picks",
        ("recording_id", "trace_id", "position"),
        (
            _RECORDING,
            _TRACE,
            _c("position", "bigint", "The place in the list, from 1."),
            _c("picked", "varchar", "What stands there, as text; null for a JSON null.", True),
            _c("doc_id", "varchar", "The same where it is a string or a whole number, else null.", True),
        ),
        "recording_id",
    ),
    Table(
        "support",
        "one row per label of support: one claim of an answer and one judge",
        ("recording_id", "line"),
        (
            _RECORDING,
            _QUERY,
            _RETRIEVER,
            _TRIAL,
            _c("claim", "varchar", "The claim; null where the whole answer is meant.", True),
            _c(
                "documents",
                "varchar",
                "The distinct documents that the label is about, ascending, as one text; null where unknown.",
                True,
            ),
            _c("judge", "varchar", "Who judged; person or person:<name> for people."),
            _c("label", "varchar", "supported, partly or unsupported.", True),
            _c("score", "double", "A score in [0, 1] in a label's stead.", True, most=1),
            _c("error", "varchar", "Why the judge gave no label; null where it gave one.", True),
            _c("raw", "varchar", "The judge's reply as it came.", True),
            _c("prompt_tokens", "bigint", "Tokens of the judge's prompt, as the server counted.", True),
            _c("answer_tokens", "bigint", "Tokens of its reply, as the server counted.", True),
            _c("duration_ms", "double", "How long it took, in milliseconds.", True),
            _LINE,
            _EXTRA,
        ),
        "recording_id",
    ),
    Table(
        "support_documents",
        "one row per label of support and document that it is about",
        ("recording_id", "line", "position"),
        (_RECORDING, _LINE, _c("position", "bigint", "The place in the list, from 1."), _DOC),
        "recording_id",
    ),
    Table(
        "relevance",
        "one row per label of relevance: one query, one document and one judge",
        ("recording_id", "line"),
        (
            _RECORDING,
            _QUERY,
            _DOC,
            _c("judge", "varchar", "Who judged; person or person:<name> for people."),
            _c("grade", "bigint", "The grade, on the collection's scale."),
            _LINE,
            _EXTRA,
        ),
        "recording_id",
    ),
)

_LOG_TABLES: tuple[Table, ...] = (
    Table(
        "loads",
        "one row per load that changed something",
        ("load_number",),
        (
            _LOAD,
            _c("name", "varchar", "The collection or recording."),
            _c("kind", "varchar", "collection, answers, traces, contexts or labels."),
            _c("format", "varchar", "The format it was read as."),
            _c("path", "varchar", "The folder or file that it was read from."),
            _DIGEST,
            _c("n_lines", "bigint", "Lines of all its files."),
            _c("n_loaded", "bigint", "Lines that were loaded."),
            _c("n_quarantined", "bigint", "Lines that could not be read."),
            _c("loaded_at", "timestamp", "When, in UTC."),
        ),
        "name",
    ),
    Table(
        "quarantine",
        "one row per line that could not be read, of what is loaded now",
        ("kind", "name", "file", "line"),
        (
            _c("kind", "varchar", "collection or recording."),
            _c("name", "varchar", "The collection or recording."),
            _c("file", "varchar", "The file's name."),
            _LINE,
            _c("reason", "varchar", "What is wrong with it."),
            _c("text", "varchar", "The line itself, its first 10,000 characters."),
        ),
        "name",
    ),
    Table(
        "checks",
        "one row per check and file (or table) of what is loaded now, passed or failed",
        ("kind", "name", "check_name", "file"),
        (
            _c("kind", "varchar", "collection or recording."),
            _c("name", "varchar", "The collection or recording."),
            _c("check_name", "varchar", "Which check."),
            _c("severity", "varchar", "error, warning or note: what a failure is."),
            _c("status", "varchar", "passed or failed."),
            _c("file", "varchar", "The file or raw table it is about; empty where it passed."),
            _c("observed", "bigint", "How many."),
            _c("allowed", "bigint", "How many would have passed."),
            _c("message", "varchar", "The same in words, with an example; what it means where it passed."),
            _c("examples", "varchar", "Up to three examples, one a line; null without any.", True),
        ),
        "name",
    ),
    Table(
        "check_rules",
        "one row per check that there is, with the severity that the project gives it",
        ("check_name",),
        (
            _c("check_name", "varchar", "Which check."),
            _c("severity", "varchar", "error, warning or note."),
            _c(
                "subjects",
                "varchar",
                "What it is made on: collection, answers, traces, contexts, labels or warehouse.",
            ),
            _c("meaning", "varchar", "What a failure says."),
        ),
        "check_name",
    ),
)

#: Every raw table, by name, in the order in which they are created.
TABLES: dict[str, Table] = {t.name: t for t in (*_COLLECTION_TABLES, *_RECORDING_TABLES, *_LOG_TABLES)}

#: The tables whose rows belong to one collection, and to one recording.
COLLECTION_TABLES: tuple[Table, ...] = _COLLECTION_TABLES
RECORDING_TABLES: tuple[Table, ...] = _RECORDING_TABLES

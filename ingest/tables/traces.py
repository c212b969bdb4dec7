"""Traces of agents: nested tasks and flat events become the same events, then searches, picks and the rest.

The rules: events stand in the order of ``seq``, then of the file. Searches with one ``call_id`` (or, without one, a
search whose ``attempt`` is above 1 after the search before it) are one search with several attempts: its text
and results are those of the last attempt without an error, else of the last. A refused search has no results.
The last pick without an error counts.
"""

from __future__ import annotations

from ingest.errors import BadInput, shown
from ingest.files import SourceFile
from ingest.keys import Key, typed
from ingest.sqltext import literal
from ingest.staging import Load
from ingest.tables.contexts import KEY

#: What a search of a nested trace may carry.
SEARCH_KEYS = (
    Key("query", "text"),
    Key("results", "ids"),
    Key("step", "int"),
    Key("scores", "numbers"),
    Key("error", "any"),
    Key("call_id", "scalar"),
    Key("attempt", "count"),
)

_MADE_ID = "retriever || '/' || query_id || '/' || trial"

_EVENTS = """
    create or replace temp table events (
        trace_id varchar, query_id varchar, retriever varchar, trial bigint, line bigint, given_seq bigint, event varchar,
        step bigint, query varchar, results varchar[], scores double[], call_id varchar, attempt bigint,
        picked struct(given varchar, doc_id varchar)[], doc_id varchar, text varchar, error varchar, extra varchar
    )
"""


def _add_nested(load: Load, source: SourceFile, table: str) -> None:
    """Events of the lines without ``event``: their searches, then their picks."""
    load.con.execute(
        f"""
        create or replace temp table search_lines as
        with flat as (
            select line as trace_line, generate_subscripts(searches, 1) as place, unnest(searches) as search
            from {table} where event is null and len(searches) > 0
        )
        -- One number for the trace's line and the search's place, to carry both through the typing.
        select trace_line * 1000000 + place as line, cast(search as varchar) as text from flat
        """
    )
    load.con.execute(f"create or replace temp table typed_searches as {typed(SEARCH_KEYS, 'search_lines')}")
    load.con.execute(
        """
        update typed_searches set problem = 'scores and results differ in length'
        where problem is null and scores is not null and len(scores) != coalesce(len(results), 0)
        """
    )
    load.quarantine_where(
        source,
        table,
        "line in (select line // 1000000 from typed_searches where problem is not null)",
        f"(select 'search ' || (line % 1000000) || ': ' || problem from typed_searches as s"
        f" where s.problem is not null and s.line // 1000000 = {table}.line order by s.line limit 1)",
    )
    load.con.execute(
        f"""
        insert into events by name
        select
            t.trace_id, t.query_id, t.retriever, t.trial, t.line, s.line % 1000000 as given_seq, 'search' as event,
            s.step, s.query, s.results, s.scores, s.call_id, s.attempt, s.error, s.extra
        from {table} as t
        inner join typed_searches as s on s.line // 1000000 = t.line
        where t.event is null
        """
    )
    load.con.execute(
        f"""
        insert into events by name
        select trace_id, query_id, retriever, trial, line, coalesce(len(searches), 0) + 1 as given_seq, 'pick' as event, picked
        from {table} where event is null and picked is not null
        """
    )
    load.con.execute("drop table search_lines")
    load.con.execute("drop table typed_searches")


def _add_flat(load: Load, table: str) -> None:
    load.con.execute(
        f"""
        insert into events by name
        select
            trace_id, query_id, retriever, trial, line, seq as given_seq, event, step, query, results, scores, call_id,
            attempt, picked, doc_id, text, error, extra
        from {table} where event is not null
        """
    )


def _check_traces(load: Load, source: SourceFile, table: str) -> None:
    """Refuse traces that contradict themselves or each other."""
    again = load.first(
        f"select max(line), trace_id, min(line) from {table} where event is null group by trace_id having count(*) > 1 order by 1"
    ) or load.first(
        f"select min(n.line), n.trace_id, min(f.line) from {table} as n inner join {table} as f using (trace_id)"
        " where n.event is null and f.event is not null group by n.trace_id order by 1"
    )
    if again is not None:
        raise BadInput(
            f"{source.at(again[0])}: the trace {shown(again[1])} stands on line {again[2]} already. "
            "Where a task was recorded more than once, give each its own 'trial'; else take one out."
        )
    differs = load.first(
        f"select max(line), trace_id from {table} where event is not null group by trace_id"
        " having count(distinct (query_id, retriever, trial)) > 1 order by 1"
    )
    if differs is not None:
        raise BadInput(
            f"{source.at(differs[0])}: the events of the trace {shown(differs[1])} name more than one "
            "query, retriever or trial. Give all events of a trace the same."
        )
    columns = ", ".join(KEY)
    same = load.first(
        f"select max(line), count(distinct trace_id), {columns} from {table} group by {columns}"
        " having count(distinct trace_id) > 1 order by 1"
    )
    if same is not None:
        named = ", ".join(f"{k} {shown(v)}" for k, v in zip(KEY, same[2:], strict=True))
        raise BadInput(f"{source.at(same[0])}: {same[1]} traces have {named}. Give each its own 'trial'.")


def add_traces(load: Load, source: SourceFile, table: str, collection: str) -> int:
    """Traces and all that hangs on them; returns the number of lines kept.

    `table` has the keys of a nested trace and of a flat event, with event null for the first.
    """
    load.con.execute(f"update {table} set trace_id = {_MADE_ID} where trace_id is null")
    load.progress.step("checking traces")
    load.refuse_unknown_queries(source, table, collection)
    load.con.execute(_EVENTS)
    _add_nested(load, source, table)
    _check_traces(load, source, table)
    _add_flat(load, table)
    kept = load.count(f"select count(*) from {table}")
    _order_events(load)
    _add_trace_rows(load, table)
    _add_searches(load)
    _add_picks(load)
    _add_other_events(load)
    load.notice_unknown_documents(
        source,
        "select unnest(results) as doc_id from folded where error is null and len(results) > 0",
        collection,
    )
    load.notice_extra(source, table)
    for name in ("events", "ordered", "folded", "counted_picks"):
        load.con.execute(f"drop table {name}")
    return kept


def _order_events(load: Load) -> None:
    load.progress.step("ordering events")
    load.con.execute(
        """
        create or replace temp table ordered as
        with placed as (
            select *, row_number() over (partition by trace_id order by given_seq nulls last, line) as seq from events
        )
        select *,
            -- Without a step, each event is its own.
            case when step is null then seq else min(seq) over (partition by trace_id, step) end as step_at
        from placed
        """
    )


def _add_trace_rows(load: Load, table: str) -> None:
    recording = literal(load.name)
    load.progress.step("keeping traces")
    load.insert(
        "traces",
        f"""
        with nested as (
            select
                trace_id, query_id, retriever, trial, searches is not null as has_searches,
                picked is not null and error is null as is_finished, error, line, extra
            from {table} where event is null
        ),
        flat as (
            select
                trace_id, min(query_id) as query_id, min(retriever) as retriever, min(trial) as trial,
                true as has_searches, bool_or(event = 'pick' and error is null and picked is not null) as is_finished,
                max(error) filter (event = 'end') as error, min(line) as line, cast(null as varchar) as extra
            from ordered where trace_id not in (select trace_id from nested)
            group by trace_id
        )
        select {recording} as recording_id, * from nested
        union all by name
        select {recording} as recording_id, * from flat
        """,
    )


def _add_searches(load: Load) -> None:
    recording = literal(load.name)
    load.progress.step("folding attempts")
    load.con.execute(
        """
        create or replace temp table folded as
        with searches as (
            select * from ordered where event = 'search'
        ),
        -- A call is named by its first attempt: by its ID, or by the last search before it that was no retry.
        called as (
            select *,
                coalesce(
                    case
                        when call_id is not null then min(seq) over (partition by trace_id, call_id)
                        else max(case when call_id is null and coalesce(attempt, 1) <= 1 then seq end)
                            over (partition by trace_id order by seq)
                    end,
                    seq
                ) as call
            from searches
        ),
        calls as (
            select
                trace_id, call, greatest(count(*), coalesce(max(attempt), 1)) as n_attempts, count(error) as n_errors,
                coalesce(max(seq) filter (error is null), max(seq)) as counts
            from called
            group by trace_id, call
        )
        select
            called.trace_id, row_number() over (partition by called.trace_id order by calls.call) as search,
            calls.call as seq, called.step, called.step_at, called.query, called.results, called.scores,
            calls.n_attempts, calls.n_errors, called.error, called.call_id, called.extra
        from called
        inner join calls on called.trace_id = calls.trace_id and called.seq = calls.counts
        """
    )
    load.progress.step("keeping searches")
    load.insert(
        "searches",
        f"""
        select
            {recording} as recording_id, trace_id, search, seq, step, step_at, query,
            results is not null or error is not null as has_results, n_attempts, n_errors, error, call_id, extra
        from folded
        """,
    )
    load.insert(
        "search_results",
        f"""
        select
            {recording} as recording_id, trace_id, search, generate_subscripts(results, 1) as rank,
            unnest(results) as doc_id, unnest(first_places(results)) as first_rank, unnest(scores) as score
        from folded where error is null and len(results) > 0
        """,
    )
    load.insert(
        "search_words",
        f"select {recording} as recording_id, trace_id, search, unnest(words(query)) as word from folded where query != ''",
    )


def _add_picks(load: Load) -> None:
    recording = literal(load.name)
    load.progress.step("keeping picks")
    load.con.execute(
        """
        create or replace temp table counted_picks as
        select trace_id, max(seq) as seq from ordered
        where event = 'pick' and error is null and picked is not null
        group by trace_id
        """
    )
    load.insert(
        "picks",
        f"""
        with flat as (
            select o.trace_id, generate_subscripts(o.picked, 1) as position, unnest(o.picked) as item
            from ordered as o
            inner join counted_picks as c on o.trace_id = c.trace_id and o.seq = c.seq
            where len(o.picked) > 0
        )
        select {recording} as recording_id, trace_id, position, item.given as picked, item.doc_id as doc_id from flat
        """,
    )


def _add_other_events(load: Load) -> None:
    recording = literal(load.name)
    load.insert(
        "trace_events",
        f"""
        select {recording} as recording_id, trace_id, seq, step, step_at, event, doc_id, text, error, extra
        from ordered as o
        anti join counted_picks as c on o.trace_id = c.trace_id and o.seq = c.seq
        where event != 'search'
        """,
    )
    load.insert(
        "trace_event_words",
        f"select {recording} as recording_id, trace_id, seq, unnest(words(text)) as word"
        " from ordered where event = 'feedback' and text != ''",
    )

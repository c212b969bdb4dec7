"""One collection or recording, one transaction: it is in the warehouse whole, or the warehouse is as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from ingest.catalogue import delete, recordings_of
from ingest.checks.run import run_checks
from ingest.checks.settings import Settings, read_settings
from ingest.contract import RAW_SCHEMA
from ingest.errors import BadInput, CannotRun, shown
from ingest.files import checked_path, digest_of
from ingest.formats import format_of, native
from ingest.formats.base import Found, Options
from ingest.rows.collection import load_collection
from ingest.rows.recording import load_recording
from ingest.sqltext import literal
from ingest.staging import Load, Progress


@dataclass(frozen=True)
class Loaded:
    """What a load did: `changed` is False where the same bytes were loaded already."""

    kind: str
    name: str
    format: str
    changed: bool
    replaced: bool
    counts: dict[str, int] = field(default_factory=dict)
    #: (severity, file, message) of everything that was noticed.
    noticed: tuple[tuple[str, str, str], ...] = ()
    n_quarantined: int = 0

    def sentence(self) -> str:
        """What happened, in a line."""
        read_as = "" if self.format == "native" else f" (read as {self.format})"
        if not self.changed:
            return f"{self.kind} {self.name}{read_as}: the same bytes are loaded already; nothing changed"
        counts = ", ".join(f"{n:,} {what}" for what, n in self.counts.items())
        done = "replaced" if self.replaced else "loaded"
        lost = f"; {self.n_quarantined:,} lines in quarantine" if self.n_quarantined else ""
        return f"{self.kind} {self.name}{read_as}: {done}, {counts}{lost}"


def find(
    paths: Iterable[Path], format_name: str | None = None, options: Options | None = None
) -> list[Found]:
    """Every collection and recording at the paths, collections first.

    A path is of the format that is named or that recognises it. A folder of no format may hold folders of the native
    one. Raises BadInput where nothing is found, and where two have one name.
    """
    options = options or Options()
    found: list[Found] = []
    for path in dict.fromkeys(paths):
        if not path.exists():
            raise BadInput(f"{path}: there is no such file or folder. Name one that can be loaded.")
        fitting = format_of(path, format_name)
        if fitting is not None:
            found += fitting.find(path, options)
            continue
        inner = sorted(p for p in path.iterdir() if native.recognise(p)) if path.is_dir() else []
        if not inner:
            native_is = (
                f" Or give it one: `python -m ingest init {path}` writes collection.json or manifest.json."
                if path.is_dir()
                else ""
            )
            raise BadInput(
                f"{path}: no format is recognised: neither collection.json nor manifest.json stands here, nor is it any other "
                f"that `python -m ingest formats` lists. Name one with --format.{native_is}"
            )
        for folder in inner:
            found += native.find(folder, options)
    by_name: dict[tuple[str, str], Path] = {}
    for one in found:
        twin = by_name.setdefault((one.kind, one.name), one.path)
        if twin != one.path:
            raise BadInput(
                f"{one.path}: {twin} is the {one.kind} {one.name!r} too. Give one of them another name."
            )
    return sorted(found, key=lambda one: one.kind != "collection")


def load(
    con: duckdb.DuckDBPyConnection,
    found: Found,
    *,
    strict: bool = False,
    settings: Settings | None = None,
    number: int | None = None,
) -> Loaded:
    """Load one collection or recording in one transaction. Raises BadInput or CannotRun, and then nothing has changed.

    `strict` refuses at the first line that can't be read; `settings` are the project's, read where none are given;
    `number` is the load's, the next one where none is given.
    """
    settings = settings or read_settings()
    with Progress(found.name) as progress:
        digests = {path: digest_of(path) for path in found.sources}
        digest = _digest(found, digests)
        owner = "collection" if found.kind == "collection" else "recording_id"
        before = con.execute(
            f"select digest from {RAW_SCHEMA}.{found.kind}s where {owner} = {literal(found.name)}"
        ).fetchone()
        if before is not None and before[0] == digest:
            return Loaded(found.kind, found.name, found.format, changed=False, replaced=False)
        con.execute("begin transaction")
        try:
            result = _load_rows(
                con,
                found,
                digests,
                digest,
                progress,
                settings,
                replaced=before is not None,
                strict=strict,
                number=number,
            )
            progress.step("committing")
            con.execute("commit")
            return result
        except BaseException as error:
            con.execute("rollback")
            if isinstance(error, (duckdb.OutOfMemoryException, duckdb.IOException, OSError)):
                raise CannotRun(f"{found.path}: not loaded: {' '.join(str(error).split())[:300]}") from None
            raise


def _digest(found: Found, digests: dict[Path, str]) -> str:
    """The digest of all that a load rests on: its files, and what an adapter and its user said of them."""
    lines = sorted(f"{path.name} {digest}\n" for path, digest in digests.items())
    if not found.described.is_read:
        lines.append(f"{found.format} {found.name} {found.described.as_json()}\n")
    return "sha256:" + hashlib.sha256("".join(lines).encode()).hexdigest()


def _load_rows(
    con: duckdb.DuckDBPyConnection,
    found: Found,
    digests: dict[Path, str],
    digest: str,
    progress: Progress,
    settings: Settings,
    *,
    replaced: bool,
    strict: bool,
    number: int | None,
) -> Loaded:
    if number is None:
        row = con.execute(f"select coalesce(max(load_number), 0) + 1 from {RAW_SCHEMA}.loads").fetchone()
        assert row is not None
        number = int(row[0])
    work = Load(con, found.kind, found.name, found.path, number, progress, digests, strict, settings)
    is_pinned = _check_pinned(work, found)
    if replaced and found.kind == "collection":
        touched = recordings_of(con, found.name)
        work.notice(
            "collection_replaced", found.described.path.name, len(touched),
            f"the collection was replaced under {', '.join(touched)}; their figures change with it",
        )  # fmt: skip
    delete(con, found.kind, found.name)
    if found.kind == "collection":
        values = load_collection(work, found.described, found.files)
        kind = "collection"
    else:
        values = load_recording(work, found.described, found.files)
        values["is_pinned"] = is_pinned
        kind = str(values["kind"])
    _check_rows(work, found)
    run_checks(work, kind, values, found.described)
    n_lines = sum(f.n_lines for f in work.files)
    for before, path, name in ((n, p, f.name) for f in work.files for n, p in sorted(f.parts, reverse=True)):
        con.execute(
            "update quarantined set file = ?, line = line - ? where file = ? and line > ?",
            [path.relative_to(found.path).as_posix(), before, name, before],
        )
    n_quarantined = work.count("select count(*) from quarantined")
    values |= {"load_number": number, "digest": digest, "n_lines": n_lines, "n_quarantined": n_quarantined}
    if found.kind == "recording":
        values["n_loaded"] = n_lines - n_quarantined
    names = ", ".join(values)
    marks = ", ".join("?" * len(values))
    con.execute(f"insert into {RAW_SCHEMA}.{found.kind}s ({names}) values ({marks})", list(values.values()))
    con.execute(
        f"insert into {RAW_SCHEMA}.loads values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [number, found.name, kind, found.format, str(found.path), digest, n_lines, n_lines - n_quarantined,
         n_quarantined, datetime.now(UTC).replace(tzinfo=None, microsecond=0)],
    )  # fmt: skip
    whose = f"{literal(found.kind)} as kind, {literal(found.name)} as name"
    con.execute(
        f"insert into {RAW_SCHEMA}.quarantine by name select {whose}, file, line, reason, coalesce(text, '') as text from quarantined"
    )
    noticed = con.execute(
        "select severity, file, message from noticed where check_name != 'quarantined' order by severity desc, file, message"
    ).fetchall()
    return Loaded(
        found.kind, found.name, found.format, True, replaced, _counts(work, kind), tuple((str(s), str(f), str(m)) for s, f, m in noticed),
        n_quarantined,
    )  # fmt: skip


def _counts(work: Load, kind: str) -> dict[str, int]:
    tables = {
        "collection": ("documents", "queries", "judgments"),
        "answers": ("answers", "answer_citations"),
        "contexts": ("contexts", "context_documents"),
        "traces": ("traces", "searches", "picks"),
        "labels": ("support", "relevance"),
    }[kind]
    owner = "collection" if kind == "collection" else "recording_id"
    return {
        t.removeprefix("answer_").replace("_", " "): work.count(
            f"select count(*) from {RAW_SCHEMA}.{t} where {owner} = {literal(work.name)}"
        )
        for t in tables
    }


def _check_pinned(work: Load, found: Found) -> bool:
    """Hold every file that the manifest names against its sha256; say whether all that were read are pinned."""
    pinned = found.described.files()
    for name, pin in pinned.items():
        path = checked_path(found.path, name)
        digest = work.digests.get(path) or digest_of(path)
        stated = pin.get("sha256")
        if stated is not None and stated != digest:
            raise BadInput(
                f"{path}: its sha256 is {digest}, and {found.described.path.name} says {shown(stated)}. "
                "Bring back the file that was meant, or run `python -m ingest init` to pin this one."
            )
    if found.kind == "collection":
        return True
    loose = [
        p.name
        for p in found.sources
        if p != found.described.path and not pinned.get(p.name, {}).get("sha256")
    ]
    if not found.described.is_read:
        return False
    work.notice(
        "not_pinned", found.described.path.name, len(loose),
        f"'files' gives no sha256 for {', '.join(loose)}; nothing says that these are the bytes that were recorded",
    )  # fmt: skip
    return not loose


def _check_rows(work: Load, found: Found) -> None:
    """Hold the number of lines of each file against what the manifest says."""
    pinned = found.described.files()
    for source in work.files:
        stated = pinned.get(source.name, {}).get("rows")
        if stated is not None and stated != source.n_lines:
            raise BadInput(
                f"{source.path}: it has {source.n_lines:,} rows, and {found.described.path.name} says {shown(stated)}. "
                "Put the one right that is wrong."
            )

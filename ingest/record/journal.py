"""What a recording holds so far: a folder that a killed command goes on with.

While it is made, the folder has ``unfinished.json`` (all that pins the recording) and ``<file>.partial``, to which each task's lines are appended and flushed
to the disk at once. At the end the file gets its name, then ``manifest.json`` is written; a stop between any two of these steps is
gone on from. A last line without its end is a task that wasn't finished, and is done again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from ingest.describe import read_json
from ingest.errors import BadInput, CannotRun, shown
from ingest.files import digest_of

UNFINISHED, MANIFEST, ASKED = "unfinished.json", "manifest.json", "asked.txt"

#: A task: its query, retriever and trial.
Key = tuple[str, str, int]


class Journal:
    """One recording's folder. `key_of` gives the task of a line, `is_last` whether the line is its task's last.

    Raises BadInput where something else stands there, or the same recording with other settings.
    """

    def __init__(
        self,
        folder: Path,
        file: str,
        manifest: Mapping[str, Any],
        asked: Iterable[str] | None,
        key_of: Callable[[Mapping[str, Any]], Key],
        is_last: Callable[[Mapping[str, Any]], bool],
    ) -> None:
        self.folder, self._file, self._partial = folder, folder / file, folder / f"{file}.partial"
        self._key_of, self._is_last = key_of, is_last
        self._stream: IO[bytes] | None = None
        #: The tasks that are recorded.
        self.done: set[Key] = set()
        #: Whether nothing is left to be done.
        self.is_finished = False
        self.manifest = dict(manifest)
        try:
            self._open(asked)
        except OSError as error:
            raise CannotRun(f"{folder}: it can't be written: {error.strerror or error}.") from None

    def _open(self, asked: Iterable[str] | None) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        there = {path.name for path in self.folder.iterdir()}
        others = sorted(there - {UNFINISHED, MANIFEST, ASKED, self._file.name, self._partial.name})
        if others:
            raise BadInput(
                f"{self.folder}: {others[0]} stands in it, which is not of a recording of this kind. Name a new or empty folder with --out."
            )
        if MANIFEST in there:
            self._hold_against(read_json(self.folder / MANIFEST), MANIFEST)
            (self.folder / UNFINISHED).unlink(missing_ok=True)
            self.is_finished = True
            return
        if UNFINISHED in there:
            before = read_json(self.folder / UNFINISHED)
            self._hold_against(before, UNFINISHED)
            self.manifest = before
        elif there:
            raise BadInput(
                f"{self.folder}: {sorted(there)[0]} stands in it without {UNFINISHED}. Name a new or empty folder with --out."
            )
        else:
            if asked is not None:
                _write(self.folder / ASKED, "".join(f"{query_id}\n" for query_id in asked))
            _write(self.folder / UNFINISHED, json.dumps(self.manifest, ensure_ascii=False, indent=1) + "\n")
        if self._file.exists() and not self._partial.exists():
            self._file.rename(self._partial)
        self._recover()
        self._stream = self._partial.open("ab")

    def _hold_against(self, before: Mapping[str, Any], name: str) -> None:
        """Refuse to go on with a recording that was begun with other settings."""
        own = ("recorded_at", "files")
        ours = json.loads(json.dumps({k: v for k, v in self.manifest.items() if k not in own}))
        for key in sorted({*before, *ours} - {*own}):
            if before.get(key) != ours.get(key):
                raise BadInput(
                    f"{self.folder / name}: this recording was begun with {key} {shown(before.get(key))}, and it is {shown(ours.get(key))} now. "
                    "Start it as it was, or name another folder with --out."
                )

    def _recover(self) -> None:
        """Read what is there; cut off the lines of a task that wasn't finished."""
        if not self._partial.exists():
            return
        kept = place = 0
        with self._partial.open("rb") as stream:
            for raw in stream:
                place += len(raw)
                try:
                    line = json.loads(raw) if raw.endswith(b"\n") else None
                except ValueError:
                    line = None
                if not isinstance(line, dict):
                    break
                if self._is_last(line):
                    self.done.add(self._key_of(line))
                    kept = place
        os.truncate(self._partial, kept)

    def keep(self, key: Key, lines: Iterable[Mapping[str, Any]]) -> None:
        """Append a task's lines and flush them to the disk. Raises CannotRun where that fails."""
        assert self._stream is not None
        given = [{k: v for k, v in line.items() if v is not None} for line in lines]
        try:
            self._stream.write(
                "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in given).encode(
                    "utf-8", "replace"
                )
            )
            self._stream.flush()
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise CannotRun(
                f"{self._partial}: it can't be written: {error.strerror or error}. Make room, and start the same command again."
            ) from None
        self.done.add(key)

    def forget(self, is_kept: Callable[[Mapping[str, Any]], bool]) -> int:
        """Take the lines of tasks out that are to be done again; returns how many tasks. `is_kept` is asked of each line."""
        if not self._partial.exists():
            return 0
        again = {self._key_of(line) for line in self._lines() if not is_kept(line)}
        if not again:
            return 0
        if self._stream is not None:
            self._stream.close()
        new = self._partial.with_suffix(".rewritten")
        with new.open("wb") as out:
            for raw in self._partial.open("rb"):
                if self._key_of(json.loads(raw)) not in again:
                    out.write(raw)
        os.replace(new, self._partial)
        self.done -= again
        self._stream = self._partial.open("ab")
        return len(again)

    def _lines(self) -> Iterator[dict[str, Any]]:
        with self._partial.open("rb") as stream:
            for raw in stream:
                yield json.loads(raw)

    def finish(self) -> None:
        """Give the file its name and write the manifest that pins it. Raises CannotRun where that fails."""
        assert self._stream is not None
        try:
            self._stream.close()
            self._partial.rename(self._file)
            files = {}
            for name in (self._file.name, ASKED):
                path = self.folder / name
                if path.exists():
                    with path.open("rb") as stream:
                        rows = sum(1 for _ in stream)
                    files[name] = {"sha256": digest_of(path), "rows": rows}
            _write(
                self.folder / MANIFEST,
                json.dumps(self.manifest | {"files": files}, ensure_ascii=False, indent=1) + "\n",
            )
            (self.folder / UNFINISHED).unlink(missing_ok=True)
        except OSError as error:
            raise CannotRun(f"{self.folder}: it can't be written: {error.strerror or error}.") from None
        self.is_finished = True

    def close(self) -> None:
        """Let the file go; what is in it stays."""
        if self._stream is not None:
            self._stream.close()


def _write(path: Path, text: str) -> None:
    """A small file, whole or not at all."""
    new = path.with_name(f".{path.name}.new")
    with new.open("wb") as out:
        out.write(text.encode("utf-8"))
        out.flush()
        os.fsync(out.fileno())
    os.replace(new, path)

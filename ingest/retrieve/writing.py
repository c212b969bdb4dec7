"""A recording of contexts as a folder: contexts.jsonl and a manifest.json that pins it, replaced as a whole.

The same lists and settings give the same bytes: nothing is written of when or where it was made.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ingest.describe import read_json
from ingest.errors import BadInput, CannotRun, shown
from ingest.retrieve.base import Ranked

CONTEXTS, MANIFEST, ASKED = "contexts.jsonl", "manifest.json", "asked.txt"


@dataclass
class Written:
    """What `write` wrote: lists, and how many of them are empty."""

    n_lists: int = 0
    n_empty: int = 0
    n_documents: int = 0


def check_folder(out: Path, name: str) -> None:
    """Raise BadInput where `out` holds anything but an earlier writing of this recording."""
    if not out.exists():
        return
    if not out.is_dir():
        raise BadInput(f"{out}: this is a file. Name a folder with --out.")
    there = {path.name for path in out.iterdir()}
    if not there:
        return
    others = sorted(there - {CONTEXTS, MANIFEST, ASKED})
    if MANIFEST not in there or others:
        raise BadInput(
            f"{out}: it holds {(others or sorted(there))[0]}, which is not of a retrieved recording. Name a new or empty folder with --out."
        )
    given = read_json(out / MANIFEST)
    if given.get("recording") != name or "retrieval" not in given:
        raise BadInput(
            f"{out}: the recording {shown(given.get('recording'))} stands here, and this one is {name!r}. "
            "Name another folder with --out."
        )


def write(
    out: Path, manifest: dict[str, Any], context: str, lists: Iterable[Ranked], asked: list[str] | None,
    *, with_searched_as: bool,
) -> Written:  # fmt: skip
    """Write the folder. `asked` are the query IDs of asked.txt, or None where the split says what was asked.

    Until all lists are there, what stood in the folder stays. Raises CannotRun where it can't be written.
    """
    written = Written()
    is_new = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        files: dict[str, Any] = {}
        with _replacing(out / CONTEXTS) as stream:
            for one in lists:
                stream.write(_line(one, context, with_searched_as))
                written.n_lists += 1
                written.n_empty += not one.doc_ids
                written.n_documents += len(one.doc_ids)
            files[CONTEXTS] = {"sha256": stream.digest(), "rows": written.n_lists}
        if asked is not None:
            with _replacing(out / ASKED) as stream:
                for query_id in asked:
                    stream.write(f"{query_id}\n")
                files[ASKED] = {"sha256": stream.digest(), "rows": len(asked)}
        else:
            (out / ASKED).unlink(missing_ok=True)
        with _replacing(out / MANIFEST) as stream:
            stream.write(json.dumps(manifest | {"files": files}, ensure_ascii=False, indent=1) + "\n")
    except BaseException as error:
        if is_new:
            with suppress(OSError):
                out.rmdir()
        if not isinstance(error, OSError):
            raise
        raise CannotRun(f"{out}: it can't be written: {error.strerror or error}.") from None
    return written


def _line(one: Ranked, context: str, with_searched_as: bool) -> str:
    row: dict[str, Any] = {"query_id": one.query.query_id, "context": context}
    if one.query.trial != 1:
        row["trial"] = one.query.trial
    if with_searched_as:
        row["searched_as"] = one.query.text
    row["doc_ids"] = list(one.doc_ids)
    if one.scores is not None:
        row["scores"] = list(one.scores)
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


class _Digested:
    """A text stream that knows the sha256 of what was written."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._sha256 = hashlib.sha256()

    def write(self, text: str) -> None:
        """Write a text as UTF-8."""
        data = text.encode("utf-8")
        self._stream.write(data)
        self._sha256.update(data)

    def digest(self) -> str:
        """The sha256 so far, in hexadecimal."""
        return self._sha256.hexdigest()


@contextmanager
def _replacing(path: Path) -> Iterator[_Digested]:
    """A stream to a file that takes the path's place when all is written, and leaves no trace when it is not."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield _Digested(stream)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

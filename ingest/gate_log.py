"""What the gate did not accept, kept as a recording of answers that ``python -m ingest load`` reads.

The folder holds answers.jsonl (one line a failure: the answer, its context and, under ``gate``, the verdict), asked.txt (the queries of the
failures) and manifest.json. Lines are appended and flushed one by one; one process writes a folder at a time.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
from pathlib import Path
from typing import IO, Any

from ingest.errors import BadInput, CannotRun, shown
from ingest.gate import Verdict, id_of

ANSWERS, ASKED, MANIFEST = "answers.jsonl", "asked.txt", "manifest.json"
#: Keys of an answer's line that the recording format types: one of another type would put the whole line into quarantine.
_TEXTS = ("answer", "searched_as")
#: Lists that stand beside the context's documents, item by item.
_PARALLEL = ("context_texts", "passage_ids")


def plain(value: Any) -> Any:
    """A value that JSON can say: what it can't (NaN, objects of Python's, half a surrogate pair) becomes a text."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {plain(str(key)): plain(one) for key, one in value.items()}
    return plain(repr(value))


class FailureLog:
    """A recording of what was not accepted, open for appending.

    An answer of a query and context that failed before is its next trial. Raises CannotRun where another process holds the
    folder or it can't be written, BadInput where it holds another recording.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        collection: str,
        *,
        max_recommendations: int | None = None,
        citation_form: str | None = None,
        has_text_check: bool = False,
    ) -> None:
        manifest: dict[str, Any] = {
            "recording": name,
            "kind": "answers",
            "collection": collection,
            "asked": ASKED,
            "max_recommendations": max_recommendations,
            "ids_in_text": has_text_check,
            "citation_form": citation_form,
            "notes": ["Only answers that the citation gate did not accept: no sample of all answers."],
        }
        self._trials: dict[tuple[str, str], int] = {}
        self._asked: set[str] = set()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._answers = _appending(folder / ANSWERS)
            try:
                self._queries = _appending(folder / ASKED)
                self._read(folder)
                self._describe(folder / MANIFEST, {k: v for k, v in manifest.items() if v is not None})
            except BaseException:
                self.close()
                raise
        except OSError as error:
            raise CannotRun(f"{folder}: it can't be written: {error.strerror or error}.") from None

    def _read(self, folder: Path) -> None:
        """What was logged before; a line that was cut when its writer was killed is taken out."""
        for file in (self._answers, self._queries):
            file.seek(0)
            kept = 0
            for line in file:
                if not line.endswith(b"\n"):
                    break
                kept += len(line)
                if file is self._answers:
                    row = json.loads(line)
                    key = (str(row["query_id"]), str(row["context"]))
                    self._trials[key] = max(self._trials.get(key, 0), int(row["trial"]))
                else:
                    self._asked.add(line.decode().rstrip("\n"))
            file.truncate(kept)
            file.seek(0, os.SEEK_END)

    @staticmethod
    def _describe(path: Path, manifest: dict[str, Any]) -> None:
        if path.exists():
            there = json.loads(path.read_text(encoding="utf-8"))
            if there != manifest:
                raise BadInput(
                    f"{path}: it describes another recording, {shown(there.get('recording'))}, or one with other settings. "
                    "Name another folder for the log."
                )
            return
        temporary = path.with_name(f".{path.name}")
        temporary.write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        os.replace(temporary, path)

    def add(self, row: dict[str, Any], verdict: Verdict) -> None:
        """Keep an answer: `row` has ``query_id``, ``context`` (or ``retriever``; else "live"), ``context_ids``, ``cited``, ``answer``, ``raw``.

        Raises BadInput where it has no query_id: without one nothing can be judged.
        """
        query_id = row.get("query_id")
        if isinstance(query_id, bool) or not isinstance(query_id, str | int) or not str(query_id).strip():
            raise BadInput(
                f"an answer needs a query_id of its collection to be logged, not {shown(query_id)}. Give it one."
            )
        query = plain(str(query_id))
        if "\n" in query or "\r" in query:
            raise BadInput(f"the query_id {shown(query_id)} holds an end of line. Give it another.")
        context = plain(str(row.get("context") or row.get("retriever") or "live"))
        trial = self._trials.get((query, context), 0) + 1
        cited, given = row.get("cited"), list(row["context_ids"])
        ids = [doc_id for item in given if (doc_id := id_of(item)) is not None and doc_id.strip()]
        line: dict[str, Any] = {
            "query_id": query,
            "context": context,
            "trial": trial,
            "context_ids": plain(ids),
            **{key: plain(row[key]) for key in _TEXTS if isinstance(row.get(key), str)},
            **{key: plain(row[key]) for key in _PARALLEL if _is_parallel(row.get(key), given, ids)},
            **({"cited": plain(cited)} if isinstance(cited, list | tuple) else {}),
            **({"raw": plain(row["raw"])} if row.get("raw") is not None else {}),
            "gate": plain(
                {
                    "violations": [one._asdict() for one in verdict.violations],
                    "suggestion": verdict.suggestion,
                    "keep": list(verdict.keep),
                }
            ),
        }
        if query not in self._asked:
            # Before the answer: a query that was asked and has no answer is counted, one that wasn't asked is not.
            self._queries.write(f"{query}\n".encode())
            self._queries.flush()
            self._asked.add(query)
        self._answers.write(json.dumps(line, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n")
        self._answers.flush()
        self._trials[query, context] = trial

    def close(self) -> None:
        """Close the files."""
        for name in ("_answers", "_queries"):
            if hasattr(self, name):
                getattr(self, name).close()


def _is_parallel(texts: object, given: list[object], ids: list[str]) -> bool:
    """Whether a list can stand beside the context's IDs."""
    return (
        isinstance(texts, list)
        and len(texts) == len(given) == len(ids)
        and all(one is None or (isinstance(one, str) and one.strip()) for one in texts)
    )


def _appending(path: Path) -> IO[bytes]:
    """A file to read and append to, held by this process alone."""
    file = path.open("a+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise CannotRun(f"{path}: another process writes this log. End it, or name another folder.") from None
    return file

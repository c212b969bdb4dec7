"""The search behind an agent's tool: any retriever of `ingest.retrieve`, one query at a time, on a copy of the collection."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NoReturn, cast

from ingest.errors import BadInput, shown
from ingest.record.collection import Copied
from ingest.retrieve import retrievers
from ingest.retrieve.base import Asked, Job, Query, Ranked, versions
from ingest.retrieve.ranking import documents_in_order
from ingest.retrieve.units import WHOLE
from ingest.staging import Progress


class _Parser(argparse.ArgumentParser):
    """A retriever's own options; what is wrong with them is one sentence."""

    def error(self, message: str) -> NoReturn:
        raise BadInput(
            f"--retriever: {message}. `python -m ingest retrieve {self.prog} --help` lists the options."
        )


class Tool:
    """One retriever, named as on the command line of ``ingest retrieve``: ``bm25``, ``semantic --unit name``.

    `k` is how many documents a search returns; ``name=bm25 --k1 2`` gives it another name. Raises BadInput.
    """

    def __init__(self, copied: Copied, said: str, k: int, progress: Progress) -> None:
        name, equals, rest = said.partition("=")
        is_named = bool(equals) and name.strip() == name and " " not in name and not name.startswith("-")
        try:
            words = shlex.split(rest if is_named else said)
        except ValueError as error:
            raise BadInput(f"--retriever {shown(said)}: {error}. Name a retriever and its options.") from None
        known = {n: m for n, m in retrievers().items() if n not in ("fuse", "reorder", "all")}
        if not words or words[0] not in known:
            raise BadInput(
                f"--retriever {shown(said)}: name one of {', '.join(known)}, with its options after it."
            )
        self.name = name if is_named else words[0]
        self._module = known[words[0]]
        parser = _Parser(prog=words[0], add_help=False)
        self._module.add_arguments(parser)
        args = parser.parse_args(words[1:])
        if getattr(args, "queries", "people") != "people" or getattr(args, "split", None):
            raise BadInput(
                f"--retriever {shown(said)}: the agent's searches are its queries. Leave --queries and --split out."
            )
        doc_ids, _ = documents_in_order(copied.con, copied.collection)
        nothing = Asked([], None, None, "agent")
        unit = getattr(args, "unit", None) or WHOLE
        self._job = Job(copied.con, copied.collection, doc_ids, nothing, k, k, unit, 1, args, progress)
        self._feed = _Feed()
        self._lists: Iterator[Ranked] | None = None
        self.settings: dict[str, Any] = {"method": words[0], "unit": unit, "k": k}
        # Asked once now: what is wrong with its options is said before any model is.
        self.search("a")

    def search(self, text: str) -> Ranked:
        """The documents for a text, best first."""
        query = Query("search", 1, text)
        if getattr(self._module, "ONE_BY_ONE", False):
            # One index for all searches: the retriever reads its queries as they come.
            self._feed.query = query
            if self._lists is None:
                feed = cast(list[Query], self._feed)
                self._lists = self._retrieved(replace(self._job, asked=Asked(feed, None, None, "agent")))
            return next(self._lists)
        return next(iter(self._retrieved(replace(self._job, asked=Asked([query], None, None, "agent")))))

    def _retrieved(self, job: Job) -> Iterator[Ranked]:
        found = self._module.retrieve(job)
        self.settings |= {**found.settings, "libraries": versions(found.libraries)}
        self.settings |= {k: v for k, v in found.manifest.items() if v is not None}
        return iter(found.lists)


class _Feed:
    """Queries without an end: each is the one that is asked now."""

    query: Query

    def __iter__(self) -> Iterator[Query]:
        while True:
            yield self.query

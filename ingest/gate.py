"""The citation check for an answer's own path: does the answer cite what it was given, and only that?

`check_citations` needs nothing but Python. It judges as the warehouse does (see `fct_assay__citations`), apart from one thing: it
has no catalog, so an ID from outside the context is one class, whether the catalog knows it or not.

As a filter: ``python -m ingest.gate [--max N] [--log DIR] < answers.jsonl > checked.jsonl``. Each line holds ``context_ids`` and
``cited`` (and ``answer``, for the text); the same line comes out with the verdict under ``gate``. A line that can't be read is not accepted.
"""

from __future__ import annotations

import argparse
import json
import operator
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple

from ingest.errors import AssayError, BadInput, shown
from ingest.named import bare_ids

#: What stands in an ID's place and names nothing, unless the context holds it.
NO_IDS = frozenset(("", "none", "null", "n/a"))
_SPACE = " \t\n\v\f\r\xa0"

#: Every kind of violation, with what it means.
KINDS = {
    "not_a_list": "the citations are no list, or there are none where a list was asked for",
    "malformed": "no ID: blank, none, null, n/a, or no string or whole number",
    "outside_context": "an ID that the context doesn't hold",
    "repeated": "an ID that the list holds further up",
    "too_many": "a distinct ID beyond the most that may be recommended",
    "text_and_field_difference": "an ID of the context that stands in the text or in the list, and not in both",
}


class Violation(NamedTuple):
    """One rule broken: its kind (a key of `KINDS`), the place in the list from 1 (None for the list or the text), and what stands there."""

    kind: str
    position: int | None
    value: Any


class Verdict(NamedTuple):
    """What the gate says of an answer.

    `suggestion` is None where it is accepted, else ``drop`` (show the answer with the citations in `keep`) or ``retry`` (nothing that was
    cited can stand, or the text says otherwise). `keep` are the citations that break no rule once the others are gone, in order, as texts.
    """

    is_accepted: bool
    violations: tuple[Violation, ...]
    suggestion: str | None
    keep: tuple[str, ...]


def id_of(item: object) -> str | None:
    """An ID as the warehouse reads it: a string, or a whole number's digits; None for anything else."""
    if isinstance(item, str):
        return item
    if isinstance(item, bool) or item is None:
        return None
    try:
        return str(operator.index(item))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def check_citations(
    cited: object,
    context_ids: Iterable[object],
    max_recommendations: int | None = None,
    *,
    answer: str | None = None,
    citation_form: str | None = None,
) -> Verdict:
    """Accept an answer's citations, or say exactly what is wrong with them.

    `cited` is the list as the model gave it, of any types; `context_ids` are the IDs that it was given; `max_recommendations`
    is the most distinct ones that it may cite (None: any number). With `answer`, its text is held against the list: the IDs of the context
    that it names, bare or in `citation_form` (such as ``(ID {id})``), must be those cited. An empty list is an abstention, and accepted.

    Never raises for anything that a model gave. Raises TypeError where `context_ids` is a single text.
    """
    if type(context_ids) is not list and not isinstance(context_ids, tuple | set | frozenset | dict):
        if isinstance(context_ids, str):
            raise TypeError("context_ids is one text, and must be a list of IDs")
        # It is read more than once.
        context_ids = list(context_ids)
    if answer is None and type(cited) is list:
        # The usual answer breaks nothing. A context may hold numbers, and 1 == True, so all must be strings here.
        try:
            distinct = set(cited)
            if (
                len(distinct) == len(cited)
                and (max_recommendations is None or len(cited) <= max_recommendations)
                and distinct.issubset(context_ids)
                and all([type(item) is str for item in cited])
            ):
                return Verdict(True, (), None, tuple(cited))
        except TypeError:
            pass
    return _look_closely(cited, context_ids, max_recommendations, answer, citation_form)


def _look_closely(
    cited: object, context_ids: Iterable[object], most: int | None, answer: str | None, form: str | None
) -> Verdict:
    context = set(map(id_of, context_ids))
    if not isinstance(cited, list | tuple):
        return Verdict(False, (Violation("not_a_list", None, cited),), "retry", ())
    violations: list[Violation] = []
    distinct: set[str] = set()
    keep: list[str] = []
    position = 0
    for item in cited:
        position += 1
        doc_id = item if type(item) is str else id_of(item)
        is_held = doc_id in context
        if doc_id is None or (not is_held and doc_id.strip(_SPACE).lower() in NO_IDS):
            violations.append(Violation("malformed", position, item))
            continue
        if doc_id in distinct:
            violations.append(Violation("repeated", position, item))
            continue
        distinct.add(doc_id)
        if not is_held:
            violations.append(Violation("outside_context", position, item))
        elif most is None or len(keep) < most:
            keep.append(doc_id)
        if most is not None and len(distinct) > most:
            violations.append(Violation("too_many", position, item))
    differs = False
    if answer is not None:
        ids = [doc_id for doc_id in dict.fromkeys(map(id_of, context_ids)) if doc_id is not None]
        named = _named(answer, ids, form)
        for doc_id in ids:
            if (doc_id in named) != (doc_id in distinct):
                differs = True
                violations.append(Violation("text_and_field_difference", None, doc_id))
    if not violations:
        return Verdict(True, (), None, tuple(keep))
    return Verdict(False, tuple(violations), "drop" if keep and not differs else "retry", tuple(keep))


def _named(answer: str, ids: list[str], form: str | None) -> set[str]:
    if form is not None:
        return {doc_id for doc_id in ids if form.replace("{id}", doc_id) in answer}
    return set(bare_ids(answer, [doc_id for doc_id in ids if doc_id in answer]))


def as_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict for a line of JSON."""
    return verdict._asdict() | {"violations": [one._asdict() for one in verdict.violations]}


def _whole(text: str) -> int | str:
    # -0 and numbers too long for Python keep their digits.
    return text if text == "-0" or len(text) > 40 else int(text)


def read_line(line: str) -> dict[str, Any]:
    """The object of a line. Raises ValueError with what is wrong."""
    try:
        row = json.loads(line, parse_int=_whole)
    except RecursionError:
        raise ValueError("brackets stand too deep inside each other") from None
    if not isinstance(row, dict):
        raise ValueError("this is not a JSON object")
    if not isinstance(row.get("context_ids"), list):
        raise ValueError("context_ids is not there, or is no list")
    if not isinstance(row.get("answer"), str | None):
        raise ValueError("answer is not a text")
    return row


def main(argv: list[str] | None = None) -> int:
    """Check the answers on standard input; exit code 0: all accepted, 1: some not, 2: it could not run."""
    parser = argparse.ArgumentParser(prog="python -m ingest.gate", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--max", type=int, metavar="N", help="the most documents that an answer may cite")
    add(
        "--text", action="store_true",
        help="hold the text under `answer` against the list: it must name the same IDs",
    )  # fmt: skip
    add("--citation-form", metavar="FORM", help="how the text writes a citation, such as '(ID {id})'")
    add("--log", type=Path, metavar="DIR", help="keep what is not accepted there, as a recording of answers")
    add("--collection", metavar="NAME", help="the collection that the answers are of; --log needs it")
    add("--name", default="gate-failures", help="the recording's name; gate-failures by default")
    args = parser.parse_args(argv)
    try:
        if args.max is not None and args.max < 1:
            raise BadInput(f"--max must be 1 or higher, not {args.max}.")
        if args.citation_form is not None and "{id}" not in args.citation_form:
            raise BadInput(f"--citation-form must hold {{id}}, not {shown(args.citation_form)}.")
        if args.log is not None and args.collection is None:
            raise BadInput("--log needs --collection: a recording is of a collection.")
        return _filter(args, sys.stdin.buffer, sys.stdout)
    except AssayError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (BrokenPipeError, KeyboardInterrupt):
        return 2


def _filter(args: argparse.Namespace, lines: IO[bytes], out: IO[str]) -> int:
    from ingest.gate_log import FailureLog

    log = None
    if args.log is not None:
        log = FailureLog(
            args.log, args.name, args.collection,
            max_recommendations=args.max, citation_form=args.citation_form, has_text_check=args.text,
        )  # fmt: skip
    n_refused = 0
    try:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            row: dict[str, Any] = {}
            try:
                row = read_line(line.decode("utf-8"))
            except ValueError as error:
                said = " ".join(str(error).split())
                print(f"line {number}: it can't be read, and is not accepted: {said}", file=sys.stderr)
                gate = as_json(Verdict(False, (Violation("unreadable", None, said),), "retry", ()))
                n_refused += 1
            else:
                verdict = check_citations(
                    row.get("cited"), row["context_ids"], args.max,
                    answer=row.get("answer") if args.text else None, citation_form=args.citation_form,
                )  # fmt: skip
                gate = as_json(verdict)
                if not verdict.is_accepted:
                    n_refused += 1
                    if log is not None:
                        try:
                            log.add(row, verdict)
                        except BadInput as error:
                            print(f"line {number}: not logged: {error}", file=sys.stderr)
            out.write(json.dumps(row | {"gate": gate}) + "\n")
            out.flush()
    finally:
        if log is not None:
            log.close()
    return 1 if n_refused else 0


if __name__ == "__main__":
    sys.exit(main())

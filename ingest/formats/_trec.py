"""Lines of TREC's files: qrels, runs, tagged topics and documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ingest.errors import BadInput, shown
from ingest.files import SourceFile, open_plain
from ingest.formats._seen import is_utf8, shown_bytes
from ingest.formats.base import quarantine_sql, staged_lines
from ingest.staging import Load

_COLUMNS = r"string_split(regexp_replace(trim(text, ' ' || chr(9) || chr(13)), '\s+', ' ', 'g'), ' ')"


def judgments_sql(load: Load, source: SourceFile, column: int | None = None, *, keeps: bool = True) -> str:
    """Judgments of a qrels file; `column` is that of the grade where it isn't the last of four.

    `keeps` false leaves the lines that can't be read to another reading. Raises BadInput for a comment: qrels have none, and
    readers differ in what they make of one.
    """
    staged_lines(load, source, "qrels_lines", keeps=keeps)
    comment = load.first(
        "select line, text from qrels_lines where starts_with(ltrim(text), '#') order by line"
    )
    if comment is not None:
        raise BadInput(
            f"{source.path}, line {comment[0]}: a comment, {shown(comment[1])}. Qrels have none, and tools differ in what they make of "
            "it. Take it out."
        )
    place, is_wrong = (4, "len(c) != 4") if column is None else (column, f"len(c) < {max(column, 3)}")
    load.con.execute(
        f"""
        create or replace temp table qrels_columns as
        with split as (select line, text, {_COLUMNS} as c from qrels_lines)
        select line, text, c[1] as query_id, c[3] as doc_id, c[{place}] as grade,
            case
                when {is_wrong} then 'a line of qrels has four columns, this one has ' || len(c)
                when try_cast(c[{place}] as bigint) is null then 'the grade must be a whole number, not ' || left(c[{place}], 40)
            end as reason
        from split
        """
    )
    if keeps:
        quarantine_sql(load, source, "select line, reason, text from qrels_columns where reason is not null")
    return """
        select line, cast(json_object('query_id', query_id, 'doc_id', doc_id, 'grade', cast(grade as bigint)) as varchar) as text
        from qrels_columns where reason is null
    """


def run_lines(load: Load, source: SourceFile, table: str) -> None:
    """A run's lines as they stand; the loader of runs splits and orders them."""
    staged_lines(load, source, table)
    source.n_lines += load.count(f"select count(*) from {table}")


def grades_of(path: Path, column: int | None = None) -> set[str]:
    """The grades that stand in a qrels file, as text; what is no grade is left for the load to say."""
    found: set[str] = set()
    with open_plain(path) as stream:
        for line in stream:
            columns = line.split()
            place = (column or 4) - 1
            if len(columns) > place and re.fullmatch(rb"-?\d+", columns[place]):
                found.add(columns[place].decode())
    return found


def is_run(path: Path) -> bool:
    """Whether a file's first line has a run's six columns."""
    columns = _first_line(path).split()
    return len(columns) == 6 and _is_number(columns[3]) and _is_number(columns[4])


def is_qrels(path: Path) -> bool:
    """Whether a file's first line that is no comment has at least the four columns of qrels."""
    columns = _first_line(path, "#").split()
    return len(columns) >= 4 and bool(re.fullmatch(r"-?\d+", columns[-1]))


def _first_line(path: Path, besides: str = "\0") -> str:
    try:
        with open_plain(path) as stream:
            for _ in range(1000):
                line = stream.readline(10_000).decode("utf-8-sig", "replace")
                if not line or (line.strip() and not line.startswith(besides)):
                    return line
    except OSError:
        pass
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_TAG = re.compile(r"<\s*(/?)\s*([A-Za-z]+)\b[^>]*>")
_LABEL = re.compile(r"^\s*(Number|Topic|Title|Description|Narrative)\s*:\s*", re.IGNORECASE)


def tagged(
    path: Path, names: tuple[str, ...], refuse: Callable[[int, str, str], None]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Topics or documents between tags, a block at a time: the line where it begins, and its fields by their tags, in lower case.

    `names` are the tags around a block. A field goes on to the next tag, closed or not, as topics have it, without the ends of lines around it; text
    outside of any inner tag is the field ``""``. `refuse(line, reason, text)` gets a block that isn't closed, or isn't UTF-8.
    """
    blocks = re.compile(rf"<\s*(/?)\s*({'|'.join(names)})\b[^>]*>", re.IGNORECASE)
    start = 0
    lines: list[str] = []

    def unclosed() -> None:
        refuse(start, f"the block that begins here isn't closed with </{names[0]}>", "\n".join(lines))

    with open_plain(path) as stream:
        for number, raw in enumerate(stream, start=1):
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape").rstrip("\r\n")
            at = 0
            for tag in blocks.finditer(line):
                if not tag[1]:
                    if start:
                        lines.append(line[at : tag.start()])
                        unclosed()
                    start, lines, at = number, [], tag.end()
                elif start:
                    lines.append(line[at : tag.start()])
                    if is_utf8("\n".join(lines)):
                        yield start, _fields(lines)
                    else:
                        refuse(start, "the block that begins here isn't UTF-8", shown_bytes("\n".join(lines)))
                    start, lines, at = 0, [], tag.end()
            if start:
                lines.append(line[at:])
    if start:
        unclosed()


def _fields(lines: list[str]) -> dict[str, str]:
    text, fields, name, at = "\n".join(lines), dict[str, str](), "", 0
    for tag in [*_TAG.finditer(text), None]:
        said = text[at : tag.start() if tag else len(text)]
        if said.strip():
            fields[name] = fields.get(name, "") + said
        if tag is None:
            break
        name, at = ("" if tag[1] else tag[2].lower()), tag.end()
    return {name: _LABEL.sub("", said).strip("\n") for name, said in fields.items()}

"""``python -m analyses report``: the page and the picture, written whole or not at all."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from analyses.connect import connect
from analyses.report.blocks import Options

#: What the report reads and earlier published files lack.
NEEDED = (
    "assay_collections", "fct_assay__answer_texts", "fct_assay__document_texts", "fct_assay__grades", "fct_assay__query_turns",
    "fct_assay__recording_settings", "fct_assay__support_documents", "fct_assay__support_labels", "fct_assay__trace_events",
)  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Make what was asked for; 0 is success, 1 means that it could not be done."""
    if args.to is None and args.picture is None:
        return _fail("say what to make: --to FILE.html, --picture FILE.png, or both.")
    if args.queries < 1:
        return _fail(f"--queries {args.queries}: it takes a whole number, 1 or higher.")
    try:
        from analyses.report.page import build
        from analyses.report.picture import picture
    except ModuleNotFoundError as error:
        return _fail(
            f"the report needs {error.name}: pip install 'assay-warehouse[report]' (here: pip install '.[report]')."
        )
    con = connect(
        args.published,
        "there is no published file here. Run python -m ingest publish --to FILE first.",
        *NEEDED,
    )
    try:
        names = [
            row[0] for row in con.execute("select recording_id from assay_recordings order by 1").fetchall()
        ]
        for name in args.recording:
            if name not in names:
                return _fail(f"there is no recording {name!r}; there are {', '.join(names) or 'none'}.")
        options = Options(args.queries, tuple(args.recording))
        if args.to is not None:
            page = build(con, options).encode()
            _write(args.to, page)
            print(f"{args.to}: {len(page) / 1e6:.1f} MB, {len(args.recording) or len(names)} recordings")
        if args.picture is not None:
            drawn = picture(con, options)
            if drawn is None:
                return _fail(
                    "there is nothing to draw: no recording of answers or traces has a defined mean."
                )
            _write(args.picture, drawn)
            print(f"{args.picture}: {len(drawn) / 1e3:.0f} kB")
    except OSError as error:
        return _fail(f"not written: {error}")
    finally:
        con.close()
    return 0


def _fail(why: str) -> int:
    print(f"error: {why}", file=sys.stderr)
    return 1


def _write(path: Path, content: bytes) -> None:
    """Put the whole file in its place at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

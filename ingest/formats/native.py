"""Assay's own format: a folder with collection.json or manifest.json, and the files that belong to it.

Reads catalog, queries and qrels (JSONL, CSV, TSV or Parquet; qrels also in TREC's four columns), and recordings of
answers, traces (nested or flat events), contexts (JSONL, Parquet, or a TREC run) and judges' labels, each also as ``.gz``.
"""

from __future__ import annotations

from pathlib import Path

from ingest.describe import KINDS, Described
from ingest.errors import BadInput
from ingest.files import Given, checked_path, find_file
from ingest.formats.base import Found, Options

NAME = "native"
SUMMARY = "a folder with collection.json or manifest.json (docs/recording-format.md)"

COLLECTION_FILE = "collection.json"
MANIFEST_FILE = "manifest.json"

_TABLES = ("jsonl", "csv", "tsv", "parquet")


def recognise(path: Path) -> bool:
    """Whether this is a folder of the native format."""
    return path.is_dir() and any((path / name).exists() for name in (COLLECTION_FILE, MANIFEST_FILE))


def kind_of(path: Path) -> str:
    """collection or recording. Raises BadInput where the folder says both."""
    if (path / COLLECTION_FILE).exists() and (path / MANIFEST_FILE).exists():
        raise BadInput(
            f"{path}: {COLLECTION_FILE} and {MANIFEST_FILE} both stand here. Give each a folder of its own."
        )
    return "collection" if (path / COLLECTION_FILE).exists() else "recording"


def find(path: Path, options: Options) -> list[Found]:
    """The one collection or recording of a folder."""
    options.refuse_all(path, "its collection.json or manifest.json says what these would")
    kind = kind_of(path)
    described = Described(path / (COLLECTION_FILE if kind == "collection" else MANIFEST_FILE))
    name = described.name(kind)
    files = _collection_files(path) if kind == "collection" else _recording_files(path, described)
    return [Found(path, NAME, kind, name, described, files, (described.path, *_paths(files)))]


def _paths(files: dict[str, Given]) -> list[Path]:
    return [given for given in files.values() if isinstance(given, Path)]


def _collection_files(folder: Path) -> dict[str, Given]:
    return _present(
        catalog=find_file(folder, "catalog", _TABLES),
        queries=find_file(folder, "queries", _TABLES),
        qrels=find_file(folder, "qrels", (*_TABLES, "txt")),
    )


def _recording_files(folder: Path, manifest: Described) -> dict[str, Given]:
    kind = manifest.one_of("kind", KINDS, None)
    asked = manifest.text("asked") or "split"
    files: dict[str, Path | None] = {}
    if kind == "contexts":
        lists = find_file(folder, "contexts", ("jsonl", "parquet"), required=False)
        run = find_file(folder, "run", ("txt",), required=False)
        if lists is None and run is None:
            raise BadInput(
                f"{folder}: contexts.jsonl or run.txt is missing, and the kind is 'contexts'. Put it there."
            )
        if lists is not None and run is not None:
            raise BadInput(
                f"{folder}: {lists.name} and {run.name} both stand here and only one can count. Remove one."
            )
        files |= {"contexts": lists, "run": run}
    elif kind == "labels":
        files["relevance"] = find_file(folder, "relevance", ("jsonl",), required=False)
        files["support"] = find_file(folder, "support", ("jsonl",), required=False)
        if not _present(**files):
            raise BadInput(
                f"{folder}: support.jsonl or relevance.jsonl is missing, and the kind is 'labels'. Put one there, or both."
            )
    else:
        files[kind] = find_file(folder, kind, ("jsonl",))
    if kind == "answers":
        files["support"] = find_file(folder, "support", ("jsonl",), required=False)
    if asked != "split":
        files["asked"] = checked_path(folder, asked)
    return _present(**files)


def _present(**files: Path | None) -> dict[str, Given]:
    return {role: path for role, path in files.items() if path is not None}

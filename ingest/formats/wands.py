"""WANDS, Wayfair's data: ``product.csv``, ``query.csv`` and ``label.csv``, which are separated by tabs
and quoted as CSV is.

Fields are ``name``, ``product_class``, ``category`` (the column ``category hierarchy``), ``description`` and ``attributes`` (``product_features`` as it stands:
``key : value`` between bars, repeated and empty keys and all). Labels Exact, Partial and
Irrelevant are the grades 2, 1 and 0; exact is 2. Ratings and counts, and a query's class, are kept beside.

``--set sample=100`` keeps 100 queries: those whose sha256 of ``<seed>:<query_id>`` is lowest, and their labels; the catalog stays whole.
``--set train=50`` gives the 50 of them that are lowest by the sha256 of ``<seed>:split:<query_id>`` the split ``train``, the others ``test``; without it all are
``test``. ``--set seed=1`` is the default. Adding queries moves none that is there past another.

A ``label.csv`` may also be ``label_*.csv``; its columns go by their names. Not known: which products nobody looked at.
"""

from __future__ import annotations

from pathlib import Path

from ingest.errors import BadInput, shown
from ingest.files import Given, SourceFile
from ingest.formats._seen import first_bytes
from ingest.formats.base import Found, Options, from_sql, quarantine_sql
from ingest.sqltext import literal
from ingest.staging import Load

NAME = "wands"
SUMMARY = "WANDS: product.csv, query.csv and label.csv, separated by tabs"

_OWN = ("sample", "train", "seed")


def _file(folder: Path, name: str, columns: tuple[str, ...]) -> Path | None:
    """The file of that name whose header has the columns."""
    for path in [folder / f"{name}.csv", *sorted(folder.glob(f"{name}_*.csv"))]:
        header = first_bytes(path).split("\n", 1)[0].rstrip("\r").split("\t") if path.is_file() else []
        if set(columns) <= set(header):
            return path
    return None


def _files(folder: Path) -> tuple[Path | None, Path | None, Path | None]:
    return (
        _file(folder, "product", ("product_id", "product_name", "category hierarchy")),
        _file(folder, "query", ("query_id", "query")),
        _file(folder, "label", ("query_id", "product_id", "label")),
    )


def recognise(path: Path) -> bool:
    """Whether this is a folder with products and queries of WANDS."""
    return path.is_dir() and None not in _files(path)


def find(path: Path, options: Options) -> list[Found]:
    """The collection."""
    products, queries, labels = _files(path)
    if products is None or queries is None or labels is None:
        raise BadInput(
            f"{path}: product.csv, query.csv and label.csv, separated by tabs, must all stand here."
        )
    numbers = {
        key: options.own(key, default) for key, default in (("sample", None), ("train", None), ("seed", 1))
    }
    for key, value in numbers.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise BadInput(f"{path}: {key} must be a whole number, 0 or higher, not {shown(value)}.")
    name = options.name or path.resolve().name
    described = options.described(
        path,
        {
            "collection": name, "licence": "MIT", "source": "wayfair/WANDS",
            "fields": ["name", "product_class", "category", "description", "attributes"],
            "grades": {"2": "exact", "1": "partial", "0": "irrelevant"}, "exact_grade": 2, "catalog": "whole",
        },
        _OWN,
    )  # fmt: skip
    draw = _Draw(queries, numbers["sample"], numbers["train"], int(numbers["seed"] or 0))
    files: dict[str, Given] = {
        "catalog": from_sql(products, _catalog),
        "queries": from_sql(queries, draw.queries),
        "qrels": from_sql(labels, draw.labels),
    }
    return [Found(path, NAME, "collection", name, described, files, (products, queries, labels))]


def _rows(load: Load, source: SourceFile, table: str, path: Path | None = None) -> None:
    """Rows of a tab-separated file, quoted as CSV is; those with another number of columns go to quarantine."""
    read = (
        f"read_csv({literal(str(path or source.path))}, header = true, all_varchar = true, delim = chr(9), quote = '\"', escape = '\"',"
        " ignore_errors = true, store_rejects = true, rejects_table = 'wands_rejects', rejects_scan = 'wands_scans',"
        " null_padding = false, strict_mode = true, auto_detect = true, sample_size = 1)"
    )
    for rejects in ("wands_rejects", "wands_scans"):
        load.con.execute(f"drop table if exists {rejects}")
    load.con.execute(
        f"create or replace temp table {table} as select row_number() over () as line, * from {read}"
    )
    quarantine_sql(
        load,
        source,
        "select min(line) as line, 'the row has another number of columns than the header' as reason, any_value(csv_line) as text"
        " from wands_rejects group by byte_position",
    )


def _catalog(load: Load, source: SourceFile) -> str:
    _rows(load, source, "wands_products")
    return """
        select line, cast(json_object(
            'doc_id', product_id, 'name', coalesce(product_name, ''), 'product_class', coalesce(product_class, ''),
            'category', coalesce("category hierarchy", ''), 'description', coalesce(product_description, ''),
            'attributes', coalesce(product_features, ''),
            'rating_count', rating_count, 'average_rating', average_rating, 'review_count', review_count
        ) as varchar) as text
        from wands_products
    """


class _Draw:
    """Which queries are kept, and in which split they are."""

    def __init__(self, path: Path, sample: int | None, train: int | None, seed: int) -> None:
        self._path, self._sample, self._train, self._seed = path, sample, train, seed

    def _drawn(self, load: Load, source: SourceFile) -> None:
        """The table wands_drawn: line, query and split of each query that is kept."""
        _rows(load, source, "wands_queries", self._path)
        kept = "" if self._sample is None else f" where nth <= {self._sample}"
        split = (
            "'test'"
            if self._train is None
            else f"case when row_number() over (order by by_split, query_id) <= {self._train} then 'train' else 'test' end"
        )
        load.con.execute(
            f"""
            create or replace temp table wands_drawn as
            with ranked as (
                select *, row_number() over (order by sha256('{self._seed}:' || query_id), query_id) as nth,
                    sha256('{self._seed}:split:' || query_id) as by_split
                from wands_queries
            )
            select *, {split} as split from ranked{kept}
            """
        )

    def queries(self, load: Load, source: SourceFile) -> str:
        """The queries, with their split and class."""
        self._drawn(load, source)
        columns = [str(row[0]) for row in load.con.execute("describe wands_drawn").fetchall()]
        by_class = ", 'query_class', query_class" if "query_class" in columns else ""
        return (
            "select line, cast(json_object('query_id', query_id, 'query', coalesce(query, ''), 'split', split"
            f"{by_class}) as varchar) as text from wands_drawn"
        )

    def labels(self, load: Load, source: SourceFile) -> str:
        """The labels of the queries that are kept; a label of none of the three kinds goes to quarantine."""
        self._drawn(load, SourceFile(self._path, source.sha256, "wands"))
        load.con.execute("delete from quarantined where file = 'wands'")
        _rows(load, source, "wands_labels")
        known = "('exact', 'partial', 'irrelevant')"
        quarantine_sql(
            load, source,
            "select line, 'the label must be Exact, Partial or Irrelevant, not ' || coalesce(label, 'nothing') as reason, label as text"
            f" from wands_labels where coalesce(lower(trim(label)), '') not in {known}",
        )  # fmt: skip
        sampled = "" if self._sample is None else " and query_id in (select query_id from wands_drawn)"
        return f"""
            select line, cast(json_object('query_id', query_id, 'doc_id', product_id, 'grade',
                case lower(trim(label)) when 'exact' then 2 when 'partial' then 1 else 0 end) as varchar) as text
            from wands_labels where lower(trim(label)) in {known}{sampled}
        """

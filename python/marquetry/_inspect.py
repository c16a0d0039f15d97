"""Statistics of columns, and differences between files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple, Sequence

from . import _marquetry
from ._file import dataset
from ._marquetry import FileDecryptionProperties


class Common(NamedTuple):
    """A frequent value, with bounds of its count. The count is exact if both are equal."""

    value: Any
    at_least: int
    at_most: int


class Lengths(NamedTuple):
    """Lengths of byte strings in bytes, or of lists in elements."""

    min: int
    mean: float
    max: int


class Histogram(NamedTuple):
    """Counts of values in intervals of equal width between ``lower`` and ``upper``."""

    lower: float
    upper: float
    counts: list[int]


@dataclass(frozen=True)
class ColumnStats:
    """Statistics of a column. A statistic is ``None`` if it is not known, or does not apply to the type.

    Values are booleans, numbers, text, bytes, ``Decimal`` or ``date``; those of other types are shown as text.

    - ``column``, ``type``: dotted path, and Arrow type as text. The values of a column in lists are the elements.
    - ``values``, ``nulls``, ``nans``: numbers of values that are not null, of nulls, and of NaN.
    - ``distinct``: number of distinct values. ``distinct_error`` is its relative error at 95 % confidence, 0 if it is exact.
    - ``min``, ``max``: least and greatest value, without NaN. If ``exact_bounds`` is false they are bounds that may not occur.
    - ``mean``, ``deviation``: mean and sample standard deviation, without NaN.
    - ``quartiles``: values at a quarter, a half and three quarters. ``rank_error`` is the error of their ranks, as a part of the number of
      values; 0 if they are exact.
    - ``common``: frequent values, most frequent first.
    - ``length``: lengths of byte strings, in bytes.
    - ``list_length``: lengths of the innermost lists, in elements.
    - ``histogram``: distribution of numbers, dates and times.
    """

    column: str
    type: str
    values: int | None
    nulls: int | None
    nans: int | None
    distinct: int | None
    distinct_error: float | None
    min: Any
    max: Any
    exact_bounds: bool
    mean: float | None
    deviation: float | None
    quartiles: list[Any] | None
    rank_error: float | None
    common: list[Common]
    length: Lengths | None
    list_length: Lengths | None
    histogram: Histogram | None


@dataclass(frozen=True)
class Statistics:
    """Statistics of the columns of a file, by their names: ``statistics["price"].mean``."""

    rows: int
    columns: list[ColumnStats]

    def __getitem__(self, name: str) -> ColumnStats:
        for column in self.columns:
            if column.column == name:
                return column
        raise KeyError(name)

    def __str__(self) -> str:
        lines = [" | ".join(_cells(column)) for column in self.columns]
        return "\n".join([f"{self.rows} rows", " | ".join(_HEADINGS), *lines])

    def _repr_html_(self) -> str:
        def row(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        rows = "".join(row(_cells(column), "td") for column in self.columns)
        return f"<p>{self.rows:,} rows</p><table>{row(_HEADINGS, 'th')}{rows}</table>"


_HEADINGS = ["column", "type", "nulls", "distinct", "min", "max", "mean", "spread", "common"]


def _cells(column: ColumnStats) -> list[str]:
    def shown(value: Any) -> str:
        text = "" if value is None else str(value)
        return text if len(text) <= 30 else text[:29] + "…"

    mark = "~" if column.distinct_error else ""
    distinct = "" if column.distinct is None else f"{mark}{column.distinct}"
    mean = "" if column.mean is None else f"{column.mean:.6g}"
    common = ", ".join(shown(common.value) for common in column.common[:3])
    return [
        column.column, column.type, shown(column.nulls), distinct, shown(column.min), shown(column.max), mean,
        _bars(column.histogram), common,
    ]  # fmt: skip


def _bars(histogram: Histogram | None) -> str:
    if histogram is None:
        return ""
    most = max(histogram.counts)
    return "".join(" ▁▂▃▄▅▆▇█"[-(-count * 8 // most)] for count in histogram.counts)


def stats(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    quick: bool = False,
    common: int = 10,
    threads: int = 0,
    decryption: FileDecryptionProperties | None = None,
) -> Statistics:
    """Computes statistics of columns in one pass: nulls, distinct and common values, bounds, means, quartiles, lengths.

    - ``source``: as in :func:`open`; or a directory or a list of paths, whose files are read as one table.
    - ``columns``: dotted paths of the columns. Default: all.
    - ``quick``: whether to read nothing but the footer of a single file. Default: false.
    - ``common``: number of frequent values of each column. Default: 10.
    - ``threads``: number of threads. The default 0 means one per processor.
    - ``decryption``: keys of an encrypted file. Default: none.

    With up to 65,536 distinct values in a column all results are exact. With more, the number of distinct values, the quartiles and the
    counts of common values are estimates within the given errors. The result is the same in each run.

    Raises ``ValueError`` for ``quick`` with several files.

    >>> import marquetry
    >>> statistics = marquetry.stats(WINES, columns=["country", "price"])
    >>> statistics["country"].distinct, statistics["price"].min
    (6, Decimal('9.24'))
    """
    options = {"columns": columns and list(columns), "common": common, "threads": threads, "decryption": decryption}
    files = files_of(source)
    if files is None:
        rows, raw = _marquetry.stats(source, {**options, "quick": quick})
    elif quick:
        raise ValueError("quick is for one file: footers say nothing of several together")
    else:
        rows, raw = _marquetry.table_stats(files, options)
    return Statistics(rows, [_column(facts) for facts in raw])


def files_of(source: Any) -> list[str] | None:
    """Returns the files of a directory or a list of paths; ``None`` for a single file."""
    is_folder = isinstance(source, (str, os.PathLike)) and os.path.isdir(source)
    return dataset(source, partitions=False).files if is_folder or isinstance(source, (list, tuple)) else None


def _column(facts: dict[str, Any]) -> ColumnStats:
    made: dict[str, Any] = {"common": [Common(*common) for common in facts["common"]]}
    for name, kind in (("length", Lengths), ("list_length", Lengths), ("histogram", Histogram)):
        made[name] = None if facts[name] is None else kind(*facts[name])
    return ColumnStats(**{**facts, **made})


class Difference(NamedTuple):
    """A fact that differs between two files.

    ``of`` is the column or the key of metadata that it is a fact of; ``None`` for the file. ``left`` and ``right`` are ``None`` where the
    fact is missing.
    """

    aspect: str
    of: str | None
    fact: str
    left: str | None
    right: str | None


@dataclass(frozen=True)
class RowsDiff:
    """Differences between the rows of two files. Rows are numbered from 0.

    - ``left``, ``right``: numbers of rows of the files.
    - ``removed``, ``added``, ``changed``: numbers of rows only in the left file, only in the right file, and in both with other values,
      which are paired by the key, or without one by their place.
    - ``reordered``, ``first_moved``: whether common rows have another order, and the first row at which it differs.
    - ``removed_rows``, ``added_rows``, ``changed_rows``: numbers of the first such rows; those of changed rows in both files.
    - ``changed_columns``: columns with the number of changed rows in which they differ, of the first ``changed_looked_at`` changed rows.
    - ``columns``, ``not_compared``: the columns that were compared, and those that only one file has or whose types are not comparable.
    """

    left: int
    right: int
    removed: int
    added: int
    changed: int
    reordered: bool
    first_moved: int | None
    removed_rows: list[int]
    added_rows: list[int]
    changed_rows: list[tuple[int, int]]
    changed_columns: list[tuple[str, int]]
    changed_looked_at: int
    columns: list[str]
    not_compared: list[str]

    @property
    def same(self) -> bool:
        """Whether both files have the same rows in the same order."""
        return not (self.removed or self.added or self.changed or self.reordered)


@dataclass(frozen=True)
class Diff:
    """Differences between two files: ``rows`` is ``None`` if rows were not compared."""

    differences: list[Difference]
    rows: RowsDiff | None

    @property
    def same(self) -> bool:
        """Whether everything that was compared is equal."""
        return not self.differences and (self.rows is None or self.rows.same)

    def __str__(self) -> str:
        lines = [
            f"{found.aspect}: {found.of or 'the file'}: {found.fact}: {found.left} -> {found.right}"
            for found in self.differences
        ]
        if self.rows is not None and not self.rows.same:
            lines.append(f"rows: {self.rows.removed} removed, {self.rows.added} added, {self.rows.changed} changed")
            if self.rows.reordered:
                lines.append(f"rows: in another order from row {self.rows.first_moved} on")
        return "\n".join(lines) or "no difference"


def diff(
    left: Any,
    right: Any,
    *,
    rows: bool = False,
    key: str | Sequence[str] = (),
    columns: Sequence[str] | None = None,
    samples: int = 20,
    threads: int = 0,
    decryption: FileDecryptionProperties | None = None,
) -> Diff:
    """Compares two files by their footers: schemas, metadata, statistics and layouts; or by their rows.

    - ``left``, ``right``: the files, as in :func:`open`.
    - ``rows``: whether to compare schemas, metadata and all rows instead, however they are stored. Each file is read once, in bounded
      memory. Default: false; implied by ``key`` and ``columns``.
    - ``key``: columns whose values pair the rows of both files. Default: none; rows are then paired by all their values.
    - ``columns``: dotted paths of the columns to compare besides those of the key. Default: all.
    - ``samples``: maximum number of row numbers to list of each kind. Default: 20.
    - ``threads``: number of threads. The default 0 means one per processor.
    - ``decryption``: keys of encrypted files. Default: none.

    >>> import marquetry
    >>> marquetry.diff(WINES, WINES, rows=True).same
    True
    """
    options = {
        "rows": rows, "key": [key] if isinstance(key, str) else list(key), "columns": columns and list(columns), "samples": samples,
        "threads": threads, "decryption": decryption,
    }  # fmt: skip
    raw = _marquetry.diff(left, right, options)
    found = raw["rows"]
    return Diff([Difference(*fact) for fact in raw["differences"]], None if found is None else RowsDiff(**found))

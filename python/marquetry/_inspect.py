"""What columns hold, and in what two files differ."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple, Sequence

from . import _marquetry
from ._file import dataset
from ._marquetry import FileDecryptionProperties


class Common(NamedTuple):
    """A value that occurs often: exactly so often where both numbers are the same."""

    value: Any
    at_least: int
    at_most: int


class Lengths(NamedTuple):
    """Lengths of byte strings in bytes, or of lists in elements."""

    min: int
    mean: float
    max: int


class Histogram(NamedTuple):
    """How values are spread over intervals of the same width."""

    lower: float
    upper: float
    counts: list[int]


@dataclass(frozen=True)
class ColumnStats:
    """What a column holds. None is what is not known, or what its type has not.

    ``distinct_error`` is the part by which ``distinct`` may be wrong, 0 where it is exact; ``rank_error`` that of ranks of ``quartiles``.
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
    """What the columns of a file hold: ``statistics["price"].mean``."""

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
    """What columns hold, found in one pass: nulls, distinct and common values, bounds, means, quartiles, lengths.

    Up to 65,536 different values of a column everything is exact; of more, distinct values, quartiles and counts of common values are
    known within the bounds that are told. ``quick`` reads nothing but the footer. The result is the same on each run.

    Of a folder, or of a list of paths, it is what the columns of all files hold together; all of them are read.

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
    """The files of a folder, or of a list of paths; None of what is one file."""
    is_folder = isinstance(source, (str, os.PathLike)) and os.path.isdir(source)
    return dataset(source, partitions=False).files if is_folder or isinstance(source, (list, tuple)) else None


def _column(facts: dict[str, Any]) -> ColumnStats:
    made: dict[str, Any] = {"common": [Common(*common) for common in facts["common"]]}
    for name, kind in (("length", Lengths), ("list_length", Lengths), ("histogram", Histogram)):
        made[name] = None if facts[name] is None else kind(*facts[name])
    return ColumnStats(**{**facts, **made})


class Difference(NamedTuple):
    """A fact that is another one in both files; of the file where ``of`` is None."""

    aspect: str
    of: str | None
    fact: str
    left: str | None
    right: str | None


@dataclass(frozen=True)
class RowsDiff:
    """In what rows differ. Rows are numbered from 0; of each kind the first ones are listed."""

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
    """In what two files differ."""

    differences: list[Difference]
    rows: RowsDiff | None

    @property
    def same(self) -> bool:
        """Whether nothing differs that was compared."""
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
    """In what two files differ: schemas, metadata, statistics and layouts by their footers.

    With ``rows`` schemas, metadata and all rows are compared, and not how they are stored: each file is read once, in bounded memory.
    With a ``key``, columns whose values tell which rows belong together, by it; else by their values.

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

"""What would make a file smaller or faster."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, NamedTuple, Sequence

from . import _marquetry
from ._errors import Error
from ._file import open
from ._inspect import diff
from ._writer import write


class BytesChange(NamedTuple):
    """Bytes as they are, and as they are predicted."""

    before: int
    after: int


class Change(NamedTuple):
    """A figure as it is, and as it is predicted."""

    before: float
    after: float


@dataclass(frozen=True)
class ColumnAdvice:
    """What a column should be written with; ``encoding``, ``compression`` and ``level`` are None where it is left as it is.

    ``measured`` is the share of its rows that was encoded, ``error`` the part by which ``predicted`` may be wrong.
    """

    column: str
    bytes: int
    predicted: int
    error: float
    measured: float
    encoding: str | None
    compression: str | None
    level: int | None


@dataclass(frozen=True)
class AdviceFinding:
    """One thing to do. ``decode`` is in seconds, ``skipped`` the share of the rows that queries skip.

    ``confidence`` is the share of the rows that was looked at, 1 where it is certain.
    """

    kind: str
    columns: list[str]
    what: str
    bytes: BytesChange | None
    decode: Change | None
    skipped: Change | None
    confidence: float


@dataclass(frozen=True, repr=False)
class Advice:
    """What would make a file smaller or faster; what brings most comes first. ``predicted`` is of the columns alone."""

    size: int
    predicted: int
    columns: list[ColumnAdvice]
    findings: list[AdviceFinding]
    not_measured: list[str]

    def __repr__(self) -> str:
        lines = [f"{self.size} bytes, {self.predicted} with other encodings and codecs"]
        lines += [f"{number}. {found.kind}: {found.what}" for number, found in enumerate(self.findings, 1)]
        return "\n".join(lines + [f"not measured: {what}" for what in self.not_measured])

    def _repr_html_(self) -> str:
        rows = (f"<tr><td>{escape(found.kind)}</td><td>{escape(found.what)}</td></tr>" for found in self.findings)
        return f"<p>{self.size} bytes, {self.predicted} with other encodings and codecs</p><table>{''.join(rows)}</table>"

    def writer_options(self) -> dict[str, Any]:
        """The encodings and codecs as ``marquetry.write`` and ``marquetry.create`` take them.

        >>> import marquetry
        >>> options = marquetry.advise(WINES).writer_options()
        >>> sorted(options)
        ['compression', 'encoding']
        """
        chosen = [column for column in self.columns if column.encoding is not None]
        codec = {column.column: f"{column.compression}:{column.level}" if column.level else column.compression for column in chosen}
        return {"compression": codec, "encoding": {column.column: column.encoding for column in chosen}}


def advise(
    source: Any,
    *,
    goal: Literal["size", "scan", "filter"] = "size",
    budget: float = 10.0,
    queries: Sequence[str] = (),
    compat: Literal["modern", "latest"] = "modern",
) -> Advice:
    """What would make a file smaller or faster: each figure is measured on its rows, for so many seconds.

    ``goal`` says what counts most: few bytes, fast reading, or what ``queries``, conditions as SQL has them, can skip.
    ``compat="latest"`` allows encodings that not all readers know. The command ``marquetry optimize`` does it.

    >>> import marquetry
    >>> advice = marquetry.advise(WINES, queries=["country = 'FR'"])
    >>> advice.predicted <= advice.size, len(advice.columns)
    (True, 9)
    """
    raw = _marquetry.advise(source, {"goal": goal, "budget": budget, "queries": list(queries), "compat": compat})
    columns = [ColumnAdvice(**column) for column in raw["columns"]]
    findings = [AdviceFinding(**{**found, **_changes(found)}) for found in raw["findings"]]
    return Advice(raw["size"], raw["predicted"], columns, findings, raw["not_measured"])


def _changes(found: dict[str, Any]) -> dict[str, Any]:
    kinds = (("bytes", BytesChange), ("decode", Change), ("skipped", Change))
    return {name: None if found[name] is None else kind(*found[name]) for name, kind in kinds}


@dataclass(frozen=True)
class Optimized:
    """What came of a file: bytes before, as they were predicted, and as they are. ``copied`` where it would not have been smaller."""

    before: int
    predicted: int
    size: int
    copied: bool
    advice: Advice


def optimize(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    goal: Literal["size", "scan", "filter"] = "size",
    budget: float = 10.0,
    queries: Sequence[str] = (),
    compat: Literal["modern", "latest"] = "modern",
    overwrite: bool = False,
    threads: int = 1,
) -> Optimized:
    """Writes the rows of a file again with the encodings and codecs that :func:`advise` finds.

    ``target`` appears once it is whole and all its rows were compared with those of ``source``. Where it would not be smaller it is a
    copy. The command ``marquetry optimize`` does more: it copies columns as they are
    stored, sorts, and adds filters; here text becomes ``utf8`` in the stored Arrow schema, whatever it was.

    >>> import marquetry
    >>> done = marquetry.optimize(WINES, FOLDER + "/small.parquet")
    >>> done.size <= done.before
    True
    """
    if not overwrite and os.path.lexists(target):
        raise FileExistsError(f"{os.fspath(target)} is there already; overwrite=True replaces it")
    advice = advise(source, goal=goal, budget=budget, queries=queries, compat=compat)
    folder, name = os.path.split(os.fspath(target))
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.parquet")
    try:
        options = advice.writer_options()
        is_smaller = False
        if options["encoding"]:
            file = open(source, text="utf8")
            groups = (file.metadata.row_group(i).num_rows for i in range(file.num_row_groups))
            rows = max(groups, default=1) or 1
            write(file.stream(), temporary, **options, row_group_rows=rows, threads=threads, compat=compat)
            is_smaller = os.path.getsize(temporary) < advice.size
        if is_smaller and not _has_same_rows(source, temporary):
            raise Error(f"{os.fspath(source)} would not have the same rows: nothing is written")
        if not is_smaller:
            shutil.copyfile(source, temporary)
        size = os.path.getsize(temporary)
        os.replace(temporary, target)
    finally:
        if os.path.lexists(temporary):
            os.remove(temporary)
    return Optimized(advice.size, advice.predicted, size, not is_smaller, advice)


def _has_same_rows(left: Any, right: Any) -> bool:
    rows = diff(left, right, rows=True).rows
    return rows is not None and rows.same and not rows.not_compared

"""What would make a file smaller or faster."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, NamedTuple, Sequence

from . import _marquetry
from ._errors import ArgumentError, UnsupportedError
from ._filters import predicate
from ._inspect import files_of
from ._marquetry import FileDecryptionProperties, FileEncryptionProperties


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
    file: str | None = None

    def __repr__(self) -> str:
        of = "" if self.file is None else f"{self.file}: "
        lines = [f"{of}{self.size} bytes, {self.predicted} with other encodings and codecs"]
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
    for_: Literal["size", "scan", "filter"] = "size",
    budget: float = 10.0,
    where: Any = (),
    queries: str | os.PathLike[str] | Sequence[str] = (),
    compat: Literal["modern", "latest"] = "modern",
    decryption: FileDecryptionProperties | None = None,
) -> Advice:
    """What would make a file smaller or faster: each figure is measured on its rows, for ``budget`` seconds.

    ``for_`` says what counts most: few bytes, fast reading, or what queries can skip. What is asked is told by ``where``, a filter or a
    list of filters, and by ``queries``, the path of a file, or lines: a condition or a SELECT with a WHERE on each, with a number and a
    tab in front that say how often. ``compat="latest"`` allows encodings that not all readers know. :func:`optimize` does it.

    Of a folder, or of a list of paths, it is the advice of the largest file, ``file``, and whether its files are better merged. ``decryption``
    has the keys of an encrypted file.

    >>> import marquetry
    >>> advice = marquetry.advise(WINES, where="country = 'FR'")
    >>> advice.predicted <= advice.size, len(advice.columns)
    (True, 9)
    """
    options = {**_wanted(for_, budget, where, queries, compat), "decryption": decryption}
    files = files_of(source)
    if files is None:
        return _advice(_marquetry.advise(source, options))
    largest = max(files, key=os.path.getsize)
    # What is in several folders may be partitions, which stay apart.
    folders = [os.path.dirname(file) for file in files]
    fullest = max(folders, key=folders.count)
    together = [file for file, folder in zip(files, folders) if folder == fullest]
    merging = _marquetry.advise_merging(together, budget * _MERGING_SHARE, {"decryption": decryption})
    advice = _marquetry.advise(largest, options)
    return _advice({**advice, "findings": [*([merging] if merging else []), *advice["findings"]]}, largest)


def _wanted(for_: str, budget: float, where: Any, queries: str | os.PathLike[str] | Sequence[str], compat: str) -> dict[str, Any]:
    if isinstance(queries, (str, os.PathLike)):
        with open(queries, encoding="utf-8") as file:
            lines = file.read()
    else:
        lines = "\n".join(queries)
    return {"for": for_, "budget": budget, "where": _conditions(where), "queries": lines, "compat": compat}


def _conditions(where: Any) -> list[str]:
    """The texts of a filter, or of a list of several: a list of nothing but tuples or lists is one filter."""
    is_one = not isinstance(where, (list, tuple)) or bool(where) and all(isinstance(part, (list, tuple)) for part in where)
    texts = (predicate(condition) for condition in ([where] if is_one else where))
    return [text for text in texts if text is not None]


# The part of the budget that is for merging, beside it.
_MERGING_SHARE = 0.25


def _advice(raw: dict[str, Any], file: str | None = None) -> Advice:
    columns = [ColumnAdvice(**column) for column in raw["columns"]]
    findings = [AdviceFinding(**{**found, **_changes(found)}) for found in raw["findings"]]
    return Advice(raw["size"], raw["predicted"], columns, findings, raw["not_measured"], file)


def _changes(found: dict[str, Any]) -> dict[str, Any]:
    kinds = (("bytes", BytesChange), ("decode", Change), ("skipped", Change))
    return {name: None if found[name] is None else kind(*found[name]) for name, kind in kinds}


class OptimizedColumn(NamedTuple):
    """Bytes of a column before, as they were predicted of its encoding and codec, and as they are."""

    column: str
    before: int
    predicted: int
    got: int


@dataclass(frozen=True, repr=False)
class Optimized:
    """What came of a file: bytes before, as they were predicted, and as they are. ``copied`` where it would not have been smaller.

    ``also`` has the kinds of advice that were followed beside encodings and codecs.
    """

    before: int
    predicted: int
    got: int
    copied: bool
    columns: list[OptimizedColumn]
    also: list[str]
    notes: list[str]
    advice: Advice

    def __repr__(self) -> str:
        rows = [OptimizedColumn._fields, *([name, *map(str, sizes)] for name, *sizes in self.columns)]
        widths = [max(len(row[at]) for row in rows) for at in range(4)]
        lines = [" ".join(map(str.rjust, row[1:], widths[1:])) + "  " + row[0] for row in rows]
        return "\n".join([self._outcome(), *self.notes, *lines])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in OptimizedColumn._fields)
        cell = "<td style='text-align:right'>{:,}</td>".format
        rows = "".join(f"<tr><td>{escape(name)}</td>{''.join(map(cell, sizes))}</tr>" for name, *sizes in self.columns)
        told = "".join(f"<p>{escape(line)}</p>" for line in [self._outcome(), *self.notes])
        return f"{told}<table><tr>{head}</tr>{rows}</table>"

    def _outcome(self) -> str:
        if self.copied:
            return f"{self.before} bytes, a copy: nothing would be smaller by enough"
        also = f"; also: {', '.join(self.also)}" if self.also else ""
        return f"{self.before} bytes, predicted: {self.predicted}, got: {self.got}{also}"


def optimize(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    for_: Literal["size", "scan", "filter"] = "size",
    budget: float = 10.0,
    where: Any = (),
    queries: str | os.PathLike[str] | Sequence[str] = (),
    sort: bool = False,
    types: bool = False,
    compat: Literal["modern", "latest"] = "modern",
    proof: bool = True,
    overwrite: bool = False,
    memory_limit: int | None = None,
    decryption: FileDecryptionProperties | None = None,
    encryption: FileEncryptionProperties | None = None,
    decrypt: bool = False,
) -> Optimized:
    """Writes the rows of a file again as :func:`advise` finds them better, as the command ``marquetry optimize`` does.

    Rows, their order and types stay: with ``sort`` rows get the order that is advised, with ``types`` columns narrower types, where each
    value would come back as it was. Row groups, pages, indexes and bloom filters change where that is good for what the file is ``for_``.
    What is measured takes ``budget`` seconds; what is asked is told by ``where`` and ``queries``, as :func:`advise` takes them.

    ``target`` appears once it is whole and all its rows were compared with those of ``source``, unless ``proof`` is False. Where it would
    not be smaller it is a copy. ``memory_limit`` is what sorting and writing may hold, in bytes.

    ``decryption`` has the keys of an encrypted file. The new file is encrypted as it is, the same columns with the same keys: only
    ``encryption`` and ``decrypt`` have it otherwise, and it may be larger then.

    >>> import marquetry
    >>> done = marquetry.optimize(WINES, FOLDER + "/small.parquet", where="price > 100", sort=True)
    >>> done.got <= done.before
    True
    """
    if not overwrite and os.path.lexists(target):
        raise FileExistsError(f"{os.fspath(target)} is there already; overwrite=True replaces it")
    options = _wanted(for_, budget, where, queries, compat)
    options |= {"sort": sort, "types": types, "proof": proof, "overwrite": overwrite, "memory_limit": memory_limit}
    options |= {"decryption": decryption, "encryption": encryption, "decrypt": decrypt}
    if encryption is not None and decrypt:
        raise ArgumentError("either encryption or decrypt")
    try:
        write_again = _marquetry.optimize
    except AttributeError:
        raise UnsupportedError("this build of the package has no command line, which optimizes files") from None
    raw = write_again(os.fspath(source), os.fspath(target), options)
    columns = [OptimizedColumn(*column) for column in raw["columns"]]
    return Optimized(**{**raw, "columns": columns, "advice": _advice(raw["advice"])})

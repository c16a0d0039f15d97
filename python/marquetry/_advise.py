"""Advice that makes files smaller or faster, and rewriting files with it."""

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
    """A size in bytes: the current one, and the predicted one."""

    before: int
    after: int


class Change(NamedTuple):
    """A figure: the current one, and the predicted one."""

    before: float
    after: float


@dataclass(frozen=True)
class ColumnAdvice:
    """The encoding and codec that are advised for a column; they are ``None`` if it should stay as it is.

    ``bytes`` is the size of its pages and their indexes, ``predicted`` the size with the advice, and ``error`` the relative error of
    ``predicted``. ``measured`` is the share of its rows that were measured, from 0 to 1.
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
    """One measure to take, and what it was measured to bring.

    - ``kind``: the kind of the measure.
    - ``columns``: dotted paths of the columns; empty if it applies to all.
    - ``what``: what to do and why, as text.
    - ``bytes``: size of what it changes, in bytes.
    - ``decode``: time to decode that on one thread, in seconds.
    - ``skipped``: share of the rows that queries skip, from 0 to 1.
    - ``confidence``: share of the rows that were examined; 1 if it is certain.
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
    """Advice that makes a file smaller or faster. Columns and findings that bring most come first.

    ``size`` is the size of the file in bytes, and ``predicted`` its size with the advised encodings and codecs alone. ``not_measured`` says
    what could not be measured, and why. ``file`` is the file that was examined, if there were several.
    """

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
        """Returns the advised encodings and codecs as options of :func:`marquetry.write` and :func:`marquetry.create`.

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
    """Finds out what would make a file smaller or faster, by measuring on its rows. :func:`optimize` follows the advice.

    - ``source``: the file, as in :func:`open`. For a directory or a list of paths, the largest file is examined, and whether the files
      should be merged.
    - ``for_``: the goal: ``size`` for few bytes (the default), ``scan`` for fast reading, ``filter`` for queries that skip much.
    - ``budget``: time to measure, in seconds. Default: 10.
    - ``where``: a filter of your queries, or a list of filters. Default: none.
    - ``queries``: path of a file with your queries, or its lines: each a condition, or a SELECT with a WHERE, optionally preceded by how
      often it runs and a tab. Default: none.
    - ``compat``: ``modern`` (the default) for encodings that all current readers support, or ``latest`` to allow newer ones.
    - ``decryption``: keys of an encrypted file. Default: none.

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
    # Files in different directories may be partitions, which stay apart.
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
    """Returns the texts of one filter or of a list of filters. A list of nothing but tuples or lists is one filter."""
    is_one = not isinstance(where, (list, tuple)) or bool(where) and all(isinstance(part, (list, tuple)) for part in where)
    texts = (predicate(condition) for condition in ([where] if is_one else where))
    return [text for text in texts if text is not None]


# Time to measure merging, as a part of the budget and in addition to it.
_MERGING_SHARE = 0.25


def _advice(raw: dict[str, Any], file: str | None = None) -> Advice:
    columns = [ColumnAdvice(**column) for column in raw["columns"]]
    findings = [AdviceFinding(**{**found, **_changes(found)}) for found in raw["findings"]]
    return Advice(raw["size"], raw["predicted"], columns, findings, raw["not_measured"], file)


def _changes(found: dict[str, Any]) -> dict[str, Any]:
    kinds = (("bytes", BytesChange), ("decode", Change), ("skipped", Change))
    return {name: None if found[name] is None else kind(*found[name]) for name, kind in kinds}


class OptimizedColumn(NamedTuple):
    """Size of a column in bytes: before, as predicted with its encoding and codec, and in the new file."""

    column: str
    before: int
    predicted: int
    got: int


@dataclass(frozen=True, repr=False)
class Optimized:
    """The result of :func:`optimize`.

    - ``before``, ``predicted``, ``got``: size of the file in bytes before, as predicted, and of the new file.
    - ``copied``: whether the new file is a copy, because nothing would have made it smaller.
    - ``columns``: sizes of the columns, first those that were predicted to save most.
    - ``also``: kinds of advice that were followed besides encodings and codecs.
    - ``notes``: remarks on the new file.
    - ``advice``: the advice that was followed.
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
    """Rewrites a file with the advice of :func:`advise`, as the command ``marquetry optimize`` does.

    The rows stay the same; encodings, codecs, row groups, pages, indexes and bloom filters change where that serves the goal. If the new
    file would not be smaller, it is a copy.

    - ``source``: path or URL of the file.
    - ``target``: path of the new file, which appears once it is complete.
    - ``for_``, ``budget``, ``where``, ``queries``, ``compat``: as in :func:`advise`.
    - ``sort``: whether to sort the rows as advised. Default: false.
    - ``types``: whether to give columns narrower types as advised, which can hold each value unchanged. Default: false.
    - ``proof``: whether to compare all rows of both files before ``target`` appears. Default: true.
    - ``overwrite``: whether to replace an existing ``target``. Default: false.
    - ``memory_limit``: memory for sorting and writing, in bytes. Default: an eighth of the machine's memory, at most 1 GiB.
    - ``decryption``: keys of an encrypted file. Default: none.
    - ``encryption``: how to encrypt the new file, which may then be larger. Default: as ``source``, the same columns with the same keys.
    - ``decrypt``: whether to write an encrypted file without encryption. Default: false.

    Raises ``FileExistsError`` if ``target`` exists and ``overwrite`` is false.

    >>> import marquetry
    >>> done = marquetry.optimize(WINES, FOLDER + "/small.parquet", where="price > 100", sort=True)
    >>> done.got <= done.before
    True
    """
    if not overwrite and os.path.lexists(target):
        raise FileExistsError(f"{os.fspath(target)} already exists; use overwrite=True to replace it")
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

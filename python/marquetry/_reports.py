"""Verifying, recovering and reporting on files, and explaining filters."""

from __future__ import annotations

import os
import pathlib
from dataclasses import dataclass, field
from html import escape
from typing import Any, Sequence

from . import _marquetry
from ._file import File
from ._filters import predicate
from ._marquetry import FileDecryptionProperties


@dataclass(frozen=True)
class Finding:
    """A violation of a rule, with its place in the file as far as it is known."""

    rule: str
    severity: str
    title: str
    spec: str
    message: str
    column: str | None
    row_group: int | None
    page: int | None
    byte: int | None


@dataclass(frozen=True)
class Verification:
    """The result of checking a file. It is true if there are no findings.

    - ``findings``: the first findings of each rule.
    - ``omitted``: rules with the number of further findings.
    - ``worst``: the most severe severity; ``None`` without findings.
    - ``fails``: whether the file is invalid or corrupt; with a profile, whether a finding is as severe as it forbids.
    - ``pages``, ``bytes``: numbers of pages and bytes that were read.
    """

    findings: list[Finding]
    omitted: list[tuple[str, int]]
    worst: str | None
    fails: bool
    pages: int
    bytes: int

    def __bool__(self) -> bool:
        return self.worst is None

    def __str__(self) -> str:
        lines = [f"{found.severity}: {found.rule}: {found.message}" for found in self.findings]
        return "\n".join([*lines, f"{len(self.findings)} findings, {self.pages} pages read"])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{found.severity}</td><td>{found.rule}</td><td>{escape(found.message)}</td></tr>"
            for found in self.findings
        )
        return f"<table><tr><th>severity</th><th>rule</th><th>what</th></tr>{rows}</table>"


def verify(
    source: Any,
    *,
    level: str = "default",
    rules: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    threads: int = 0,
    decryption: FileDecryptionProperties | None = None,
) -> Verification:
    """Checks a file against the rules of the format.

    - ``source``: the file, as in :func:`open`.
    - ``level``: ``quick`` checks metadata, ``default`` every page, too, ``deep`` every value, too.
    - ``rules``: ids of the rules to check. Default: all of the level.
    - ``ignore``: ids of rules that are not checked. Default: none.
    - ``threads``: number of threads. The default 0 means one per processor.
    - ``decryption``: keys of an encrypted file. Default: none. Parts without a key are not checked.

    A damaged file does not raise: its damage is among the findings. Raises a ``ValueError`` for an unknown level or rule.

    >>> import marquetry
    >>> report = marquetry.verify(WINES)
    >>> bool(report), report.worst
    (True, None)
    >>> marquetry.verify(b"PAR1 and so on").findings[0].rule
    'footer-magic'
    """
    options = {"level": level, "rules": rules, "ignore": list(ignore), "threads": threads, "decryption": decryption}
    return _verification(_marquetry.verify(source, options))


def lint(
    source: Any,
    profile: str | os.PathLike[str] | None = None,
    *,
    most: int = 20,
    threads: int = 0,
    decryption: FileDecryptionProperties | None = None,
) -> Verification:
    """Checks a file against your own rules, as the command ``marquetry lint`` does.

    - ``source``: the file, as in :func:`open`.
    - ``profile``: path of a TOML file with severities of rules, the level, and limits such as rows of row groups, codecs, and columns that
      need bloom filters; see ``marquetry lint --help``. Default: ``.marquetry.toml`` of the working directory, or of the closest
      directory above it that has one. If none has, all rules of the format are checked, and any finding fails.
    - ``most``: maximum number of findings to list of each rule. Default: 20.
    - ``threads``: number of threads. The default 0 means one per processor.
    - ``decryption``: keys of an encrypted file. Default: none.

    >>> import marquetry
    >>> with open(FOLDER + "/house.toml", "w") as house:
    ...     _ = house.write("[limits]\\ncolumns = { max = 5 }")
    >>> report = marquetry.lint(WINES, FOLDER + "/house.toml")
    >>> report.fails, report.findings[0].rule
    (True, 'house-columns')
    """
    path = pathlib.Path(profile) if profile is not None else _found_profile()
    text = path.read_text(encoding="utf-8") if path is not None else ""
    options = {"profile": text, "most": most, "threads": threads, "decryption": decryption}
    return _verification(_marquetry.verify(source, options))


def _found_profile() -> pathlib.Path | None:
    here = pathlib.Path.cwd()
    profiles = (folder / ".marquetry.toml" for folder in (here, *here.parents))
    return next((profile for profile in profiles if profile.is_file()), None)


def _verification(raw: dict[str, Any]) -> Verification:
    return Verification(**{**raw, "findings": [Finding(**found) for found in raw["findings"]]})


@dataclass(frozen=True)
class Recovery:
    """The result of a recovery: what was kept of a broken file, and what was lost. It is true if a file was written.

    - ``schema``: origin of the schema; ``None`` if no schema is known.
    - ``rows``: number of rows that were kept.
    - ``bytes``, ``bytes_kept``: size of the broken file, and of the row groups that were kept of it.
    - ``decisions``: decisions about the whole file, as tuples of what was decided, the reason, and how certain it is.
    - ``row_groups``: row groups that were kept, as tuples of first byte, end, rows, lost columns that became null, and how it was found.
    - ``losses``: parts that were not kept, as tuples of first byte, end, rows (``None`` if unknown), and the reason.
    """

    schema: str | None
    rows: int
    bytes: int
    bytes_kept: int
    decisions: list[tuple[str, str, str]]
    row_groups: list[tuple[int, int, int, list[str], str]]
    losses: list[tuple[int, int, int | None, str]]

    def __bool__(self) -> bool:
        return bool(self.row_groups)

    def __str__(self) -> str:
        kept = f"{self.rows} rows in {len(self.row_groups)} row groups kept, {self.bytes_kept} of {self.bytes} bytes"
        return "\n".join([kept, *(f"lost: bytes {start} to {end}: {why}" for start, end, _, why in self.losses)])


def recover(
    source: Any,
    target: str | os.PathLike[str],
    *,
    partial: bool = False,
    keep_appended: bool = False,
    threads: int = 0,
    decryption: FileDecryptionProperties | None = None,
) -> Recovery:
    """Writes what can be saved of a broken file to a new file.

    - ``source``: the broken file, as in :func:`open`. It is only read.
    - ``target``: path of the new file. Nothing is written if nothing can be saved.
    - ``partial``: whether to keep row groups with lost columns, which become null. Default: false.
    - ``keep_appended``: whether to keep row groups that an interrupted change in place had added. Default: false, which restores the
      file as it was before the change.
    - ``threads``: number of threads. The default 0 means one per processor.
    - ``decryption``: keys of an encrypted file. The file is then cut after its last footer that they decrypt, and stays encrypted; the
      other options do not matter. Default: none.

    >>> import marquetry
    >>> cut = open(WINES, "rb").read()[:-100]
    >>> marquetry.recover(cut, FOLDER + "/saved.parquet").rows
    200
    """
    options = {"partial": partial, "keep_appended": keep_appended, "threads": threads, "decryption": decryption}
    return Recovery(**_marquetry.recover(source, os.fspath(target), options))


@dataclass(frozen=True)
class Explanation:
    """The result of :func:`explain`: how much of a file a filter can skip.

    ``rows_left`` is the number of rows that may match. ``stages`` are dictionaries of the stages of pruning, in their order: ``stage``,
    ``row_groups``, ``row_groups_left``, ``rows``, ``rows_left``, and ``bytes`` that were read.
    """

    filter: str
    rows: int
    rows_left: int
    stages: list[dict[str, Any]] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.filter}: at most {self.rows_left} of {self.rows} rows"]
        for stage in self.stages:
            lines.append(
                f"{stage['stage']}: {stage['row_groups_left']} of {stage['row_groups']} row groups, "
                f"{stage['rows_left']} of {stage['rows']} rows left, {stage['bytes']} bytes read"
            )
        return "\n".join(lines)


def explain(source: Any, filter: Any, *, decryption: FileDecryptionProperties | None = None) -> Explanation:
    """Reports what statistics, bloom filters, dictionaries and page indexes rule out for a filter, in this order.

    - ``source``: a :class:`File`, or anything that :func:`open` takes.
    - ``filter``: SQL text, tuples, or a pyarrow expression, as in :meth:`File.read`.
    - ``decryption``: keys of an encrypted file, unless ``source`` is a :class:`File`. Default: none.

    Raises ``TypeError`` if the filter is ``None``.

    >>> import marquetry
    >>> marquetry.explain(WINES, "year > 3000").rows_left
    0
    """
    file = source if isinstance(source, File) else File(source, decryption=decryption)
    text = predicate(filter, lambda: file.schema)
    if text is None:
        raise TypeError("a filter is wanted")
    stages, left = file._file.explain(text)
    names = ("stage", "row_groups", "row_groups_left", "rows", "rows_left", "bytes")
    return Explanation(text, file.num_rows, left, [dict(zip(names, stage)) for stage in stages])


def report(
    sources: Any,
    target: str | os.PathLike[str],
    *,
    filter: Any = None,
    verify: str = "quick",
    values: bool = True,
    decryption: FileDecryptionProperties | None = None,
) -> None:
    """Writes an HTML page about files: a map of their bytes down to pages, sizes and bounds of columns, violations of the format's rules.

    The page is a single file that loads nothing.

    - ``sources``: a file, or a list of files, as in :func:`open`.
    - ``target``: path of the page.
    - ``filter``: filter for which the page shows what can be skipped. Default: none.
    - ``verify``: level of the checks: ``none``, ``quick`` (the default), ``default`` or ``deep``.
    - ``values``: whether to show bounds of columns, which are values of the files. Default: true.
    - ``decryption``: keys of encrypted files. Default: none.

    >>> import marquetry
    >>> marquetry.report(WINES, FOLDER + "/wines.html", filter="price > 100")
    >>> "wines.parquet" in open(FOLDER + "/wines.html").read()
    True
    """
    listed = sources if isinstance(sources, (list, tuple)) else [sources]
    named = [(_name(source, f"file {i}"), source) for i, source in enumerate(listed)]
    options = {"filter": predicate(filter), "level": verify, "values": values, "decryption": decryption}
    _marquetry.report(named, os.fspath(target), options)


def _name(source: Any, otherwise: str) -> str:
    """Returns the name of a file without its directories, which readers of the page need not know, and without the query of a URL."""
    path = getattr(source, "name", source)
    if not isinstance(path, (str, os.PathLike)):
        return otherwise
    return os.fspath(path).split("?")[0].rstrip("/").rsplit("/", 1)[-1] or otherwise

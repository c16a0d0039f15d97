"""What is wrong with files, what is left of them, and what filters skip."""

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
    """A place in a file that breaks a rule."""

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
    """What is wrong with a file. True if nothing is; ``fails`` if something is invalid or corrupt, or as bad as a profile allows not."""

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
    """Holds a file against the rules of the format.

    ``level``: ``quick`` looks at metadata, ``default`` at every page, ``deep`` at every value. ``decryption`` has the keys of an encrypted
    file: what there is no key for is not looked at.

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
    """Holds a file against the rules of a house, as the command ``marquetry lint`` does.

    ``profile`` is the path of a file of TOML: severities of rules, how deep to look, limits such as rows of row groups, codecs, columns
    that have to have bloom filters; ``marquetry lint --help`` has all of it. Without one it is ``.marquetry.toml`` of this folder, or of
    the first above it that has one; if none has, all rules of the format are checked, and any finding fails. ``most`` findings of a rule
    are listed.

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
    """What was found in a broken file, kept and lost."""

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
    """Makes a whole file at ``target`` out of what is left of ``source``, which is only read.

    ``partial`` keeps row groups that have lost columns, too, as nulls. Nothing is written if nothing is left. With ``decryption``, the
    keys of an encrypted file, it is cut behind its last footer that they open, and stays encrypted.

    >>> import marquetry
    >>> cut = open(WINES, "rb").read()[:-100]
    >>> marquetry.recover(cut, FOLDER + "/saved.parquet").rows
    200
    """
    options = {"partial": partial, "keep_appended": keep_appended, "threads": threads, "decryption": decryption}
    return Recovery(**_marquetry.recover(source, os.fspath(target), options))


@dataclass(frozen=True)
class Explanation:
    """What of a file a filter lets be skipped."""

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
    """What statistics, bloom filters, dictionaries and page indexes rule out for a filter, one after the other. ``decryption``
    has the keys of an encrypted file.

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
    """Writes a page at ``target`` that shows where the bytes of one file, or of a list of them, are: a map from the file down to its pages,
    sizes and bounds of columns, what breaks the format's rules. It is one file of HTML, which loads nothing.

    ``filter`` shows what it lets be skipped. ``verify`` is how deep the rules are checked: ``none``, ``quick``, ``default`` or ``deep``.
    Bounds are values of the files: without ``values`` they are not shown. ``decryption`` has the keys of encrypted files.

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
    """The name without directories, which are nobody's business who reads the page, and without what a URL may have behind it."""
    path = getattr(source, "name", source)
    if not isinstance(path, (str, os.PathLike)):
        return otherwise
    return os.fspath(path).split("?")[0].rstrip("/").rsplit("/", 1)[-1] or otherwise

"""Writing files, and appending to them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Mapping

from . import _marquetry
from ._errors import make
from ._file import own_stream
from ._text_metadata import check_metadata, check_pairs

if TYPE_CHECKING:
    from typing import Self

    from ._marquetry import FileDecryptionProperties
    from .metadata import FileMetaData

_COLUMN_OPTIONS = ("compression", "encoding", "dictionary", "statistics", "data_page_size", "data_page_rows", "dictionary_page_size")


def _properties(options: Mapping[str, Any]) -> dict[str, Any]:
    """Splits options that are a dictionary by column into the form that the extension takes: ``NAME`` and ``column_NAME``."""
    out = dict(options)
    check_pairs(out.get("key_values"))
    for name in _COLUMN_OPTIONS:
        if isinstance(out.get(name), Mapping):
            out[f"column_{name}"] = [(column.split("."), value) for column, value in out.pop(name).items()]
    filters = out.pop("bloom_filters", None)
    if filters is not None:
        named = {column: None for column in filters} if not isinstance(filters, Mapping) else filters
        out["bloom_filters"] = [(column.split("."), (fpp, None)) for column, fpp in named.items()]
    return out


def check_names(data: Any) -> None:
    """Fails if a table, an array or a schema has a name with a NUL, at which Arrow's C interface would cut the name off."""
    library = type(data).__module__.partition(".")[0]
    if library == "pandas":
        names = [str(name) for name in getattr(data, "columns", ())]
        found = [name for name in names if "\0" in name]
    elif library == "pyarrow":
        shape = getattr(data, "schema", getattr(data, "type", data))
        fields = list(shape) if type(shape).__name__ in ("Schema", "StructType") else []
        # The text of a field also contains nested names.
        found = [field.name for field in fields if "\0" in str(field)]
    else:
        return
    if not found:
        return
    name = found[0]
    message = "names with a NUL character cannot be handed over by pyarrow: rename the column, or what is in it"
    raise make(("unsupported", message, f"unsupported: {message}, in column {name!r}", None, None), name, None, None, None)


class Writer:
    """A writer of a Parquet file. Use :func:`marquetry.create` to get one.

    As a context manager it closes the file at the end, and discards it after an exception.
    """

    def __init__(self, target: Any, schema: Any, options: Mapping[str, Any]) -> None:
        check_names(schema)
        check_metadata(schema)
        properties = _properties(options)
        date64 = properties.pop("date64", "date")
        if date64 not in ("date", "int64"):
            raise ValueError(f"date64 is {date64}, and should be date or int64")
        self._writer = _marquetry.Writer(target, schema, {"coerce_types": date64 == "date", **properties})
        self._metadata: FileMetaData | None = None

    def write(self, data: Any, progress: Callable[[int], object] | None = None) -> None:
        """Writes rows.

        - ``data``: any object with ``__arrow_c_stream__`` or ``__arrow_c_array__``.
        - ``progress``: function that is called after each batch, with the number of rows written so far by this call.

        If the first rows are refused, for example because of their type, the file stays as it was, and can be written to and closed.
        After any other error, and if a stream fails after some of its rows were written, the file is discarded.
        """
        check_names(data)
        check_metadata(data)
        self._writer.write(own_stream(data), None, progress)

    def flush(self) -> None:
        """Ends the current row group."""
        self._writer.flush()

    def add_metadata(self, key: str, value: str | None) -> None:
        """Adds a key-value pair to the metadata of the file."""
        self._writer.add_key_value(key, value)

    def close(self) -> FileMetaData:
        """Finishes the file, which then appears under its name, and returns its footer. Later calls return the same footer."""
        from .metadata import FileMetaData

        if self._metadata is None:
            self._metadata = FileMetaData._of(self._writer.close())
        return self._metadata

    def discard(self) -> None:
        """Discards the file: at a path, nothing is left of it."""
        self._writer.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self._writer.is_open:
            self.close()
        else:
            self.discard()


def create(target: Any, schema: Any, **options: Any) -> Writer:
    """Creates a Parquet file and returns its writer.

    ``target`` is a path or a file object. A file at a path appears once it is closed and complete, and replaces an existing one.
    ``schema`` is the Arrow schema of the rows: any object with ``__arrow_c_schema__``.

    Options by column, each a value for all columns or a dictionary from dotted paths to values:

    - ``compression``: codec, and optionally its level after a colon. Default: ``"zstd:1"``; ``"snappy"`` with ``compat="maximum"``.
    - ``encoding``: encoding, or ``"auto"`` (the default) to choose it by the values.
    - ``dictionary``: whether a column may have a dictionary. Default: ``encoding="auto"`` may choose one. With another encoding, true makes
      that the fallback for a dictionary that becomes too large.
    - ``statistics``: ``"none"``, ``"chunk"`` for column chunks, or ``"page"`` (the default) for pages, too.
    - ``data_page_size``: size at which a data page ends, in bytes before compression. Default: 1 MiB.
    - ``data_page_rows``: maximum number of rows of a data page. Default: 20,000.
    - ``dictionary_page_size``: maximum size of a dictionary page, in bytes. Default: 4 MiB.

    Options of the file:

    - ``bloom_filters``: columns with a bloom filter, or a dictionary from them to false positive probabilities, by default 0.05.
      Default: none.
    - ``row_group_rows``: maximum number of rows of a row group. Default: 2**20.
    - ``row_group_bytes``: size at which a row group ends, in bytes after encoding and compression. Default: unlimited.
    - ``page_version``: version of data page headers, ``"1.0"`` (the default) or ``"2.0"``.
    - ``checksums``: whether pages get checksums. Default: true.
    - ``page_index``: whether column indexes and offset indexes are written. Default: true. False is ignored if ``statistics="page"`` is
      given.
    - ``sorting_columns``: order of the rows to record in the footer, as triples of leaf column number, descending, nulls first. Rows are
      not sorted. Default: none.
    - ``key_values``: dictionary of texts for the metadata of the file. Default: none.
    - ``compat``: readers for which encodings are chosen: ``"maximum"``, ``"modern"`` (the default) or ``"latest"``.
    - ``threads``: number of threads that encode columns; 0 means one per processor. Default: 1.
    - ``memory_limit``: bytes of finished pages in memory, past which pages go to a temporary file. Default: unlimited.
    - ``arrow_schema``: whether the Arrow schema is stored in the file. Default: true. Without it a reader gets durations as integers,
      timestamps of any zone in UTC, dictionaries as their values, and extension types unknown to Parquet, such as ``arrow.bool8``, as
      their storage type.
    - ``date64``: how dates in milliseconds are stored. ``"date"`` (the default) stores DATE, which all readers support, and a value that is
      not a whole day is an error. ``"int64"`` stores integers, which the stored Arrow schema marks as dates.
    - ``content_defined_chunking``: minimum and maximum size of a page in bytes, and a level, as in ``(2**18, 2**20, 0)``, to end pages
      depending on their content. Default: off.
    - ``encryption``: keys, and the columns that they encrypt (:mod:`marquetry.encryption`). Default: not encrypted.

    >>> import marquetry, pyarrow as pa
    >>> batch = pa.record_batch({"price": [9.5, 12.0]})
    >>> with marquetry.create(FOLDER + "/prices.parquet", batch.schema, compression={"price": "snappy"}) as file:
    ...     file.write(batch)
    >>> marquetry.open(FOLDER + "/prices.parquet").num_rows
    2
    """
    return Writer(target, schema, options)


def append(
    path: str | os.PathLike[str],
    data: Any,
    *,
    copy: bool = False,
    decryption: FileDecryptionProperties | None = None,
    progress: Callable[[int], object] | None = None,
    **options: Any,
) -> FileMetaData:
    """Appends rows to the file at ``path``, as new row groups, and returns its new footer.

    - ``data``: rows, as any object with ``__arrow_c_stream__`` or ``__arrow_c_array__``, with the columns of the file in any order. Or
      another Parquet file (a path, a URL, bytes, a file object), whose row groups are copied without decoding.
    - ``copy``: whether to change a copy, which then replaces the file in one step. Default: false.
    - ``decryption``: keys of an encrypted file. Appended rows are encrypted as the columns of the file are. Default: none.
    - ``progress``: function that is called after each batch, with the number of rows appended so far. Only for rows.
    - other options: those of :func:`create`. Only for rows.

    Without ``copy`` the file is changed in place. The old footer stays until the new one is on disk, and after an error or Ctrl-C the
    file is as before; after a crash :func:`recover` restores it. Other programs cannot open the file meanwhile.

    Raises ``TypeError`` for options that do not apply to a Parquet file, and ``ValueError`` if a file is appended to itself.

    >>> import marquetry, pyarrow as pa
    >>> _ = marquetry.write(pa.table({"x": [1, 2]}), FOLDER + "/growing.parquet")
    >>> marquetry.append(FOLDER + "/growing.parquet", pa.table({"x": [3]})).num_rows
    3
    """
    from .metadata import FileMetaData

    rows = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    is_file = not rows
    if is_file:
        if options or progress is not None:
            names = ", ".join([*options, *(["progress"] if progress is not None else [])])
            raise TypeError(f"row groups of a file are copied as they are: {names} cannot be wanted of them")
        if isinstance(data, (str, os.PathLike)) and os.path.exists(data) and os.path.exists(path) and os.path.samefile(data, path):
            raise ValueError("a file cannot be appended to itself")
    check_names(data)
    check_metadata(data)
    footer = _marquetry.append(os.fspath(path), own_stream(data), is_file, _properties(options), copy, decryption, progress)
    return FileMetaData._of(footer)


def write(data: Any, target: Any, *, progress: Callable[[int], object] | None = None, **options: Any) -> FileMetaData:
    """Writes rows to a new Parquet file and returns its footer.

    - ``data``: a table, a stream, or any object with ``__arrow_c_stream__`` or ``__arrow_c_array__``.
    - ``target``: a path or a file object. A file at a path appears once it is complete, and replaces an existing one.
    - ``progress``: function that is called after each batch, with the number of rows written so far.
    - other options: those of :func:`create`.

    >>> import marquetry, polars as pl
    >>> marquetry.write(pl.DataFrame({"x": [1, 2, 3]}), FOLDER + "/x.parquet").num_rows
    3
    """
    check_names(data)
    check_metadata(data)
    data = schema = own_stream(data)
    if not hasattr(data, "__arrow_c_schema__"):
        # Its schema is that of the stream it exports.
        data = schema = _marquetry.Stream(data)
    with create(target, schema, **options) as writer:
        writer.write(data, progress)
    return writer.close()

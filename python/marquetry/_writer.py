"""Files that are written."""

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
    """Options that may be a dictionary by column become the two that the extension knows."""
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
    """Fails if a table, an array or a schema has a name with a NUL: Arrow's C interface would hand over what is before it as the name."""
    library = type(data).__module__.partition(".")[0]
    if library == "pandas":
        names = [str(name) for name in getattr(data, "columns", ())]
        found = [name for name in names if "\0" in name]
    elif library == "pyarrow":
        shape = getattr(data, "schema", getattr(data, "type", data))
        fields = list(shape) if type(shape).__name__ in ("Schema", "StructType") else []
        # Nested names are in the text, too.
        found = [field.name for field in fields if "\0" in str(field)]
    else:
        return
    if not found:
        return
    name = found[0]
    message = "names with a NUL character cannot be handed over by pyarrow: rename the column, or what is in it"
    raise make(("unsupported", message, f"unsupported: {message}, in column {name!r}", None, None), name, None, None, None)


class Writer:
    """A Parquet file that is being written. Made by :func:`marquetry.create`.

    As a context it is closed at the end; after an exception nothing is left of it.
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
        """Appends rows: anything that has ``__arrow_c_stream__`` or ``__arrow_c_array__``.

        ``progress`` is called with the number of rows that were taken so far, after each batch. Rows that are refused, such as those of
        another type, leave the file as it was, for others or for :meth:`close`. After any other failure, and if a stream fails behind
        rows that were taken, the file is given up.
        """
        check_names(data)
        check_metadata(data)
        self._writer.write(own_stream(data), None, progress)

    def flush(self) -> None:
        """Ends the row group."""
        self._writer.flush()

    def add_metadata(self, key: str, value: str | None) -> None:
        """Adds a pair to the metadata of the file."""
        self._writer.add_key_value(key, value)

    def close(self) -> FileMetaData:
        """Finishes the file, which has its name from then on. Says what the footer says."""
        from .metadata import FileMetaData

        if self._metadata is None:
            self._metadata = FileMetaData._of(self._writer.close())
        return self._metadata

    def discard(self) -> None:
        """Gives the file up: nothing is left of it."""
        self._writer.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self._writer.is_open:
            self.close()
        else:
            self.discard()


def create(target: Any, schema: Any, **options: Any) -> Writer:
    """Begins a Parquet file of rows of ``schema``, at a path or in a file object.

    At a path it appears when it is closed, complete, in place of one that was there. Options, with their defaults:

    - ``compression="zstd:1"``, ``encoding="auto"``, ``dictionary=True``, ``statistics="page"`` (``none``, ``chunk``),
      ``data_page_size=2**20``, ``data_page_rows=20000``, ``dictionary_page_size=2**22``: a value, or a dictionary by column;
    - ``bloom_filters``: columns, or a dictionary of them with how often each may be wrong;
    - ``row_group_rows=2**20``, ``row_group_bytes``, ``page_version="1.0"``, ``checksums=True``, ``page_index=True``,
      ``sorting_columns`` (triples of number, descending, nulls first), ``key_values``, ``compat="modern"`` (``maximum``,
      ``latest``), ``threads=1``, ``memory_limit``;
    - ``arrow_schema=True``: without it durations are numbers, instants of any zone are in UTC, dictionaries are their values, and extension types that
      Parquet does not know, such as ``arrow.bool8``, are what they are stored as;
    - ``date64="date"``: dates in milliseconds are DATE, which all readers know, and a value that is no whole day is an error; or ``int64``:
      numbers, which the Arrow schema in the file calls dates;
    - ``content_defined_chunking``: least and most bytes of a page, and a level, as ``(2**18, 2**20, 0)``: pages end where their content says;
    - ``encryption``: keys, and what is encrypted with them (:mod:`marquetry.encryption`).

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
    """Appends rows to the file at ``path``, as row groups behind those that it has. Says what its footer says then.

    ``data`` is anything that has ``__arrow_c_stream__`` or ``__arrow_c_array__``, with the columns of the file in any order; options are those
    of :func:`create`. Or it is another Parquet file (a path, a URL, bytes, a file object), whose row groups are copied without being
    decoded; then there are no options.

    The file is changed in place: the old footer stays until the new one is on the disk, and after an error or Ctrl-C the file is what
    it was; after a crash :func:`recover` brings the old one back. Until it is done, others cannot open the file. With ``copy`` a copy is
    changed, which takes the file's place in one step. ``decryption`` has the keys of an encrypted file: what is added is encrypted
    as the same columns are.

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
    """Writes a table, a stream, or anything else that has ``__arrow_c_stream__``; options as for :func:`create`.

    >>> import marquetry, polars as pl
    >>> marquetry.write(pl.DataFrame({"x": [1, 2, 3]}), FOLDER + "/x.parquet").num_rows
    3
    """
    check_names(data)
    check_metadata(data)
    data = schema = own_stream(data)
    if not hasattr(data, "__arrow_c_schema__"):
        # It says its schema when it is read.
        data = schema = _marquetry.Stream(data)
    with create(target, schema, **options) as writer:
        writer.write(data, progress)
    return writer.close()

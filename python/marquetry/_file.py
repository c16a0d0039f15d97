"""Reading one file, or many files as one table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence

from . import _marquetry
from ._filters import predicate
from ._marquetry import Batch, FileContent, FileDecryptionProperties, Schema
from ._show import html_of_file, html_of_schema, text_of_schema
from ._stream import Stream, exported

if TYPE_CHECKING:
    from .encryption import FileEncryption
    from .metadata import FileMetaData

    Filter = Any


class Table:
    """A table in memory, made of Arrow arrays.

    ``pyarrow.table``, ``polars.DataFrame``, DuckDB and pandas take it without a copy.

    >>> import marquetry
    >>> table = marquetry.open(WINES).read(columns=["name", "year"])
    >>> table.num_rows, table.column_names
    (200, ['name', 'year'])
    """

    def __init__(self, data: Any) -> None:
        self._table = data if isinstance(data, _marquetry.Table) else _marquetry.Table(own_stream(data))

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._table.num_rows

    @property
    def nbytes(self) -> int:
        """Size of the arrays' buffers in memory, in bytes."""
        return self._table.nbytes

    @property
    def schema(self) -> Schema:
        """The Arrow schema."""
        return self._table.schema

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return [name for name, _, _ in self.schema.fields()]

    def __len__(self) -> int:
        return self.num_rows

    def batches(self) -> list[Batch]:
        """Returns the record batches of the table."""
        return [self._table.batch(i) for i in range(self._table.num_batches)]

    def to_pyarrow(self) -> Any:
        """Converts the table to a ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """Converts the table to a ``pandas.DataFrame``, through pyarrow."""
        return self.to_pyarrow().to_pandas()

    def to_polars(self) -> Any:
        """Converts the table to a ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return exported(self._table, requested_schema)

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            import pyarrow
        except ImportError:
            raise TypeError("a table is pickled by pyarrow, which is not there") from None
        sink = pyarrow.BufferOutputStream()
        table = self.to_pyarrow()
        with pyarrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return _of_ipc, (sink.getvalue().to_pybytes(),)

    def __copy__(self) -> Table:
        return Table(self._table)

    def __deepcopy__(self, memo: object) -> Table:
        # Arrow arrays are immutable, so a copy can share them.
        return Table(self._table)

    def __repr__(self) -> str:
        return f"marquetry.Table: {self.num_rows} rows\n{text_of_schema(self.schema)}"

    def _repr_html_(self) -> str:
        return f"<b>marquetry.Table</b>: {self.num_rows:,} rows{html_of_schema(self.schema)}"


def _of_ipc(contents: bytes) -> Table:
    """Unpickles a table from an Arrow IPC stream."""
    import pyarrow

    with pyarrow.ipc.open_stream(contents) as reader:
        return Table(reader.read_all())


def own_stream(data: Any) -> Any:
    """Unwraps one of our objects to the extension's stream or table; returns another library's object as it is.

    Arrow's C stream interface would lose parts of a schema, and all of an error but its text.
    """
    if isinstance(data, Stream):
        return data._stream
    if isinstance(data, Table):
        return data._table
    return data._whole()._stream if isinstance(data, (File, Dataset)) else data


def _scan(options: dict[str, Any], filter: Filter, of: File | Dataset) -> dict[str, Any]:
    return {**options, "filter": predicate(filter, lambda: of.schema)}


class File:
    """A Parquet file that is open for reading. Use :func:`marquetry.open` to get one."""

    def __init__(self, source: Any, **options: Any) -> None:
        if isinstance(source, (bytearray, memoryview)):
            # The caller may change a mutable buffer, but could not while we held it. So a copy is read, and pickled.
            source = bytes(source)
        self._source, self._options = source, options
        self._file = _marquetry.File(source, options)

    @property
    def name(self) -> str | None:
        """Path or URL of the file; ``None`` for bytes and file objects."""
        return self._file.name

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._file.footer.num_rows

    @property
    def num_row_groups(self) -> int:
        """Number of row groups."""
        return self._file.footer.num_row_groups

    @property
    def schema(self) -> Schema:
        """The Arrow schema."""
        return self._file.schema()

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return [name for name, _, _ in self.schema.fields()]

    @property
    def metadata(self) -> FileMetaData:
        """The footer: row groups, column chunks, statistics, and the Parquet schema."""
        from .metadata import FileMetaData

        return FileMetaData._of(self._file.footer)

    @property
    def encryption(self) -> FileEncryption | None:
        """How the file is encrypted, according to its footer; ``None`` if it is not encrypted."""
        from .encryption import FileEncryption

        facts = self._file.footer.encryption
        return None if facts is None else FileEncryption(**facts)

    @property
    def recovered_end(self) -> int | None:
        """End of the footer that was read, as an offset in bytes; ``None`` if it is the end of the file.

        Set only with ``recover_checkpoint=True``, for a file without a footer at its end. Nothing after this offset is read.
        """
        return self._file.recovered_end

    def read(
        self,
        columns: Sequence[str] | None = None,
        filter: Filter = None,
        *,
        row_groups: Sequence[int] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        batch_size: int | None = None,
        threads: int = 0,
        row_numbers: str | None = None,
        on_corrupt: str = "fail",
    ) -> Table:
        """Reads rows into memory.

        - ``columns``: dotted paths of the columns to read, in the order wanted; a path selects all columns below it. Default: all.
        - ``filter``: rows to read, as SQL text, tuples, or a pyarrow expression (see :mod:`marquetry._filters`). Default: all.
        - ``row_groups``: numbers of the row groups to read, in this order. Default: all.
        - ``limit``, ``offset``: maximum number of rows to return, and number of rows to skip first; both count rows that pass the filter.
        - ``batch_size``: maximum number of rows in a batch. Default: 8,192.
        - ``threads``: number of threads that decode columns. The default 0 means one per processor.
        - ``row_numbers``: name of an additional column with each row's number in the file, counted from 0. Default: no such column.
        - ``on_corrupt``: what happens to a page that cannot be read: ``fail`` raises, ``skip_page`` leaves out its rows,
          ``skip_row_group`` leaves out its row group, and ``null_page`` makes its rows null in the whole top-level column.

        >>> import marquetry
        >>> marquetry.open(WINES).read(["year"], filter=[("year", ">=", 2020)]).column_names
        ['year']
        """
        options = {
            "columns": _names(columns), "row_groups": row_groups, "limit": limit, "offset": offset, "batch_size": batch_size,
            "threads": threads, "row_numbers": row_numbers, "on_corrupt": on_corrupt,
        }  # fmt: skip
        return Table(self._file.read(_scan(options, filter, self)))

    def stream(
        self,
        columns: Sequence[str] | None = None,
        filter: Filter = None,
        *,
        row_groups: Sequence[int] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        batch_size: int | None = None,
        threads: int = 0,
        row_numbers: str | None = None,
        on_corrupt: str = "fail",
    ) -> Stream:
        """Reads rows lazily, batch by batch. The arguments are those of :meth:`read`."""
        options = {
            "columns": _names(columns), "row_groups": row_groups, "limit": limit, "offset": offset, "batch_size": batch_size,
            "threads": threads, "row_numbers": row_numbers, "on_corrupt": on_corrupt,
        }  # fmt: skip
        return Stream(self._file.stream(_scan(options, filter, self)))

    iter_batches = stream

    def files(
        self,
        column: str,
        filter: Filter = None,
        *,
        allow: Sequence[str] = (),
        compare: bool = True,
        limit: int | None = None,
        offset: int | None = None,
    ) -> Iterator[FileContent | None]:
        """Iterates over the bytes that the values of a FILE column refer to, row by row.

        Yields a reader for each row, ``None`` for a null. A reader has ``read(size=-1)``, and the attributes ``uri``, ``offset``, ``size``,
        ``content_type`` and ``checksum`` of the value. It opens its target at the first read.

        - ``column``: dotted path of the FILE column.
        - ``filter``, ``limit``, ``offset``: the rows, as in :meth:`read`.
        - ``allow``: directories, and prefixes of URLs, below which other files may be opened. Default: none. Bytes that are inline or in
          this file can always be read. Relative URIs are relative to the directory of this file.
        - ``compare``: whether a reader raises at its end if the checksum does not match. Default: true.
        """
        path = self._source if isinstance(self._source, (str, os.PathLike)) else None
        base = None if path is None or "://" in os.fspath(path) else os.path.dirname(os.path.abspath(os.fspath(path)))
        options = _scan({"columns": [column], "limit": limit, "offset": offset}, filter, self)
        return iter(self._file.files(options, [os.fspath(allowed) for allowed in allow], compare, base))

    def explain(self, filter: Filter) -> Explanation:
        """Reports how much of the file a filter can skip; see :func:`marquetry.explain`."""
        from ._reports import explain

        return explain(self, filter)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Exports a stream of all rows. Each call reads the file again."""
        return self._whole().__arrow_c_stream__(requested_schema)

    def _whole(self) -> Stream:
        return _in_large_batches(lambda rows: self.stream(batch_size=rows))

    def __reduce__(self) -> Any:
        return _opened, (self._source, self._options)

    def __repr__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return (
            f"marquetry.File{name}: {self.num_rows} rows, {self.num_row_groups} row groups\n{text_of_schema(self.schema)}"
        )

    def _repr_html_(self) -> str:
        return html_of_file(self)


def _in_large_batches(stream: Callable[[int], Stream]) -> Stream:
    """Streams batches of 65,536 rows, or of 8,192 if a column has 16-bit run ends, which cannot count that far."""
    large = stream(65536)
    if not any("RunEndEncoded(" in text and " Int16," in text for _, text, _ in large.schema.fields()):
        return large
    large.close()
    return stream(8192)


def _names(columns: Sequence[str] | None) -> list[str] | None:
    if isinstance(columns, str):
        raise TypeError("columns are a list of names, not one name")
    return None if columns is None else list(columns)


def _opened(source: Any, options: dict[str, Any]) -> File:
    return File(source, **options)


def open(
    source: Any,
    *,
    text: str = "utf8_view",
    int96: str = "auto",
    verify_checksums: bool = True,
    ignore_arrow_schema: bool = False,
    recover_checkpoint: bool = False,
    schema: Any = None,
    decryption: FileDecryptionProperties | None = None,
) -> File:
    """Opens a Parquet file and reads its footer.

    - ``source``: a path, a URL (``s3://``, ``gs://``, ``az://``, ``https://``), ``bytes``, or a binary file object.
    - ``text``: Arrow layout of text and other byte strings: ``utf8``, ``large_utf8`` or ``utf8_view`` (the default).
    - ``int96``: unit of INT96 timestamps: ``s``, ``ms``, ``us``, ``ns``, or ``auto`` (the default) for the finest that holds all values
      of a column: ``ns``, unless it has times before 1677 or after 2262. Finer digits than the unit's are cut off, towards the past.
    - ``verify_checksums``: whether pages are checked against their checksums, if they have any. Default: true.
    - ``ignore_arrow_schema``: whether to ignore the Arrow schema that is stored in the file. Default: false.
    - ``recover_checkpoint``: whether to read a file without a footer at its end, whose writer died, up to its last checkpoint.
      Default: false.
    - ``schema``: Arrow schema to read the file as. Default: derived from the file.
    - ``decryption``: keys of an encrypted file (:mod:`marquetry.encryption`). Default: none.

    Raises a subclass of :class:`marquetry.Error` if the file cannot be read. For a missing file it is also a ``FileNotFoundError``.

    >>> import marquetry
    >>> marquetry.open(WINES).num_row_groups
    2
    >>> import io
    >>> with io.open(WINES, "rb") as file:
    ...     marquetry.open(file).num_rows
    200
    """
    return File(
        source, text=text, int96=int96, verify_checksums=verify_checksums, ignore_arrow_schema=ignore_arrow_schema,
        recover_checkpoint=recover_checkpoint, schema=schema, decryption=decryption,
    )  # fmt: skip


class Dataset:
    """Many files that are read as one table. Use :func:`marquetry.dataset` to get one."""

    def __init__(self, paths: Any, union_by_name: bool = False, partitions: bool = True, **options: Any) -> None:
        if isinstance(paths, (str, os.PathLike)):
            paths = [paths]
        self._arguments = ([os.fspath(path) for path in paths], union_by_name, partitions)
        self._options = options
        self._dataset = _marquetry.Dataset(*self._arguments)

    @property
    def files(self) -> list[str]:
        """Paths of the files, in reading order."""
        return [os.fspath(path) for path in self._dataset.files()]

    @property
    def num_rows(self) -> int:
        """Total number of rows of all files. Reads all footers."""
        return self._dataset.num_rows(self._options)

    @property
    def schema(self) -> Schema:
        """The Arrow schema of the table."""
        return self._dataset.schema(self._options)

    def stream(
        self,
        columns: Sequence[str] | None = None,
        filter: Filter = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        batch_size: int | None = None,
    ) -> Stream:
        """Reads rows lazily, batch by batch. The arguments are those of :meth:`File.read`.

        Files that partition values or statistics rule out are skipped.
        """
        options = {"columns": _names(columns), "limit": limit, "offset": offset, "batch_size": batch_size}
        return Stream(self._dataset.stream(self._options, _scan(options, filter, self)))

    iter_batches = stream

    def read(
        self,
        columns: Sequence[str] | None = None,
        filter: Filter = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
    ) -> Table:
        """Reads rows into memory. The arguments are those of :meth:`File.read`."""
        return Table(
            _in_large_batches(lambda rows: self.stream(columns, filter, limit=limit, offset=offset, batch_size=rows))
        )

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._whole().__arrow_c_stream__(requested_schema)

    def _whole(self) -> Stream:
        return _in_large_batches(lambda rows: self.stream(batch_size=rows))

    def __reduce__(self) -> Any:
        return _dataset_of, (self._arguments, self._options)

    def __repr__(self) -> str:
        return f"marquetry.Dataset: {len(self.files)} files\n{text_of_schema(self.schema)}"


def _dataset_of(arguments: tuple[Any, ...], options: dict[str, Any]) -> Dataset:
    return Dataset(*arguments, **options)


def dataset(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    union_by_name: bool = False,
    partitions: bool = True,
    text: str = "utf8_view",
    int96: str = "auto",
    verify_checksums: bool = True,
    decryption: FileDecryptionProperties | None = None,
) -> Dataset:
    """Opens many files as one table.

    - ``paths``: a path, or several: files, directories, glob patterns, or a ``_metadata`` file.
    - ``union_by_name``: whether the schema has the columns of all files. By default it is the first file's schema. With it, a column
      that has type null in the first file gets its type from the others.
    - ``partitions``: whether directories named ``key=value`` become columns. Default: true.
    - ``text``, ``int96``, ``verify_checksums``: as in :func:`open`.
    - ``decryption``: keys of encrypted files (:mod:`marquetry.encryption`). Default: none.

    >>> import marquetry
    >>> marquetry.dataset([WINES, WINES]).num_rows
    400
    """
    return Dataset(
        paths, union_by_name, partitions, text=text, int96=int96, verify_checksums=verify_checksums, decryption=decryption,
    )  # fmt: skip


if TYPE_CHECKING:
    from ._reports import Explanation

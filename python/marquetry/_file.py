"""Files that are read: one, or many as one table."""

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
    """Rows in memory, as Arrow arrays: hand it to ``pyarrow.table``, ``polars.DataFrame``, DuckDB, pandas.

    >>> import marquetry
    >>> table = marquetry.open(WINES).read(columns=["name", "year"])
    >>> table.num_rows, table.column_names
    (200, ['name', 'year'])
    """

    def __init__(self, data: Any) -> None:
        self._table = data if isinstance(data, _marquetry.Table) else _marquetry.Table(own_stream(data))

    @property
    def num_rows(self) -> int:
        """How many rows."""
        return self._table.num_rows

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
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
        """The batches that the table is made of."""
        return [self._table.batch(i) for i in range(self._table.num_batches)]

    def to_pyarrow(self) -> Any:
        """As a ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """As a ``pandas.DataFrame``."""
        return self.to_pyarrow().to_pandas()

    def to_polars(self) -> Any:
        """As a ``polars.DataFrame``."""
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
        # Nothing changes the arrays.
        return Table(self._table)

    def __repr__(self) -> str:
        return f"marquetry.Table: {self.num_rows} rows\n{text_of_schema(self.schema)}"

    def _repr_html_(self) -> str:
        return f"<b>marquetry.Table</b>: {self.num_rows:,} rows{html_of_schema(self.schema)}"


def _of_ipc(contents: bytes) -> Table:
    """A table that was pickled."""
    import pyarrow

    with pyarrow.ipc.open_stream(contents) as reader:
        return Table(reader.read_all())


def own_stream(data: Any) -> Any:
    """The extension's stream or table of what is ours, and what is another library's as it is: Arrow's C streams hand over the text of an
    error only, and not all of a schema."""
    if isinstance(data, Stream):
        return data._stream
    if isinstance(data, Table):
        return data._table
    return data._whole()._stream if isinstance(data, (File, Dataset)) else data


def _scan(options: dict[str, Any], filter: Filter, of: File | Dataset) -> dict[str, Any]:
    return {**options, "filter": predicate(filter, lambda: of.schema)}


class File:
    """A Parquet file whose footer was read. Made by :func:`marquetry.open`."""

    def __init__(self, source: Any, **options: Any) -> None:
        if isinstance(source, (bytearray, memoryview)):
            # Whoever has them may change them, and cannot while they are held: a copy is read, and pickled.
            source = bytes(source)
        self._source, self._options = source, options
        self._file = _marquetry.File(source, options)

    @property
    def name(self) -> str | None:
        """Path or URL, if it has one."""
        return self._file.name

    @property
    def num_rows(self) -> int:
        """How many rows."""
        return self._file.footer.num_rows

    @property
    def num_row_groups(self) -> int:
        """How many row groups."""
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
        """All that the footer says: row groups, column chunks, statistics, the Parquet schema."""
        from .metadata import FileMetaData

        return FileMetaData._of(self._file.footer)

    @property
    def encryption(self) -> FileEncryption | None:
        """How the file is encrypted, as it says itself; ``None`` if it is not."""
        from .encryption import FileEncryption

        facts = self._file.footer.encryption
        return None if facts is None else FileEncryption(**facts)

    @property
    def recovered_end(self) -> int | None:
        """Where the footer that was read ends, if it is that of a checkpoint: nothing from there on is read."""
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

        ``columns``: dotted paths, in the order that is wanted; default all. ``filter``: see :mod:`marquetry._filters`: text,
        tuples, or an expression of pyarrow. ``limit`` and ``offset`` count the rows that are wanted. ``threads``: how many decode,
        0 for one for each processor. ``row_numbers``: the name of a column that has each row's number in the file.
        ``on_corrupt``: ``fail``, or leave out ``skip_page``, ``skip_row_group``, or ``null_page``.

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
        """Reads rows as they are asked for, with the arguments of :meth:`read`. ``batch_size``: rows in a batch, default 8,192."""
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
        """Readers of the bytes that the values of a column of FILE refer to, row by row; None where there is no value.

        A reader has ``read(size=-1)``, and ``uri``, ``offset``, ``size``, ``content_type``, ``checksum`` as the value says them. Nothing is
        opened before it is read. Bytes in the values and of this file are given; other files only below the directories, and with
        URLs below the prefixes, that ``allow`` names. Relative URIs are relative to the directory of this file.
        ``compare``: whether a reader fails at its end if the checksum is another.
        """
        path = self._source if isinstance(self._source, (str, os.PathLike)) else None
        base = None if path is None or "://" in os.fspath(path) else os.path.dirname(os.path.abspath(os.fspath(path)))
        options = _scan({"columns": [column], "limit": limit, "offset": offset}, filter, self)
        return iter(self._file.files(options, [os.fspath(allowed) for allowed in allow], compare, base))

    def explain(self, filter: Filter) -> Explanation:
        """What of the file a filter lets be skipped."""
        from ._reports import explain

        return explain(self, filter)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """All rows, read anew each time."""
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
    """Rows in large batches, but where the ends of runs have 16 bits."""
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
    """Opens a Parquet file: a path, a URL (``s3://``, ``gs://``, ``az://``, ``https://``), ``bytes``, or a file object.

    ``text`` is the layout of text: ``utf8``, ``large_utf8`` or ``utf8_view``. ``int96`` is the unit of old timestamps: ``s``,
    ``ms``, ``us``, ``ns``, or ``auto`` for the finest that holds all. ``schema`` is an Arrow schema to read the file as.
    ``recover_checkpoint`` reads a file whose writer died up to its last checkpoint. ``decryption`` has the keys of an encrypted file:
    :mod:`marquetry.encryption`.

    Raises :class:`marquetry.Error`: a missing file is a ``FileNotFoundError``, too.

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
    """Many files as one table. Made by :func:`marquetry.dataset`."""

    def __init__(self, paths: Any, union_by_name: bool = False, partitions: bool = True, **options: Any) -> None:
        if isinstance(paths, (str, os.PathLike)):
            paths = [paths]
        self._arguments = ([os.fspath(path) for path in paths], union_by_name, partitions)
        self._options = options
        self._dataset = _marquetry.Dataset(*self._arguments)

    @property
    def files(self) -> list[str]:
        """Paths of the files, in the order in which they are read."""
        return [os.fspath(path) for path in self._dataset.files()]

    @property
    def num_rows(self) -> int:
        """How many rows all files have."""
        return self._dataset.num_rows(self._options)

    @property
    def schema(self) -> Schema:
        """The Arrow schema that all files are read as."""
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
        """Reads rows as they are asked for. Partitions and statistics rule out files."""
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
        """Reads rows into memory."""
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
    """Opens files that are read as one table: files, folders, patterns, ``_metadata``.

    Folders called ``key=value`` are columns unless ``partitions`` is false. The schema is the first file's, and with
    ``union_by_name`` has the columns of all; so has a column its type, where the first file has no values of it. ``decryption`` has the keys of encrypted files: :mod:`marquetry.encryption`.

    >>> import marquetry
    >>> marquetry.dataset([WINES, WINES]).num_rows
    400
    """
    return Dataset(
        paths, union_by_name, partitions, text=text, int96=int96, verify_checksums=verify_checksums, decryption=decryption,
    )  # fmt: skip


if TYPE_CHECKING:
    from ._reports import Explanation

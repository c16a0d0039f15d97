"""Reading one file, with the names of ``pyarrow.parquet``."""

from __future__ import annotations

import io
import json
from typing import Any, Iterator, Sequence

import pyarrow as pa

from .. import _marquetry
from .._errors import LimitError
from ..metadata._file import FileMetaData, ParquetSchema, as_metadata
from ._binary_metadata import read_batch, read_schema, read_table
from ._errors import as_pyarrow
from ._int96 import in_schema
from ._keys import as_decryption
from ._limits import check_thrift, depth, limit
from ._source import input_of, is_path
from ._types import chosen, layout_of, map_fields, without_extensions


class ParquetFile:
    """A Parquet file that is open for reading, with the arguments, methods and properties of ``pyarrow.parquet.ParquetFile``.

    - ``source``: a path or URI, a file object, or a ``pyarrow.Buffer``.
    - ``metadata``: footer that ``metadata`` and ``schema`` return, instead of the file's. Default: none.
    - ``common_metadata``: footer of a ``_common_metadata`` file, which may have the metadata of pandas. Default: none.
    - other options: as in :func:`read_table`.

    >>> import marquetry.parquet as pq
    >>> file = pq.ParquetFile(WINES)
    >>> file.metadata.num_rows, file.read(columns=["year"]).num_rows
    (200, 200)
    """

    def __init__(
        self,
        source: Any,
        *,
        metadata: Any = None,
        common_metadata: Any = None,
        read_dictionary: Sequence[str] | None = None,
        binary_type: Any = None,
        list_type: Any = None,
        memory_map: bool = False,
        buffer_size: int = 0,
        pre_buffer: bool = True,
        coerce_int96_timestamp_unit: str | None = None,
        decryption_properties: Any = None,
        thrift_string_size_limit: int | None = None,
        thrift_container_size_limit: int | None = None,
        schema_depth_limit: int | None = None,
        filesystem: Any = None,
        page_checksum_verification: bool = False,
        arrow_extensions_enabled: bool = True,
    ) -> None:
        _check_unit(coerce_int96_timestamp_unit)
        if buffer_size < 0:
            raise ValueError(f"buffer_size must not be negative, and is {buffer_size}")
        self._source, self._own = source, None
        self._schema_arrow: pa.Schema | None = None
        self._opened: _marquetry.File | None = None
        self._is_closed, self._leave_open = False, not is_path(source)
        options: dict[str, Any] = {
            "types_of_pyarrow": True,
            "int96": coerce_int96_timestamp_unit or "ns",
            "verify_checksums": page_checksum_verification,
            "schema_depth": depth(limit("schema_depth_limit", schema_depth_limit)),
            "decryption": as_decryption(decryption_properties),
        }
        with as_pyarrow(opening=True):
            input, name, self._own = input_of(source, filesystem, memory_map)
            self._file = self._open(input, options, name)
        self._input, self._name, self._options = input, name, options
        self._footer = self._file.footer
        self._metadata = as_metadata(metadata) if metadata is not None else FileMetaData._of(self._footer)
        self.common_metadata = common_metadata
        check_thrift(self._footer, thrift_string_size_limit, thrift_container_size_limit)
        self._read_as(read_dictionary, binary_type, list_type, arrow_extensions_enabled)

    def _open(self, input: Any, options: dict[str, Any], name: str | None) -> _marquetry.File:
        try:
            return _marquetry.File(input, options, name)
        except BaseException as error:
            _of_tiny_file(error, input)
            raise

    @property
    def _file(self) -> _marquetry.File:
        """The open file. After it was closed, a file with nothing but its footer, which can still be asked for its schema."""
        if self._opened is None:
            out = io.BytesIO()
            FileMetaData._of(self._footer).write_metadata_file(out)
            self._opened = _marquetry.File(out.getvalue(), {**self._options, "decryption": None}, self._name)
        return self._opened

    @_file.setter
    def _file(self, file: _marquetry.File) -> None:
        self._opened = file

    def _read_as(self, read_dictionary: Any, binary_type: Any, list_type: Any, extensions: bool) -> None:
        """Opens the file again if the arguments give columns other types."""
        options = dict(self._options)
        if read_dictionary:
            paths = [column.path for column in self.schema]
            # Columns may also be given by their numbers.
            read_dictionary = [paths[name] if isinstance(name, int) else name for name in read_dictionary]
            known = set(paths)
            for name in read_dictionary:
                if name not in known:
                    raise KeyError(name)
        layout = layout_of(binary_type)
        # Dictionaries have only one layout of strings, so with another layout there are no dictionaries.
        if layout is not None:
            options["text_of_dictionaries"] = layout
        elif read_dictionary:
            # A column with the extension type JSON keeps it.
            are_json = {column.path for column in self.schema if extensions and column.logical_type.type == "JSON"}
            options["dictionary_columns"] = set(read_dictionary) - are_json
        if options != self._options:
            self._file = self._open(self._input, options, self._name)
        change = chosen(binary_type, list_type)
        # Stored types take precedence over the arguments.
        is_stored = b"ARROW:schema" in (self._metadata.metadata or {})
        if not is_stored and (change is not None or not extensions):
            with as_pyarrow(opening=True):
                wanted = pa.schema(self._file.schema())
                wanted = wanted if change is None else map_fields(wanted, change)
                options["schema"] = wanted if extensions else without_extensions(wanted)
                self._file = self._open(self._input, options, self._name)
        self._options = options

    # Metadata

    @property
    def metadata(self) -> FileMetaData:
        """The footer."""
        return self._metadata

    @property
    def schema(self) -> ParquetSchema:
        """The Parquet schema."""
        return self._metadata.schema

    @property
    def schema_arrow(self) -> pa.Schema:
        """The Arrow schema."""
        if self._schema_arrow is None:
            with as_pyarrow(opening=True):
                self._schema_arrow = read_schema(self._file.schema())
        return self._schema_arrow

    def _schema_of(self, roots: list[str]) -> pa.Schema:
        """Returns the Arrow schema of the columns at and below some names. The whole schema of a wide file takes long."""
        if self._schema_arrow is not None:
            return self._schema_arrow
        with as_pyarrow(opening=True):
            return read_schema(self._file.schema(self._file.footer.paths_below(roots)))

    @property
    def num_row_groups(self) -> int:
        """Number of row groups."""
        return self._metadata.num_row_groups

    @property
    def reader(self) -> ParquetReader:
        """The file as a :class:`ParquetReader`, which identifies columns by number."""
        return ParquetReader(self)

    # Reading

    def read(
        self, columns: Sequence[str] | None = None, use_threads: bool = True, use_pandas_metadata: bool = False
    ) -> pa.Table:
        """Reads all row groups.

        - ``columns``: names or dotted paths of columns; unknown ones are ignored. Default: all.
        - ``use_threads``: whether several threads decode columns. Default: true.
        - ``use_pandas_metadata``: whether to read the index columns of pandas, too. Default: false.
        """
        return self._read(None, columns, use_threads, use_pandas_metadata)

    def read_row_group(
        self,
        i: int,
        columns: Sequence[str] | None = None,
        use_threads: bool = True,
        use_pandas_metadata: bool = False,
    ) -> pa.Table:
        """Reads a row group, by its number. The other arguments are those of :meth:`read`."""
        return self._read([i], columns, use_threads, use_pandas_metadata)

    def read_row_groups(
        self,
        row_groups: Sequence[int],
        columns: Sequence[str] | None = None,
        use_threads: bool = True,
        use_pandas_metadata: bool = False,
    ) -> pa.Table:
        """Reads row groups, by their numbers. The other arguments are those of :meth:`read`."""
        return self._read(list(row_groups), columns, use_threads, use_pandas_metadata)

    def _read(
        self,
        row_groups: list[int] | None,
        columns: Sequence[str] | None,
        use_threads: bool,
        use_pandas_metadata: bool,
        whole: str = "file",
        filter: str | None = None,
    ) -> pa.Table:
        options = self._scan(row_groups, columns, use_threads, use_pandas_metadata)
        options["filter"] = filter
        with as_pyarrow():
            return self._table(options, whole)

    def _table(self, options: dict[str, Any], whole: str) -> pa.Table:
        try:
            return read_table(self._file.read(options, whole))
        except LimitError:
            paths = self._beyond_nanoseconds(options)
            if not paths:
                raise
        # The other columns keep nanoseconds.
        wanted = [column.path for column in self.schema] if options["columns"] is None else options["columns"]
        table = read_table(self._file.read({**options, "columns": [path for path in wanted if path not in paths]}, whole))
        options_of_file = {**self._options, "int96": "auto", "ignore_arrow_schema": True, "schema": None}
        # Read as one: each row group by itself could get another unit.
        coarse = self._open(self._input, options_of_file, self._name).read({**options, "columns": paths}, "file")
        columns = {column: table for column in table.column_names}
        others = in_schema(read_table(coarse), self._schema_of([path.split(".")[0] for path in paths]))
        columns.update({column: others for column in others.column_names})
        names = list(dict.fromkeys(path.split(".")[0] for path in wanted))
        fields = [columns[name].schema.field(name) for name in names]
        schema = pa.schema(fields, metadata=table.schema.metadata)
        return pa.table([columns[name].column(name) for name in names], schema=schema)

    def _beyond_nanoseconds(self, options: dict[str, Any]) -> list[str]:
        """Returns the paths below root columns with INT96 timestamps that nanoseconds cannot hold."""
        if self._options["int96"] != "ns":
            return []
        wanted = [column.path for column in self.schema] if options["columns"] is None else options["columns"]
        roots = {column.path.split(".")[0] for column in self.schema if column.physical_type == "INT96"}
        beyond = []
        for root in roots:
            paths = [path for path in wanted if path.split(".")[0] == root]
            try:
                self._file.read({**options, "columns": paths})
            except LimitError:
                beyond += paths
        return beyond

    def _scan(
        self,
        row_groups: list[int] | None,
        columns: Sequence[str] | None,
        use_threads: bool,
        use_pandas_metadata: bool,
    ) -> dict[str, Any]:
        self._check_open()
        for i in row_groups or []:
            if not 0 <= i < self.num_row_groups:
                raise pa.ArrowInvalid(f"row group {i} of a file with num_row_groups={self.num_row_groups}")
        paths = self._leaf_paths(columns, use_pandas_metadata)
        return {"row_groups": row_groups, "columns": paths, "threads": 0 if use_threads else 1}

    def _leaf_paths(self, columns: Sequence[str] | None, use_pandas_metadata: bool) -> list[str] | None:
        """Returns the columns at and below the paths. Unknown paths are ignored, as in pyarrow."""
        if columns is None:
            return None
        wanted = list(columns)
        if use_pandas_metadata:
            pairs = self.schema_arrow.metadata
            if b"pandas" not in (pairs or {}) and self.common_metadata is not None:
                pairs = self.common_metadata.metadata
            wanted += index_columns(pairs, wanted)
        other = next((name for name in wanted if not isinstance(name, str)), None)
        if other is not None:
            raise TypeError(f"columns are names, and not {type(other).__name__}")
        return self._file.footer.paths_below(wanted)

    def iter_batches(
        self,
        batch_size: int = 65536,
        row_groups: Sequence[int] | None = None,
        columns: Sequence[str] | None = None,
        use_threads: bool = True,
        use_pandas_metadata: bool = False,
    ) -> Iterator[pa.RecordBatch]:
        """Reads record batches lazily.

        - ``batch_size``: maximum number of rows in a batch. Default: 65,536.
        - ``row_groups``: numbers of the row groups to read. Default: all.
        - other arguments: those of :meth:`read`.
        """
        if batch_size <= 0:
            raise ValueError(f"batch_size must be greater than zero, and is {batch_size}")
        groups = None if row_groups is None else list(row_groups)
        options = self._scan(groups, columns, use_threads, use_pandas_metadata)
        options["batch_size"] = batch_size
        with as_pyarrow():
            stream = self._file.stream(options)
        return self._batches(stream, options)

    def _batches(self, stream: _marquetry.Stream, options: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        rows = 0
        try:
            with as_pyarrow():
                while (batch := next(stream, None)) is not None:
                    rows += batch.num_rows
                    yield read_batch(batch)
        except pa.ArrowInvalid as error:
            if not isinstance(error.__cause__, LimitError) or not self._beyond_nanoseconds(options):
                raise
            yield from self._batches_of_row_groups(rows, options)
        finally:
            stream.close()

    def _batches_of_row_groups(self, begin: int, options: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        """Yields the batches from row ``begin`` on, reading each row group as a whole."""
        size = options["batch_size"]
        for group in range(self.num_row_groups) if options["row_groups"] is None else options["row_groups"]:
            rows = self._metadata.row_group(group).num_rows
            if begin < rows:
                scan = {**options, "row_groups": [group], "batch_size": None}
                with as_pyarrow():
                    table = self._table(scan, "file")
                yield from table.slice(begin).to_batches(max_chunksize=size)
            begin = max(begin - rows, 0)

    def scan_contents(self, columns: Sequence[str] | None = None, batch_size: int = 65536) -> int:
        """Reads columns and returns the number of rows. Raises ``KeyError`` for an unknown column."""
        if columns is not None:
            missing = [name for name in columns if not self._file.footer.paths_below([name])]
            if missing:
                raise KeyError(missing[0])
        return sum(batch.num_rows for batch in self.iter_batches(batch_size, columns=columns))

    # Closing

    def _check_open(self) -> None:
        if self.closed:
            raise pa.ArrowInvalid("I/O operation on closed file")

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        if self._leave_open and not self._is_closed:
            return bool(getattr(self._source, "closed", False))
        return self._is_closed

    def close(self, force: bool = False) -> None:
        """Closes the file. A file object of the caller stays open unless ``force`` is true."""
        if self._leave_open and not force:
            return
        if not self._is_closed:
            # Drops our reference. Iterators over batches keep the file open until they end.
            self._is_closed, self._opened = True, None
        if self._own is not None:
            self._own.close()
        elif self._leave_open and hasattr(self._source, "close"):
            self._source.close()

    def __enter__(self) -> ParquetFile:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class ParquetReader:
    """The type of ``ParquetFile.reader``, which identifies columns by their numbers."""

    def __init__(self, file: ParquetFile | None = None) -> None:
        self._file, self._threads, self._batch_size = file, True, 65536

    def open(self, source: Any, **options: Any) -> None:
        """Opens a file, with the options of :class:`ParquetFile`."""
        options.pop("use_memory_map", None)
        self._file = ParquetFile(source, **options)

    def _opened(self) -> ParquetFile:
        if self._file is None:
            raise ValueError("the reader has no file: open one")
        return self._file

    metadata = property(lambda self: self._opened().metadata, doc="The footer.")
    schema_arrow = property(lambda self: self._opened().schema_arrow, doc="The Arrow schema.")
    num_row_groups = property(lambda self: self._opened().num_row_groups, doc="Number of row groups.")
    closed = property(lambda self: self._file is None or self._file.closed, doc="Whether the file was closed, or was never opened.")

    @property
    def column_paths(self) -> list[list[str]]:
        """Paths of the columns, as lists of names."""
        return [list(column._leaf["path"]) for column in self._opened().schema]

    def _dotted(self) -> list[str]:
        return [column.path for column in self._opened().schema]

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close(force=True)

    def set_use_threads(self, use_threads: bool) -> None:
        """Sets whether several threads read."""
        self._threads = use_threads

    def set_batch_size(self, batch_size: int) -> None:
        """Sets the number of rows in a batch."""
        self._batch_size = batch_size

    def column_name_idx(self, column_name: str) -> int:
        """Returns the number of a column by its dotted path. Raises ``KeyError`` for an unknown one."""
        paths = self._dotted()
        if column_name not in paths:
            raise KeyError(column_name)
        return paths.index(column_name)

    def _paths(self, column_indices: Sequence[int] | None) -> list[str] | None:
        paths = self._dotted()
        return None if column_indices is None else [paths[i] for i in column_indices]

    def read_all(self, column_indices: Sequence[int] | None = None, use_threads: bool = True) -> pa.Table:
        """Reads all row groups."""
        return self._opened().read(self._paths(column_indices), use_threads)

    def read_row_group(
        self, i: int, column_indices: Sequence[int] | None = None, use_threads: bool = True
    ) -> pa.Table:
        """Reads a row group, by its number."""
        return self._opened().read_row_group(i, self._paths(column_indices), use_threads)

    def read_row_groups(
        self, row_groups: Sequence[int], column_indices: Sequence[int] | None = None, use_threads: bool = True
    ) -> pa.Table:
        """Reads row groups, by their numbers."""
        return self._opened().read_row_groups(row_groups, self._paths(column_indices), use_threads)

    def iter_batches(
        self,
        batch_size: int,
        row_groups: Sequence[int],
        column_indices: Sequence[int] | None = None,
        use_threads: bool = True,
    ) -> Iterator[pa.RecordBatch]:
        """Reads record batches lazily."""
        return self._opened().iter_batches(batch_size, row_groups, self._paths(column_indices), use_threads)

    def read_column(self, column_index: int) -> pa.ChunkedArray:
        """Reads a top-level column, by its number among the top-level columns."""
        names = self.schema_arrow.names
        if not 0 <= column_index < len(names):
            raise pa.ArrowInvalid(f"Column index out of bounds (got {column_index}, should be between 0 and {len(names) - 1})")
        # Other columns may have the same name, and the name may also be the path of a nested field.
        name = names[column_index]
        table = self._opened().read([name])
        found = [i for i, other in enumerate(table.column_names) if other == name]
        return table.column(found[names[:column_index].count(name)])

    def scan_contents(self, column_indices: Sequence[int] | None = None, batch_size: int = 65536) -> int:
        """Reads columns and returns the number of rows."""
        return self._opened().scan_contents(self._paths(column_indices), batch_size)


def open_file(source: bytes) -> ParquetFile:
    """Opens a file in memory."""
    return ParquetFile(pa.py_buffer(source))


def index_columns(metadata: dict[bytes, bytes] | None, columns: Sequence[str]) -> list[str]:
    """Returns the index columns of pandas that are not among ``columns``. A range index has no column."""
    if not metadata or b"pandas" not in metadata:
        return []
    index = json.loads(metadata[b"pandas"].decode("utf8"))["index_columns"]
    return [name for name in index if not isinstance(name, dict) and name not in columns]


def _check_unit(unit: str | None) -> None:
    if unit not in (None, "s", "ms", "us", "ns"):
        raise ValueError(f"Invalid value for coerce_int96_timestamp_unit: {unit}; must be one of s, ms, us, ns")


def _of_tiny_file(error: BaseException, input: Any) -> None:
    """Raises pyarrow's error for a file that is too short."""
    message = getattr(error, "message", "")
    if "the shortest one has" in message:
        size = message.split(":")[1].split()[0]
        raise pa.ArrowInvalid(f"Parquet file size is {size} bytes, smaller than the minimum file footer") from error

"""Writing files, with the names of ``pyarrow.parquet``."""

from __future__ import annotations

import io
import re
from typing import Any

import pyarrow as pa

from .. import _marquetry
from .._writer import check_names
from ..metadata._file import FileMetaData, as_metadata
from . import _options
from ._binary_metadata import stored_pairs, text_only
from ._chunking import content_defined_chunking
from ._converted import converted
from ._errors import as_pyarrow
from ._keys import as_encryption
from ._list_views import list_type
from ._source import output_of, resolve
from ._types import compliant, map_fields, map_type, named_entries

_ROWS = 1024 * 1024
_MOST_ROWS = 64 * 1024 * 1024


class ParquetWriter:
    """Writes a file in pieces, with the arguments and methods of ``pyarrow.parquet.ParquetWriter``.

    On this machine, a file appears under its name once it is closed. Until then, and after an error, an existing file stays.

    - ``where``: a path or URI, or a file object.
    - ``schema``: ``pyarrow.Schema`` of the tables.
    - ``metadata_collector``: list to which ``close`` appends the footer. Default: none.
    - other options: as in :func:`write_table`.

    >>> import marquetry.parquet as pq, pyarrow as pa
    >>> table = pa.table({"x": [1, 2, 3]})
    >>> with pq.ParquetWriter(FOLDER + "/pieces.parquet", table.schema) as writer:
    ...     writer.write_table(table)
    ...     writer.write_batch(table.to_batches()[0])
    >>> pq.read_metadata(FOLDER + "/pieces.parquet").num_row_groups
    2
    """

    def __init__(
        self,
        where: Any,
        schema: Any,
        filesystem: Any = None,
        flavor: str | None = None,
        version: str | None = "2.6",
        use_dictionary: Any = True,
        compression: Any = "snappy",
        write_statistics: Any = True,
        use_deprecated_int96_timestamps: bool | None = None,
        compression_level: Any = None,
        use_byte_stream_split: Any = False,
        column_encoding: Any = None,
        writer_engine_version: str | None = None,
        data_page_version: str | None = "1.0",
        use_compliant_nested_type: bool = True,
        encryption_properties: Any = None,
        write_batch_size: int | None = None,
        dictionary_pagesize_limit: int | None = None,
        store_schema: bool = True,
        write_page_index: bool = False,
        write_page_checksum: bool = False,
        sorting_columns: Any = None,
        store_decimal_as_integer: bool = False,
        write_time_adjusted_to_utc: bool = False,
        max_rows_per_page: int | None = None,
        bloom_filter_options: Any = None,
        use_content_defined_chunking: Any = False,
        **options: Any,
    ) -> None:
        self.is_open = False
        # None means the default, as in pyarrow.
        version = "2.6" if version is None else version
        data_page_version = "1.0" if data_page_version is None else data_page_version
        write_statistics = True if write_statistics is None else write_statistics
        use_dictionary = column_encoding is None if use_dictionary is None else use_dictionary
        if not isinstance(schema, pa.Schema):
            raise TypeError(f"a pyarrow.Schema is wanted, not {type(schema).__name__}")
        with as_pyarrow():
            check_names(schema)
        self._metadata_collector = options.pop("metadata_collector", None)
        options.pop("memory_pool", None)
        rules = _Rules(
            version, flavor, use_deprecated_int96_timestamps, options.pop("coerce_timestamps", None),
            options.pop("allow_truncated_timestamps", False),
        )  # fmt: skip
        data_page_size = options.pop("data_page_size", None)
        if options:
            raise TypeError(f"unexpected parquet write option: {next(iter(options))}")
        if data_page_version not in ("1.0", "2.0"):
            raise ValueError(f"Unsupported Parquet data page version: {data_page_version}")
        if not isinstance(store_decimal_as_integer, bool):
            raise TypeError("'store_decimal_as_integer' must be a boolean")
        self.flavor, self.schema, self.schema_changed = flavor, *rules.sanitized(schema)
        self._stored, self._rules = rules.stored(self.schema), rules
        self._stored = map_fields(self._stored, compliant if use_compliant_nested_type else named_entries)
        self._stored = text_only(self._stored)
        columns = [".".join(path) for path, _ in _options.leaves(self._stored, use_compliant_nested_type)]
        properties: dict[str, Any] = {
            "page_version": data_page_version,
            "format_version": 1 if version == "1.0" else 2,
            "column_encoding": _options.encodings(
                self._stored, use_dictionary, use_byte_stream_split, column_encoding, use_compliant_nested_type,
                store_decimal_as_integer,
            ),
            **_options.compression(compression, compression_level, columns),
            **_statistics(write_statistics, write_page_index, columns),
            **_options.page_limits(data_page_size, max_rows_per_page, write_batch_size, dictionary_pagesize_limit),
            "row_group_rows": _MOST_ROWS,
            # The Arrow schema is among the key-value pairs.
            "arrow_schema": False,
            "checksums": bool(write_page_checksum),
            "sorting_columns": _sorting(sorting_columns),
            "bloom_filters": _options.bloom_filters(bloom_filter_options, columns),
            "bound_bytes": 0,
            "threads": _options.threads(),
            "distinct_counts": False,
            "whole_dictionaries": True,
            "int96": bool(rules.int96),
            "fixed_decimals": not store_decimal_as_integer,
            "arrow_item_names": not use_compliant_nested_type,
            "utc_times": bool(write_time_adjusted_to_utc),
            "encryption": as_encryption(encryption_properties),
            "content_defined_chunking": content_defined_chunking(use_content_defined_chunking),
        }
        self.where = where
        # The pairs are written at the end, each key once.
        self._pairs = stored_pairs(self.schema, store_schema)
        target, name, self.file_handle = output_of(where, filesystem)
        self._filesystem = filesystem
        try:
            with as_pyarrow():
                self._writer = _marquetry.Writer(target, self._stored, properties, True, name)
        except BaseException:
            self._remove()
            raise
        self.is_open = True

    @property
    def writer(self) -> _marquetry.Writer:
        """The underlying writer."""
        return self._writer

    def write(self, table_or_batch: Any, row_group_size: int | None = None) -> None:
        """Writes a table or a batch as row groups of its own, of at most ``row_group_size`` rows. Default: 1,048,576."""
        if isinstance(table_or_batch, pa.RecordBatch):
            self.write_batch(table_or_batch, row_group_size)
        elif isinstance(table_or_batch, pa.Table):
            self.write_table(table_or_batch, row_group_size)
        else:
            raise TypeError(type(table_or_batch))

    def write_batch(self, batch: Any, row_group_size: int | None = None) -> None:
        """Writes a batch as row groups of its own, of at most ``row_group_size`` rows. Default: 1,048,576."""
        self.write_table(pa.Table.from_batches([batch], batch.schema), row_group_size)

    def write_table(self, table: Any, row_group_size: int | None = None) -> None:
        """Writes a table as row groups of its own, of at most ``row_group_size`` rows. Default: 1,048,576.

        Raises ``ValueError`` if the schema of the table differs from that of the writer.
        """
        assert self.is_open
        if self.schema_changed:
            table = table.rename_columns(self.schema.names)
        if not table.schema.equals(self.schema, check_metadata=False):
            raise ValueError(
                "Table schema does not match schema used to create file: \n"
                f"table:\n{table.schema!s} vs. \nfile:\n{self.schema!s}"
            )
        rows = _row_group_rows(row_group_size)
        if not self._stored.equals(table.schema, check_metadata=False):
            table = self._rules.cast(table, self._stored)
        table = _as(table, self._stored)
        try:
            with as_pyarrow():
                self._writer.write(table, rows)
        except BaseException:
            self._after_failure()
            raise

    def add_key_value_metadata(self, key_value_metadata: Any) -> None:
        """Adds key-value pairs, from a dictionary or a list, to the metadata of the file. They replace existing values."""
        assert self.is_open
        pairs = dict(key_value_metadata or {})
        self._pairs.update((_bytes(key), _bytes(value)) for key, value in pairs.items())

    def close(self) -> None:
        """Finishes and closes the file."""
        if self.is_open:
            try:
                with as_pyarrow():
                    while self._pairs:
                        key, value = next(iter(self._pairs.items()))
                        self._writer.add_key_value(key, value)
                        del self._pairs[key]
                    footer = self._writer.close()
            except BaseException:
                self._after_failure()
                raise
            self.is_open = False
            if self._metadata_collector is not None:
                self._metadata_collector.append(FileMetaData._of(footer))
        if self.file_handle is not None:
            self.file_handle.close()

    def _discard(self) -> None:
        self._writer.discard()
        self._after_failure()

    def _after_failure(self) -> None:
        """Removes what is left of the file, unless writing can continue."""
        self.is_open = self._writer.is_open
        if not self.is_open:
            self._remove()

    def _remove(self) -> None:
        """Removes what is left of a file in another filesystem. On this machine nothing is left, and an existing file stays."""
        if self.file_handle is None:
            return
        handle, self.file_handle = self.file_handle, None
        _take_back(handle, self.where, self._filesystem)

    def __del__(self) -> None:
        if getattr(self, "is_open", False):
            self.close()

    def __enter__(self) -> ParquetWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _bytes(text: Any) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode()


def _as(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Returns the table with the fields of `schema`, which have the same types but their own metadata."""
    if not isinstance(table, pa.Table):
        raise TypeError(f"a pyarrow.Table is wanted, not {type(table).__name__}")
    if table.num_columns == 0:
        # Replacing the metadata of a table without columns loses its rows; batches keep theirs.
        return pa.Table.from_batches([batch.replace_schema_metadata(None) for batch in table.to_batches()], schema)
    return pa.Table.from_arrays(table.columns, schema=schema)


def _row_group_rows(rows: int | None) -> int:
    if rows is None or rows == -1:
        return _ROWS
    rows = int(rows)
    if rows == 0:
        raise ValueError("Row group size cannot be 0")
    if rows < 0:
        raise pa.ArrowInvalid(f"Row group size must be positive, and is {rows}")
    return rows


def _sorting(columns: Any) -> list[tuple[int, bool, bool]] | None:
    """Converts sorting columns, ours or pyarrow's, to tuples."""
    if columns is None:
        return None
    if not isinstance(columns, (list, tuple)) or not all(hasattr(column, "nulls_first") for column in columns):
        raise ValueError("'sorting_columns' must be a list of `SortingColumn`")
    return [(column.column_index, column.descending, column.nulls_first) for column in columns] or None


def _statistics(write_statistics: Any, write_page_index: bool, columns: list[str]) -> dict[str, Any]:
    level = "page" if write_page_index else "chunk"
    if isinstance(write_statistics, bool):
        out: dict[str, Any] = {"statistics": level if write_statistics else "none"}
    else:
        chosen = [(name.split("."), level) for name in write_statistics or () if name in columns]
        out = {"statistics": "none", "column_statistics": chosen}
    return {**out, "page_index": bool(write_page_index)}


class _Rules:
    """The types that are written in place of those that a version of the format lacks."""

    def __init__(self, version: str, flavor: Any, int96: bool | None, coerce: Any, allow_truncated: bool) -> None:
        if version not in ("1.0", "2.4", "2.6"):
            raise ValueError(f"Unsupported Parquet format version: {version}")
        if coerce not in (None, "ms", "us"):
            raise ValueError(f"Invalid value for coerce_timestamps: {coerce}")
        self.version, self.coerce = version, coerce
        # Of what a version of the format does not have, pyarrow cuts nothing off.
        self.allow_truncated = allow_truncated and coerce is not None
        self.is_of_spark = flavor is not None and "spark" in flavor
        self.int96 = self.is_of_spark if int96 is None else int96

    def sanitized(self, schema: pa.Schema) -> tuple[pa.Schema, bool]:
        """Replaces characters in names that Spark does not accept, and returns whether there were any."""
        if not self.is_of_spark:
            return schema, False
        names = [re.sub(r"[ ,;{}()\n\t=]", "_", name) for name in schema.names]
        fields = [field.with_name(name) for field, name in zip(schema, names)]
        return pa.schema(fields, metadata=schema.metadata), names != schema.names

    def stored(self, schema: pa.Schema) -> pa.Schema:
        """Returns the schema as it is written."""
        stored = map_fields(schema, self._stored_type, inside_extensions=True)
        # Columns that are cast become lists instead of list views.
        cast = {i for i, field in enumerate(stored) if not field.type.equals(schema.field(i).type)}
        lists = map_fields(stored, list_type, inside_extensions=True)
        return pa.schema([lists.field(i) if i in cast else field for i, field in enumerate(stored)], metadata=schema.metadata)

    def _stored_type(self, data_type: pa.DataType) -> pa.DataType:
        types = pa.types
        if types.is_dictionary(data_type):
            values = map_type(data_type.value_type, self._stored_type, inside_extensions=True)
            return data_type if values.equals(data_type.value_type) and _is_of_dictionaries(values) else values
        if types.is_union(data_type) or types.is_run_end_encoded(data_type) or types.is_interval(data_type):
            raise pa.ArrowNotImplementedError(f"Unhandled type for Arrow to Parquet schema conversion: {data_type}")
        if types.is_struct(data_type) and data_type.num_fields == 0:
            raise pa.ArrowNotImplementedError("Cannot write struct type with no child field to Parquet")
        if types.is_decimal(data_type) and not 0 <= data_type.scale <= data_type.precision:
            raise OSError(f"a decimal of Parquet has a scale from 0 to its precision: {data_type}")
        if types.is_fixed_size_binary(data_type) and data_type.byte_width == 0:
            raise OSError("Invalid FIXED_LEN_BYTE_ARRAY length: 0")
        data_type = _whole_days(data_type)
        if types.is_time32(data_type) and data_type.unit == "s":
            return pa.time32("ms")
        if types.is_uint32(data_type) and self.version == "1.0":
            return pa.int64()
        if types.is_timestamp(data_type) and not self.int96:
            return pa.timestamp(self._unit(data_type.unit), data_type.tz)
        return data_type

    def _unit(self, unit: str) -> str:
        if self.coerce is not None:
            return str(self.coerce)
        if unit == "s":
            return "ms"
        return "us" if unit == "ns" and self.version != "2.6" else unit

    def cast(self, table: pa.Table, schema: pa.Schema) -> pa.Table:
        """Casts a table to the written types. Fails if a timestamp would lose digits, unless truncation is allowed."""
        columns = [self._cast_column(*pair) for pair in zip(table.columns, schema.types)]
        return pa.Table.from_arrays(columns, schema=schema) if columns else table

    def _cast_column(self, column: pa.ChunkedArray, data_type: pa.DataType) -> pa.ChunkedArray:
        if column.type.equals(data_type):
            return column
        if column.type.num_fields == 0 and not isinstance(column.type, (pa.BaseExtensionType, pa.DictionaryType)):
            return self._cast_values(column, data_type)
        return pa.chunked_array([converted(chunk, data_type, self._cast_values) for chunk in column.chunks], data_type)

    def _cast_values(self, values: Any, data_type: pa.DataType) -> Any:
        import pyarrow.compute as pc

        # Dates lose their time of day, whether or not timestamps may be truncated.
        days = _whole_days(values.type)
        if not days.equals(values.type):
            _check_days(values)
            values = values.cast(days, safe=False)
        # Digits may go, and not what is before them: a time that the unit does not reach is an error.
        return pc.cast(values, options=pc.CastOptions(data_type, allow_time_truncate=self.allow_truncated))


def _is_of_dictionaries(values: pa.DataType) -> bool:
    """Returns whether a dictionary of such values is written as a dictionary.

    Other dictionaries are decoded: an extension type is lost within a dictionary, and nested values have columns of their own.
    """
    return values.num_fields == 0 and not isinstance(values, (pa.BaseExtensionType, pa.DictionaryType))


def _whole_days(data_type: pa.DataType) -> pa.DataType:
    types = pa.types
    is_date = types.is_date64(data_type) or types.is_dictionary(data_type) and types.is_date64(data_type.value_type)
    return pa.date32() if is_date else data_type


def _check_days(dates: Any) -> None:
    """Fails on a date that 32 bits of days do not reach: it would become another one."""
    import pyarrow.compute as pc

    ends = pc.min_max(dates.cast(pa.date64()).cast(pa.int64())).as_py()
    if ends["min"] is not None and not (-(2**31) - 1) * _DAY < ends["min"] <= ends["max"] < 2**31 * _DAY:
        raise pa.ArrowInvalid("a date is beyond the days of 32 bits that Parquet's dates are")


# Milliseconds.
_DAY = 86_400_000


def write_table(
    table: Any,
    where: Any,
    row_group_size: int | None = None,
    version: str | None = "2.6",
    use_dictionary: Any = True,
    compression: Any = "snappy",
    write_statistics: Any = True,
    use_deprecated_int96_timestamps: bool | None = None,
    coerce_timestamps: str | None = None,
    allow_truncated_timestamps: bool = False,
    data_page_size: int | None = None,
    flavor: str | None = None,
    filesystem: Any = None,
    compression_level: Any = None,
    use_byte_stream_split: Any = False,
    column_encoding: Any = None,
    data_page_version: str | None = "1.0",
    use_compliant_nested_type: bool = True,
    encryption_properties: Any = None,
    write_batch_size: int | None = None,
    dictionary_pagesize_limit: int | None = None,
    store_schema: bool = True,
    write_page_index: bool = False,
    write_page_checksum: bool = False,
    sorting_columns: Any = None,
    store_decimal_as_integer: bool = False,
    write_time_adjusted_to_utc: bool = False,
    max_rows_per_page: int | None = None,
    bloom_filter_options: Any = None,
    use_content_defined_chunking: Any = False,
    **kwargs: Any,
) -> None:
    """Writes a table to a file.

    On this machine, the file appears under its name once it is complete, and after an error an existing file stays. In other filesystems
    an existing file stays only if the arguments are wrong; after another error there is no file. A table without rows gets no row group,
    because several readers fail at empty ones.

    Options "by column" are for all columns, or lists or dictionaries of dotted paths.

    - ``table``: a ``pyarrow.Table``.
    - ``where``: a path or URI, or a file object.
    - ``row_group_size``: maximum number of rows of a row group. Default: 1,048,576.
    - ``version``: version of the format, ``"1.0"``, ``"2.4"`` or ``"2.6"`` (the default). Before ``"2.6"`` timestamps in nanoseconds become
      microseconds; in ``"1.0"`` unsigned 32-bit integers become signed 64-bit ones.
    - ``use_dictionary``: whether to write dictionaries, by column. Default: true.
    - ``compression``: codec, by column. Default: ``"snappy"``. With a dictionary, other columns are not compressed.
    - ``write_statistics``: whether to write statistics, by column. Default: true.
    - ``use_deprecated_int96_timestamps``: whether to write timestamps as INT96. Default: only with ``flavor="spark"``.
    - ``coerce_timestamps``: unit to convert timestamps to, ``"ms"`` or ``"us"``. Default: their own.
    - ``allow_truncated_timestamps``: whether converting timestamps may lose digits; otherwise that is an error. Default: false.
    - ``data_page_size``: size at which a data page ends, in bytes. Default: 1 MiB.
    - ``flavor``: ``"spark"`` for names and timestamps that Spark accepts. Default: none.
    - ``filesystem``: filesystem of pyarrow or fsspec for the file. Default: that of the path.
    - ``compression_level``: level of the codec, by column. Default: that of the codec.
    - ``use_byte_stream_split``: whether to use the encoding BYTE_STREAM_SPLIT, by column. Default: false.
    - ``column_encoding``: encoding, by column; requires ``use_dictionary=False`` for these columns. Default: none.
    - ``data_page_version``: version of data page headers, ``"1.0"`` (the default) or ``"2.0"``.
    - ``use_compliant_nested_type``: whether the elements of lists are named ``element``, as the format requires. Default: true.
    - ``encryption_properties``: keys, made by :mod:`marquetry.parquet.encryption`. Default: not encrypted.
    - ``write_batch_size``: maximum number of rows of a data page if ``data_page_size`` is 0; otherwise without effect.
    - ``dictionary_pagesize_limit``: maximum size of a dictionary page, in bytes. Default: 1 MiB.
    - ``store_schema``: whether to store the Arrow schema in the file. Default: true.
    - ``write_page_index``: whether to write column indexes and offset indexes. Default: false.
    - ``write_page_checksum``: whether pages get checksums. Default: false.
    - ``sorting_columns``: list of :class:`SortingColumn` to record in the footer; rows are not sorted. Default: none.
    - ``store_decimal_as_integer``: whether decimals of up to 18 digits are stored as integers. Default: false.
    - ``write_time_adjusted_to_utc``: whether times of day are marked as adjusted to UTC. Default: false.
    - ``max_rows_per_page``: maximum number of rows of a data page. Default: 20,000.
    - ``bloom_filter_options``: dictionary from columns to true, or to a dictionary with the number of distinct values ``ndv`` and the false
      positive probability ``fpp``. Default: none.
    - ``use_content_defined_chunking``: whether pages end depending on their content; or a dictionary with ``min_chunk_size``,
      ``max_chunk_size`` (in bytes) and optionally ``norm_level``. Default: false.
    - ``metadata_collector``: list to which the footer is appended. Default: none.

    >>> import marquetry.parquet as pq, pyarrow as pa
    >>> pq.write_table(pa.table({"x": [1, 2, 3]}), FOLDER + "/t.parquet", compression="zstd")
    >>> pq.read_table(FOLDER + "/t.parquet").num_rows
    3
    """
    row_group_size = kwargs.pop("chunk_size", row_group_size)
    if isinstance(table, pa.RecordBatch):
        raise TypeError("a pyarrow.Table is wanted, not a RecordBatch")
    writer: ParquetWriter | None = None
    schema = table.schema
    try:
        writer = ParquetWriter(
            where, schema, filesystem=filesystem, version=version, flavor=flavor, use_dictionary=use_dictionary,
            compression=compression, write_statistics=write_statistics,
            use_deprecated_int96_timestamps=use_deprecated_int96_timestamps, coerce_timestamps=coerce_timestamps,
            allow_truncated_timestamps=allow_truncated_timestamps, data_page_size=data_page_size,
            compression_level=compression_level, use_byte_stream_split=use_byte_stream_split,
            column_encoding=column_encoding, data_page_version=data_page_version,
            use_compliant_nested_type=use_compliant_nested_type, encryption_properties=encryption_properties,
            write_batch_size=write_batch_size, dictionary_pagesize_limit=dictionary_pagesize_limit,
            store_schema=store_schema, write_page_index=write_page_index, write_page_checksum=write_page_checksum,
            sorting_columns=sorting_columns, store_decimal_as_integer=store_decimal_as_integer,
            write_time_adjusted_to_utc=write_time_adjusted_to_utc, max_rows_per_page=max_rows_per_page,
            bloom_filter_options=bloom_filter_options, use_content_defined_chunking=use_content_defined_chunking,
            **kwargs,
        )  # fmt: skip
        writer.write_table(table, row_group_size)
        writer.close()
    except BaseException:
        if writer is not None and writer.is_open:
            writer._discard()
        raise


def _take_back(handle: Any, where: Any, filesystem: Any) -> None:
    """Removes an unfinished file from another filesystem. Closes it first: in many filesystems it appears only then."""
    try:
        handle.close()
    except Exception:
        # The earlier error is the one to report.
        pass
    try:
        resolved, path = resolve(where, filesystem)
        resolved.delete_file(path)
    except (OSError, ValueError):
        # The file may never have existed.
        pass


def write_metadata(
    schema: Any, where: Any, metadata_collector: Any = None, filesystem: Any = None, **kwargs: Any
) -> None:
    """Writes a file with nothing but a footer: ``_common_metadata``, or ``_metadata`` with the row groups of other files.

    - ``schema``: ``pyarrow.Schema`` of the files.
    - ``where``: a path or URI, or a file object.
    - ``metadata_collector``: list of footers whose row groups are added. Default: none.
    - ``filesystem``: filesystem of pyarrow or fsspec for the file. Default: that of the path.
    - other options: those of :class:`ParquetWriter`.
    """
    out = io.BytesIO()
    with ParquetWriter(out, schema, **kwargs):
        pass
    if metadata_collector:
        from ._reading import ParquetFile

        metadata = ParquetFile(pa.py_buffer(out.getvalue())).metadata
        for other in metadata_collector:
            metadata.append_row_groups(as_metadata(other))
        out = io.BytesIO()
        metadata.write_metadata_file(out)
    target, _, handle = output_of(where, filesystem)
    if handle is not None:
        try:
            handle.write(out.getvalue())
            handle.close()
        except BaseException:
            _take_back(handle, where, filesystem)
            raise
    else:
        with as_pyarrow():
            _marquetry.write_bytes(target, out.getvalue())

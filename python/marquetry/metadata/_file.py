"""The contents of a footer, with the names of ``pyarrow.parquet``. Only ``to_arrow_schema`` requires pyarrow."""

from __future__ import annotations

import struct
from typing import Any

from .._marquetry import Footer, write_bytes
from ._schema import ColumnSchema, ParquetLogicalType, ParquetSchema
from ._sorting import SortingColumn
from ._statistics import GeoStatistics, Statistics

__all__ = [
    "ColumnChunkMetaData", "ColumnSchema", "FileMetaData", "GeoStatistics", "ParquetLogicalType", "ParquetSchema",
    "RowGroupMetaData", "SortingColumn", "Statistics",
]  # fmt: skip


class ColumnChunkMetaData:
    """Metadata of a column chunk: a column in a row group."""

    _raw: dict[str, Any]
    _group: RowGroupMetaData
    _index: int

    def __init__(self) -> None:
        raise TypeError("Do not call ColumnChunkMetaData's constructor directly")

    @classmethod
    def _of(cls, group: RowGroupMetaData, index: int) -> ColumnChunkMetaData:
        self = object.__new__(cls)
        self._group, self._index = group, index
        self._raw = group._metadata._footer.column(group._index, index)
        return self

    def _column(self) -> ColumnSchema:
        return self._group._metadata.schema.column(self._index)

    file_offset = property(lambda self: 0, doc="Deprecated in the format, and always 0 here.")
    file_path = property(lambda self: self._raw["file_path"] or "", doc="Path of the file with the pages; empty if it is this file.")
    physical_type = property(lambda self: self._raw["physical_type"], doc="Physical type of the values.")
    num_values = property(lambda self: self._raw["num_values"], doc="Number of values, including nulls.")
    path_in_schema = property(lambda self: ".".join(self._raw["path"]), doc="Dotted path of the column.")
    data_page_offset = property(lambda self: self._raw["data_page_offset"], doc="Offset of the first data page, in bytes.")
    total_compressed_size = property(lambda self: self._raw["total_compressed_size"], doc="Compressed size in bytes.")
    total_uncompressed_size = property(
        lambda self: self._raw["total_uncompressed_size"], doc="Uncompressed size in bytes."
    )
    bloom_filter_offset = property(lambda self: self._raw["bloom_filter_offset"], doc="Offset of the bloom filter; None without one.")
    bloom_filter_length = property(lambda self: self._raw["bloom_filter_length"], doc="Size of the bloom filter in bytes; None if unknown.")
    has_offset_index = property(lambda self: self._raw["has_offset_index"], doc="Whether there is an offset index.")
    has_column_index = property(lambda self: self._raw["has_column_index"], doc="Whether there is a column index.")

    @property
    def is_stats_set(self) -> bool:
        """Whether there are statistics with a null count or bounds. False for an empty chunk."""
        raw = self._raw["statistics"]
        return raw is not None and (raw["null_count"] is not None or raw["min_value"] is not None) and self.num_values > 0

    @property
    def statistics(self) -> Statistics | None:
        """Statistics of the column chunk; ``None`` without any."""
        if not self.is_stats_set:
            return None
        return Statistics._of(self._raw["statistics"], self._column(), self.num_values, self._raw["bounds"])

    @property
    def is_geo_stats_set(self) -> bool:
        """Whether there are geospatial statistics."""
        return self._raw["geospatial"] is not None

    @property
    def geo_statistics(self) -> GeoStatistics | None:
        """Geospatial statistics; ``None`` without any."""
        raw = self._raw["geospatial"]
        return None if raw is None else GeoStatistics._of(raw)

    @property
    def compression(self) -> str:
        """Compression codec. LZ4_RAW is called ``LZ4``, too."""
        name: str = self._raw["compression"]
        return "LZ4" if name == "LZ4_RAW" else name

    @property
    def encodings(self) -> tuple[str, ...]:
        """Encodings used in the column chunk."""
        return tuple(self._raw["encodings"])

    @property
    def has_dictionary_page(self) -> bool:
        """Whether there is a dictionary page."""
        return bool(self._raw["dictionary_page_offset"])

    @property
    def dictionary_page_offset(self) -> int | None:
        """Offset of the dictionary page, in bytes; ``None`` without one."""
        return self._raw["dictionary_page_offset"] or None

    @property
    def has_index_page(self) -> bool:
        """Raises ``NotImplementedError``: files have no index pages."""
        raise NotImplementedError("index pages do not occur")

    @property
    def index_page_offset(self) -> int:
        """Raises ``NotImplementedError``: files have no index pages."""
        raise NotImplementedError("index pages do not occur")

    @property
    def metadata(self) -> dict[bytes, bytes] | None:
        """Key-value metadata of the column chunk; ``None`` without any."""
        pairs = self._raw["key_values"]
        return None if pairs is None else {key: value or b"" for key, value in pairs}

    def to_dict(self) -> dict[str, Any]:
        """Converts the metadata to a dictionary."""
        out = {name: getattr(self, name) for name in _CHUNK}
        for name in ("statistics", "geo_statistics"):
            out[name] = None if out[name] is None else out[name].to_dict()
        return out

    def equals(self, other: ColumnChunkMetaData) -> bool:
        """Returns whether the contents are equal."""
        return self._raw == other._raw

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, ColumnChunkMetaData) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = [object.__repr__(self)]
        for name in _CHUNK:
            value = getattr(self, name)
            if name in ("statistics", "geo_statistics"):
                lines.append(f"  {name}:")
                lines += [f"    {line}" for line in repr(value).splitlines()]
            else:
                lines.append(f"  {name}: {value}")
        return "\n".join(lines)


_CHUNK = (
    "file_offset", "file_path", "physical_type", "num_values", "path_in_schema", "is_stats_set", "statistics",
    "geo_statistics", "compression", "encodings", "has_dictionary_page", "dictionary_page_offset", "data_page_offset",
    "total_compressed_size", "total_uncompressed_size", "bloom_filter_offset", "bloom_filter_length",
)  # fmt: skip


class RowGroupMetaData:
    """Metadata of a row group."""

    _metadata: FileMetaData
    _index: int
    _raw: dict[str, Any]

    def __init__(self, *args: Any) -> None:
        raise TypeError("Do not call RowGroupMetaData's constructor directly")

    @classmethod
    def _of(cls, metadata: FileMetaData, index: int) -> RowGroupMetaData:
        self = object.__new__(cls)
        if not 0 <= index < metadata.num_row_groups:
            raise IndexError(f"{index} out of bounds")
        self._metadata, self._index = metadata, index
        self._raw = metadata._footer.row_group(index)
        return self

    num_columns = property(lambda self: self._raw["num_columns"], doc="Number of leaf columns.")
    num_rows = property(lambda self: self._raw["num_rows"], doc="Number of rows.")
    total_byte_size = property(lambda self: self._raw["total_byte_size"], doc="Uncompressed size of all columns in bytes.")

    @property
    def sorting_columns(self) -> tuple[SortingColumn, ...]:
        """Columns by which the rows are sorted."""
        return tuple(SortingColumn(*column) for column in self._raw["sorting_columns"])

    def column(self, i: int) -> ColumnChunkMetaData:
        """Returns the metadata of a column chunk, by the number of its column. Raises ``IndexError`` if there is no such column."""
        if not 0 <= i < self.num_columns:
            raise IndexError(f"{i} out of bounds")
        return ColumnChunkMetaData._of(self, i)

    def to_dict(self) -> dict[str, Any]:
        """Converts the metadata to a dictionary."""
        return {
            "num_columns": self.num_columns,
            "num_rows": self.num_rows,
            "total_byte_size": self.total_byte_size,
            "columns": [self.column(i).to_dict() for i in range(self.num_columns)],
            "sorting_columns": [column.to_dict() for column in self.sorting_columns],
        }

    def equals(self, other: RowGroupMetaData) -> bool:
        """Returns whether the contents are equal."""
        if self._raw != other._raw:
            return False
        return all(self.column(i).equals(other.column(i)) for i in range(self.num_columns))

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, RowGroupMetaData) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = ("num_columns", "num_rows", "total_byte_size", "sorting_columns")
        return "\n".join([object.__repr__(self), *(f"  {name}: {getattr(self, name)}" for name in names)])


class FileMetaData:
    """Metadata of a file: its footer."""

    _footer: Footer
    _schema: ParquetSchema | None
    _changed: bool

    def __init__(self, *args: Any) -> None:
        raise TypeError("Do not call FileMetaData's constructor directly")

    @classmethod
    def _of(cls, footer: Footer, changed: bool = False) -> FileMetaData:
        self = object.__new__(cls)
        self._footer, self._schema, self._changed = footer, None, changed
        return self

    created_by = property(lambda self: self._footer.created_by or "", doc="Name of the writer; empty if unknown.")
    num_columns = property(lambda self: self._footer.num_columns, doc="Number of leaf columns.")
    num_rows = property(lambda self: self._footer.num_rows, doc="Number of rows.")
    num_row_groups = property(lambda self: self._footer.num_row_groups, doc="Number of row groups.")

    @property
    def format_version(self) -> str:
        """Version of the format: ``1.0``, or ``2.6`` for any later one. The footer has only the number 1 or 2."""
        return "1.0" if self._footer.version == 1 else "2.6"

    @property
    def serialized_size(self) -> int:
        """Size of the footer in its file, in bytes; 0 if it was changed."""
        return 0 if self._changed else self._footer.size

    @property
    def metadata(self) -> dict[bytes, bytes] | None:
        """Key-value metadata of the file; ``None`` without any."""
        pairs = self._footer.key_values
        return {key: value or b"" for key, value in pairs} if pairs else None

    @property
    def schema(self) -> ParquetSchema:
        """The Parquet schema. Each access returns the same object."""
        if self._schema is None:
            self._schema = ParquetSchema(self)
        return self._schema

    def row_group(self, i: int) -> RowGroupMetaData:
        """Returns the metadata of a row group, by its number. Raises ``IndexError`` if there is no such row group."""
        return RowGroupMetaData._of(self, i)

    def set_file_path(self, path: str) -> None:
        """Sets the file path of all column chunks: the file with their pages."""
        self._replace(self._footer.with_file_path(str(path)))

    def append_row_groups(self, other: FileMetaData) -> None:
        """Appends the row groups of another footer. Raises ``RuntimeError`` if its schema differs."""
        other = as_metadata(other)
        if not self.schema.equals(other.schema):
            raise RuntimeError("AppendRowGroups requires equal schemas.\n" + _difference(self.schema, other.schema))
        self._replace(self._footer.append(other._footer))

    def _replace(self, footer: Footer) -> None:
        self._footer, self._changed = footer, True

    def write_metadata_file(self, where: Any) -> None:
        """Writes a file with nothing but this footer, such as ``_metadata``, to a path or a file object.

        The file is not encrypted. It omits statistics and bounding boxes of encrypted columns.
        """
        contents = _file_of(self._footer.to_shown_bytes())
        if hasattr(where, "write"):
            where.write(contents)
        else:
            write_bytes(where, contents)

    def to_dict(self) -> dict[str, Any]:
        """Converts the metadata to a dictionary."""
        out = {name: getattr(self, name) for name in _FILE[:4]}
        out["row_groups"] = [self.row_group(i).to_dict() for i in range(self.num_row_groups)]
        return out | {name: getattr(self, name) for name in _FILE[4:]}

    def equals(self, other: FileMetaData) -> bool:
        """Returns whether the contents are equal."""
        if not isinstance(other, FileMetaData):
            raise TypeError(
                f"Argument 'other' has incorrect type (expected FileMetaData, got {type(other).__name__})"
            )
        return self._footer == other._footer

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, FileMetaData) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.schema, self.num_rows, self.num_row_groups, self.created_by, self.format_version))

    def __reduce__(self) -> Any:
        return _unpickled, (self._footer.to_bytes(),)

    def _arrow_schema(self) -> Any:
        """Returns the Arrow schema, by opening a file with nothing but this footer."""
        from ..parquet._reading import open_file

        return open_file(_file_of(self._footer.to_bytes())).schema_arrow

    def __repr__(self) -> str:
        return "\n".join([object.__repr__(self), *(f"  {name}: {getattr(self, name)}" for name in _FILE)])


_FILE = ("created_by", "num_columns", "num_rows", "num_row_groups", "format_version", "serialized_size")


def _file_of(thrift: bytes) -> bytes:
    return b"PAR1" + thrift + struct.pack("<I", len(thrift)) + b"PAR1"


def _unpickled(thrift: bytes) -> FileMetaData:
    return FileMetaData._of(Footer.parse(thrift))


def as_metadata(metadata: Any) -> FileMetaData:
    """Converts a pyarrow footer to ours; returns ours as it is."""
    if isinstance(metadata, FileMetaData):
        return metadata
    if type(metadata).__module__.startswith("pyarrow"):
        import io

        out = io.BytesIO()
        metadata.write_metadata_file(out)
        return FileMetaData._of(Footer.parse(out.getvalue()[4:-8]))
    raise TypeError(f"a FileMetaData is wanted, not {type(metadata).__name__}")


def _difference(one: ParquetSchema, other: ParquetSchema) -> str:
    if len(one) != len(other):
        return f"This schema has {len(one)} columns, other has {len(other)}"
    pairs = enumerate(zip(one, other))
    different = next((i for i, (a, b) in pairs if not a.equals(b)), 0)
    return f"The two columns with index {different} differ.\n{one[different]!r}\n{other[different]!r}"

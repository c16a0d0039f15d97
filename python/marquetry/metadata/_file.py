"""What a footer says, with the names of ``pyarrow.parquet``. Nothing here needs pyarrow but ``to_arrow_schema``."""

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
    """A column of a row group."""

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
    file_path = property(lambda self: self._raw["file_path"] or "", doc="The other file that the pages are in.")
    physical_type = property(lambda self: self._raw["physical_type"], doc="How values are stored.")
    num_values = property(lambda self: self._raw["num_values"], doc="Values, nulls included.")
    path_in_schema = property(lambda self: ".".join(self._raw["path"]), doc="The column's path, with dots.")
    data_page_offset = property(lambda self: self._raw["data_page_offset"], doc="Where the first data page is.")
    total_compressed_size = property(lambda self: self._raw["total_compressed_size"], doc="Bytes as stored.")
    total_uncompressed_size = property(
        lambda self: self._raw["total_uncompressed_size"], doc="Bytes before compression."
    )
    bloom_filter_offset = property(lambda self: self._raw["bloom_filter_offset"], doc="Where the bloom filter is.")
    bloom_filter_length = property(lambda self: self._raw["bloom_filter_length"], doc="Its bytes.")
    has_offset_index = property(lambda self: self._raw["has_offset_index"], doc="Whether pages have an index.")
    has_column_index = property(lambda self: self._raw["has_column_index"], doc="Whether pages have bounds.")

    @property
    def is_stats_set(self) -> bool:
        """Whether there are statistics that say something."""
        raw = self._raw["statistics"]
        # An empty chunk has nothing to say.
        return raw is not None and (raw["null_count"] is not None or raw["min_value"] is not None) and self.num_values > 0

    @property
    def statistics(self) -> Statistics | None:
        """Bounds and counts."""
        if not self.is_stats_set:
            return None
        return Statistics._of(self._raw["statistics"], self._column(), self.num_values, self._raw["bounds"])

    @property
    def is_geo_stats_set(self) -> bool:
        """Whether there are statistics of geometries."""
        return self._raw["geospatial"] is not None

    @property
    def geo_statistics(self) -> GeoStatistics | None:
        """Extent and kinds of geometries."""
        raw = self._raw["geospatial"]
        return None if raw is None else GeoStatistics._of(raw)

    @property
    def compression(self) -> str:
        """The codec; both of LZ4 are called so."""
        name: str = self._raw["compression"]
        return "LZ4" if name == "LZ4_RAW" else name

    @property
    def encodings(self) -> tuple[str, ...]:
        """Encodings that occur."""
        return tuple(self._raw["encodings"])

    @property
    def has_dictionary_page(self) -> bool:
        """Whether there is a dictionary."""
        return bool(self._raw["dictionary_page_offset"])

    @property
    def dictionary_page_offset(self) -> int | None:
        """Where the dictionary is."""
        return self._raw["dictionary_page_offset"] or None

    @property
    def has_index_page(self) -> bool:
        """Not to be had."""
        raise NotImplementedError("index pages do not occur")

    @property
    def index_page_offset(self) -> int:
        """Not to be had."""
        raise NotImplementedError("index pages do not occur")

    @property
    def metadata(self) -> dict[bytes, bytes] | None:
        """What the writer left of the chunk."""
        pairs = self._raw["key_values"]
        return None if pairs is None else {key: value or b"" for key, value in pairs}

    def to_dict(self) -> dict[str, Any]:
        """What is known, by name."""
        out = {name: getattr(self, name) for name in _CHUNK}
        for name in ("statistics", "geo_statistics"):
            out[name] = None if out[name] is None else out[name].to_dict()
        return out

    def equals(self, other: ColumnChunkMetaData) -> bool:
        """Whether both say the same."""
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
    """A row group."""

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

    num_columns = property(lambda self: self._raw["num_columns"], doc="How many columns.")
    num_rows = property(lambda self: self._raw["num_rows"], doc="How many rows.")
    total_byte_size = property(lambda self: self._raw["total_byte_size"], doc="Bytes before compression.")

    @property
    def sorting_columns(self) -> tuple[SortingColumn, ...]:
        """How rows are sorted."""
        return tuple(SortingColumn(*column) for column in self._raw["sorting_columns"])

    def column(self, i: int) -> ColumnChunkMetaData:
        """The column of this number."""
        if not 0 <= i < self.num_columns:
            raise IndexError(f"{i} out of bounds")
        return ColumnChunkMetaData._of(self, i)

    def to_dict(self) -> dict[str, Any]:
        """What is known, by name."""
        return {
            "num_columns": self.num_columns,
            "num_rows": self.num_rows,
            "total_byte_size": self.total_byte_size,
            "columns": [self.column(i).to_dict() for i in range(self.num_columns)],
            "sorting_columns": [column.to_dict() for column in self.sorting_columns],
        }

    def equals(self, other: RowGroupMetaData) -> bool:
        """Whether both say the same."""
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
    """The footer of a file."""

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

    created_by = property(lambda self: self._footer.created_by or "", doc="The writer.")
    num_columns = property(lambda self: self._footer.num_columns, doc="How many columns.")
    num_rows = property(lambda self: self._footer.num_rows, doc="How many rows.")
    num_row_groups = property(lambda self: self._footer.num_row_groups, doc="How many row groups.")

    @property
    def format_version(self) -> str:
        """``1.0`` or ``2.6``: the footer has no more than 1 or 2."""
        return "1.0" if self._footer.version == 1 else "2.6"

    @property
    def serialized_size(self) -> int:
        """Bytes of the footer in its file; 0 once it was changed."""
        return 0 if self._changed else self._footer.size

    @property
    def metadata(self) -> dict[bytes, bytes] | None:
        """What the writer left."""
        pairs = self._footer.key_values
        return {key: value or b"" for key, value in pairs} if pairs else None

    @property
    def schema(self) -> ParquetSchema:
        """The schema, the same object each time."""
        if self._schema is None:
            self._schema = ParquetSchema(self)
        return self._schema

    def row_group(self, i: int) -> RowGroupMetaData:
        """The row group of this number."""
        return RowGroupMetaData._of(self, i)

    def set_file_path(self, path: str) -> None:
        """Says of all column chunks that their pages are in the file at `path`."""
        self._replace(self._footer.with_file_path(str(path)))

    def append_row_groups(self, other: FileMetaData) -> None:
        """Adds the row groups of a footer that has the same schema."""
        other = as_metadata(other)
        if not self.schema.equals(other.schema):
            raise RuntimeError("AppendRowGroups requires equal schemas.\n" + _difference(self.schema, other.schema))
        self._replace(self._footer.append(other._footer))

    def _replace(self, footer: Footer) -> None:
        self._footer, self._changed = footer, True

    def write_metadata_file(self, where: Any) -> None:
        """Writes a file that has nothing but this footer: a path, or a file object. It is in the open: of columns that are encrypted it has
        no statistics, and of their geometries no boxes."""
        contents = _file_of(self._footer.to_shown_bytes())
        if hasattr(where, "write"):
            where.write(contents)
        else:
            write_bytes(where, contents)

    def to_dict(self) -> dict[str, Any]:
        """What is known, by name."""
        out = {name: getattr(self, name) for name in _FILE[:4]}
        out["row_groups"] = [self.row_group(i).to_dict() for i in range(self.num_row_groups)]
        return out | {name: getattr(self, name) for name in _FILE[4:]}

    def equals(self, other: FileMetaData) -> bool:
        """Whether both say the same."""
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
        """The Arrow schema: that of a file with this footer, and no more."""
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
    """A footer of ours, of one that may be pyarrow's."""
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

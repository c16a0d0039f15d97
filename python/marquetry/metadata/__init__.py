"""The contents of a footer: row groups, column chunks, statistics and the Parquet schema, with the names of ``pyarrow.parquet``.

>>> import marquetry
>>> metadata = marquetry.open(WINES).metadata
>>> metadata.num_row_groups, metadata.row_group(0).column(0).path_in_schema
(2, 'name')
"""

from ._file import (
    ColumnChunkMetaData,
    ColumnSchema,
    FileMetaData,
    GeoStatistics,
    ParquetLogicalType,
    ParquetSchema,
    RowGroupMetaData,
    SortingColumn,
    Statistics,
)

__all__ = [
    "ColumnChunkMetaData", "ColumnSchema", "FileMetaData", "GeoStatistics", "ParquetLogicalType", "ParquetSchema",
    "RowGroupMetaData", "SortingColumn", "Statistics",
]  # fmt: skip

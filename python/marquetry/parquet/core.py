"""The functions and classes of ``pyarrow.parquet``, implemented with Marquetry."""

from __future__ import annotations

from typing import Any

from .._marquetry import FileDecryptionProperties, FileEncryptionProperties
from ..metadata import (
    ColumnChunkMetaData,
    ColumnSchema,
    FileMetaData,
    ParquetLogicalType,
    ParquetSchema,
    RowGroupMetaData,
    SortingColumn,
    Statistics,
)
from ._dataset import ParquetDataset, write_to_dataset
from ._filters import _filters_to_expression, filters_to_expression
from ._reading import ParquetFile, ParquetReader
from ._source import is_path
from ._writing import ParquetWriter, write_metadata, write_table

__all__ = [
    "ColumnChunkMetaData", "ColumnSchema", "FileDecryptionProperties", "FileEncryptionProperties", "FileMetaData",
    "ParquetDataset", "ParquetFile", "ParquetLogicalType", "ParquetReader", "ParquetSchema", "ParquetWriter",
    "RowGroupMetaData", "SortingColumn", "Statistics", "filters_to_expression", "read_metadata", "read_pandas",
    "read_schema", "read_table", "write_metadata", "write_table", "write_to_dataset", "_filters_to_expression",
]  # fmt: skip


def read_table(
    source: Any,
    *,
    columns: Any = None,
    use_threads: bool = True,
    schema: Any = None,
    use_pandas_metadata: bool = False,
    read_dictionary: Any = None,
    binary_type: Any = None,
    list_type: Any = None,
    memory_map: bool = False,
    buffer_size: int = 0,
    partitioning: Any = "hive",
    filesystem: Any = None,
    filters: Any = None,
    ignore_prefixes: Any = None,
    pre_buffer: bool = True,
    coerce_int96_timestamp_unit: str | None = None,
    decryption_properties: Any = None,
    thrift_string_size_limit: int | None = None,
    thrift_container_size_limit: int | None = None,
    schema_depth_limit: int | None = None,
    page_checksum_verification: bool = False,
    arrow_extensions_enabled: bool = True,
) -> Any:
    """Reads a file, a directory or a list of files as one ``pyarrow.Table``.

    - ``source``: a path or URI of a file or directory, a list of paths, a file object, or a ``pyarrow.Buffer``.
    - ``columns``: names of columns; or a dictionary from names to the expressions that compute them. Default: all.
    - ``use_threads``: whether several threads decode columns. Default: true.
    - ``schema``: ``pyarrow.Schema`` to read the files as. Default: that of the first file.
    - ``use_pandas_metadata``: whether to read the index columns of pandas, too. Default: false.
    - ``read_dictionary``: names of columns to read as dictionaries. Default: none.
    - ``binary_type``, ``list_type``: pyarrow types of byte strings and text, and of lists, if the file stores no Arrow schema. Default:
      32-bit offsets.
    - ``partitioning``: ``"hive"`` (the default) for directories named ``key=value``, a ``Partitioning`` or a list of names, or ``None``.
    - ``filesystem``: filesystem of pyarrow or fsspec with the files. Default: that of the path.
    - ``filters``: rows to read, as tuples, lists of tuples, or a pyarrow expression. Default: all.
    - ``ignore_prefixes``: beginnings of names of files to ignore in directories. Default: ``.`` and ``_``.
    - ``coerce_int96_timestamp_unit``: unit of INT96 timestamps, ``s``, ``ms``, ``us`` or ``ns``. Default: ``ns``; timestamps that it cannot
      hold are null then, with a warning.
    - ``decryption_properties``: keys of encrypted files, made by :mod:`marquetry.parquet.encryption`. Default: none.
    - ``thrift_string_size_limit``, ``thrift_container_size_limit``, ``schema_depth_limit``: maximum length of strings and lists in a
      footer, and maximum depth of a schema. Default: limits of our own.
    - ``page_checksum_verification``: whether pages are checked against their checksums. Default: false.
    - ``arrow_extensions_enabled``: whether columns may get extension types of Arrow. Default: true.
    - ``memory_map``, ``buffer_size``, ``pre_buffer``: accepted, without effect.

    >>> import marquetry.parquet as pq
    >>> pq.read_table(WINES, columns=["name"], filters=[("year", ">=", 2020)]).column_names
    ['name']
    >>> import pyarrow.compute as pc
    >>> pq.read_table(WINES, columns={"next": pc.field("year") + 1}).column_names
    ['next']
    """
    file_options: dict[str, Any] = {
        "read_dictionary": read_dictionary, "binary_type": binary_type, "list_type": list_type, "memory_map": memory_map,
        "buffer_size": buffer_size, "pre_buffer": pre_buffer,
        "coerce_int96_timestamp_unit": coerce_int96_timestamp_unit, "decryption_properties": decryption_properties,
        "thrift_string_size_limit": thrift_string_size_limit, "thrift_container_size_limit": thrift_container_size_limit,
        "schema_depth_limit": schema_depth_limit, "page_checksum_verification": page_checksum_verification,
        "arrow_extensions_enabled": arrow_extensions_enabled,
    }  # fmt: skip
    try:
        dataset = ParquetDataset(
            source, schema=schema, filesystem=filesystem, partitioning=partitioning, filters=filters,
            ignore_prefixes=ignore_prefixes, **file_options,
        )  # fmt: skip
    except ImportError:
        # pyarrow was built without datasets.
        return _read_one_file(source, columns, use_threads, use_pandas_metadata, filters, partitioning, schema, filesystem, file_options)
    return dataset.read(columns=columns, use_threads=use_threads, use_pandas_metadata=use_pandas_metadata)


def _read_one_file(
    source: Any,
    columns: Any,
    use_threads: bool,
    use_pandas_metadata: bool,
    filters: Any,
    partitioning: Any,
    schema: Any,
    filesystem: Any,
    file_options: dict[str, Any],
) -> Any:
    from ._source import resolve

    what = "is not supported when the pyarrow.dataset module is not available"
    if filters is not None:
        raise ValueError(f"the 'filters' keyword {what}")
    if partitioning != "hive":
        raise ValueError(f"the 'partitioning' keyword {what}")
    if schema is not None:
        raise ValueError(f"the 'schema' argument {what}")
    is_file = True
    if is_path(source):
        resolved, path = resolve(source, filesystem)
        is_file = resolved is None or resolved.get_file_info(path).is_file
    if not is_file or isinstance(source, list):
        raise ValueError(f"the 'source' argument should be a single file: anything else {what}")
    with ParquetFile(source, filesystem=filesystem, **file_options) as file:
        return file.read(columns=columns, use_threads=use_threads, use_pandas_metadata=use_pandas_metadata)


def read_pandas(source: Any, columns: Any = None, **kwargs: Any) -> Any:
    """Reads a table with the index columns of pandas. The other arguments are those of :func:`read_table`."""
    return read_table(source, columns=columns, use_pandas_metadata=True, **kwargs)


def read_metadata(
    where: Any,
    memory_map: bool = False,
    decryption_properties: Any = None,
    filesystem: Any = None,
    arrow_extensions_enabled: bool = True,
) -> FileMetaData:
    """Reads the footer of a file. The arguments are as in :func:`read_table`.

    >>> import marquetry.parquet as pq
    >>> pq.read_metadata(WINES).num_row_groups
    2
    """
    with ParquetFile(
        where, memory_map=memory_map, decryption_properties=decryption_properties, filesystem=filesystem,
        arrow_extensions_enabled=arrow_extensions_enabled,
    ) as file:  # fmt: skip
        return file.metadata


def read_schema(
    where: Any,
    memory_map: bool = False,
    decryption_properties: Any = None,
    filesystem: Any = None,
    arrow_extensions_enabled: bool = True,
) -> Any:
    """Reads the Arrow schema of a file. The arguments are as in :func:`read_table`.

    >>> import marquetry.parquet as pq
    >>> pq.read_schema(WINES).field("year").type
    DataType(int32)
    """
    with ParquetFile(
        where, memory_map=memory_map, decryption_properties=decryption_properties, filesystem=filesystem,
        arrow_extensions_enabled=arrow_extensions_enabled,
    ) as file:  # fmt: skip
        return file.schema_arrow

"""Writing a table as many files."""

from __future__ import annotations

import uuid
from typing import Any, Callable, Iterator

import pyarrow as pa

from ..metadata import FileMetaData
from ._source import resolve


class WrittenFile:
    """A file that was written, as ``file_visitor`` gets it: its path, its footer, and its size in bytes."""

    def __init__(self, path: str, metadata: FileMetaData, size: int) -> None:
        self.path, self.metadata, self.size = path, metadata, size


_BEHAVIOURS = ("error", "overwrite_or_ignore", "delete_matching")

# Stands for a zero byte in paths, because pyarrow cuts off a value there when it escapes it. No value contains this text.
_ZERO = uuid.uuid4().hex


def write_to_dataset(
    table: Any,
    root_path: Any,
    partition_cols: Any = None,
    filesystem: Any = None,
    schema: Any = None,
    partitioning: Any = None,
    basename_template: str | None = None,
    use_threads: bool | None = None,
    file_visitor: Callable[[Any], None] | None = None,
    existing_data_behavior: str | None = None,
    **kwargs: Any,
) -> None:
    """Writes a table as files below a directory, one for each combination of partition values.

    - ``table``: a ``pyarrow.Table``, a list of batches, or anything that ``pyarrow.table`` accepts.
    - ``root_path``: path or URI of the directory.
    - ``partition_cols``: names of columns to partition by, in directories named ``key=value``. Default: none.
    - ``filesystem``: filesystem of pyarrow or fsspec for the files. Default: that of the path.
    - ``schema``: ``pyarrow.Schema`` to cast the table to. Default: its own.
    - ``partitioning``: ``Partitioning`` of pyarrow, or names of columns, instead of ``partition_cols``. Default: none.
    - ``basename_template``: name of the files, with ``{i}`` for their number. Default: a random one.
    - ``file_visitor``: function that is called with each written file: its ``path``, ``metadata`` and ``size``. Default: none.
    - ``existing_data_behavior``: ``"overwrite_or_ignore"`` (the default) keeps other files, ``"error"`` fails if the directory is not
      empty, ``"delete_matching"`` empties the directories of partitions that are written.
    - ``use_threads``: accepted, without effect.
    - ``max_rows_per_group``, ``max_rows_per_file``: maximum numbers of rows. Default: 1,048,576, and unlimited.
    - ``max_partitions``: maximum number of partitions; more raise ``pyarrow.ArrowInvalid``. Default: 1,024.
    - ``create_dir``: whether to create directories. Default: true.
    - ``metadata_collector``: list to which the footers are appended. Default: none.
    - other options: those of :func:`write_table`.

    If all columns are partition keys, the files have rows but no columns.

    >>> import marquetry.parquet as pq, pyarrow as pa
    >>> pq.write_to_dataset(pa.table({"x": [1, 2], "day": ["mon", "tue"]}), FOLDER + "/days", partition_cols=["day"])
    >>> pq.read_table(FOLDER + "/days").num_rows
    2
    """
    import pyarrow.dataset as ds

    collector = kwargs.pop("metadata_collector", None)
    if collector is not None:
        if file_visitor is not None:
            raise ValueError("'metadata_collector' and 'file_visitor' cannot both be given")

        def collect(written: Any) -> None:
            collector.append(written.metadata)

        file_visitor = collect

    if partition_cols is not None and partitioning is not None:
        raise ValueError("'partition_cols' and 'partitioning' cannot both be given")
    behaviour = existing_data_behavior or "overwrite_or_ignore"
    if behaviour not in _BEHAVIOURS:
        raise ValueError(f"Unrecognized existing_data_behavior: {behaviour}; one of {', '.join(_BEHAVIOURS)}")
    template = basename_template or f"{uuid.uuid4().hex}-{{i}}.parquet"
    if template.count("{i}") != 1:
        raise pa.ArrowInvalid(f"basename_template must contain '{{i}}' once, and is {template}")
    rows, most = _row_limits(kwargs)
    # Without effect: files are written one after the other, and rows in their order.
    for name in ("max_open_files", "preserve_order"):
        kwargs.pop(name, None)
    flavor = kwargs.pop("partitioning_flavor", None)
    most_partitions = kwargs.pop("max_partitions", None)
    most_partitions = 1024 if most_partitions is None else most_partitions
    if most_partitions <= 0:
        raise pa.ArrowInvalid(f"max_partitions must be positive, and is {most_partitions}")
    create_dir = kwargs.pop("create_dir", True)
    if isinstance(table, (list, tuple)):
        table = pa.Table.from_batches(table, schema)
    elif not isinstance(table, pa.Table):
        # Batches, readers, and data frames of other libraries.
        table = pa.table(table)
    if schema is not None:
        table = table.cast(schema)
    chosen = _partitioning(ds, table, partition_cols, partitioning, flavor)
    filesystem, root = resolve(root_path, filesystem)
    root = str(root).rstrip("/")
    if create_dir:
        filesystem.create_dir(root, recursive=True)
    _make_room(filesystem, root, behaviour)
    parts = list(_parts(table, chosen))
    if len(parts) > most_partitions:
        raise pa.ArrowInvalid(f"Fragment would be written into {len(parts)} partitions: max_partitions is {most_partitions}")
    made: set[str] = set()
    for folder, prefix, part in parts:
        where = f"{root}/{folder}".rstrip("/")
        if folder not in made:
            made.add(folder)
            if folder and create_dir:
                filesystem.create_dir(where, recursive=True)
            if behaviour == "delete_matching":
                filesystem.delete_dir_contents(where)
        _write_files(part, filesystem, root, where, prefix + template, rows, most, file_visitor, kwargs)


def _row_limits(options: dict[str, Any]) -> tuple[int | None, int | None]:
    """Removes the maximum numbers of rows of a row group and of a file from the options, and returns them."""
    # -1 leaves the number to the writer.
    of_writer = [rows if rows != -1 else None for rows in (options.pop(name, None) for name in ("row_group_size", "chunk_size"))]
    of_group = [*of_writer, options.pop("max_rows_per_group", None)]
    rows = next((rows for rows in of_group if rows is not None), None)
    if rows is not None and rows <= 0:
        raise pa.ArrowInvalid(f"max_rows_per_group must be a positive number, and is {rows}")
    # The minimum is only checked: row groups are as long as they may be.
    least, most = options.pop("min_rows_per_group", None) or 0, options.pop("max_rows_per_file", None) or None
    if most is not None and most < 0:
        raise ValueError(f"max_rows_per_file must not be negative, and is {most}")
    if rows is not None and most is not None and rows > most:
        raise pa.ArrowInvalid("max_rows_per_group must be less than or equal to max_rows_per_file")
    if rows is not None and least > rows:
        raise pa.ArrowInvalid("min_rows_per_group must be less than or equal to max_rows_per_group")
    return rows, most


def _partitioning(ds: Any, table: pa.Table, partition_cols: Any, partitioning: Any, flavor: str | None) -> Any:
    if flavor and (partition_cols or isinstance(partitioning, ds.Partitioning)):
        raise ValueError("Providing a partitioning_flavor with a Partitioning object is not supported")
    if isinstance(partitioning, ds.PartitioningFactory):
        raise ValueError("A PartitioningFactory cannot be used: a partitioning of a dataset that is written has a schema")
    if partition_cols:
        names = [partition_cols] if isinstance(partition_cols, str) else list(partition_cols)
        missing = [name for name in names if name not in table.schema.names]
        if missing:
            raise KeyError(f"the table has no column {missing[0]} to partition by")
        fields = [table.schema.field(name) for name in names]
        return ds.partitioning(pa.schema([field.with_type(_path_type(field.type)) for field in fields]), flavor="hive")
    if isinstance(partitioning, ds.Partitioning):
        return partitioning
    if partitioning is not None and not isinstance(partitioning, (list, tuple)):
        raise ValueError("partitioning must be a Partitioning object or a list of column names")
    return ds.partitioning(table.select(list(partitioning or ())).schema, flavor=flavor)


def _value_type(data_type: pa.DataType) -> pa.DataType:
    return data_type.value_type if pa.types.is_dictionary(data_type) else data_type


def _path_type(data_type: pa.DataType) -> pa.DataType:
    """Returns the type as which a partition value is formatted: fixed-size binary as binary, so that zero bytes can be replaced."""
    plain = _value_type(data_type)
    return pa.binary() if pa.types.is_fixed_size_binary(plain) else plain


def _make_room(filesystem: Any, root: str, behaviour: str) -> None:
    from pyarrow.fs import FileSelector

    if behaviour == "error" and filesystem.get_file_info(FileSelector(root, allow_not_found=True)):
        raise pa.ArrowInvalid(f"Could not write to {root} as the directory is not empty and existing_data_behavior is to error")


def _parts(table: pa.Table, partitioning: Any) -> Iterator[tuple[str, str, pa.Table]]:
    """Yields directory, prefix of file names, and rows of each combination of partition values, in order of occurrence.

    Rows whose values have the same directory, such as null and ``__HIVE_DEFAULT_PARTITION__``, come together.
    """
    names = partitioning.schema.names
    if not names:
        # A partitioning by file names would begin them with an underscore, and readers ignore such files.
        yield "", "", table
        return
    import pyarrow.compute as pc

    keys = pa.table([_key_column(table.column(name), partitioning.schema.field(name).type) for name in names], names=list(names))
    # A name that differs from those of the keys.
    row = "row" + "".join(names)
    grouped = keys.append_column(row, pa.array(range(table.num_rows), pa.int64()))
    groups = grouped.group_by(list(names), use_threads=False).aggregate([(row, "list")])
    rest = table.select([name for name in table.schema.names if name not in names])
    places: dict[tuple[str, str], list[pa.Array]] = {}
    for i in range(groups.num_rows):
        expression = None
        for name in names:
            value = groups.column(name)[i]
            key = _key(_as_in_path(value), partitioning.schema.field(name).type)
            condition = pc.field(name) == key if value.is_valid else pc.field(name).is_null()
            expression = condition if expression is None else expression & condition
        folder, prefix = partitioning.format(expression)
        if _ZERO in folder + prefix:
            folder = _with_zeros(folder, partitioning)
        places.setdefault((_folder(folder), prefix), []).append(groups.column(f"{row}_list")[i].values)
    for (folder, prefix), found in places.items():
        rows = pa.concat_arrays(found)
        if rest.num_columns == 0:
            # `take` on a table without columns would lose its rows.
            yield folder, prefix, rest.slice(0, len(rows))
        else:
            yield folder, prefix, rest.take(rows if len(found) == 1 else rows.take(pc.sort_indices(rows)))


def _key_column(column: pa.ChunkedArray, data_type: pa.DataType) -> pa.ChunkedArray:
    """Returns the values of a partition key, decoded and ready to be formatted as `data_type`."""
    plain = column.cast(_value_type(column.type))
    return plain.cast(pa.binary()) if pa.types.is_fixed_size_binary(plain.type) and data_type == pa.binary() else plain


def _as_in_path(value: pa.Scalar) -> pa.Scalar:
    """Returns a value without zero bytes, at which pyarrow would cut it off."""
    plain = value.as_py()
    if isinstance(plain, str) and "\0" in plain:
        return pa.scalar(plain.replace("\0", _ZERO), value.type)
    if isinstance(plain, bytes) and b"\0" in plain:
        if pa.types.is_fixed_size_binary(value.type):
            raise pa.ArrowInvalid(f"a value of a partition has a zero byte, and its type is {value.type}: only binary can tell of it")
        return pa.scalar(plain.replace(b"\0", _ZERO.encode()), value.type)
    return value


def _with_zeros(folder: str, partitioning: Any) -> str:
    """Restores the zero bytes that :func:`_as_in_path` replaced, escaped, in a path."""
    import pyarrow.dataset as ds

    if not isinstance(partitioning, ds.HivePartitioning):
        raise pa.ArrowInvalid("a value of a partition has a zero byte: only names such as key=value can tell of it")
    return folder.replace(_ZERO, "%00")


def _key(value: pa.Scalar, data_type: pa.DataType) -> pa.Scalar:
    """Converts a value to the partitioning's type, which may be a dictionary."""
    if not pa.types.is_dictionary(data_type):
        return value
    values = pa.array([value.as_py()], data_type.value_type)
    return pa.DictionaryArray.from_arrays(pa.array([0], data_type.index_type), values)[0]


def _folder(path: str) -> str:
    """Normalizes the path of a directory in the dataset. Fails for ``.`` and ``..``, which name another directory."""
    names = [name for name in path.split("/") if name]
    if "." in names or ".." in names:
        raise pa.ArrowInvalid(f"values of partitions name a folder that is another one: {path}")
    return "/".join(names)


def _write_files(
    table: pa.Table,
    filesystem: Any,
    root: str,
    folder: str,
    template: str,
    rows: int | None,
    most: int | None,
    visitor: Callable[[Any], None] | None,
    options: dict[str, Any],
) -> None:
    from ._writing import write_table

    step = most or max(table.num_rows, 1)
    for i, start in enumerate(range(0, max(table.num_rows, 1), step)):
        path = f"{folder}/{template.replace('{i}', str(i))}"
        collected: list[FileMetaData] = []
        # A slice of a table without columns has as many rows as requested, even beyond the end of the table.
        part = table.slice(start, min(step, table.num_rows - start))
        write_table(
            part, path, row_group_size=rows, filesystem=filesystem, metadata_collector=collected, **options
        )
        if visitor is not None:
            metadata = collected[0]
            metadata.set_file_path(path[len(root) :].lstrip("/"))
            visitor(WrittenFile(path, metadata, filesystem.get_file_info(path).size))

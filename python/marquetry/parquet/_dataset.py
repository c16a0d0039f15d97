"""Reading many files as one table, with the names of ``pyarrow.parquet``.

pyarrow finds the files and their partitions; Marquetry reads and writes them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Iterator, NamedTuple, Sequence

import pyarrow as pa

from ._filters import filters_to_expression, is_of_predicate, names_of, pushed
from ._partitioned import write_to_dataset
from ._reading import ParquetFile, index_columns
from ._source import is_path, resolve

__all__ = ["ParquetDataset", "write_to_dataset"]


class ParquetDataset:
    """Files that are read as one table, with the arguments and methods of ``pyarrow.parquet.ParquetDataset``.

    The options are those of :func:`read_table`.

    >>> import marquetry.parquet as pq
    >>> pq.ParquetDataset([WINES, WINES], filters=[("year", ">=", 2020)]).read(columns=["year"]).column_names
    ['year']
    """

    def __init__(
        self,
        path_or_paths: Any,
        filesystem: Any = None,
        schema: Any = None,
        *,
        filters: Any = None,
        read_dictionary: Any = None,
        binary_type: Any = None,
        list_type: Any = None,
        memory_map: bool = False,
        buffer_size: int | None = None,
        partitioning: Any = "hive",
        ignore_prefixes: Any = None,
        pre_buffer: bool = True,
        coerce_int96_timestamp_unit: str | None = None,
        decryption_properties: Any = None,
        thrift_string_size_limit: int | None = None,
        thrift_container_size_limit: int | None = None,
        schema_depth_limit: int | None = None,
        page_checksum_verification: bool = False,
        arrow_extensions_enabled: bool = True,
    ) -> None:
        import pyarrow.dataset as ds

        if buffer_size is not None and buffer_size < 0:
            raise ValueError(f"buffer_size must not be negative, and is {buffer_size}")
        if schema is not None and not isinstance(schema, pa.Schema):
            raise TypeError(f"schema: a pyarrow.Schema is wanted, not {type(schema).__name__}")
        self._arguments = {
            "path_or_paths": path_or_paths, "filesystem": filesystem, "schema": schema, "filters": filters,
            "partitioning": partitioning, "ignore_prefixes": ignore_prefixes,
        }  # fmt: skip
        self._file_options: dict[str, Any] = {
            "binary_type": binary_type, "list_type": list_type,
            "coerce_int96_timestamp_unit": coerce_int96_timestamp_unit, "decryption_properties": decryption_properties,
            "thrift_string_size_limit": thrift_string_size_limit,
            "thrift_container_size_limit": thrift_container_size_limit, "schema_depth_limit": schema_depth_limit,
            "page_checksum_verification": page_checksum_verification,
            "arrow_extensions_enabled": arrow_extensions_enabled,
        }  # fmt: skip
        self._read_dictionary, self._memory_map = read_dictionary, memory_map
        self._filters = filters
        self._expression = None if filters is None else filters_to_expression(filters)
        self._base_dir: str | None = None
        self._dictionaries: dict[str, _Dictionary] = {}
        self._first: ParquetFile | None = None
        self._single: Any = None
        self._whole: pa.Schema | None = schema
        self._find(ds, path_or_paths, filesystem, schema, partitioning, ignore_prefixes)

    # Finding the files

    def _find(self, ds: Any, source: Any, filesystem: Any, schema: Any, partitioning: Any, prefixes: Any) -> None:
        if not is_path(source) and not isinstance(source, (list, tuple)):
            if filesystem is not None:
                # Raises if it is not a filesystem. An open file does not need one.
                from pyarrow.fs import _ensure_filesystem

                _ensure_filesystem(filesystem)
            self._take_one(source, None)
            return
        if is_path(source):
            resolved, path = resolve(source, filesystem, self._memory_map)
            self.filesystem = resolved
            info = resolved.get_file_info(path)
            if info.type.name == "NotFound":
                raise FileNotFoundError(path)
            if info.is_file:
                self._take_one(path, resolved)
                return
            from pyarrow.fs import FileSelector

            chosen: Any = FileSelector(path, recursive=True)
            self._base_dir = path
        else:
            other = next((item for item in source if not is_path(item)), None)
            if other is not None:
                raise TypeError(f"path_or_paths: of many files paths are wanted, not {type(other).__name__}")
            pairs = [resolve(item, filesystem, self._memory_map) for item in source]
            # An empty list of files makes a table without rows.
            self.filesystem = pairs[0][0] if pairs else resolve("/", filesystem)[0]
            chosen = [path for _, path in pairs]
            if any(self.filesystem.get_file_info(path).type.name == "NotFound" for path in chosen):
                raise FileNotFoundError(next(p for p in chosen if self.filesystem.get_file_info(p).type.name == "NotFound"))
        self._take_many(ds, chosen, schema, partitioning, prefixes)

    def _take_one(self, source: Any, filesystem: Any) -> None:
        self._single, self.filesystem = source, filesystem
        # pyarrow takes a schema without fields for no schema.
        self._whole = self._whole or None
        self._partition_fields: list[pa.Field] = []
        self._first = self._open(source)
        self.partitioning = None
        self._pyarrow: Any = None

    def _take_many(self, ds: Any, chosen: Any, schema: Any, partitioning: Any, prefixes: Any) -> None:
        factory = self._factory(ds, chosen, partitioning, prefixes)
        try:
            # Without opening files, which is our part.
            partitions = factory.inspect(fragments=0)
        except pa.ArrowInvalid:
            if schema is None:
                raise
            # If a partition key is null in all files, only the schema has its type. A new factory takes the schema without inspecting.
            factory, partitions = self._factory(ds, chosen, partitioning, prefixes), schema
        found = factory.finish(partitions)
        self.partitioning = getattr(found, "partitioning", None)
        paths = found.files
        if schema is None:
            self._first = self._open(paths[0]) if paths else None
            fields = self._first.schema_arrow if self._first is not None else pa.schema([])
            schema = _with_partitions(fields, partitions)
        else:
            self._first = None
        self._whole = schema
        self._partition_fields = [field for field in partitions if field.name in schema.names]
        # A given schema may lack partition keys, but pyarrow requires all of them.
        left_out = [field for field in partitions if field.name not in schema.names]
        all_fields = pa.schema([*schema, *left_out], metadata=schema.metadata)
        self._pyarrow = found if partitions is schema else factory.finish(all_fields)
        self.partitioning = getattr(self._pyarrow, "partitioning", self.partitioning)
        self._dictionaries = _dictionaries(self.partitioning)

    def _factory(self, ds: Any, chosen: Any, partitioning: Any, prefixes: Any) -> Any:
        options = ds.FileSystemFactoryOptions(
            partition_base_dir=self._base_dir or "", partitioning=_partitioning(ds, partitioning),
            exclude_invalid_files=False, selector_ignore_prefixes=prefixes,
        )  # fmt: skip
        return ds.FileSystemDatasetFactory(self.filesystem, chosen, ds.ParquetFileFormat(), options)

    def _open(self, source: Any) -> ParquetFile:
        try:
            file = ParquetFile(
                source, filesystem=self.filesystem, memory_map=self._memory_map and is_path(source), **self._file_options
            )
            if self._read_dictionary:
                known = {column.path for column in file.schema}
                chosen = [name for name in self._read_dictionary if name in known]
                if chosen:
                    file = ParquetFile(
                        source, filesystem=self.filesystem, read_dictionary=chosen, **self._file_options
                    )
            return file
        except pa.ArrowInvalid as error:
            if is_path(source):
                raise pa.ArrowInvalid(f"Could not open Parquet input source '{source}': {error}") from error
            raise

    # Properties

    @property
    def _dataset(self) -> Any:
        """The same files as a pyarrow dataset."""
        if self._pyarrow is None:
            import pyarrow.dataset as ds

            fragment = ds.ParquetFileFormat().make_fragment(self._single, self.filesystem)
            self._pyarrow = ds.FileSystemDataset(
                [fragment], self.schema, ds.ParquetFileFormat(), filesystem=self.filesystem
            )
        return self._pyarrow

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the table."""
        if self._whole is None:
            assert self._first is not None
            self._whole = self._first.schema_arrow
        return self._whole

    def _schema_of(self, columns: Sequence[str] | None) -> pa.Schema:
        """Returns at least those fields of the schema that reading these columns requires."""
        if self._whole is not None or self._first is None or columns is None:
            return self.schema
        filtered = set() if self._filters is None else names_of(self._filters, self._expression)
        if filtered is None:
            return self.schema
        paths = [*columns, *(str(column).split(".")[0] for column in columns), *filtered]
        return self._first._schema_of(list(dict.fromkeys(paths)))

    @property
    def files(self) -> list[str]:
        """Paths of the files."""
        return list(self._dataset.files)

    @property
    def fragments(self) -> list[Any]:
        """The files as pyarrow fragments."""
        return list(self._dataset.get_fragments())

    def equals(self, other: ParquetDataset) -> bool:
        """Returns whether both have the same files, schema and filters."""
        if not isinstance(other, ParquetDataset):
            raise TypeError("'other' is not a ParquetDataset")
        ours, theirs = self._expression, other._expression
        if ours is None or theirs is None:
            are_same = ours is theirs
        else:
            are_same = ours.equals(theirs)
        return are_same and self.schema == other.schema and self.files == other.files

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, ParquetDataset) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        options = {**self._file_options, "read_dictionary": self._read_dictionary, "memory_map": self._memory_map}
        return _opened, ({**self._arguments, **options},)

    # Reading

    def read(
        self,
        columns: Sequence[str] | dict[str, Any] | None = None,
        use_threads: bool = True,
        use_pandas_metadata: bool = False,
    ) -> pa.Table:
        """Reads all files into one table.

        - ``columns``: names of columns; or a dictionary from names to the expressions that compute them. Default: all.
        - ``use_threads``: whether several threads decode columns. Default: true.
        - ``use_pandas_metadata``: whether to read the index columns of pandas, too. Default: false.
        """
        if isinstance(columns, str):
            raise ValueError("columns should be a list of names, not a name")
        if columns is None and self._is_one_whole_file():
            table = self._read_whole(use_threads)
            if table.num_columns > 0:
                return table
        pandas = self._pandas_metadata() if use_pandas_metadata else None
        if isinstance(columns, dict) and pandas is None:
            return self._computed(columns, use_threads)
        if columns is not None:
            columns = list(columns)
            if pandas is not None:
                columns += index_columns(pandas, columns)
        schema = self._schema_of(columns)
        selected = _selected(columns, schema)
        needed = self._needed(selected, schema)
        if needed != schema.names:
            schema = pa.schema([schema.field(name) for name in needed], metadata=schema.metadata)
        tables = [self._read_file(source, keys, schema, use_threads) for source, keys in self._parts()]
        if not schema.names:
            # pyarrow counts rows without columns only where they were selected from others.
            rows = pa.table({"": pa.nulls(sum(table.num_rows for table in tables))})
            return rows.replace_schema_metadata(schema.metadata).select([])
        table = tables[0] if len(tables) == 1 else pa.concat_tables(tables or [schema.empty_table()])
        table = _select(table.replace_schema_metadata(schema.metadata), selected)
        if pandas is not None:
            table = table.replace_schema_metadata({**(table.schema.metadata or {}), b"pandas": pandas[b"pandas"]})
        return table

    def _computed(self, columns: dict[str, Any], use_threads: bool) -> pa.Table:
        """Computes columns from expressions. Marquetry reads the columns that they use, and pyarrow evaluates them."""
        import pyarrow.compute as pc
        import pyarrow.dataset as ds

        for name, expression in columns.items():
            if not isinstance(expression, pc.Expression):
                raise TypeError(f"columns: an expression is wanted for {name!r}, not {type(expression).__name__}")
        asked = [names_of(expression, expression) for expression in columns.values()]
        known = self.schema.names
        if None not in asked:
            known = [name for name in known if any(name in names for names in asked if names is not None)]
        table = self.read(known, use_threads)
        if table.num_columns == 0:
            # pyarrow needs a column to count rows.
            table = pa.table({"": pa.nulls(table.num_rows)}, metadata=table.schema.metadata)
        return ds.dataset(table).to_table(columns=columns)

    def read_pandas(self, **kwargs: Any) -> pa.Table:
        """Reads all files into one table, with the index columns of pandas. The arguments are those of :meth:`read`."""
        return self.read(use_pandas_metadata=True, **kwargs)

    def _is_one_whole_file(self) -> bool:
        """Returns whether a single file is read without a filter or another schema."""
        return self._single is not None and self._whole is None and self._filters is None

    def _read_whole(self, use_threads: bool) -> pa.Table:
        """Reads the only file as a whole. The schema is taken from the table, because computing it before takes long for wide files."""
        assert self._first is not None
        table = self._first._read(None, None, use_threads, False, "row_group")
        _selected(None, table.schema)
        return table

    def _needed(self, selected: list[tuple[str, list[str]]], schema: pa.Schema) -> list[str]:
        """Returns the columns to read: the selected ones, and those of the filters."""
        needed = dict.fromkeys(path[0] for _, path in selected)
        if self._filters is not None:
            filtered = names_of(self._filters, self._expression)
            if filtered is None:
                return list(schema.names)
            needed.update(dict.fromkeys(name for name in filtered if name in schema.names))
        return list(needed)

    def _parts(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yields the files with their partition values."""
        if self._single is not None:
            yield self._single, {}
            return
        import pyarrow.dataset as ds

        for fragment in self._dataset.get_fragments(filter=self._expression):
            yield fragment.path, ds.get_partition_keys(fragment.partition_expression)

    def _read_file(self, source: Any, keys: dict[str, Any], schema: pa.Schema, use_threads: bool) -> pa.Table:
        """Reads the columns of `schema` from a file, for the rows that pass the filters."""
        opened = self._first if source is self._single else None
        file = self._open(source) if opened is None else opened
        # If the directories of a file do not have a partition key, its own column is used.
        is_partition = {field.name for field in self._partition_fields} & keys.keys()
        of_file = file._schema_of(schema.names)
        plain = pa.schema([field for field in of_file if field.name not in is_partition])
        there = set(plain.names)
        ask, is_exact = pushed(self._filters, _asked_alike(plain, schema))
        names = [name for name in schema.names if name in there]
        try:
            table = file._read(None, names, use_threads, False, "row_group", ask)
        except pa.ArrowInvalid as error:
            if not is_of_predicate(error):
                raise
            # Our reader refuses, for example, to order geometries, which are bytes in Arrow. Then pyarrow filters alone.
            table, is_exact = file._read(None, names, use_threads, False, "row_group"), False
        if not table.schema.equals(schema):
            table = _conformed(table, schema, {name: keys[name] for name in is_partition}, self._dictionaries)
        return table if is_exact else table.filter(self._expression)

    def _pandas_metadata(self) -> dict[bytes, bytes] | None:
        metadata = dict(self.schema.metadata or {})
        if b"pandas" in metadata:
            return metadata
        if self._base_dir is None:
            return None
        for name in ("_common_metadata", "_metadata"):
            path = f"{self._base_dir}/{name}"
            if self.filesystem.get_file_info(path).is_file:
                metadata = dict(ParquetFile(path, filesystem=self.filesystem).schema_arrow.metadata or {})
                return metadata if b"pandas" in metadata else None
        return None


def _asked_alike(file: pa.Schema, table: pa.Schema) -> pa.Schema:
    """Returns the columns of a file whose values do not change in the table.

    Other columns can only be filtered after conversion, such as from double to float, or from timestamp to date.
    """
    once = {name for name in table.names if table.names.count(name) == 1}
    return pa.schema([field for field in file if field.name in once and _keeps_values(field.type, table.field(field.name).type)])


def _keeps_values(of: pa.DataType, to: pa.DataType) -> bool:
    types = pa.types
    if of == to:
        return True
    if types.is_integer(of) and types.is_integer(to):
        is_wider = to.bit_width > of.bit_width
        return is_wider and (types.is_signed_integer(to) or types.is_unsigned_integer(of))
    if types.is_timestamp(of) and types.is_timestamp(to):
        units = ["s", "ms", "us", "ns"]
        return of.tz == to.tz and units.index(of.unit) < units.index(to.unit)
    texts = (types.is_string, types.is_large_string, types.is_string_view)
    return any(is_text(of) for is_text in texts) and any(is_text(to) for is_text in texts)


def _opened(arguments: dict[str, Any]) -> ParquetDataset:
    return ParquetDataset(**arguments)


def _partitioning(ds: Any, partitioning: Any) -> Any:
    if partitioning == "hive":
        return ds.HivePartitioning.discover(infer_dictionary=True)
    if partitioning is None:
        return None
    return ds._ensure_partitioning(partitioning)


def _with_partitions(schema: pa.Schema, partitions: pa.Schema) -> pa.Schema:
    """Returns a schema with the columns of files, followed by the partition keys."""
    for field in partitions:
        if field.name in schema.names:
            theirs = schema.field(field.name)
            if theirs.type != field.type:
                raise pa.ArrowTypeError(
                    f"Unable to merge: Field {field.name} has incompatible types: {theirs.type} vs {field.type}"
                )
        else:
            schema = schema.append(field)
    return schema


class _Dictionary(NamedTuple):
    """The values of a partition key in all files, and the position of each."""

    values: pa.Array
    places: dict[Any, int]


def _dictionaries(partitioning: Any) -> dict[str, _Dictionary]:
    """Returns the dictionaries of those partition keys that are dictionaries."""
    dictionaries = getattr(partitioning, "dictionaries", None) or []
    names = partitioning.schema.names if dictionaries else []
    return {
        name: _Dictionary(values, {value: place for place, value in enumerate(values.to_pylist())})
        for name, values in zip(names, dictionaries)
        if values is not None
    }


def _conformed(table: pa.Table, schema: pa.Schema, keys: dict[str, Any], dictionaries: dict[str, _Dictionary]) -> pa.Table:
    """Returns the columns of `schema`, from the table or from partition values; missing columns are null."""
    there, columns = set(table.column_names), []
    for field in schema:
        if field.name in keys:
            columns.append(_repeated(keys[field.name], table.num_rows, field.type, dictionaries.get(field.name)))
        elif field.name in there:
            column = table.column(field.name)
            columns.append(column if column.type == field.type else column.cast(field.type))
        else:
            columns.append(pa.nulls(table.num_rows, field.type))
    return pa.table(columns, schema=schema)


def _repeated(value: Any, rows: int, data_type: pa.DataType, dictionary: _Dictionary | None) -> pa.Array:
    """Repeats a partition value for each row. A dictionary has the values of all files, as far as they are known."""
    if not pa.types.is_dictionary(data_type):
        return pa.nulls(rows, data_type) if value is None else pa.repeat(pa.scalar(value, data_type), rows)
    if dictionary is None or value is not None and value not in dictionary.places:
        dictionary = _Dictionary(pa.array([] if value is None else [value], data_type.value_type), {value: 0})
    place = None if value is None else dictionary.places[value]
    values = dictionary.values if dictionary.values.type == data_type.value_type else dictionary.values.cast(data_type.value_type)
    indices = pa.nulls(rows, data_type.index_type) if place is None else pa.repeat(pa.scalar(place, data_type.index_type), rows)
    return pa.DictionaryArray.from_arrays(indices, values, ordered=data_type.ordered)


def _selected(columns: Sequence[str] | None, schema: pa.Schema) -> list[tuple[str, list[str]]]:
    """Returns the name and the path of each selected column."""
    roots = Counter(schema.names)
    if columns is None:
        twice = next((name for name, count in roots.items() if count > 1), None)
        if twice is not None:
            raise pa.ArrowInvalid(f"Multiple matches for FieldRef.Name({twice}) in {schema}")
        return [(name, [name]) for name in roots]
    out = []
    for column in columns:
        if not isinstance(column, str):
            raise TypeError(f"columns are names, and not {type(column).__name__}")
        path = [column] if column in roots else column.split(".")
        parent: Any = schema
        known = roots
        for name in path:
            if known[name] != 1:
                what = "Multiple matches" if name in known else "No match"
                raise pa.ArrowInvalid(f"{what} for FieldRef.Name({column}) in {schema}")
            parent = parent.field(name).type
            known = Counter(child.name for child in parent) if isinstance(parent, pa.StructType) else Counter()
        out.append((path[-1], path))
    return out


def _select(table: pa.Table, selected: list[tuple[str, list[str]]]) -> pa.Table:
    """Selects columns by their paths. A field of a struct is null where the struct is null."""
    import pyarrow.compute as pc

    if not selected:
        return table.select([])
    if [path for _, path in selected] == [[name] for name in table.column_names]:
        return table
    columns, fields = [], []
    for name, path in selected:
        column, field = table.column(path[0]), table.schema.field(path[0])
        for inner in path[1:]:
            field = field.type.field(inner)
            column = pc.struct_field(column, inner)
        columns.append(column)
        fields.append(field.with_name(name))
    return pa.table(columns, schema=pa.schema(fields, metadata=table.schema.metadata))


"""Arguments of functions of pyarrow.parquet: what they mean to pyarrow, they mean to us, or are refused."""

import copy
import io
import json
import pathlib
import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as theirs
import pytest

import marquetry.parquet as ours
from mixed import TABLE, same


def test_unknown_arguments_are_errors(tmp_path: pathlib.Path) -> None:
    with pytest.raises(TypeError):
        ours.read_table(tmp_path, use_legacy_dataset=True)
    with pytest.raises(TypeError):
        ours.write_table(TABLE, tmp_path / "x.parquet", speed=1)
    assert not (tmp_path / "x.parquet").exists()


def test_columns_may_be_expressions(tmp_path: pathlib.Path) -> None:
    field = pyarrow.dataset.field
    path = tmp_path / "t.parquet"
    theirs.write_table(TABLE.replace_schema_metadata({"k": "v"}), path, row_group_size=100)
    theirs.write_to_dataset(TABLE.select(["i", "s"]), tmp_path / "d", partition_cols=["s"])
    chosen = [
        {"x": field("i") + 1, "s": field("s")}, {"x": field("st", "u")}, {"s": field("i"), "i": field("s")}, {"x": pa.compute.scalar(1)}, {},
        {"x": field("c")}, {"x": pa.compute.if_else(field("i") > 0, field("s"), "none")}, {"x": field(0)}, {"x": field("nope")}, {"x": 5},
    ]  # fmt: skip
    for source in [path, tmp_path / "d", [path, path]]:
        for columns in chosen:
            for filters in [None, [("i", "<", 1)], field("s") == "a"]:
                try:
                    expected = theirs.read_table(source, columns=columns, filters=filters)
                except (TypeError, ValueError) as error:
                    with pytest.raises(type(error)):
                        ours.read_table(source, columns=columns, filters=filters)
                    continue
                found = ours.read_table(source, columns=columns, filters=filters)
                assert same(found, expected) and found.schema.metadata == expected.schema.metadata, (columns, filters)
    with pytest.raises(TypeError, match="columns: an expression is wanted for 'x', not int"):
        ours.read_table(path, columns={"x": 5})


def test_columns_that_are_wanted_twice(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    theirs.write_table(TABLE, path, row_group_size=100)
    for columns in [["i", "i"], ["s", "i", "s"], ["st", "st.u"], ["st.u", "st"], ["st.v", "st.u", "st.v"], ["l", "l.list.element"]]:
        for read in [
            lambda module: module.read_table(path, columns=columns),
            lambda module: module.ParquetFile(path).read(columns=columns),
            lambda module: module.ParquetFile(path).read_row_group(1, columns=columns),
            lambda module: pa.Table.from_batches(module.ParquetFile(path).iter_batches(columns=columns)),
        ]:
            try:
                expected = read(theirs)
            except pa.ArrowInvalid as error:
                with pytest.raises(pa.ArrowInvalid, match=str(error)[:15]):
                    read(ours)
                continue
            assert same(read(ours), expected), columns


def test_a_page_of_no_bytes_is_a_batch_of_values(tmp_path: pathlib.Path) -> None:
    table = pa.table({"a": range(5000)})
    path = tmp_path / "f.parquet"
    for options, pages in [({}, 5), ({"write_batch_size": 500}, 10), ({"max_rows_per_page": 100}, 50), ({"max_rows_per_page": 2000}, 5)]:
        for size in (0, -1):
            ours.write_table(table, path, data_page_size=size, use_dictionary=False, **options)
            assert ours.read_table(path).equals(table)
            shown = subprocess.run([sys.executable, "-m", "marquetry", "pages", "--format", "json", path], capture_output=True, check=True)
            assert len(json.loads(shown.stdout)["pages"]) == pages, options
    for name in ("max_rows_per_page", "write_batch_size"):
        with pytest.raises(ValueError, match=f"{name} must be positive, and is 0"):
            ours.write_table(table, tmp_path / "g.parquet", **{name: 0})
    for name in ("max_rows_per_page", "write_batch_size", "data_page_size", "dictionary_pagesize_limit"):
        with pytest.raises(TypeError, match=f"{name} must be a number, and is a str"):
            ours.write_table(table, tmp_path / "g.parquet", **{name: "7"})
        ours.write_table(table, path, **{name: 700.5})
    assert not (tmp_path / "g.parquet").exists()


def test_options_say_the_same_as_to_pyarrow(tmp_path: pathlib.Path) -> None:
    fields = pa.field("kk", pa.string(), nullable=False), pa.field("vv", pa.int32())
    table = TABLE.append_column("a b", TABLE["i"]).append_column("named", pa.array([[("k", 1)], None, []] * 100, pa.map_(*fields)))
    for options in [
        {"flavor": {"spark"}}, {"flavor": ["spark"]}, {"flavor": "none"}, {"use_compliant_nested_type": False}, {"write_page_checksum": 1},
        {"use_dictionary": False, "column_encoding": {"i": "DELTA_BINARY_PACKED"}, "use_byte_stream_split": ["f"]},
        {"use_dictionary": False, "column_encoding": {"i": "PLAIN"}, "use_byte_stream_split": []}, {"dictionary_pagesize_limit": 0},
        {"use_dictionary": "i"}, {"use_dictionary": {"i"}}, {"write_time_adjusted_to_utc": 1},
    ]:  # fmt: skip
        said = []
        for module in [theirs, ours]:
            path = tmp_path / "f.parquet"
            # pyarrow changes what it is given.
            module.write_table(table, path, **copy.deepcopy(options))
            metadata = theirs.read_metadata(path)
            chunks = [metadata.row_group(0).column(i) for i in range(metadata.num_columns)]
            said.append([(chunk.path_in_schema, set(chunk.encodings) - {"RLE"}, chunk.physical_type) for chunk in chunks])
        assert said[0] == said[1], options
    with pytest.raises(ValueError, match="'use_byte_stream_split'"):
        ours.write_table(table, tmp_path / "g.parquet", use_dictionary=False, column_encoding={"f": "PLAIN"}, use_byte_stream_split=["f"])


def test_columns_that_are_dictionaries_by_number(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f.parquet"
    theirs.write_table(TABLE, path, store_schema=False)
    number = TABLE.schema.names.index("s")
    assert same(ours.ParquetFile(path, read_dictionary=[number]).read(), theirs.ParquetFile(path, read_dictionary=[number]).read())


def test_what_a_reader_says_of_itself(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f.parquet"
    theirs.write_table(pa.table({"a.b": [1], "s": [{"x": 1}], "l": [[1]]}), path)
    for module in (ours, theirs):
        reader = module.ParquetFile(path).reader
        assert reader.column_paths == [["a.b"], ["s", "x"], ["l", "list", "element"]]
        assert reader.column_name_idx("s.x") == 1
        with pytest.raises(KeyError):
            reader.column_name_idx("zz")
        assert type(reader)().closed


def test_the_index_of_pandas_may_be_in_a_common_footer(tmp_path: pathlib.Path) -> None:
    table = pa.Table.from_pandas(pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="k")))
    theirs.write_metadata(table.schema, tmp_path / "_common_metadata")
    theirs.write_table(table.replace_schema_metadata(None), tmp_path / "f.parquet", store_schema=False)
    for module in (ours, theirs):
        common = module.read_metadata(tmp_path / "_common_metadata")
        read = module.ParquetFile(tmp_path / "f.parquet", common_metadata=common).read(["a"], use_pandas_metadata=True)
        assert read.column_names == ["a", "k"]


def test_columns_by_their_numbers_in_expressions(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f.parquet"
    theirs.write_table(TABLE, path)
    for columns in (None, ["s"], {"x": pyarrow.dataset.field(3)}):
        found, expected = [module.read_table(path, columns=columns, filters=pyarrow.dataset.field(0) == 1) for module in (ours, theirs)]
        assert found.num_rows == 100 and same(found, expected)


def test_options_that_are_none_are_the_defaults(tmp_path: pathlib.Path) -> None:
    table = pa.table({"x": ["a", "b"] * 10, "l": [[1]] * 20})
    names = ["write_statistics", "use_dictionary", "version", "data_page_version", "write_page_index", "compression", "store_schema",
             "use_compliant_nested_type", "use_byte_stream_split"]  # fmt: skip
    for name in names:
        said = []
        for module in [theirs, ours]:
            file = str(tmp_path / "f.parquet")
            module.write_table(table, file, **{name: None})
            metadata = theirs.read_metadata(file)
            chunk = metadata.row_group(0).column(0)
            said.append((chunk.is_stats_set, sorted(chunk.encodings), chunk.compression, chunk.has_offset_index, metadata.format_version))
            said[-1] += tuple(column.path for column in metadata.schema)
        assert said[0] == said[1], name


@pytest.mark.parametrize("options", [{"coerce_timestamps": "ms"}, {"coerce_timestamps": "us"}, {"version": "2.4"}, {}])
def test_timestamps_have_the_unit_of_the_file(tmp_path: pathlib.Path, options: dict[str, str]) -> None:
    moments = pa.array([1_000_000, None, 2_000_000])
    table = pa.table({"t": moments.cast(pa.timestamp("ns")), "z": moments.cast(pa.timestamp("us", "UTC")), "d": moments.cast(pa.time64("ns"))})
    for writer in [theirs, ours]:
        file = str(tmp_path / "f.parquet")
        writer.write_table(table, file, **options)
        assert ours.read_table(file).equals(theirs.read_table(file)), options


def test_arguments_of_other_types_are_told(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f.parquet"
    table = pa.table({"a": [1], "b": ["x"]})
    theirs.write_table(table, path)
    for module in [ours, theirs]:
        for options in [{"schema": 5}, {"list_type": "list"}, {"binary_type": pa.int64()}]:
            with pytest.raises(TypeError, match="schema|list_type|BYTE_ARRAY|binary_type"):
                module.read_table(path, **options)
        with pytest.raises(TypeError):
            module.read_table([io.BytesIO()])
        with pytest.raises(ValueError):
            module.ParquetFile(path, buffer_size=-1)
        assert module.read_table(path, schema=pa.schema([])).equals(table)
    with pytest.raises(TypeError, match="columns are names, and not int"):
        ours.ParquetFile(path).read([0])
    for module in [ours, theirs]:
        for sorted_by in [[(0,)], 5, module.SortingColumn(0)]:
            with pytest.raises(ValueError, match="must be a list of `SortingColumn`"):
                module.write_table(table, path, sorting_columns=sorted_by)
        # A column that is not there has any level.
        module.write_table(table, path, sorting_columns=[theirs.SortingColumn(0)], compression_level={"c": 2})
        assert len(theirs.read_metadata(path).row_group(0).sorting_columns) == 1
        for columns in [[0], ["a", None]]:
            with pytest.raises(TypeError):
                module.read_table(path, columns=columns)
            with pytest.raises(TypeError):
                module.read_table([path, path], columns=columns)


def test_rows_of_groups_of_columns_are_counted(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    theirs.write_table(TABLE, path, row_group_size=100)
    for columns in [["st"], ["l.list"], ["l.list.element"], ["i", "st.u"]]:
        found, expected = (module.ParquetFile(path).scan_contents(columns) for module in (ours, theirs))
        assert found == expected == TABLE.num_rows
    with pytest.raises(KeyError, match="nope"):
        ours.ParquetFile(path).scan_contents(["i", "nope"])


def test_a_file_that_is_opened_as_text_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    theirs.write_table(TABLE, path)
    for module in (ours, theirs):
        for read in (module.read_table, module.ParquetFile, module.read_schema, module.read_metadata):
            with open(path) as file, pytest.raises(TypeError, match="text"):
                read(file)


def test_pairs_folders_and_names_of_writers(tmp_path: pathlib.Path) -> None:
    pairs = [{"k": "v"}, [("k", "v"), (b"l", b"w")], {}, None]
    for module in (ours, theirs):
        for given in pairs:
            file = io.BytesIO()
            with module.ParquetWriter(file, TABLE.schema, store_schema=False) as writer:
                writer.add_key_value_metadata(given)
            expected = {"k" if key == "k" else "l": value for key, value in dict(given or {}).items()}
            assert len(theirs.read_metadata(file).metadata or {}) == len(expected)
        with pytest.raises(TypeError), module.ParquetWriter(io.BytesIO(), TABLE.schema) as writer:
            writer.add_key_value_metadata(5)
        with pytest.raises(IsADirectoryError):
            module.write_table(TABLE, tmp_path)
        for template in ("x", "{i}-{i}"):
            with pytest.raises(pa.ArrowInvalid, match="basename_template"):
                module.write_to_dataset(TABLE, tmp_path / "d", basename_template=template)


def test_a_file_that_is_open_needs_no_filesystem(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.parquet"
    theirs.write_table(pa.table({"x": [1, 2]}), path)
    local = pa.fs.LocalFileSystem()
    for module in (ours, theirs):
        for source in (lambda: open(path, "rb"), lambda: io.BytesIO(path.read_bytes()), lambda: pa.py_buffer(path.read_bytes())):
            assert module.read_table(source(), filesystem=local).num_rows == 2
            assert module.ParquetDataset(source(), filesystem=local).read().num_rows == 2
        with pytest.raises(TypeError):
            module.read_table(io.BytesIO(path.read_bytes()), filesystem=5)
        # One file alone takes the two for a mistake.
        with pytest.raises(ValueError, match="file-like"):
            module.ParquetFile(io.BytesIO(path.read_bytes()), filesystem=local)

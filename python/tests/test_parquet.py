"""The names of pyarrow.parquet: what we write pyarrow reads, what it writes we read, and both give the same."""

import datetime
import decimal
import io
import os
import pathlib
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as theirs
import pytest

import marquetry
import marquetry.parquet as ours

DAY = datetime.datetime(2020, 2, 29, 12, 30, 1, 5)
TABLE = pa.table(
    {
        "i": pa.array([1, None, -3] * 100, pa.int32()),
        "u": pa.array([1, None, 2**63] * 100, pa.uint64()),
        "f": pa.array([1.5, float("nan"), None] * 100),
        "s": pa.array(["a", None, "ö"] * 100),
        "ls": pa.array(["a", None, "ö"] * 100, pa.large_string()),
        "b": pa.array([b"a", None, b""] * 100),
        "t": pa.array([DAY, None, DAY] * 100, pa.timestamp("us", "Europe/Berlin")),
        "d": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-9.99")] * 100, pa.decimal128(9, 2)),
        "day": pa.array([DAY.date(), None, DAY.date()] * 100),
        "l": pa.array([[1, None], None, []] * 100),
        "st": pa.array([{"u": 1, "v": "x"}, None, {"u": None, "v": "y"}] * 100),
        "m": pa.array([[("k", 1)], None, []] * 100, pa.map_(pa.string(), pa.int32())),
        "c": pa.DictionaryArray.from_arrays(pa.array([2, None, 0] * 100, pa.int32()), ["x", "y", "z"]),
        "dur": pa.array([5, None, 7] * 100, pa.duration("ms")),
        "fixed": pa.array([b"abc", None, b"def"] * 100, pa.binary(3)),
        "flag": pa.array([True, None, False] * 100),
    }
)


def same(left: pa.Table, right: pa.Table) -> bool:
    return left.schema.equals(right.schema) and left.to_pylist().__repr__() == right.to_pylist().__repr__()


WRITERS = [
    {},
    {"compression": "zstd", "compression_level": 3, "use_dictionary": False},
    {"version": "1.0", "data_page_version": "2.0", "write_page_index": True},
    {"version": "2.4", "row_group_size": 70, "write_page_checksum": True},
    {"use_deprecated_int96_timestamps": True, "store_schema": False},
    {"use_compliant_nested_type": False, "store_decimal_as_integer": True, "compression": {"s": "gzip"}},
    {"column_encoding": {"i": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY", "f": "BYTE_STREAM_SPLIT"}, "use_dictionary": False},
    {"bloom_filter_options": {"s": {"ndv": 10, "fpp": 0.1}}, "write_statistics": ["s"], "data_page_size": 100, "max_rows_per_page": 10},
]


@pytest.mark.parametrize("options", WRITERS)
def test_both_read_what_each_writes(tmp_path: pathlib.Path, options: dict[str, object]) -> None:
    ours.write_table(TABLE, tmp_path / "ours.parquet", **options)
    theirs.write_table(TABLE, tmp_path / "theirs.parquet", **options)
    tables = [reader.read_table(tmp_path / f"{name}.parquet") for reader in (ours, theirs) for name in ("ours", "theirs")]
    for table in tables[1:]:
        assert same(table, tables[0])
    schemas = [ours.read_metadata(tmp_path / f"{name}.parquet").schema for name in ("ours", "theirs")]
    assert schemas[0].equals(schemas[1]), f"{schemas[0]}{schemas[1]}"


def test_metadata_says_the_same_to_both(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    theirs.write_table(TABLE, path, row_group_size=150, sorting_columns=[theirs.SortingColumn(0)])
    one, other = ours.read_metadata(path).to_dict(), theirs.read_metadata(path).to_dict()
    assert repr(one) == repr(other)
    drop = lambda text: text.split("\n", 1)[1]
    assert drop(repr(ours.read_metadata(path).schema)) == drop(repr(theirs.read_metadata(path).schema))
    assert ours.read_metadata(path).metadata == theirs.read_metadata(path).metadata
    assert ours.read_schema(path).equals(theirs.read_schema(path))
    assert ours.read_schema(path).metadata == theirs.read_schema(path).metadata


FILTERS = [
    [("i", "=", 1)], [("i", "!=", 1)], [("i", ">", 0.5)], [("s", "in", ["a", None])], [("s", "not in", ["a"])],
    [("s", "not in", ["a", None])], [("f", "=", float("nan"))],
    [[("i", "=", 1)], [("s", "=", "ö")]], [("day", "=", DAY.date())], [("d", ">", decimal.Decimal("0"))],
    pa.dataset.field("st", "u") == 1, pa.dataset.field("i") + 1 == 2, ~pa.dataset.field("s").isin(["a"]),
    pa.dataset.field("c") == "z",
]  # fmt: skip


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_filters_want_the_same_rows(tmp_path: pathlib.Path, filters: object) -> None:
    path = tmp_path / "t.parquet"
    theirs.write_table(TABLE, path, row_group_size=100)
    for columns in (None, ["s", "i"], ["st.u"], []):
        expected = theirs.read_table(path, filters=filters, columns=columns)
        assert same(ours.read_table(path, filters=filters, columns=columns), expected)


@pytest.mark.parametrize("filters", [[("f", "in", [float("nan")])], [("f", "!=", 1.5)]], ids=str)
def test_rows_of_nan_are_not_ruled_out_by_bounds(tmp_path: pathlib.Path, filters: object) -> None:
    # pyarrow does that: bounds say nothing of NaN. Its own filter of a table tells what is right.
    theirs.write_table(TABLE, tmp_path / "t.parquet", row_group_size=100)
    expected = TABLE.filter(theirs.filters_to_expression(filters)).select(["f"])
    assert expected.num_rows == 100
    assert same(ours.read_table(tmp_path / "t.parquet", filters=filters, columns=["f"]), expected)


@pytest.mark.parametrize("filters", [[("i", "~", 1)], [], [[]], [("nope", "=", 1)], [("s", "=", 1)]], ids=str)
def test_wrong_filters_are_the_same_errors(tmp_path: pathlib.Path, filters: object) -> None:
    path = tmp_path / "t.parquet"
    theirs.write_table(TABLE, path)
    with pytest.raises(Exception) as expected:
        theirs.read_table(path, filters=filters)
    with pytest.raises(expected.type):
        ours.read_table(path, filters=filters)


def test_partitions(tmp_path: pathlib.Path) -> None:
    table = pa.table({"x": range(6), "year": [2020, 2020, 2021, 2021, None, None], "k": ["a/b", "c", "a/b", "c", "a/b", None]})
    ours.write_to_dataset(table, tmp_path / "ours", partition_cols=["year", "k"])
    theirs.write_to_dataset(table, tmp_path / "theirs", partition_cols=["year", "k"])
    for name in ("ours", "theirs"):
        for filters in (None, [("year", "=", 2020)], [("k", "=", "c"), ("x", ">", 1)]):
            expected = theirs.read_table(tmp_path / name, filters=filters)
            read = ours.read_table(tmp_path / name, filters=filters)
            key = lambda row: row["x"]
            assert sorted(read.to_pylist(), key=key) == sorted(expected.to_pylist(), key=key)
            assert read.schema.names == expected.schema.names


def test_pandas_keeps_its_index(tmp_path: pathlib.Path) -> None:
    frame = pd.DataFrame(
        {"a": [1, 2, 3], "c": pd.Categorical(["x", "z", "x"], ["z", "y", "x"], ordered=True)},
        index=pd.date_range("2020-01-01", periods=3, name="when"),
    )
    with ours.install():
        frame.to_parquet(tmp_path / "f.parquet", engine="pyarrow")
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "f.parquet", engine="pyarrow"), frame, check_freq=False)
    assert ours.read_metadata(tmp_path / "f.parquet").created_by.startswith("marquetry")
    assert pa.parquet is theirs


def test_unknown_arguments_are_errors(tmp_path: pathlib.Path) -> None:
    with pytest.raises(TypeError):
        ours.read_table(tmp_path, use_legacy_dataset=True)
    with pytest.raises(TypeError):
        ours.write_table(TABLE, tmp_path / "x.parquet", speed=1)
    assert not (tmp_path / "x.parquet").exists()


def test_a_row_that_is_inserted_changes_few_pages(tmp_path: pathlib.Path) -> None:
    rows = pa.table({"id": range(100_000), "text": [f"text {i * 7919 % 100_003}" for i in range(100_000)]})
    more = pa.concat_tables([rows.slice(0, 50_000), pa.table({"id": [-1], "text": ["new"]}), rows.slice(50_000)])
    sizes = {"min_chunk_size": 8 << 10, "max_chunk_size": 32 << 10}

    def pages(table: pa.Table, name: str, chunking: dict[str, int]) -> list[bytes]:
        path = tmp_path / name
        ours.write_table(table, path, use_content_defined_chunking=chunking, use_dictionary=False, compression="none", data_page_size=1 << 30)
        assert theirs.read_table(path).equals(table)
        chunk = theirs.read_metadata(path).row_group(0).column(0)
        data = path.read_bytes()[chunk.data_page_offset :][: chunk.total_compressed_size]
        # Pieces of 256 bytes that are anywhere in the other file, too.
        return [data[i : i + 256] for i in range(0, len(data) - 256, 256)]

    before = pages(rows, "a.parquet", sizes)[::20]
    pages(more, "b.parquet", sizes)
    after = (tmp_path / "b.parquet").read_bytes()
    assert sum(piece in after for piece in before) > len(before) * 4 // 5
    with pytest.raises(OSError, match="greater"):
        ours.write_table(rows, tmp_path / "e.parquet", use_content_defined_chunking={"min_chunk_size": 10, "max_chunk_size": 5})


def test_batches_and_row_groups(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    ours.write_table(TABLE, path, row_group_size=100)
    one, other = ours.ParquetFile(path), theirs.ParquetFile(path)
    for options in ({}, {"batch_size": 70}, {"row_groups": [2, 0], "columns": ["l", "i", "nope"]}):
        mine, their = list(one.iter_batches(**options)), list(other.iter_batches(**options))
        # Theirs end where row groups do if a column is a dictionary.
        assert max(batch.num_rows for batch in mine) <= options.get("batch_size", 65536)
        assert same(pa.Table.from_batches(mine), pa.Table.from_batches(their))
    assert same(one.read_row_groups([1], ["st.u", "l.list.element"]), other.read_row_groups([1], ["st.u", "l.list.element"]))
    assert one.scan_contents() == 300
    with pytest.raises(pa.ArrowInvalid):
        one.read_row_group(3)
    with pytest.raises(ValueError):
        one.iter_batches(batch_size=0)


def test_metadata_is_taken_apart_and_put_together(tmp_path: pathlib.Path) -> None:
    collected: list[ours.FileMetaData] = []
    ours.write_to_dataset(TABLE, tmp_path / "d", metadata_collector=collected)
    ours.write_metadata(TABLE.schema, tmp_path / "d" / "_metadata", collected)
    summary = theirs.read_metadata(tmp_path / "d" / "_metadata")
    assert summary.num_rows == 300
    assert summary.row_group(0).column(0).file_path.endswith(".parquet")


def test_timestamps_that_nanoseconds_do_not_hold_are_null_and_told_of(tmp_path: pathlib.Path) -> None:
    table = pa.table({"t": pa.array([DAY, datetime.datetime(3000, 1, 1)], pa.timestamp("us"))})
    ours.write_table(table, tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
    with pytest.warns(UserWarning, match="null"):
        read = ours.read_table(tmp_path / "t.parquet")
    assert read["t"].null_count == 1
    assert ours.read_table(tmp_path / "t.parquet", coerce_int96_timestamp_unit="us").equals(table)


def test_batches_become_row_groups(tmp_path: pathlib.Path) -> None:
    out = io.BytesIO()
    with ours.ParquetWriter(out, TABLE.schema) as writer:
        for batch in TABLE.to_batches(max_chunksize=50):
            writer.write_batch(batch)
        writer.add_key_value_metadata({"k": "v"})
    read = ours.ParquetFile(pa.py_buffer(out.getvalue()))
    assert read.num_row_groups == 6
    assert read.metadata.metadata[b"k"] == b"v"
    assert same(read.read(), theirs.read_table(pa.BufferReader(out.getvalue())))


def test_polars_reads_what_is_written(tmp_path: pathlib.Path) -> None:
    table = TABLE.drop_columns(["m", "dur"])
    ours.write_table(table, tmp_path / "t.parquet")
    assert pl.read_parquet(tmp_path / "t.parquet")["i"].to_list() == table["i"].to_pylist()
    assert np.array_equal(pl.read_parquet(tmp_path / "t.parquet")["l"].list.len().fill_null(9).to_numpy(), [2, 9, 0] * 100)


def test_a_file_has_its_name_once_it_is_whole(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "t.parquet"
    with ours.ParquetWriter(path, TABLE.schema) as writer:
        writer.write_table(TABLE)
        assert not path.exists()
    before = path.read_bytes()

    class Broken:
        schema = TABLE.schema

    with pytest.raises(TypeError):
        ours.write_table(Broken(), path)
    with pytest.raises(pa.ArrowException):
        ours.write_table(TABLE, path, compression="brownian")
    assert path.read_bytes() == before
    with ours.ParquetWriter(path, TABLE.schema) as writer:
        writer.write_table(TABLE.slice(0, 10))
        assert path.read_bytes() == before
    assert ours.read_metadata(path).num_rows == 10
    ours.write_metadata(TABLE.schema, tmp_path / "_common_metadata")
    ours.read_metadata(path).write_metadata_file(tmp_path / "_metadata")
    assert sorted(found.name for found in tmp_path.iterdir()) == ["_common_metadata", "_metadata", "t.parquet"]
    assert theirs.read_schema(tmp_path / "_common_metadata").names == theirs.read_metadata(tmp_path / "_metadata").schema.to_arrow_schema().names


def test_pipes_and_devices_are_written_to(tmp_path: pathlib.Path) -> None:
    ours.write_table(TABLE, "/dev/null")
    assert pathlib.Path("/dev/null").is_char_device()
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    ours.write_table(TABLE, path)
    reader.join(60)
    assert theirs.read_table(pa.BufferReader(read[0])).num_rows == TABLE.num_rows and path.is_fifo()


def test_time_is_linear_in_columns(tmp_path: pathlib.Path) -> None:
    def taken(columns: int) -> float:
        path = tmp_path / f"{columns}.parquet"
        theirs.write_table(pa.table({f"c{i}": [i] for i in range(columns)}), path)
        times = []
        for _ in range(3):
            begun = time.perf_counter()
            table = ours.read_table(path)
            times.append(time.perf_counter() - begun)
            assert table.num_columns == columns and table["c7"].to_pylist() == [7]
        return min(times)

    # Where each column looked through all of them it was 64 times as long.
    assert taken(4000) < 24 * taken(500)


def test_few_columns_of_many_need_no_schema_of_the_others(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the Parquet schema nor the Arrow schema of all columns is made."""
    path = tmp_path / "wide.parquet"
    table = pa.table({f"c{i}": [i, i + 1] for i in range(500)} | {"s": [{"x": 1, "y": "a"}, None]})
    theirs.write_table(table, path)
    arguments: list[dict[str, object]] = [
        {"columns": ["c300", "s.y"]}, {"columns": ["c2", "s"], "filters": [("c499", ">", 499)]},
        {"columns": ["s", "c1"], "use_threads": False}, {"columns": []},
    ]  # fmt: skip
    expected = [theirs.read_table(path, **options) for options in arguments]

    def refuse(*_: object) -> None:
        raise AssertionError("the whole schema is made")

    monkeypatch.setattr("marquetry.metadata._schema.ParquetSchema.__init__", refuse)
    monkeypatch.setattr(ours.ParquetFile, "schema_arrow", property(refuse))
    for options, table in zip(arguments, expected, strict=True):
        assert ours.read_table(path, **options).equals(table)  # type: ignore[arg-type]
    assert ours.ParquetFile(path).read(["s", "c7"]).column_names == ["s", "c7"]


def test_rows_without_columns_are_counted(tmp_path: pathlib.Path) -> None:
    for i in range(3):
        theirs.write_table(TABLE.replace_schema_metadata({"key": "value"}), tmp_path / f"{i}.parquet")
    for source in (tmp_path / "1.parquet", tmp_path):
        for filters in (None, [("i", "=", 1)]):
            mine, other = (module.read_table(source, columns=[], filters=filters) for module in (ours, theirs))
            assert (mine.num_rows, mine.num_columns) == (other.num_rows, 0), filters
            assert mine.schema.metadata == other.schema.metadata


def test_int96_beside_other_timestamps_of_a_struct(tmp_path: pathlib.Path) -> None:
    """Only INT96 has the unit that is asked for."""
    path = tmp_path / "x.parquet"
    when = datetime.datetime(2024, 5, 6, 7, 8, 9)
    days = pa.array([when], pa.timestamp("us"))
    table = pa.table({"s": pa.StructArray.from_arrays([days, pa.array([[when]], pa.list_(pa.timestamp("us")))], ["a", "b"])})
    theirs.write_table(table, path, use_deprecated_int96_timestamps=True)
    for unit in ("ns", "us", "ms"):
        mine = ours.read_table(path, coerce_int96_timestamp_unit=unit)
        other = theirs.read_table(path, coerce_int96_timestamp_unit=unit)
        assert mine.equals(other), (mine.schema, other.schema)
    theirs.write_table(table, path)
    assert ours.read_table(path, coerce_int96_timestamp_unit="ms").equals(table)


def test_elements_have_the_names_that_pyarrow_gives_them(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.parquet"
    types = [pa.list_(pa.int8()), pa.large_list(pa.field("x", pa.int8())), pa.struct([("a", pa.list_(pa.list_(pa.int8())))])]
    for compliant in (True, False):
        table = pa.table({str(i): pa.array([], data_type) for i, data_type in enumerate(types)})
        theirs.write_table(table, path, use_compliant_nested_type=compliant)
        assert str(ours.read_schema(path).remove_metadata()) == str(theirs.read_schema(path).remove_metadata())


def test_delete_matching_deletes_without_partitions(tmp_path):
    for library, folder in [(ours, tmp_path / "ours"), (theirs, tmp_path / "theirs")]:
        for name in ["a", "b"]:
            options = dict(basename_template=name + "-{i}.parquet", existing_data_behavior="delete_matching")
            library.write_to_dataset(pa.table({"x": [1, 2]}), folder, **options)
        assert [path.name for path in folder.iterdir()] == ["b-0.parquet"]


def test_filters_of_instants_with_a_zone(tmp_path):
    zone = pa.timestamp("ns", "Europe/Berlin")
    theirs.write_table(pa.table({"t": pa.array([1, 2, 3], zone)}), tmp_path / "t.parquet")
    above = pyarrow.dataset.field("t") > pa.scalar(1, zone)
    read = ours.read_table(tmp_path / "t.parquet", filters=above)
    assert read["t"].cast(pa.int64()).to_pylist() == [2, 3]


def test_columns_that_are_expressions_are_refused(tmp_path):
    theirs.write_table(pa.table({"a": [1, 2]}), tmp_path / "t.parquet")
    with pytest.raises(TypeError, match="columns are names"):
        ours.read_table(tmp_path / "t.parquet", columns={"a": pyarrow.dataset.field("a")})


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


def test_a_schema_may_leave_partitions_out(tmp_path: pathlib.Path) -> None:
    table = pa.table({"x": [1, 2, 3], "y": ["a", "b", "c"], "day": ["mon", "tue", "mon"]})
    ours.write_to_dataset(table, tmp_path, partition_cols=["day"])
    schema = table.schema.remove(2)
    for options in [{}, {"columns": ["y"]}, {"filters": [("x", ">", 1)]}]:
        found, expected = [module.read_table(tmp_path, schema=schema, **options) for module in [ours, theirs]]
        assert found.equals(expected), options


def test_no_files_are_no_rows() -> None:
    schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
    for module in [ours, theirs]:
        assert module.read_table([]).num_columns == 0 and module.ParquetDataset([]).files == []
        assert module.read_table([], schema=schema).equals(schema.empty_table())
        with pytest.raises(pa.ArrowInvalid, match="No match"):
            module.read_table([], columns=["a"])


def test_arguments_of_other_types_are_told(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f.parquet"
    table = pa.table({"a": [1], "b": ["x"]})
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


@pytest.mark.parametrize("folder", ["plain", "CRC checksum"])
def test_names_do_not_decide_what_an_error_is(tmp_path: pathlib.Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    path = tmp_path / folder / "INT96 timestamp depth.parquet"
    path.write_bytes(b"this is no Parquet file at all, it is text")
    with pytest.raises(pa.ArrowInvalid, match="Parquet"):
        ours.read_table(path)
    theirs.write_table(pa.table({"a": range(1000)}), path, compression="none", use_dictionary=False)
    contents = bytearray(path.read_bytes())
    contents[4:20] = b"\xff" * 16
    path.write_bytes(contents)
    with pytest.raises(OSError) as caught:
        ours.read_table(path)
    assert "CRC checksum verification failed" not in str(caught.value)
    # Keys of a dictionary that do not do for a batch are no matter of the footer, or of how deep a schema is.
    words = [pa.DictionaryArray.from_arrays(pa.array(range(100), pa.int8()), [f"{group}{i}" for i in range(100)]) for group in "ab"]
    theirs.write_table(pa.table({"depth": pa.chunked_array(words)}), path, row_group_size=100)
    try:
        assert sum(len(batch) for batch in ours.ParquetFile(path).iter_batches(200)) == 200
    except OSError as error:
        assert "thrift" not in str(error) and "nested" not in str(error)


def test_files_whose_folder_says_no_partition_have_their_own_column(tmp_path: pathlib.Path) -> None:
    by_year = pa.dataset.partitioning(pa.schema([("year", pa.int32()), ("k", pa.string())]), flavor="hive")
    for number, folders in enumerate([("n=1", "n=2"), ("year=1", "n=2"), ("n=1", "year=2")]):
        root = tmp_path / str(number)
        for folder in folders:
            (root / folder).mkdir(parents=True)
            theirs.write_table(pa.table({"a": [1], "year": pa.array([9], pa.int32())}), root / folder / "f.parquet")
        for filters in [None, [("year", "=", 9)], [("year", "=", 1)], pa.compute.field("year") > 1]:
            found, expected = [module.read_table(root, partitioning=by_year, filters=filters) for module in [ours, theirs]]
            assert found.equals(expected), (folders, filters)
    assert ours.read_table(tmp_path / "0", partitioning=by_year)["year"].to_pylist() == [9, 9]


def test_files_above_the_last_folder_have_their_own_column(tmp_path: pathlib.Path) -> None:
    (tmp_path / "2020").mkdir()
    theirs.write_table(pa.table({"a": [1], "k": ["of the file"]}), tmp_path / "2020" / "f.parquet")
    folders = pa.dataset.partitioning(pa.schema([("year", pa.int32()), ("k", pa.string())]))
    found, expected = [module.read_table(tmp_path, partitioning=folders) for module in [ours, theirs]]
    assert found.equals(expected) and found["k"].to_pylist() == ["of the file"]


@pytest.mark.parametrize("flavor", [None, "hive", "filename"])
def test_a_partitioning_without_fields_is_one_file(tmp_path: pathlib.Path, flavor: str | None) -> None:
    table = pa.table({"a": [1, 2], "k": ["x", "y"]})
    ours.write_to_dataset(table, tmp_path / "0", partitioning=pa.dataset.partitioning(pa.schema([]), flavor=flavor))
    ours.write_to_dataset(table, tmp_path / "1", partitioning=[], partitioning_flavor=flavor)
    for number in "01":
        assert len(list((tmp_path / number).glob("*.parquet"))) == 1
        assert theirs.read_table(tmp_path / number).equals(table)


def test_a_flavor_is_for_names_of_columns(tmp_path: pathlib.Path) -> None:
    table = pa.table({"a": [1], "k": ["x"]})
    of_k = pa.dataset.partitioning(pa.schema([("k", pa.string())]))
    for options in [
        {"partition_cols": ["k"], "partitioning_flavor": "filename"},
        {"partitioning": of_k, "partitioning_flavor": "hive"},
        {"partitioning": ["k"], "partitioning_flavor": "none"},
        {"partitioning": pa.dataset.HivePartitioning.discover()},
        {"partitioning": "hive"},
    ]:
        for module in [ours, theirs]:
            with pytest.raises(ValueError):
                module.write_to_dataset(table, tmp_path / "t", **options)
    ours.write_to_dataset(table, tmp_path / "t", partitioning=["k"], partitioning_flavor="filename")
    assert [file.name[:2] for file in (tmp_path / "t").iterdir()] == ["x_"]


@pytest.mark.parametrize("rows", ["frame", "batch", "reader", "batches"])
def test_datasets_are_written_of_anything(tmp_path: pathlib.Path, rows: str) -> None:
    table = pa.table({"x": [1, 2], "day": ["mon", "tue"]})
    given = {"frame": table.to_pandas, "batch": lambda: table.to_batches()[0], "reader": table.to_reader, "batches": table.to_batches}[rows]()
    ours.write_to_dataset(given, tmp_path, partition_cols=["day"])
    assert sorted(ours.read_table(tmp_path).column("x").to_pylist()) == [1, 2]


def test_threads_that_come_too_early_do_not_lose_the_file(tmp_path: pathlib.Path) -> None:
    table = pa.table({"x": range(300_000)})
    file = str(tmp_path / "f.parquet")
    writer = ours.ParquetWriter(file, table.schema)
    refused = []

    def write() -> None:
        try:
            writer.write_table(table)
        except ValueError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert all("another thread" in message for message in refused)
    assert ours.read_table(file).num_rows == 300_000 * (8 - len(refused))


def test_a_key_of_the_metadata_is_there_once(tmp_path: pathlib.Path) -> None:
    schema = pa.schema([("x", pa.int64())], metadata={"a": "1", "b": "2"})
    said = []
    for module in [theirs, ours]:
        file = str(tmp_path / "f.parquet")
        with module.ParquetWriter(file, schema) as writer:
            writer.add_key_value_metadata({"a": "3", "c": "4"})
            writer.add_key_value_metadata({"c": "5"})
        pairs = theirs.read_metadata(file).metadata
        said.append({key: value for key, value in pairs.items() if key != b"ARROW:schema"})
    assert said[0] == said[1] == {b"a": b"3", b"b": b"2", b"c": b"5"}


def test_binary_metadata_takes_no_types_away(tmp_path: pathlib.Path) -> None:
    fields = [pa.field("t", pa.timestamp("us", "Europe/Berlin"), metadata={"k": b"\xff\x00"}), pa.field("d", pa.dictionary(pa.int32(), pa.string()))]
    table = pa.table([pa.array([1, 2], fields[0].type), pa.array(["a", "b"]).dictionary_encode()], schema=pa.schema(fields))
    file = str(tmp_path / "f.parquet")
    theirs.write_table(table, file)
    assert ours.read_table(file).schema.types == table.schema.types


def test_names_with_dots_are_not_below_other_names() -> None:
    out = io.BytesIO()
    theirs.write_table(pa.table({"c": [1], "c.d": [2], "s": [{"a": 1, "a.b": 2}]}), out)
    data = out.getvalue()
    for columns in (["c"], ["c.d"], ["s"], ["s.a"], ["s.a.b"], ["s.a", "c"]):
        wanted = theirs.ParquetFile(io.BytesIO(data)).read(columns=columns)
        assert ours.ParquetFile(io.BytesIO(data)).read(columns=columns).equals(wanted)
        assert next(ours.ParquetFile(io.BytesIO(data)).iter_batches(columns=columns)).schema.equals(wanted.schema)
        read = marquetry.open(data).read(columns).to_pyarrow()
        assert read.column_names == wanted.column_names
    assert marquetry.open(data).read(["c", "s", "c.d"]).column_names == ["c", "s", "c.d"]


def test_read_column_counts_fields_of_the_root() -> None:
    out = io.BytesIO()
    theirs.write_table(pa.table({"c": [1], "c.d": [2], "s": [{"a": 1, "b": 2}], "s.a": [5], "x": ["z"]}), out)
    data = out.getvalue()
    for i in range(5):
        wanted = theirs.ParquetFile(io.BytesIO(data)).reader.read_column(i)
        assert ours.ParquetFile(io.BytesIO(data)).reader.read_column(i).equals(wanted)
    with pytest.raises(pa.ArrowInvalid, match="Column index out of bounds"):
        ours.ParquetFile(io.BytesIO(data)).reader.read_column(5)

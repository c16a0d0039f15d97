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
from mixed import DAY, TABLE, same

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


def test_filters_of_instants_with_a_zone(tmp_path):
    zone = pa.timestamp("ns", "Europe/Berlin")
    theirs.write_table(pa.table({"t": pa.array([1, 2, 3], zone)}), tmp_path / "t.parquet")
    above = pyarrow.dataset.field("t") > pa.scalar(1, zone)
    read = ours.read_table(tmp_path / "t.parquet", filters=above)
    assert read["t"].cast(pa.int64()).to_pylist() == [2, 3]


def test_dictionaries_of_views_are_restored(tmp_path: pathlib.Path) -> None:
    """As pyarrow restores them. It cannot write such values itself, but none of them."""
    path = tmp_path / "f.parquet"
    for values in (pa.string_view(), pa.binary_view(), pa.large_string()):
        theirs.write_table(pa.table({"d": pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), pa.array([], values))}), path)
        assert ours.read_table(path).equals(theirs.read_table(path)), values
    ours.write_table(pa.table({"d": pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(["a", "b"], pa.string_view()))}), path)
    assert ours.read_table(path).equals(theirs.read_table(path)) and ours.read_table(path)["d"].to_pylist() == ["b", "a"]


@pytest.mark.parametrize("folder", ["plain", "CRC checksum"])
def test_names_do_not_decide_what_an_error_is(tmp_path: pathlib.Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    path = tmp_path / folder / "INT96 timestamp depth.parquet"
    path.write_bytes(b"this is not a Parquet file at all, it is text")
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


def times_open(path: pathlib.Path) -> int:
    """How often this process has the file open."""
    return sum(os.path.realpath(f"/proc/self/fd/{number}") == str(path) for number in os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no list of open files")
def test_a_file_that_is_closed_is_let_go_of(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f.parquet"
    table = pa.table({"a": [1], "s": [{"x": "y"}]}, metadata={"k": "v"})
    theirs.write_table(table, path)
    files = [ours.ParquetFile(path) for _ in range(10)]
    assert times_open(path) == 10
    for file in files:
        file.close()
        file.close()
    assert times_open(path) == 0
    path.unlink()
    # What it says is known.
    assert files[0].schema_arrow.equals(table.schema, check_metadata=True) and files[0].metadata.num_rows == 1
    assert files[0].schema.names == ["a", "x"] and files[0].num_row_groups == 1 and files[0].closed
    with pytest.raises(ValueError, match="closed"):
        files[0].read()

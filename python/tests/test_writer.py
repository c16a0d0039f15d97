"""The writer that takes rows as they come: what it refuses, and what ends it."""

import datetime
import io
import os
import pathlib
from typing import Any, Iterator

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as theirs
import pytest

import marquetry

SCHEMA = pa.schema([pa.field("x", pa.int64(), nullable=False)])


def table(*values: int | None, kind: Any = pa.int64()) -> pa.Table:
    return pa.table({"x": pa.array(values, kind)})


def raising(error: BaseException, good: int = 0) -> pa.RecordBatchReader:
    """A reader that fails behind so many batches."""

    def batches() -> Iterator[pa.RecordBatch]:
        for _ in range(good):
            yield pa.record_batch([pa.array([7])], SCHEMA)
        raise error

    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


REFUSED = {
    "another type": (lambda: table("a", kind=pa.string()), marquetry.ArgumentError),
    "another type without rows": (lambda: table(kind=pa.string()), marquetry.ArgumentError),
    "another name": (lambda: pa.table({"y": [1]}), marquetry.ArgumentError),
    "a column more": (lambda: pa.table({"x": [1], "y": [2]}), marquetry.ArgumentError),
    "a null": (lambda: table(1, None), marquetry.ArgumentError),
    "no rows at all": (lambda: 5, TypeError),
    "a reader that fails": (lambda: raising(ZeroDivisionError("at once")), ZeroDivisionError),
}


@pytest.mark.parametrize("refused", REFUSED)
def test_rows_that_are_refused_leave_those_before(tmp_path: pathlib.Path, refused: str) -> None:
    data, kind = REFUSED[refused]
    path = tmp_path / "x.parquet"
    writer = marquetry.create(path, SCHEMA)
    writer.write(table(1))
    for _ in range(2):
        with pytest.raises(kind):
            writer.write(data())
    writer.write(table(2))
    writer.close()
    assert theirs.read_table(path)["x"].to_pylist() == [1, 2]


def test_rows_that_were_taken_in_part_end_the_file(tmp_path: pathlib.Path) -> None:
    writer = marquetry.create(tmp_path / "x.parquet", SCHEMA)
    with pytest.raises(ZeroDivisionError, match="halfway"):
        writer.write(raising(ZeroDivisionError("halfway"), good=1))
    with pytest.raises(ValueError, match="the file is closed"):
        writer.write(table(1))
    assert os.listdir(tmp_path) == []


def test_a_file_that_cannot_be_written_is_given_up() -> None:
    class Full(io.BytesIO):
        def write(self, contents: Any) -> int:
            raise OSError(28, "no space")

    writer = marquetry.create(Full(), SCHEMA, encoding="PLAIN", compression="uncompressed", row_group_rows=10)
    with pytest.raises(OSError, match="no space"):
        for _ in range(10):
            writer.write(table(*range(100_000)))
    with pytest.raises(ValueError, match="the file is closed"):
        writer.write(table(1))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), ZeroDivisionError("mine")], ids=repr)
def test_what_a_generator_raises_comes_out(tmp_path: pathlib.Path, error: BaseException) -> None:
    old = tmp_path / "old.parquet"
    for good in (0, 2):
        for write in (
            lambda: marquetry.write(raising(error, good), tmp_path / "x.parquet"),
            lambda: marquetry.Table(raising(error, good)),
            lambda: marquetry.append(old, raising(error, good)),
        ):
            marquetry.write(table(1), old)
            with pytest.raises(type(error)) as raised:
                write()
            assert raised.value is error
            assert os.listdir(tmp_path) == ["old.parquet"] and marquetry.open(old).num_rows == 1


def test_batches_are_of_the_types_that_their_reader_says(tmp_path: pathlib.Path) -> None:
    other = pa.record_batch({"x": ["no number"]})
    with pytest.raises(marquetry.ArgumentError, match="than its reader says"):
        marquetry.write(pa.RecordBatchReader.from_batches(SCHEMA, iter([other])), tmp_path / "x.parquet")
    # Metadata, and names inside of lists, may differ.
    schema = pa.schema([pa.field("l", pa.list_(pa.field("element", pa.int64())), metadata={"k": "v"})])
    batch = pa.record_batch({"l": [[1], None, [2, 3]]})
    marquetry.write(pa.RecordBatchReader.from_batches(schema, iter([batch, batch.slice(1)])), tmp_path / "l.parquet")
    assert theirs.read_table(tmp_path / "l.parquet")["l"].to_pylist() == [[1], None, [2, 3], None, [2, 3]]


def test_a_stream_of_ours_is_written_once(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.parquet"
    marquetry.write(table(1, 2), path)
    stream = marquetry.open(path).stream()
    marquetry.write(stream, tmp_path / "y.parquet")
    with pytest.raises(ValueError, match="read already"):
        marquetry.write(stream, tmp_path / "z.parquet")
    assert theirs.read_table(tmp_path / "y.parquet")["x"].to_pylist() == [1, 2]


def test_maps_with_sorted_keys_are_written(tmp_path: pathlib.Path) -> None:
    maps = pa.table({"m": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32(), keys_sorted=True))})
    for data in (maps, maps.to_batches()[0], maps.to_reader(), marquetry.Table(maps)):
        marquetry.write(data, tmp_path / "m.parquet")
        assert theirs.read_table(tmp_path / "m.parquet")["m"].to_pylist() == maps["m"].to_pylist()


DAYS = [datetime.date(2024, 1, 1), None, datetime.date(1969, 12, 31)]


def dates(values: list[Any] = DAYS) -> pa.Table:
    return pa.table({"d": pa.array(values, pa.date64()), "l": pa.array([[value] for value in values], pa.list_(pa.date64())), "n": range(len(values))})


def test_dates_in_milliseconds_are_dates_to_all_readers(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "f.parquet")
    marquetry.write(dates(), path)
    assert theirs.read_table(path)["d"].to_pylist() == DAYS
    assert duckdb.sql(f"select d, l[1] from '{path}'").fetchall() == [(day, day) for day in DAYS]
    assert pl.read_parquet(path)["n"].to_list() == [0, 1, 2]
    assert pa.table(marquetry.open(path).read()).equals(dates())
    # What is not a whole day is not cut.
    with pytest.raises(marquetry.ArgumentError) as caught:
        marquetry.write(dates([86_400_001]), path)
    assert caught.value.column == "d"
    assert pa.table(marquetry.open(path).read()).equals(dates())


def test_dates_in_milliseconds_may_stay_numbers(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f.parquet"
    marquetry.write(dates([86_400_001]), path, date64="int64")
    assert theirs.ParquetFile(path).schema.column(0).physical_type == "INT64"
    assert pa.table(marquetry.open(path).read())["d"].cast(pa.int64()).to_pylist() == [86_400_001]
    with pytest.raises(ValueError, match="date or int64"):
        marquetry.write(dates(), path, date64="int32")


@pytest.mark.parametrize("by", ["marquetry", "numbers", "pyarrow"])
def test_dates_are_appended_as_the_file_has_them(tmp_path: pathlib.Path, by: str) -> None:
    path = tmp_path / "f.parquet"
    match by:
        case "marquetry":
            marquetry.write(dates(), path)
        case "numbers":
            marquetry.write(dates(), path, date64="int64")
        case _:
            theirs.write_table(dates(), path)
    before = theirs.ParquetFile(path).schema_arrow
    marquetry.append(path, dates())
    assert theirs.ParquetFile(path).schema_arrow.equals(before)
    assert pa.table(marquetry.open(path).read())["d"].to_pylist() == DAYS + DAYS


def test_threads_make_no_other_file() -> None:
    rows = pa.table({"a": range(10_000), "b": [str(i) for i in range(10_000)]})
    files = []
    for threads in (0, 1, 2):
        out = io.BytesIO()
        marquetry.write(rows, out, threads=threads)
        files.append(out.getvalue())
    assert files[0] == files[1] == files[2]

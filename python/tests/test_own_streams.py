"""What goes from one of the package's objects to another: errors stay what they are, with all that they say."""

import os
import pathlib
from typing import Any, Callable

import pyarrow as pa
import pytest

import marquetry

TABLE = pa.table({"id": pa.array(range(50_000), pa.int64()), "name": [f"name {i % 977}" for i in range(50_000)]})


@pytest.fixture
def damaged(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "damaged.parquet"
    marquetry.write(TABLE, path, row_group_rows=10_000, data_page_size=4_000)
    contents = bytearray(path.read_bytes())
    contents[30_000:30_100] = b"\xaa" * 100
    path.write_bytes(contents)
    return str(path)


def facts(read: Callable[[], Any]) -> tuple[Any, ...]:
    with pytest.raises(marquetry.Error) as caught:
        read()
    error = caught.value
    return type(error), error.kind, str(error), error.file, error.column, error.row_group, error.page, error.byte


def write(data: Any, folder: pathlib.Path) -> None:
    marquetry.write(data, folder / "written.parquet")


def append(data: Any, folder: pathlib.Path) -> None:
    path = folder / "grown.parquet"
    marquetry.write(marquetry.open(marquetry_file(TABLE.slice(0, 1))), path)
    marquetry.append(path, data)


def marquetry_file(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    marquetry.write(table, sink)
    return sink.getvalue().to_pybytes()


TAKERS: dict[str, Callable[[Any, pathlib.Path], Any]] = {
    "table": lambda data, _: marquetry.Table(data),
    "write": write,
    "append": append,
}


@pytest.mark.parametrize("taker", TAKERS)
def test_damage_is_damage_whoever_reads(damaged: str, taker: str, tmp_path: pathlib.Path) -> None:
    expected = facts(lambda: list(marquetry.open(damaged).stream()))
    assert expected[0] is marquetry.DamageError and expected[3] == damaged and None not in expected[4:]
    take = TAKERS[taker]
    sources: list[Callable[[], Any]] = [
        lambda: marquetry.open(damaged),
        lambda: marquetry.open(damaged).stream(),
        lambda: marquetry.dataset(damaged),
        lambda: marquetry.dataset(damaged).stream(),
    ]
    for source in sources:
        assert facts(lambda: take(source(), tmp_path)) == expected


def test_a_dataset_that_is_read_says_what_is_wrong(damaged: str, tmp_path: pathlib.Path) -> None:
    expected = facts(lambda: marquetry.open(damaged).read())
    assert facts(lambda: marquetry.dataset(damaged).read()) == expected
    gone = tmp_path / "gone.parquet"
    marquetry.write(TABLE, gone)
    dataset = marquetry.dataset([gone])
    os.remove(gone)
    with pytest.raises(FileNotFoundError) as caught:
        dataset.read()
    assert isinstance(caught.value, marquetry.MissingFileError) and caught.value.filename == str(gone)
    with pytest.raises(KeyError):
        marquetry.dataset(damaged).read(["nothing"])


def test_damage_in_memory_is_not_of_the_file_that_is_written(damaged: str, tmp_path: pathlib.Path) -> None:
    contents = pathlib.Path(damaged).read_bytes()
    for source in (marquetry.open(contents), marquetry.open(contents).stream()):
        kind, _, _, file, column, *_ = facts(lambda: write(source, tmp_path))
        assert (kind, file) == (marquetry.DamageError, None) and column is not None
    # What the writer refuses is of its file.
    target = str(tmp_path / "refused.parquet")
    with marquetry.create(target, pa.schema({"id": pa.string()})) as writer:
        assert facts(lambda: writer.write(TABLE.select(["id"])))[3] == target


def test_streams_are_read_once(damaged: str) -> None:
    stream = marquetry.open(damaged).stream(limit=10)
    assert marquetry.Table(stream).num_rows == 10
    with pytest.raises(ValueError, match="read already"):
        marquetry.Table(stream)
    begun = marquetry.open(damaged).stream(limit=10, batch_size=4)
    next(begun)
    assert marquetry.Table(begun).num_rows == 6
    file = marquetry.open(marquetry_file(TABLE))
    assert marquetry.Table(file).to_pyarrow() == marquetry.Table(file).to_pyarrow() == file.read().to_pyarrow()


def sorted_maps() -> pa.Table:
    data_type = pa.map_(pa.string(), pa.int64(), keys_sorted=True)
    maps = pa.array([[("a", 1), ("b", 2)], None, []], data_type)
    return pa.table({"m": maps, "s": pa.StructArray.from_arrays([maps], ["m"]), "n": [1, 2, 3]})


def test_streams_say_that_keys_of_maps_are_sorted() -> None:
    table = sorted_maps()
    contents = marquetry_file(table)
    file = marquetry.open(contents)
    for stream in (file, file.read(), file.stream(), file.stream(batch_size=2), marquetry.Table(table), marquetry.Table(file.stream())):
        found = pa.table(stream)
        assert found["m"].type.keys_sorted and found["s"].type.field("m").type.keys_sorted
        assert found.to_pydict() == table.to_pydict()
    stream = file.stream()
    with pa.RecordBatchReader.from_stream(stream) as reader:
        assert reader.schema.field("m").type.keys_sorted and reader.read_all().num_rows == 3
    with pytest.raises(ValueError, match="read already"):
        pa.table(stream)
    written = marquetry.open(marquetry_file(pa.table(file)))
    assert pa.schema(written.schema).field("m").type.keys_sorted


def test_errors_of_streams_with_sorted_maps_are_told(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "damaged.parquet"
    marquetry.write(pa.concat_tables([sorted_maps()] * 1000), path, compression="none", row_group_rows=500)
    contents = bytearray(path.read_bytes())
    contents[400:500] = b"\xaa" * 100
    path.write_bytes(contents)
    kind, _, told, *_ = facts(lambda: list(marquetry.open(path).stream()))
    assert kind is marquetry.DamageError
    with pytest.raises((pa.ArrowException, OSError), match="checksum|corrupt") as caught:
        pa.table(marquetry.open(path))
    assert told in str(caught.value)

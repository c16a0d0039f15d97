"""Types that cross to our writer and reader as something else: extension types in each other and in dictionaries, nested entries of
dictionaries, maps whose keys are sorted; and types that Parquet does not have."""

from __future__ import annotations

import io
import pathlib
import uuid
from typing import Any, Iterator

import pyarrow as pa
import pyarrow.parquet as theirs
import pytest

import marquetry
import marquetry.parquet as ours


class Order(pa.ExtensionType):  # type: ignore[misc]
    """Numbers of orders, which are of another extension type."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "marquetry.tests.order")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> Order:
        return cls(storage_type)


def written(module: Any, table: pa.Table, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    module.write_table(table, file, **options)
    return file


def columns(file: io.BytesIO) -> list[tuple[str, str, str]]:
    return [(column.path, column.physical_type, str(column.logical_type)) for column in theirs.read_metadata(file).schema]


IDS = pa.array([uuid.UUID(int=i) for i in range(3)], pa.uuid())
ORDERS = pa.ExtensionArray.from_storage(Order(pa.uuid()), IDS)


@pytest.fixture
def registered() -> Iterator[None]:
    pa.register_extension_type(Order(pa.binary(16)))
    yield
    pa.unregister_extension_type("marquetry.tests.order")


@pytest.mark.parametrize("array", [ORDERS, pa.ListArray.from_arrays([0, 1, 3], ORDERS), pa.StructArray.from_arrays([ORDERS], ["o"])], ids=["plain", "list", "struct"])
def test_an_extension_type_of_another_one_is_written(registered: None, array: pa.Array) -> None:
    table = pa.table({"o": array})
    for options in ({}, {"store_schema": False}):
        files = [written(module, table, **options) for module in (ours, theirs)]
        assert columns(files[0]) == columns(files[1])
        assert theirs.read_table(files[0]).equals(theirs.read_table(files[1]))
        assert ours.read_table(files[0]).equals(ours.read_table(files[1]))
    assert theirs.read_metadata(written(ours, table)).metadata == theirs.read_metadata(written(theirs, table)).metadata


def of_dictionary(values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.int8()), values)


DICTIONARIES = {
    "uuid": of_dictionary(IDS),
    "json": of_dictionary(pa.array(["{}", "[]"], pa.json_())),
    "opaque": of_dictionary(pa.ExtensionArray.from_storage(pa.opaque(pa.timestamp("s"), "a", "b"), pa.array([1, 2], pa.timestamp("s")))),
    "list": of_dictionary(pa.array([[1, None], []])),
    "list of times": of_dictionary(pa.array([[1, None], []], pa.list_(pa.time32("s")))),
    "fixed list": of_dictionary(pa.array([[1, None], [3, 4]], pa.list_(pa.int8(), 2))),
    "struct": of_dictionary(pa.array([{"x": 1, "y": "a"}, {"x": None, "y": None}])),
    "map": of_dictionary(pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int32()))),
    "dictionary": of_dictionary(pa.array(["a", "b"]).dictionary_encode()),
    "in a list": pa.ListArray.from_arrays([0, 1, 4], of_dictionary(pa.array([{"x": 1}, {"x": None}]))),
}


@pytest.mark.parametrize("store_schema", [True, False])
@pytest.mark.parametrize("rows", [(0, None), (1, 2), (0, 0)])
@pytest.mark.parametrize("name", DICTIONARIES)
def test_dictionaries_of_any_type_are_written(name: str, rows: tuple[int, int | None], store_schema: bool) -> None:
    # pyarrow writes some of them, and cannot open its own file.
    table = pa.table({"d": DICTIONARIES[name].slice(*rows)})
    file = written(ours, table, store_schema=store_schema)
    for module in (ours, theirs):
        assert repr(module.read_table(file)["d"].to_pylist()) == repr(table["d"].to_pylist())
    if name in ("uuid", "json"):
        assert columns(file)[0][2] == {"uuid": "UUID", "json": "JSON"}[name]
        assert [str(module.read_schema(file).field(0).type) for module in (ours, theirs)] == [f"extension<arrow.{name}>"] * 2


def test_a_dictionary_without_entries_is_written() -> None:
    for values in (pa.list_(pa.int64()), pa.struct([("x", pa.int64())]), pa.dictionary(pa.int8(), pa.string())):
        array = pa.DictionaryArray.from_arrays(pa.array([], pa.int8()), pa.array([], values))
        file = written(ours, pa.table({"d": array}))
        assert columns(file) == columns(written(theirs, pa.table({"d": array})))
        assert ours.read_table(file).num_rows == 0


SORTED = pa.map_(pa.string(), pa.int32(), keys_sorted=True)
MAPS = pa.table({"m": pa.array([[("a", 1)], None], SORTED), "l": pa.array([[{"m": [("b", 2)]}], []], pa.list_(pa.struct([("m", SORTED)])))})


@pytest.mark.parametrize("module", [ours, theirs], ids=["ours", "theirs"])
def test_keys_that_are_sorted_stay_so(module: Any, tmp_path: pathlib.Path) -> None:
    file = written(module, MAPS)
    for table in (ours.read_table(file), ours.ParquetFile(file).read(), pa.Table.from_batches(ours.ParquetFile(file).iter_batches())):
        assert table.equals(MAPS) and table.equals(theirs.read_table(file))
    assert ours.read_schema(file) == MAPS.schema
    assert not ours.read_table(written(module, MAPS, store_schema=False)).schema.field("m").type.keys_sorted
    opened = marquetry.open(file, text="utf8")
    assert pa.schema(opened.schema).field("m").type.keys_sorted
    assert all(pa.record_batch(batch).schema.equals(MAPS.schema) for batch in opened.stream())
    for data in (opened, opened.stream(), opened.read(), marquetry.Table(MAPS)):
        marquetry.write(data, tmp_path / "t.parquet")
        assert theirs.read_table(tmp_path / "t.parquet").equals(MAPS)


@pytest.mark.parametrize(
    "data_type", [pa.decimal128(9, -2), pa.decimal256(60, -1), pa.decimal128(3, 5), pa.binary(0), pa.opaque(pa.binary(0), "a", "b")], ids=str
)
@pytest.mark.parametrize("is_list", [True, False])
def test_what_parquet_does_not_have_is_refused_as_by_pyarrow(data_type: pa.DataType, is_list: bool) -> None:
    schema = pa.schema([("x", pa.list_(data_type) if is_list else data_type)])
    for module in (ours, theirs):
        with pytest.raises(OSError):
            module.ParquetWriter(io.BytesIO(), schema)

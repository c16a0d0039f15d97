"""Dictionaries of an extension type: they keep its annotation."""

from __future__ import annotations

import io
import uuid
from typing import Any, Callable

import pyarrow as pa
import pyarrow.parquet as theirs
import pytest

import marquetry

IDS = [uuid.UUID(int=i).bytes for i in range(3)]


def uuids() -> pa.DictionaryArray:
    values = pa.array(IDS, pa.binary(16)).cast(pa.uuid())
    return pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 0, 1], pa.int16()), values)


def texts() -> pa.DictionaryArray:
    values = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", "{}"]))
    return pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 0, 1], pa.int8()), values, ordered=True)


def table() -> pa.Table:
    array = uuids()
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 2, 3, 5, 5], pa.int32()), array)
    struct = pa.StructArray.from_arrays([array, texts()], ["u", "j"])
    sizes = pa.FixedSizeListArray.from_arrays(pa.concat_arrays([array, array]), 2)
    keys = pa.array([f"k{i}" for i in range(5)])
    maps = pa.MapArray.from_arrays(pa.array([0, 2, 2, 3, 5, 5], pa.int32()), keys, array)
    columns = {"d": array, "j": texts(), "l": lists, "s": struct, "f": sizes, "m": maps, "n": pa.array(range(5))}
    return pa.table(columns)


def reader(data: pa.Table) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(data.schema, iter(data.to_batches()))


class Exported:
    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._batch.__arrow_c_array__(requested_schema)


WAYS: dict[str, Callable[[pa.Table], Any]] = {
    "table": lambda data: data,
    "reader": reader,
    "batch": lambda data: data.to_batches()[0],
    "array": lambda data: Exported(data.to_batches()[0]),
    "own table": marquetry.Table,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("arrow_schema", [True, False])
def test_they_keep_their_annotation(way: str, arrow_schema: bool) -> None:
    data, out = table(), io.BytesIO()
    marquetry.write(WAYS[way](data), out, arrow_schema=arrow_schema)
    logical = [str(column.logical_type) for column in theirs.read_metadata(out).schema]
    assert logical == ["UUID", "JSON", "UUID", "UUID", "JSON", "UUID", "String", "UUID", "None"]
    found = theirs.read_table(out)
    assert found["d"].type == pa.uuid() and found["j"].type == pa.json_()
    for name in data.column_names:
        assert found[name].to_pylist() == data[name].to_pylist(), name
    again = pa.table(marquetry.open(out.getvalue()))
    assert again["d"].type == pa.uuid() and again["d"].to_pylist() == data["d"].to_pylist()


def test_the_schema_says_so_at_once() -> None:
    data, out = table(), io.BytesIO()
    with marquetry.create(out, data.schema) as file:
        for batch in (data, data.slice(1, 3), reader(data.slice(4))):
            file.write(batch)
    assert theirs.read_table(out)["d"].to_pylist() == pa.concat_tables([data, data.slice(1, 3), data.slice(4)])["d"].to_pylist()
    assert pa.schema(marquetry.Schema(data.schema)).field("d").type == pa.uuid()


def test_plain_dictionaries_stay() -> None:
    words, out = pa.table({"w": pa.array(["a", "b", "a"]).dictionary_encode()}), io.BytesIO()
    marquetry.write(words, out)
    assert pa.types.is_dictionary(theirs.read_table(out)["w"].type)

"""Values that are never null, in structs that may be: nobody gets them with nulls."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as theirs
import pytest

import marquetry
import marquetry.parquet as ours

# One that no float holds.
LARGE = 2**53 + 1
INNER = pa.struct([pa.field("z", pa.uint64(), False)])
POINT = pa.struct([pa.field("x", pa.int64(), False), pa.field("inner", INNER, False), pa.field("y", pa.int64())])
ONE: dict[str, Any] = {"x": LARGE, "inner": {"z": LARGE}, "y": None}
COLUMNS = {
    "struct": pa.array([ONE, None, ONE], POINT),
    "list": pa.array([[ONE, None], None, []], pa.list_(POINT)),
    "large list": pa.array([[ONE, None], None, []], pa.large_list(POINT)),
    "view": pa.array([[ONE, None], None, []], pa.list_view(POINT)),
    "large view": pa.array([[ONE, None], None, []], pa.large_list_view(POINT)),
    "fixed": pa.array([[ONE, None], None, [None, ONE]], pa.list_(POINT, 2)),
    "map": pa.array([[("a", ONE), ("b", None)], None, []], pa.map_(pa.string(), POINT)),
    "deep": pa.array([[{"p": [ONE, None]}, None], None, []], pa.list_(pa.struct([("p", pa.list_(POINT))]))),
}


def written(table: pa.Table) -> io.BytesIO:
    file = io.BytesIO()
    theirs.write_table(table, file, row_group_size=2)
    return file


def points(array: pa.Array) -> pa.StructArray:
    """All of those points that an array has, whether they are there or not."""
    while not array.type.equals(POINT):
        if pa.types.is_map(array.type):
            array = array.items
        elif pa.types.is_struct(array.type):
            array = array.field(0)
        else:
            array = array.values
    return array


@pytest.mark.parametrize("name", COLUMNS)
def test_they_have_no_nulls(name: str) -> None:
    table = pa.table({"c": COLUMNS[name]})
    file = written(table)
    opened = marquetry.open(file)
    tables = [ours.read_table(file), ours.ParquetFile(file).read(), pa.table(opened), pa.table(opened.read())]
    tables += [pa.Table.from_batches(ours.ParquetFile(file).iter_batches(2)), pa.Table.from_batches([pa.record_batch(batch) for batch in opened.stream()])]
    for found in tables:
        found.validate(full=True)
        assert found["c"].to_pylist() == table["c"].to_pylist()
        for chunk in found["c"].chunks:
            array = points(chunk)
            assert array.null_count > 0 or chunk.null_count == 0
            assert array.field("x").null_count == array.field("inner").field("z").null_count == 0


def test_they_stay_integers_in_pandas() -> None:
    file = written(pa.table({"c": COLUMNS["struct"]}))
    for frame in (ours.read_table(file).to_pandas(), marquetry.open(file).read().to_pandas()):
        value = frame["c"][0]
        assert (value["x"], value["inner"]["z"]) == (LARGE, LARGE)
        assert isinstance(value["x"], int)
        assert pd.isna(frame["c"][1])


def test_their_structs_stay_null() -> None:
    file = written(pa.table({"c": COLUMNS["struct"], "row": [0, 1, 2]}))
    assert ours.read_table(file, columns=["c.x"])["x"].to_pylist() == [LARGE, None, LARGE]
    assert ours.read_table(file, filters=pc.field("c", "x") == 0)["row"].to_pylist() == []
    assert ours.read_table(file, filters=pc.field("c", "x").is_null())["row"].to_pylist() == [1]
    frame = pl.DataFrame(marquetry.open(file))
    assert frame["c"].struct.field("x").to_list() == [LARGE, None, LARGE]
    for write in (marquetry.write, ours.write_table):
        out = io.BytesIO()
        write(ours.read_table(file), out)
        assert theirs.read_table(out)["c"].to_pylist() == [ONE, None, ONE]


KINDS = {
    "int64": pa.array([1, 2, 3]),
    "float16": pa.array(np.array([1, 2, 3], np.float16)),
    "float64": pa.array([1.5, 2.5, float("nan")]),
    "bool": pa.array([True, False, True]),
    "decimal": pa.array([1, 2, 3], pa.decimal128(9, 2)),
    "wide decimal": pa.array([1, 2, 3], pa.decimal256(70, 2)),
    "date": pa.array([1, 2, 3], pa.date32()),
    "time": pa.array([1, 2, 3], pa.time64("ns")),
    "instant": pa.array([1, 2, 3], pa.timestamp("us", "Europe/Berlin")),
    "duration": pa.array([1, 2, 3], pa.duration("s")),
    "text": pa.array(["a", "", "some more letters"]),
    "large text": pa.array(["a", "", "some more letters"], pa.large_string()),
    "text view": pa.array(["a", "", "some more letters"], pa.string_view()),
    "binary": pa.array([b"a", b"", b"\xff"]),
    "large binary": pa.array([b"a", b"", b"\xff"], pa.large_binary()),
    "binary view": pa.array([b"a", b"", b"\xff and some more bytes"], pa.binary_view()),
    "fixed": pa.array([b"ab", b"cd", b"ef"], pa.binary(2)),
    "words": pa.array(["a", "b", "a"]).dictionary_encode(),
    "list": pa.array([[1], [], [2, 3]], pa.list_(pa.field("element", pa.int32(), False))),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nulls", [[False, True, False], [True, True, True]])
def test_pyarrow_writes_them(kind: str, nulls: list[bool]) -> None:
    inner = pa.StructArray.from_arrays([KINDS[kind]], fields=[pa.field("v", KINDS[kind].type, False)])
    outer = pa.StructArray.from_arrays(
        [KINDS[kind], inner], fields=[pa.field("v", KINDS[kind].type, False), pa.field("in", inner.type, False)], mask=pa.array(nulls)
    )
    table = pa.table({"s": outer})
    if "text" not in kind and "binary" not in kind:
        # pyarrow does not write views in lists.
        table = table.append_column("l", pa.ListArray.from_arrays(pa.array([0, 2, 2, 3], pa.int32()), outer))
    file = io.BytesIO()
    ours.write_table(table, file)
    opened = marquetry.open(file)
    for found in (ours.read_table(file), pa.table(opened.read()), pa.table(opened), pa.table(opened.stream())):
        found.validate(full=True)
        assert found.to_pylist() == table.to_pylist() or kind == "float64"
        out = io.BytesIO()
        theirs.write_table(found, out)
        again = theirs.read_table(out)
        assert again.to_pylist() == table.to_pylist() or kind == "float64"


def test_pyarrow_writes_variants() -> None:
    storage = pa.struct([pa.field("metadata", pa.binary(), False), pa.field("value", pa.binary(), False)])
    field = pa.field("v", storage, metadata={"ARROW:extension:name": "arrow.parquet.variant"})
    rows = [{"metadata": b"\x01\x00\x00", "value": b"\x0c\x07"}, None]
    file = io.BytesIO()
    marquetry.write(pa.table([pa.array(rows, storage)], pa.schema([field])), file)
    out = io.BytesIO()
    theirs.write_table(pa.table(marquetry.open(file)), out)
    assert theirs.read_table(out)["v"].to_pylist() == rows

"""Nested values that are converted before they are written: days, seconds, and coarser units, in lists, maps and structs."""

from __future__ import annotations

import datetime
import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as theirs
import pytest

import marquetry.parquet as ours

DAY, NOON = datetime.date(2020, 1, 2), datetime.time(12)
INSTANT = datetime.datetime(2020, 1, 2, 3, 4, 5)


def required(data_type: pa.DataType) -> pa.Field:
    return pa.field("item", data_type, nullable=False)


DAYS, SECONDS = pa.list_(required(pa.date64()), 2), pa.list_(required(pa.time32("s")), 1)


@pytest.mark.parametrize(
    "data_type, rows",
    [
        # Below a list that is null are nulls, where none may be.
        (DAYS, [[DAY, DAY], None, [DAY, DAY]]),
        (SECONDS, [[NOON], None, None]),
        (pa.list_(required(pa.struct([required(pa.timestamp("s"))])), 1), [[{"item": INSTANT}], None]),
        (pa.list_(pa.date64(), 0), [[], None, []]),
        (pa.list_(DAYS), [[[DAY, DAY], None], None, []]),
        (pa.list_view(DAYS), [[[DAY, DAY], None], None, []]),
        (pa.large_list_view(pa.list_view(pa.date64())), [[[DAY], None, []], None, []]),
        (pa.list_(required(pa.map_(pa.date64(), pa.large_list(pa.timestamp("s")))), 2), [[[(DAY, [INSTANT])], []], None]),
        (pa.map_(pa.timestamp("s"), pa.map_(pa.date64(), pa.null())), [[(INSTANT, [(DAY, None)])], None, [(INSTANT, None)]]),
        (pa.map_(pa.date64(), pa.large_list_view(pa.large_list(pa.dictionary(pa.uint8(), pa.int8())))), [[(DAY, [[1, None], None])], None]),
        (pa.struct([pa.field("a", DAYS), pa.field("b", pa.time32("s"))]), [{"a": None, "b": NOON}, None, {"a": [DAY, DAY], "b": None}]),
    ],
)
@pytest.mark.parametrize("slice", [(0, None), (1, None), (1, 1), (1, 0)])
def test_nested_values_are_converted(data_type: pa.DataType, rows: list[Any], slice: tuple[int, int | None]) -> None:
    # Of each chunk, as pyarrow has slices of columns.
    chunks = [pa.array(rows, data_type).slice(*slice), pa.array(rows[::-1], data_type).slice(*slice)]
    table = pa.table({"x": pa.chunked_array(chunks)})
    out = io.BytesIO()
    ours.write_table(table, out)
    wanted = [value for chunk in chunks for value in chunk.to_pylist()]
    for library in (ours, theirs):
        read = library.read_table(io.BytesIO(out.getvalue()))
        read.validate(full=True)
        assert read["x"].to_pylist() == wanted


def test_what_is_outside_of_a_slice_is_not_looked_at() -> None:
    fine, coarse = datetime.datetime(2020, 1, 2, 3, 4, 5, 678_901), INSTANT
    data_type = pa.map_(pa.timestamp("us"), pa.list_(pa.timestamp("us"), 1))
    maps = pa.array([[(fine, [fine])], [(coarse, [coarse])]], data_type)
    out = io.BytesIO()
    ours.write_table(pa.table({"x": maps.slice(1)}), out, coerce_timestamps="ms")
    assert theirs.read_table(io.BytesIO(out.getvalue()))["x"].to_pylist() == [[(coarse, [coarse])]]
    with pytest.raises(pa.ArrowInvalid, match="would lose data"):
        ours.write_table(pa.table({"x": maps}), out, coerce_timestamps="ms")


def test_what_is_below_nulls_is_not_looked_at() -> None:
    fine, offsets = pa.array([1_500, 2_000, 1_500, 4_000], pa.timestamp("us")), pa.array([0, 1, 2, 3, 4], pa.int32())
    mask = pa.array([True, False, True, False])
    maps = pa.MapArray.from_arrays(offsets, pa.array([1, 2, 3, 4]), fine, mask=mask)
    arrays = {
        "lists": pa.ListArray.from_arrays(offsets, fine, mask=mask),
        "lists of one": pa.FixedSizeListArray.from_arrays(fine, 1, mask=mask),
        "maps": maps,
        "maps by instants": pa.MapArray.from_arrays(offsets, fine, pa.array([1, 2, 3, 4]), mask=mask),
        "maps of maps": pa.MapArray.from_arrays(offsets, pa.array([1, 2, 3, 4]), maps, mask=mask),
        "nothing but nulls": pa.FixedSizeListArray.from_arrays(fine, 2, mask=pa.array([True, True])).take(pa.array([0, 1, 0, 1])),
    }
    for slice in [(0, 4), (1, 3), (2, 1), (2, 0)]:
        table = pa.table(arrays).slice(*slice)
        out = io.BytesIO()
        ours.write_table(table, out, coerce_timestamps="ms")
        assert theirs.read_table(io.BytesIO(out.getvalue())).to_pylist() == table.to_pylist()
    with pytest.raises(pa.ArrowInvalid, match="would lose data"):
        ours.write_table(pa.table({"x": pa.FixedSizeListArray.from_arrays(fine, 2, mask=pa.array([True, False]))}), io.BytesIO(), coerce_timestamps="ms")


def test_nulls_may_be_split_into_streams() -> None:
    out = io.BytesIO()
    ours.write_table(pa.table({"n": pa.nulls(3), "i": [1, 2, 3]}), out, use_dictionary=False, use_byte_stream_split=True)
    assert theirs.read_table(io.BytesIO(out.getvalue()))["n"].to_pylist() == [None, None, None]

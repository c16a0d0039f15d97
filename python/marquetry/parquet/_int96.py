"""INT96 timestamps that nanoseconds cannot hold. pyarrow returns wrong ones; we return null."""

from __future__ import annotations

import warnings
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def in_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Converts a table, whose timestamps were read in a unit that holds all, to a schema.

    Timestamps that do not fit become null, with a warning.
    """
    fields = [schema.field(name) for name in table.column_names]
    columns = []
    for field, column in zip(fields, table.columns):
        chunks = [_in_type(chunk, field.type) for chunk in column.chunks]
        if any(_lost(chunk) > _lost(before) for chunk, before in zip(chunks, column.chunks)):
            warnings.warn(
                f"column {field.name} has timestamps that nanoseconds do not hold: they are null, and its others have no nanoseconds; give "
                "coerce_int96_timestamp_unit='us' to read them",
                stacklevel=5,
            )
        columns.append(pa.chunked_array(chunks, field.type))
    return pa.table(columns, schema=pa.schema(fields, metadata=table.schema.metadata))


def _in_type(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    kind = array.type
    if kind == wanted:
        return array
    if pa.types.is_timestamp(kind):
        return _in_unit(array, wanted.unit).cast(wanted)
    if pa.types.is_struct(kind):
        children = [_in_type(array.field(i), wanted.field(i).type) for i in range(kind.num_fields)]
        return pa.StructArray.from_arrays(children, fields=list(wanted), mask=array.is_null())
    if pa.types.is_map(kind):
        return _with_values(array, pa.struct([wanted.key_field, wanted.item_field]), wanted)
    if pa.types.is_list(kind):
        return _with_values(array, wanted.value_type, pa.list_(wanted.value_field)).cast(wanted)
    return array.cast(wanted)


def _with_values(array: Any, values: pa.DataType, kind: pa.DataType) -> pa.Array:
    children = [_in_type(array.values, values)]
    return pa.Array.from_buffers(kind, len(array), array.buffers()[:2], offset=array.offset, children=children)


def _in_unit(array: pa.Array, unit: str) -> pa.Array:
    ends = (pa.scalar(value, pa.timestamp(unit)).cast(array.type, safe=False) for value in (-(2**63) + 1, 2**63 - 1))
    low, high = ends
    fits = pc.and_(pc.greater_equal(array, low), pc.less_equal(array, high))
    return pc.if_else(fits, array, pa.scalar(None, array.type)).cast(pa.timestamp(unit))


def _lost(array: pa.Array) -> int:
    """Returns the number of null timestamps, including nested ones."""
    if pa.types.is_struct(array.type):
        return sum(_lost(array.field(i)) for i in range(array.type.num_fields))
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type) or pa.types.is_map(array.type):
        return _lost(array.values)
    return array.null_count if pa.types.is_timestamp(array.type) else 0

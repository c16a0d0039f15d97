"""Conversion of values within lists, maps and structs.

pyarrow's own cast of nested arrays fails for list views, for null fixed-size lists of values that are not nullable, and for maps in
maps. Here nested arrays are taken apart, and their values are cast by themselves.
"""

from __future__ import annotations

from typing import Callable

import pyarrow as pa

Cast = Callable[[pa.Array, pa.DataType], pa.Array]


def converted(array: pa.Array, wanted: pa.DataType, cast: Cast) -> pa.Array:
    """Converts an array to ``wanted``, which has other types of values, and lists in place of list views."""
    data_type, types = array.type, pa.types
    if data_type.equals(wanted):
        return array
    if isinstance(data_type, pa.BaseExtensionType):
        return converted(array.storage, wanted, cast)
    if types.is_dictionary(data_type) and not types.is_dictionary(wanted):
        # With `take`: pyarrow cannot decode a dictionary of nested values.
        return converted(array.dictionary.take(array.indices), wanted, cast)
    if data_type.num_fields == 0 or types.is_dictionary(data_type):
        return cast(array, wanted)
    nulls = array.is_null() if array.null_count > 0 else None
    if types.is_struct(data_type):
        children = [converted(array.field(i), field.type, cast) for i, field in enumerate(wanted)]
        return pa.StructArray.from_arrays(children, fields=list(wanted), mask=nulls)
    if types.is_fixed_size_list(data_type):
        size = data_type.list_size
        if size == 0:
            # pyarrow divides by the size.
            return pa.array([[] if there else None for there in array.is_valid().to_pylist()], wanted)
        return pa.FixedSizeListArray.from_arrays(_of_fixed_size(array, wanted, cast), type=wanted, mask=nulls)
    if types.is_map(data_type):
        # Null maps are left out, as null lists are. With a mask, pyarrow requires offsets that start at the beginning of their buffer.
        offsets = pa.concat_arrays([array.offsets]) if len(array) > 0 else pa.array([0], pa.int32())
        keys, items = (pa.ListArray.from_arrays(offsets, part, mask=nulls) for part in (array.keys, array.items))
        parts = converted(keys.flatten(), wanted.key_type, cast), converted(items.flatten(), wanted.item_type, cast)
        return pa.MapArray.from_arrays(_offsets(keys, False), *parts, type=wanted, mask=nulls)
    is_large = types.is_large_list(wanted)
    make = pa.LargeListArray if is_large else pa.ListArray
    # The values of lists that are not null, in the order of the lists, wherever they are stored.
    values = converted(array.flatten(), wanted.value_type, cast)
    return make.from_arrays(_offsets(array, is_large), values, type=wanted, mask=nulls)


def _of_fixed_size(array: pa.Array, wanted: pa.DataType, cast: Cast) -> pa.Array:
    """Converts the values of fixed-size lists. Values of null lists are arbitrary; if they cannot be converted, those of another list
    replace them."""
    size, start = array.type.list_size, array.offset * array.type.list_size
    values = array.values.slice(start, len(array) * size)
    try:
        return converted(values, wanted.value_type, cast)
    except pa.ArrowInvalid:
        rows = array.is_valid().to_pylist()
        if all(rows):
            raise
    there = rows.index(True) if any(rows) else None
    if there is None:
        return pa.nulls(len(array) * size, wanted.value_type)
    parts = [values.slice((row if is_there else there) * size, size) for row, is_there in enumerate(rows)]
    return converted(pa.concat_arrays(parts), wanted.value_type, cast)


def _offsets(array: pa.Array, is_large: bool) -> pa.Array:
    import pyarrow.compute as pc

    ends = pc.cumulative_sum(pc.list_value_length(array).cast(pa.int64()).fill_null(0))
    return pa.concat_arrays([pa.array([0], pa.int64()), ends]).cast(pa.int64() if is_large else pa.int32())

"""Arrays whose values are converted, wherever in lists, maps and structs they are.

pyarrow's own cast of nested arrays fails at views of lists, at lists of fixed size that are null above values that may not be, and at
maps in maps: here nested arrays are taken apart, and their values cast by themselves.
"""

from __future__ import annotations

from typing import Callable

import pyarrow as pa

Cast = Callable[[pa.Array, pa.DataType], pa.Array]


def converted(array: pa.Array, wanted: pa.DataType, cast: Cast) -> pa.Array:
    """The same values as ``wanted``, which differs in the types of values, and has lists for views of lists."""
    data_type, types = array.type, pa.types
    if data_type.equals(wanted):
        return array
    if isinstance(data_type, pa.BaseExtensionType):
        return converted(array.storage, wanted, cast)
    if types.is_dictionary(data_type) and not types.is_dictionary(wanted):
        # As values are taken: pyarrow decodes no dictionary of nested ones.
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
            # pyarrow divides by it.
            return pa.array([[] if there else None for there in array.is_valid().to_pylist()], wanted)
        values = converted(array.values.slice(array.offset * size, len(array) * size), wanted.value_type, cast)
        return pa.FixedSizeListArray.from_arrays(values, type=wanted, mask=nulls)
    if types.is_map(data_type):
        # The bounds of this slice, which a mask wants to begin where their buffer does.
        offsets = pa.concat_arrays([array.offsets]) if len(array) > 0 else pa.array([0], pa.int32())
        start, end = offsets[0].as_py(), offsets[-1].as_py()
        keys, items = (part.slice(start, end - start) for part in (array.keys, array.items))
        parts = converted(keys, wanted.key_type, cast), converted(items, wanted.item_type, cast)
        return pa.MapArray.from_arrays(_less(offsets, start), *parts, type=wanted, mask=nulls)
    is_large = types.is_large_list(wanted)
    make = pa.LargeListArray if is_large else pa.ListArray
    # Of lists that are there, in their order, however their values lie.
    values = converted(array.flatten(), wanted.value_type, cast)
    return make.from_arrays(_offsets(array, is_large), values, type=wanted, mask=nulls)


def _less(offsets: pa.Array, start: int) -> pa.Array:
    import pyarrow.compute as pc

    return pc.subtract(offsets, pa.scalar(start, offsets.type)) if start else offsets


def _offsets(array: pa.Array, is_large: bool) -> pa.Array:
    import pyarrow.compute as pc

    ends = pc.cumulative_sum(pc.list_value_length(array).cast(pa.int64()).fill_null(0))
    return pa.concat_arrays([pa.array([0], pa.int64()), ends]).cast(pa.int64() if is_large else pa.int32())

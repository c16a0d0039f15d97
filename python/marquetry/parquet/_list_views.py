"""Views of lists, which pyarrow casts to other types wrongly or not at all: they become lists."""

from __future__ import annotations

import pyarrow as pa

from ._types import map_type


def has_views(data_type: pa.DataType) -> bool:
    """Whether there are views of lists at or in a type."""
    found = False

    def look(part: pa.DataType) -> pa.DataType:
        nonlocal found
        found = found or _is_view(part)
        return part

    map_type(data_type, look, inside_extensions=True)
    return found


def list_type(data_type: pa.DataType) -> pa.DataType:
    """Lists for a view of lists."""
    if pa.types.is_list_view(data_type):
        return pa.list_(data_type.value_field)
    if pa.types.is_large_list_view(data_type):
        return pa.large_list(data_type.value_field)
    return data_type


def as_lists(array: pa.Array) -> pa.Array:
    """The same values, with lists for views of lists, wherever they are."""
    data_type, types = array.type, pa.types
    if not has_views(data_type):
        return array
    if isinstance(data_type, pa.BaseExtensionType):
        return as_lists(array.storage)
    wanted, nulls = map_type(data_type, list_type, inside_extensions=True), array.is_null()
    if types.is_struct(data_type):
        children = [as_lists(array.field(i)) for i in range(data_type.num_fields)]
        return pa.StructArray.from_arrays(children, fields=list(wanted), mask=nulls)
    if types.is_fixed_size_list(data_type):
        size = data_type.list_size
        values = as_lists(array.values.slice(array.offset * size, len(array) * size))
        return pa.FixedSizeListArray.from_arrays(values, type=wanted, mask=nulls)
    if types.is_map(data_type):
        # A mask is for offsets that begin where their buffer does.
        offsets = pa.concat_arrays([array.offsets])
        return pa.MapArray.from_arrays(offsets, as_lists(array.keys), as_lists(array.items), type=wanted, mask=nulls)
    is_large = types.is_large_list(data_type) or types.is_large_list_view(data_type)
    make = pa.LargeListArray if is_large else pa.ListArray
    # Of lists that are there, in their order, however their values lie.
    return make.from_arrays(_offsets(array, is_large), as_lists(array.flatten()), type=wanted, mask=nulls)


def _is_view(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_list_view(data_type) or pa.types.is_large_list_view(data_type))


def _offsets(array: pa.Array, is_large: bool) -> pa.Array:
    import pyarrow.compute as pc

    ends = pc.cumulative_sum(pc.list_value_length(array).cast(pa.int64()).fill_null(0))
    return pa.concat_arrays([pa.array([0], pa.int64()), ends]).cast(pa.int64() if is_large else pa.int32())

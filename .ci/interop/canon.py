"""One form for values that libraries give in different types, so that they can be compared bit by bit.

Names of layouts (large, view, dictionary, runs) are dropped, bits are not: -0.0 is not 0.0, and all NaN are the same.
"""

import uuid

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class Differs(Exception):
    """Values or types are not what they should be."""


def one_array(column):
    """An array of all chunks."""
    if isinstance(column, pa.ChunkedArray):
        if column.num_chunks == 1:
            return column.chunk(0)
        if column.num_chunks == 0:
            return pa.array([], column.type)
        if not isinstance(column.type, pa.BaseExtensionType):
            return pa.concat_arrays(column.chunks)
        storage = pa.concat_arrays([chunk.storage for chunk in column.chunks])
        return pa.ExtensionArray.from_storage(column.type, storage)
    return column


def is_list(data_type):
    t = pa.types
    return (
        t.is_list(data_type)
        or t.is_large_list(data_type)
        or t.is_fixed_size_list(data_type)
        or t.is_map(data_type)
        or t.is_list_view(data_type)
        or t.is_large_list_view(data_type)
    )


def is_bytes(data_type):
    t = pa.types
    return (
        t.is_binary(data_type)
        or t.is_large_binary(data_type)
        or t.is_binary_view(data_type)
        or t.is_fixed_size_binary(data_type)
    )


def is_text(data_type):
    t = pa.types
    return t.is_string(data_type) or t.is_large_string(data_type) or t.is_string_view(data_type)


def undressed(array):
    """Without extension types, dictionaries and runs."""
    while True:
        if isinstance(array.type, pa.BaseExtensionType):
            is_bool = array.type.extension_name == "arrow.bool8"
            array = array.storage.cast(pa.bool_()) if is_bool else array.storage
        elif pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        elif pa.types.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        else:
            return array


def canon(array, want):
    """`array` in the form for values of type `want`; `Differs` if it cannot be of that type."""
    array = undressed(array)
    if isinstance(want, pa.BaseExtensionType):
        want = pa.bool_() if want.extension_name == "arrow.bool8" else want.storage_type
    if pa.types.is_dictionary(want):
        want = want.value_type
    t = pa.types
    if t.is_null(want):
        if array.null_count != len(array):
            raise Differs(f"values of {array.type} where all is null")
        return pa.nulls(len(array))
    if is_list(want):
        return canon_list(array, want)
    if t.is_struct(want):
        return canon_struct(array, want)
    for is_type, convert in CONVERSIONS:
        if is_type(want):
            return convert(array, want)
    raise Differs(f"no form for {want}")


def canon_chunks(column, want):
    """As `canon`, chunk by chunk: pyarrow does not join all types, and some wrongly."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if not chunks:
        return canon(pa.array([], want), want)
    for chunk in chunks:
        chunk.validate(full=True)
    return pa.concat_arrays([canon(chunk, want) for chunk in chunks])


def canon_list(array, want):
    if not is_list(array.type):
        raise Differs(f"{array.type} for {want}")
    if pa.types.is_map(array.type):
        fields = [("key", array.type.key_type), ("value", array.type.item_type)]
        array = array.cast(pa.list_(pa.struct(fields)))
    lengths = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64())
    offsets = np.concatenate([[0], np.cumsum(lengths.to_numpy(zero_copy_only=False))]).astype(np.int64)
    if pa.types.is_map(want):
        inner = pa.struct([("key", want.key_type), ("value", want.item_type)])
    else:
        inner = want.value_type
    values = canon(array.flatten(), inner)
    return pa.LargeListArray.from_arrays(pa.array(offsets), values, mask=pc.is_null(array))


def canon_struct(array, want):
    if not pa.types.is_struct(array.type):
        raise Differs(f"{array.type} for {want}")
    names = [field.name for field in want]
    if [field.name for field in array.type] != names:
        raise Differs(f"{array.type} for {want}")
    children = [canon(child, field.type) for child, field in zip(array.flatten(), want)]
    return pa.StructArray.from_arrays(children, names, mask=pc.is_null(array))


def of_integers(array, want):
    if want == pa.uint64() and pa.types.is_decimal(array.type) and array.type.scale == 0:
        return array.cast(pa.uint64())
    if not pa.types.is_integer(array.type):
        raise Differs(f"{array.type} for {want}")
    return array.cast(pa.uint64() if want == pa.uint64() else pa.int64())


def of_floats(array, want):
    if not pa.types.is_floating(array.type):
        raise Differs(f"{array.type} for {want}")
    if want == pa.float16():
        want = pa.float32()
    if array.type == pa.float64() and want == pa.float32():
        raise Differs(f"{array.type} for {want}")
    array = array.cast(want)
    same_nan = pc.if_else(pc.is_nan(array), pa.scalar(float("nan"), want), array)
    return same_nan.view(pa.int32() if want == pa.float32() else pa.int64())


def of_decimals(array, want):
    if not pa.types.is_decimal(array.type):
        raise Differs(f"{array.type} for {want}")
    return array.cast(pa.decimal256(76, want.scale))


def of_bytes(array, want):
    if pa.types.is_fixed_size_binary(want) and want.byte_width == 16 and is_text(array.type):
        array = pa.array([None if text is None else uuid.UUID(text).bytes for text in array.to_pylist()])
    if is_text(want) != is_text(array.type) or not (is_text(array.type) or is_bytes(array.type)):
        raise Differs(f"{array.type} for {want}")
    # Not all of these conversions exist in one step; those of views exist, and crash at times.
    if pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type):
        values = array.to_pylist()
        array = pa.array(values, pa.large_string() if is_text(array.type) else pa.large_binary())
    if is_text(array.type):
        array = array.cast(pa.large_string())
    elif pa.types.is_fixed_size_binary(array.type):
        array = array.cast(pa.binary())
    return array.cast(pa.large_binary())


def scaled(array, factor):
    return pc.multiply_checked(array, pa.scalar(factor, pa.int64())) if factor != 1 else array


def of_dates(array, want):
    if want == pa.date64() and array.type == pa.int64():
        return array
    if not (pa.types.is_date(array.type) or (pa.types.is_timestamp(array.type) and array.type.tz is None)):
        raise Differs(f"{array.type} for {want}")
    return array.cast(pa.date64()).cast(pa.int64())


def of_times(array, want):
    if not pa.types.is_time(array.type):
        raise Differs(f"{array.type} for {want}")
    integers = array.cast(pa.int32() if pa.types.is_time32(array.type) else pa.int64()).cast(pa.int64())
    return scaled(integers, 10**9 // PER_SECOND[array.type.unit])


def of_timestamps(array, want):
    if not pa.types.is_timestamp(array.type) or (array.type.tz is None) != (want.tz is None):
        raise Differs(f"{array.type} for {want}")
    return scaled(array.cast(pa.int64()), 10**9 // PER_SECOND[array.type.unit])


def of_durations(array, want):
    # Parquet has no such type: without the Arrow schema they are integers.
    unit = want.unit if array.type == pa.int64() else getattr(array.type, "unit", None)
    if not (array.type == pa.int64() or pa.types.is_duration(array.type)):
        raise Differs(f"{array.type} for {want}")
    return scaled(array.cast(pa.int64()), 10**9 // PER_SECOND[unit])


def of_intervals(array, want):
    """As the file has them: months, days and milliseconds in 32 bits each."""
    if is_bytes(array.type):
        return of_bytes(array, pa.binary(12))
    if array.type != pa.month_day_nano_interval():
        raise Differs(f"{array.type} for {want}")

    def stored(value):
        if value.nanoseconds % 10**6:
            raise Differs(f"{value} has no whole milliseconds")
        parts = (value.months, value.days, value.nanoseconds // 10**6)
        return b"".join(part.to_bytes(4, "little", signed=True) for part in parts)

    return pa.array([None if value is None else stored(value) for value in array.to_pylist()], pa.large_binary())


def of_bools(array, want):
    if array.type != want:
        raise Differs(f"{array.type} for {want}")
    return array


CONVERSIONS = [
    (pa.types.is_boolean, of_bools),
    (pa.types.is_integer, of_integers),
    (pa.types.is_floating, of_floats),
    (pa.types.is_decimal, of_decimals),
    (is_bytes, of_bytes),
    (is_text, of_bytes),
    (pa.types.is_date, of_dates),
    (pa.types.is_time, of_times),
    (pa.types.is_timestamp, of_timestamps),
    (pa.types.is_duration, of_durations),
    (pa.types.is_interval, of_intervals),
]


def check_same(got, want):
    """Two canonical arrays; `Differs` says where they part."""
    if got.equals(want):
        return
    if len(got) != len(want):
        raise Differs(f"{len(got)} rows for {len(want)}")
    if got.type != want.type:
        raise Differs(f"form {got.type} for {want.type}")
    for row in range(len(want)):
        if not got[row].equals(want[row]) and got[row].as_py() != want[row].as_py():
            raise Differs(f"row {row} is {got[row].as_py()!r:.200} instead of {want[row].as_py()!r:.200}")
    raise Differs("not the same, somehow")

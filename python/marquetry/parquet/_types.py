"""The Arrow types that pyarrow gives columns, where ours are others."""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable

import pyarrow as pa


def map_fields(schema: pa.Schema, change: Callable[[pa.DataType], pa.DataType]) -> pa.Schema:
    """A schema whose types, nested ones included, are changed from the inside out."""

    def changed(field: pa.Field) -> pa.Field:
        data_type = map_type(field.type, change)
        return field if data_type is field.type else field.with_type(data_type)

    return pa.schema([changed(field) for field in schema], metadata=schema.metadata)


def map_type(data_type: pa.DataType, change: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """A type whose parts are changed, and then itself."""

    def inner(field: pa.Field) -> pa.Field:
        return field.with_type(map_type(field.type, change))

    types = pa.types
    if isinstance(data_type, pa.BaseExtensionType):
        return data_type
    if data_type.num_fields == 0:
        return change(data_type)
    if types.is_struct(data_type):
        data_type = pa.struct([inner(field) for field in data_type])
    elif types.is_map(data_type):
        data_type = pa.map_(inner(data_type.key_field), inner(data_type.item_field), data_type.keys_sorted)
    elif types.is_fixed_size_list(data_type):
        data_type = pa.list_(inner(data_type.value_field), data_type.list_size)
    elif types.is_large_list(data_type):
        data_type = pa.large_list(inner(data_type.value_field))
    elif types.is_list(data_type):
        data_type = pa.list_(inner(data_type.value_field))
    elif types.is_list_view(data_type):
        data_type = pa.list_view(inner(data_type.value_field))
    elif types.is_large_list_view(data_type):
        data_type = pa.large_list_view(inner(data_type.value_field))
    return change(data_type)


def restored(data_type: pa.DataType) -> pa.DataType:
    """What pyarrow makes of a type that was written: it does not bring all of them back."""
    types = pa.types
    if types.is_integer(data_type) or types.is_floating(data_type):
        return data_type
    if types.is_dictionary(data_type):
        value = data_type.value_type
        if types.is_string(value) or types.is_binary(value) or types.is_large_string(value) or types.is_large_binary(value):
            plain = pa.string() if types.is_string(value) or types.is_large_string(value) else pa.binary()
            return pa.dictionary(data_type.index_type, plain, data_type.ordered)
        return value
    if types.is_run_end_encoded(data_type):
        return data_type.value_type
    if types.is_date64(data_type):
        return pa.date32()
    if types.is_time32(data_type) and data_type.unit == "s":
        return pa.time32("ms")
    if types.is_timestamp(data_type) and data_type.unit == "s":
        return pa.timestamp("ms", data_type.tz)
    return data_type


def stored_schema(metadata: dict[bytes, bytes] | None) -> pa.Schema | None:
    """The Arrow schema that the writer left in the file."""
    import base64
    import binascii

    text = (metadata or {}).get(b"ARROW:schema")
    if text is None:
        return None
    try:
        return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OSError, binascii.Error):
        # Left there by who knows whom: it is a hint.
        return None


def with_layouts(schema: pa.Schema, stored: pa.Schema) -> pa.Schema:
    """The layouts that text, bytes and lists had when they were written."""
    fields = []
    by_name: dict[str, list[pa.Field]] = {}
    for other in stored:
        by_name.setdefault(other.name, []).append(other)
    for field in schema:
        theirs = by_name.get(field.name, [])
        # Most types are the same: of wide tables it takes long to look into each.
        is_other = len(theirs) == 1 and field.type != theirs[0].type
        fields.append(field.with_type(_layout(field.type, theirs[0].type)) if is_other else field)
    return pa.schema(fields, metadata=schema.metadata)


def _layout(data_type: pa.DataType, stored: pa.DataType) -> pa.DataType:
    types = pa.types
    if isinstance(data_type, pa.BaseExtensionType) or isinstance(stored, pa.BaseExtensionType):
        return stored if isinstance(data_type, pa.BaseExtensionType) and isinstance(stored, type(data_type)) else data_type
    is_text = (types.is_string, types.is_large_string, types.is_string_view)
    is_bytes = (types.is_binary, types.is_large_binary, types.is_binary_view)
    for family in (is_text, is_bytes):
        if any(is_one(data_type) for is_one in family) and any(is_one(stored) for is_one in family):
            return stored
    if types.is_struct(data_type) and types.is_struct(stored):
        names = Counter(field.name for field in stored)

        def inner(field: pa.Field) -> pa.Field:
            known = names[field.name] == 1
            return field.with_type(_layout(field.type, stored.field(field.name).type)) if known else field

        return pa.struct([inner(field) for field in data_type])
    if types.is_map(data_type) and types.is_map(stored):
        key, item = data_type.key_field, data_type.item_field
        key, item = key.with_type(_layout(key.type, stored.key_type)), item.with_type(_layout(item.type, stored.item_type))
        return pa.map_(key, item, data_type.keys_sorted)
    if types.is_list(data_type) and types.is_list(stored):
        return pa.list_(data_type.value_field.with_type(_layout(data_type.value_type, stored.value_type)))
    if types.is_large_list(data_type) and types.is_large_list(stored):
        return pa.large_list(data_type.value_field.with_type(_layout(data_type.value_type, stored.value_type)))
    return data_type


def compliant(data_type: pa.DataType) -> pa.DataType:
    """Lists and maps whose parts have the names that the format wants."""
    types = pa.types
    if types.is_map(data_type):
        key, item = data_type.key_field.with_name("key"), data_type.item_field.with_name("value")
        return pa.map_(key, item, data_type.keys_sorted)
    if types.is_fixed_size_list(data_type):
        return pa.list_(data_type.value_field.with_name("element"), data_type.list_size)
    makers = (
        (types.is_list, pa.list_), (types.is_large_list, pa.large_list), (types.is_list_view, pa.list_view),
        (types.is_large_list_view, pa.large_list_view),
    )  # fmt: skip
    for is_one, make in makers:
        if is_one(data_type):
            return make(data_type.value_field.with_name("element"))
    return data_type


def chosen(binary_type: Any, list_type: Any) -> Callable[[pa.DataType], pa.DataType]:
    """What the arguments of readers make of types."""
    views = {"binary": pa.binary(), "large_binary": pa.large_binary(), "binary_view": pa.binary_view()}
    if isinstance(binary_type, str):
        if binary_type not in views:
            raise ValueError(f"binary_type is {binary_type!r}, and should be a type of binary")
        binary_type = views[binary_type]
    text = {pa.binary(): pa.string(), pa.large_binary(): pa.large_string(), pa.binary_view(): pa.string_view()}
    if binary_type is not None and binary_type not in text:
        raise ValueError(f"binary_type is {binary_type}, and should be a type of binary")
    if list_type is not None and list_type not in (pa.ListType, pa.LargeListType):
        raise ValueError(f"list_type is {list_type}, and should be pyarrow.ListType or pyarrow.LargeListType")

    def change(data_type: pa.DataType) -> pa.DataType:
        if binary_type is not None and pa.types.is_string(data_type):
            return text[binary_type]
        if binary_type is not None and pa.types.is_binary(data_type):
            return binary_type
        if list_type is pa.LargeListType and pa.types.is_list(data_type):
            return pa.large_list(data_type.value_field)
        return data_type

    return change


def without_extensions(schema: pa.Schema) -> pa.Schema:
    """The types under extension types."""

    def plain(field: pa.Field) -> pa.Field:
        if isinstance(field.type, pa.BaseExtensionType):
            field = field.with_type(field.type.storage_type)
        kept = {key: value for key, value in (field.metadata or {}).items() if not key.startswith(b"ARROW:extension:")}
        return field.with_metadata(kept or None)

    return pa.schema([plain(field) for field in schema], metadata=schema.metadata)

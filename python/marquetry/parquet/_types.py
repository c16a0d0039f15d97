"""Changes Arrow types according to the arguments of pyarrow."""

from __future__ import annotations

from typing import Any, Callable

import pyarrow as pa


def map_fields(
    schema: pa.Schema, change: Callable[[pa.DataType], pa.DataType], inside_extensions: bool = False
) -> pa.Schema:
    """Changes the types of a schema, including nested ones, from the inside out.

    Extension types stay, except that the text of JSON changes. With `inside_extensions`, those whose storage type changes become their
    storage type.
    """

    def changed(field: pa.Field) -> pa.Field:
        data_type = map_type(field.type, change, inside_extensions)
        return field if data_type is field.type else field.with_type(data_type)

    return pa.schema([changed(field) for field in schema], metadata=schema.metadata)


def map_type(
    data_type: pa.DataType, change: Callable[[pa.DataType], pa.DataType], inside_extensions: bool = False
) -> pa.DataType:
    """Changes the parts of a type, and then the type itself."""
    if isinstance(data_type, pa.BaseExtensionType):
        if not inside_extensions and not isinstance(data_type, pa.JsonType):
            return data_type
        storage = map_type(data_type.storage_type, change, inside_extensions)
        if storage.equals(data_type.storage_type):
            return data_type
        return pa.json_(storage) if isinstance(data_type, pa.JsonType) else storage
    return change(with_fields(data_type, lambda field: field.with_type(map_type(field.type, change, inside_extensions))))


def with_fields(data_type: pa.DataType, change: Callable[[pa.Field], pa.Field]) -> pa.DataType:
    """Changes the fields of a type, if it has any."""
    types = pa.types
    if types.is_struct(data_type):
        return pa.struct([change(field) for field in data_type])
    if types.is_map(data_type):
        return pa.map_(change(data_type.key_field), change(data_type.item_field), data_type.keys_sorted)
    if types.is_fixed_size_list(data_type):
        return pa.list_(change(data_type.value_field), data_type.list_size)
    makers = (
        (types.is_list, pa.list_), (types.is_large_list, pa.large_list), (types.is_list_view, pa.list_view),
        (types.is_large_list_view, pa.large_list_view),
    )  # fmt: skip
    for is_one, make in makers:
        if is_one(data_type):
            return make(change(data_type.value_field))
    return data_type


def compliant(data_type: pa.DataType) -> pa.DataType:
    """Gives the parts of a list or map the names that the format requires."""
    types = pa.types
    if types.is_map(data_type):
        key, item = data_type.key_field.with_name("key"), data_type.item_field.with_name("value")
        return pa.map_(key, item, data_type.keys_sorted)
    return data_type if types.is_struct(data_type) else with_fields(data_type, lambda field: field.with_name("element"))


def named_entries(data_type: pa.DataType) -> pa.DataType:
    """Gives the entries of a map the names that the format requires; leaves lists as they are."""
    return compliant(data_type) if pa.types.is_map(data_type) else data_type


def chosen(binary_type: Any, list_type: Any) -> Callable[[pa.DataType], pa.DataType] | None:
    """Returns how the arguments of readers change types; `None` if neither is given."""
    if binary_type is None and list_type is None:
        return None
    views = {"binary": pa.binary(), "large_binary": pa.large_binary(), "binary_view": pa.binary_view()}
    if isinstance(binary_type, str):
        if binary_type not in views:
            raise TypeError(f"binary_type is {binary_type!r}, and should be a type of binary")
        binary_type = views[binary_type]
    text = {pa.binary(): pa.string(), pa.large_binary(): pa.large_string(), pa.binary_view(): pa.string_view()}
    if binary_type is not None and binary_type not in text:
        raise TypeError(f"binary_type is {binary_type}, and should be a type of binary")
    if list_type is not None and list_type not in (pa.ListType, pa.LargeListType):
        raise TypeError(f"list_type is {list_type}, and should be pyarrow.ListType or pyarrow.LargeListType")

    def change(data_type: pa.DataType) -> pa.DataType:
        if binary_type is not None and pa.types.is_string(data_type):
            return text[binary_type]
        if binary_type is not None and pa.types.is_binary(data_type):
            return binary_type
        if list_type is pa.LargeListType and pa.types.is_list(data_type):
            return pa.large_list(data_type.value_field)
        return data_type

    return change


def layout_of(binary_type: Any) -> str | None:
    """Returns our reader's name for the requested layout of byte strings; `None` for 32-bit offsets."""
    layouts = {"large_binary": "large_utf8", "binary_view": "utf8_view"}
    return None if binary_type is None else layouts.get(str(binary_type))


def without_extensions(schema: pa.Schema) -> pa.Schema:
    """Replaces extension types by their storage types."""

    def plain(field: pa.Field) -> pa.Field:
        if isinstance(field.type, pa.BaseExtensionType):
            field = field.with_type(field.type.storage_type)
        field = field.with_type(with_fields(field.type, plain))
        kept = {key: value for key, value in (field.metadata or {}).items() if not key.startswith(b"ARROW:extension:")}
        return field.with_metadata(kept or None)

    return pa.schema([plain(field) for field in schema], metadata=schema.metadata)

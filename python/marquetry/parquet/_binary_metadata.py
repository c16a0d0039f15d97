"""Metadata that is not text: pyarrow has metadata as bytes, our reader and writer as text.

When writing, such pairs are left out of the schema for our writer; the key-value pairs of the file, including the Arrow schema, are made
here. When reading, they arrive as hexadecimal digits, and are converted back to bytes.
"""

from __future__ import annotations

import base64
from typing import Any, Mapping

import pyarrow as pa

from .. import _marquetry
from ._types import map_fields, with_fields

_PREFIX = _marquetry.BINARY_METADATA_PREFIX.encode()


# Writing


def stored_pairs(schema: pa.Schema, with_schema: bool) -> dict[bytes, bytes]:
    """Returns the key-value pairs of a file with this schema, in order. Without the schema there are none, as in pyarrow."""
    if not with_schema:
        return {}
    stored = map_fields(schema, _of_extension)
    stored = schema if stored.equals(schema) else stored
    return {**(schema.metadata or {}), b"ARROW:schema": base64.b64encode(stored.serialize())}


def _of_extension(data_type: pa.DataType) -> pa.DataType:
    """Replaces a dictionary of an extension type by that type. pyarrow cannot open a file whose stored schema has such a dictionary."""
    is_one = pa.types.is_dictionary(data_type) and isinstance(data_type.value_type, pa.BaseExtensionType)
    return data_type.value_type if is_one else data_type


def text_only(schema: pa.Schema) -> pa.Schema:
    """Returns the schema for our writer: without its own metadata, and without metadata of fields that is not text.

    An extension type whose parameters are not text, or whose storage type is another extension type, becomes its storage type.
    """
    schema = schema.remove_metadata()
    return schema if _is_taken(schema) else pa.schema([_text_only(field) for field in schema])


def _is_taken(schema: pa.Schema) -> bool:
    try:
        _marquetry.Schema(schema)
    except (ValueError, NotImplementedError):
        # pyarrow cannot export an extension type whose storage type is another extension type.
        return False
    return True


def _text_only(field: pa.Field) -> pa.Field:
    data_type = field.type
    if isinstance(data_type, pa.BaseExtensionType):
        if not _is_taken(pa.schema([pa.field("", data_type)])):
            return _text_only(field.with_type(data_type.storage_type))
    elif data_type.num_fields > 0:
        field = field.with_type(with_fields(data_type, _text_only))
    pairs = field.metadata or {}
    kept = {key: value for key, value in pairs.items() if _is_text(key) and _is_text(value)}
    if len(kept) < len(pairs):
        # The name of an extension type without its parameters would be another type.
        kept = {key: value for key, value in kept.items() if key not in _EXTENSION}
    return field.with_metadata(kept or None)


_EXTENSION = {b"ARROW:extension:name", b"ARROW:extension:metadata"}


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


# Reading


def read_schema(ours: Any) -> pa.Schema:
    """Converts a schema of our reader to pyarrow's."""
    schema = pa.schema(ours)
    return schema if not _has_digits(schema) else _with_types(_restored(schema))


def read_table(ours: _marquetry.Table) -> pa.Table:
    """Converts a table of our reader to pyarrow's."""
    schema = pa.schema(ours.schema)
    # As a stream it would lose the flag that a map's keys are sorted.
    if not _has_digits(schema) and not ours.schema.has_sorted_maps:
        return pa.table(ours)
    restored = _restored(schema)
    batches = [_batch(ours.batch(i), restored) for i in range(ours.num_batches)]
    return pa.Table.from_batches(batches, _with_types(restored))


def read_batch(ours: _marquetry.Batch) -> pa.RecordBatch:
    """Converts a batch of our reader to pyarrow's."""
    schema = pa.schema(ours.schema)
    return pa.record_batch(ours) if not _has_digits(schema) else _batch(ours, _restored(schema))


def _has_digits(schema: pa.Schema) -> bool:
    return any(key.startswith(_PREFIX) for key in schema.metadata or ())


def _restored(schema: pa.Schema) -> pa.Schema:
    return pa.schema([_restored_field(field) for field in schema], metadata=_bytes_of(schema.metadata))


def _restored_field(field: pa.Field) -> pa.Field:
    data_type = field.type
    if data_type.num_fields > 0 and not isinstance(data_type, pa.BaseExtensionType):
        field = field.with_type(with_fields(data_type, _restored_field))
    return field.with_metadata(_bytes_of(field.metadata)) if field.metadata else field


def _bytes_of(pairs: Mapping[bytes, bytes] | None) -> dict[bytes, bytes] | None:
    out = {}
    for key, value in (pairs or {}).items():
        if not key.startswith(_PREFIX):
            out[key] = value
        elif key != _PREFIX:
            out[bytes.fromhex(key[len(_PREFIX) :].decode())] = bytes.fromhex(value.decode())
    return out or None


def _with_types(schema: pa.Schema) -> pa.Schema:
    """Returns the schema with extension types, which pyarrow recognizes by metadata only when it imports a schema."""
    return pa.schema(_Schema(schema))


def _batch(ours: _marquetry.Batch, schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch(_Batch(ours, schema))


class _Schema:
    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()


class _Batch(_Schema):
    """The columns of a batch, with another schema."""

    def __init__(self, batch: Any, schema: pa.Schema) -> None:
        super().__init__(schema)
        self._batch = batch

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self._schema.__arrow_c_schema__(), self._batch.__arrow_c_array__()[1]

"""Errors for metadata that is not UTF-8, which name its key. In the format, keys and values of metadata are text in UTF-8."""

from __future__ import annotations

from typing import Any, Iterator, Mapping

from ._errors import make


def check_metadata(data: Any) -> None:
    """Fails if pyarrow data or a pyarrow schema has metadata that is not text. The engine's error would not name the key."""
    if type(data).__module__.partition(".")[0] != "pyarrow":
        return
    schema = getattr(data, "schema", data)
    if type(schema).__name__ != "Schema":
        return
    found = next(_not_text(schema), None)
    if found is None:
        return
    place, key = found
    message = (
        f"the metadata {key} of {place} is not text (UTF-8): marquetry.parquet carries such metadata; "
        f"or take it away, with {'replace_schema_metadata' if place == 'the schema' else 'with_metadata of the field'}"
    )
    raise make(("argument", message, f"argument: {message}", None, None), None, None, None, None)


def _not_text(schema: Any) -> Iterator[tuple[str, str]]:
    """Yields the place and the key of each such pair."""
    yield from (("the schema", key) for key in _keys(schema.metadata))
    for field in schema:
        yield from _in_field(field, field.name)


def _in_field(field: Any, path: str) -> Iterator[tuple[str, str]]:
    data_type = field.type
    pairs = dict(field.metadata or {})
    if hasattr(data_type, "extension_name"):
        if hasattr(data_type, "__arrow_ext_serialize__"):
            pairs[b"ARROW:extension:metadata"] = data_type.__arrow_ext_serialize__()
        data_type = data_type.storage_type
    yield from ((f"the field {path!r}", key) for key in _keys(pairs))
    for i in range(data_type.num_fields):
        child = data_type.field(i)
        yield from _in_field(child, f"{path}.{child.name}")


def _keys(pairs: Mapping[bytes, bytes] | None) -> Iterator[str]:
    for key, value in (pairs or {}).items():
        if not _is_text(key) or not _is_text(value):
            yield repr(key.decode("utf-8", "backslashreplace"))


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def check_pairs(pairs: Any) -> None:
    """Fails if a key or value for the footer is not text."""
    if not isinstance(pairs, Mapping):
        return
    for key, value in pairs.items():
        for text, what in ((key, f"the key {key!r}"), (value, f"the value of {key!r}")):
            if not isinstance(text, str):
                raise TypeError(f"option key_values: {what} is {type(text).__name__}, and not str: the format has text there")
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise ValueError(f"option key_values: {what} is not UTF-8, as the format has it: {error.reason}") from None

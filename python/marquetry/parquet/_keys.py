"""Checks of encryption properties. pyarrow's are refused, because they do not reveal their keys."""

from __future__ import annotations

from typing import Any

from .._marquetry import FileDecryptionProperties, FileEncryptionProperties


def as_decryption(properties: Any) -> FileDecryptionProperties | None:
    """Returns decryption properties. Raises ``TypeError`` unless they are ours."""
    if properties is None or isinstance(properties, FileDecryptionProperties):
        return properties
    raise _not_ours("decryption_properties", FileDecryptionProperties, properties)


def as_encryption(properties: Any) -> FileEncryptionProperties | None:
    """Returns encryption properties. Raises ``TypeError`` unless they are ours."""
    if properties is None or isinstance(properties, FileEncryptionProperties):
        return properties
    raise _not_ours("encryption_properties", FileEncryptionProperties, properties)


def _not_ours(argument: str, wanted: type, given: Any) -> TypeError:
    what = f"{type(given).__module__}.{type(given).__name__}"
    return TypeError(
        f"{argument} is a {wanted.__name__} of marquetry.parquet.encryption, not {what}: pyarrow's own do not give their keys away"
    )

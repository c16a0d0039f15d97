"""``pyarrow.parquet.encryption``: Marquetry neither reads nor writes encrypted files yet, and says so when it is asked to."""

from __future__ import annotations

from typing import Any

_NAMES = (
    "CryptoFactory", "DecryptionConfiguration", "EncryptionConfiguration", "FileDecryptionProperties",
    "FileEncryptionProperties", "KmsClient", "KmsConnectionConfig", "create_decryption_properties",
    "create_encryption_properties",
)  # fmt: skip


class Unsupported:
    """What is not there yet."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("Marquetry neither reads nor writes encrypted files yet")


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return type(name, (Unsupported,), {})
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

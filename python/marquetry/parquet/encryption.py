"""A drop-in replacement for ``pyarrow.parquet.encryption``, with the names of :mod:`marquetry.encryption`."""

from __future__ import annotations

from ..encryption import (
    CryptoFactory,
    DecryptionConfiguration,
    EncryptionConfiguration,
    FileDecryptionProperties,
    FileEncryptionProperties,
    KmsClient,
    KmsConnectionConfig,
    create_decryption_properties,
    create_encryption_properties,
)

__all__ = [
    "CryptoFactory", "DecryptionConfiguration", "EncryptionConfiguration", "FileDecryptionProperties",
    "FileEncryptionProperties", "KmsClient", "KmsConnectionConfig", "create_decryption_properties",
    "create_encryption_properties",
]  # fmt: skip

"""Encryption with keys that are given directly."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from .. import _marquetry
from .._marquetry import FileDecryptionProperties, FileEncryptionProperties
from ._configuration import algorithm


def create_encryption_properties(
    footer_key: bytes,
    *,
    aad_prefix: bytes | None = None,
    store_aad_prefix: bool = True,
    encryption_algorithm: str = "AES_GCM_V1",
    plaintext_footer: bool = False,
    column_keys: Mapping[str, bytes | tuple[bytes, bytes]] | None = None,
    complete_columns: bool = False,
    footer_key_metadata: bytes | None = None,
    dialect: str = "parquet",
) -> FileEncryptionProperties:
    """Creates the encryption properties of files, with keys of 16, 24 or 32 bytes.

    - ``footer_key``: key of the footer, and of columns without a key of their own if ``column_keys`` is not given.
    - ``aad_prefix``: prefix of the additional authenticated data, which identifies the file. Default: none.
    - ``store_aad_prefix``: whether the prefix is stored in the file; otherwise readers must supply it. Default: true.
    - ``encryption_algorithm``: ``AES_GCM_V1`` (the default) or ``AES_GCM_CTR_V1``.
    - ``plaintext_footer``: whether the footer is signed instead of encrypted. Default: false.
    - ``column_keys``: dictionary from dotted paths to keys; the key of a group is that of all columns in it. Instead of a key, a pair of
      the key and its metadata, which the file stores for readers to find the key. Default: all columns have the footer key.
    - ``complete_columns``: whether columns without a key are encrypted with the footer key, instead of not at all. Default: false.
    - ``footer_key_metadata``: metadata of the footer key, which the file stores. Default: none.
    - ``dialect``: ``"parquet"`` (the default), or ``"duckdb"`` to write files for DuckDB.

    All files that are written with the same object have the same keys. Raises ``ValueError`` for a key of another length.

    >>> from marquetry.encryption import create_encryption_properties
    >>> import marquetry.parquet as pq, pyarrow as pa
    >>> encryption = create_encryption_properties(b"0123456789abcdef", aad_prefix=b"table 7", plaintext_footer=True)
    >>> pq.write_table(pa.table({"x": [1, 2]}), FOLDER + "/x.parquet", encryption_properties=encryption)
    """
    prefix = _bytes("aad_prefix", aad_prefix) if aad_prefix is not None else None
    columns = [(name, *_named_key(name, key)) for name, key in (column_keys or {}).items()]
    return _marquetry.encryption_with_keys({
        "footer_key": _key("footer_key", footer_key),
        "footer_key_metadata": footer_key_metadata,
        "column_keys": columns,
        "complete_columns": bool(complete_columns),
        "aad_prefix": prefix or None,
        "stores_aad_prefix": bool(store_aad_prefix) or not prefix,
        "algorithm": algorithm(encryption_algorithm),
        "plaintext_footer": bool(plaintext_footer),
        "dialect": dialect,
    })  # fmt: skip


def create_decryption_properties(
    footer_key: bytes | None,
    *,
    aad_prefix: bytes | None = None,
    check_footer_integrity: bool = True,
    allow_plaintext_files: bool = False,
    column_keys: Mapping[str, bytes] | None = None,
    key_retriever: Callable[[bytes], bytes | None] | None = None,
    dialect: str = "parquet",
) -> FileDecryptionProperties:
    """Creates the decryption properties of files, with keys of 16, 24 or 32 bytes.

    - ``footer_key``: key of the footer; may be ``None`` with ``key_retriever``.
    - ``aad_prefix``: prefix of the additional authenticated data, if the file does not store it. Default: none.
    - ``check_footer_integrity``: whether the signature of a plaintext footer is verified. Default: true.
    - ``allow_plaintext_files``: whether files without encryption are read, too. Default: false.
    - ``column_keys``: dictionary from dotted paths to keys; the key of a group is that of all columns in it. Columns without their key
      cannot be read, all others can. Default: none.
    - ``key_retriever``: function from the metadata of a key to the key, or ``None``. Several threads may call it. Default: none.
    - ``dialect``: ``"parquet"`` (the default), or ``"duckdb"`` to read files that DuckDB has encrypted.

    >>> from marquetry.encryption import create_decryption_properties, create_encryption_properties
    >>> import marquetry.parquet as pq, pyarrow as pa
    >>> encryption = create_encryption_properties(b"0123456789abcdef", footer_key_metadata=b"key 1")
    >>> pq.write_table(pa.table({"x": [1, 2]}), FOLDER + "/x.parquet", encryption_properties=encryption)
    >>> keys = {b"key 1": b"0123456789abcdef"}
    >>> pq.read_table(FOLDER + "/x.parquet", decryption_properties=create_decryption_properties(None, key_retriever=keys.get)).num_rows
    2
    """
    if footer_key is not None or key_retriever is None:
        footer_key = _key("footer_key", footer_key)
    if key_retriever is not None and not callable(key_retriever):
        raise TypeError("key_retriever is a callable of key metadata")
    prefix = _bytes("aad_prefix", aad_prefix) if aad_prefix is not None else None
    return _marquetry.decryption_with_keys({
        "footer_key": footer_key,
        "key_retriever": key_retriever,
        "column_keys": [(name, _key(f"the key of {name}", key)) for name, key in (column_keys or {}).items()],
        "aad_prefix": prefix or None,
        "verifies_signature": bool(check_footer_integrity),
        "reads_plaintext": bool(allow_plaintext_files),
        "dialect": dialect,
    })  # fmt: skip


def _bytes(what: str, value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"{what} must be bytes, not {type(value).__name__}")
    return value


def _key(what: str, value: Any) -> bytes:
    key = _bytes(what, value)
    if len(key) not in (16, 24, 32):
        raise ValueError(f"{what} must be 16, 24, or 32 bytes, got {len(key)}")
    return key


def _named_key(column: str, value: Any) -> tuple[bytes, bytes | None]:
    """Returns a key and its metadata."""
    key, metadata = value if isinstance(value, tuple) else (value, None)
    return _key(f"the key of {column}", key), None if metadata is None else _bytes(f"the key metadata of {column}", metadata)

"""Keys that are given as they are."""

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
    """How files are encrypted, with keys of 16, 24 or 32 bytes.

    As in pyarrow, and besides: ``column_keys`` are keys of columns by their dotted paths, those of groups for all columns in them; or pairs of a
    key and what the file says of it, by which readers find it. Other columns are in the open then, unless ``complete_columns`` is true. ``footer_key_metadata`` is what the
    file says of the footer key. ``dialect="duckdb"`` writes what DuckDB reads.

    All files that are written with the same object have the same keys.

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
    """The keys of files that are read.

    As in pyarrow, and besides: ``column_keys`` are keys of columns by their dotted paths, those of groups for all columns in them; columns
    whose keys are missing cannot be read, all others can. ``key_retriever`` is called with what a file says of a key, and gives the key, or ``None``; ``footer_key`` may be
    ``None`` then. It may be called by several threads. ``dialect="duckdb"`` reads what DuckDB has encrypted.

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
    """A key, and what the file says of it."""
    key, metadata = value if isinstance(value, tuple) else (value, None)
    return _key(f"the key of {column}", key), None if metadata is None else _bytes(f"the key metadata of {column}", metadata)

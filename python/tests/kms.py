"""Keys, a table, and clients of a key management service, for tests of encryption."""

import base64
import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet.encryption as their_keys

import marquetry
import marquetry.encryption as keys

FOOTER, COLUMN, OTHER = b"0123456789012345", b"1234567890123450", b"5432109876543210"
TABLE = pa.table({
    "id": pa.array(range(2000), pa.int64()),
    "name": pa.array([None if i % 7 == 0 else f"name {i % 50}" for i in range(2000)]),
    "place": pa.array([{"x": i / 3, "tags": ["a"] * (i % 3)} for i in range(2000)]),
})  # fmt: skip
ALGORITHMS = ("AES_GCM_V1", "AES_GCM_CTR_V1")


def wrapped(key: bytes, master: str) -> bytes:
    """A key and the name of its master key: enough to tell whether it is asked for by the right one."""
    return base64.b64encode(master.encode() + b"|" + key)


def unwrapped(text: str, master: str) -> bytes:
    name, key = base64.b64decode(text).split(b"|", 1)
    assert name.decode() == master
    return key


class TheirKms(their_keys.KmsClient):
    def __init__(self, connection: Any) -> None:
        super().__init__()

    def wrap_key(self, key: bytes, master: str) -> bytes:
        return wrapped(key, master)

    def unwrap_key(self, text: str, master: str) -> bytes:
        return unwrapped(text, master)


class Kms(keys.KmsClient):
    """It counts what it is asked, and by which thread."""

    def __init__(self, connection: keys.KmsConnectionConfig | None = None, refuses: str | None = None) -> None:
        super().__init__()
        self.connection, self.refuses, self.asked = connection, refuses, []

    def wrap_key(self, key: bytes, master: str) -> bytes:
        self.asked.append(("wrap", master))
        return wrapped(key, master)

    def unwrap_key(self, text: str, master: str) -> bytes:
        self.asked.append(("unwrap", master))
        if master == self.refuses:
            raise Refused(master)
        return unwrapped(text, master)


class Refused(Exception):
    """An exception that only this file knows."""


def factory_of(kms: Kms) -> keys.CryptoFactory:
    return keys.CryptoFactory(lambda connection: kms)


def written(**options: Any) -> bytes:
    out = io.BytesIO()
    marquetry.write(TABLE, out, encryption=keys.create_encryption_properties(FOOTER, **options))
    return out.getvalue()

"""Errors of ours become those that pyarrow raises."""

from __future__ import annotations

import contextlib
from typing import Iterator

from .._errors import Error


@contextlib.contextmanager
def as_pyarrow(opening: bool = False) -> Iterator[None]:
    """Raises what pyarrow raises in the place of our errors: ``ArrowInvalid`` for files that are none, and for wrong arguments,
    ``OSError`` for damaged pages."""
    try:
        yield
    except Error as error:
        raised = _translated(error, opening)
        if raised is error:
            raise
        raise raised from error


def _translated(error: Error, opening: bool) -> BaseException:
    import pyarrow as pa

    text = str(error)
    if error.kind in ("corrupt", "truncated"):
        if "checksum" in text or "CRC" in text:
            return OSError(f"CRC checksum verification failed, page corrupted likely: {text}")
        if opening and "footer" not in error.message:
            return pa.ArrowInvalid(text)
        if opening:
            return OSError(f"Couldn't deserialize thrift: {text}")
        return OSError(text)
    if error.kind == "limit":
        if "INT96 timestamp" in text:
            return pa.ArrowInvalid(text)
        if "deep" in text or "depth" in text:
            return OSError(f"Parquet schema too deeply nested: {text}")
        return OSError(f"Couldn't deserialize thrift: Exceeded size limit: {text}")
    if error.kind == "unsupported":
        return pa.ArrowNotImplementedError(text)
    if error.kind == "argument":
        if error.message.startswith("a key for column"):
            return OSError(f"Encrypted column not in file schema: {text}")
        return pa.ArrowInvalid(text)
    if error.kind == "encrypted":
        return OSError(f"{_of_keys(error.message)}: {text}")
    return error


def _of_keys(message: str) -> str:
    """What pyarrow says where keys are missing, or not the right ones."""
    if "no key was given" in message:
        return "Could not read encrypted metadata, no decryption found in reader's properties"
    if "is not encrypted" in message:
        return "Applying decryption properties on plaintext file"
    return "Failed decryption"

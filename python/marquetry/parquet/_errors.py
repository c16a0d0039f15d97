"""Translates our errors to those that pyarrow raises."""

from __future__ import annotations

import contextlib
from typing import Iterator

from .._errors import Error


@contextlib.contextmanager
def as_pyarrow(opening: bool = False) -> Iterator[None]:
    """Replaces our errors by pyarrow's: ``ArrowInvalid`` for wrong arguments and for files that are not Parquet, ``OSError`` for damage."""
    try:
        yield
    except Error as error:
        raised = _translated(error, opening)
        if raised is error:
            raise
        raise raised from error


def _translated(error: Error, opening: bool) -> BaseException:
    import pyarrow as pa

    # Only the message tells errors apart: the text also has the names of the file and of columns.
    text, message = str(error), error.message
    if error.kind in ("corrupt", "truncated"):
        if message.startswith("checksum mismatch"):
            return OSError(f"CRC checksum verification failed, page corrupted likely: {text}")
        if opening and "footer" not in message:
            return pa.ArrowInvalid(text)
        if opening:
            return OSError(f"Couldn't deserialize thrift: {text}")
        return OSError(text)
    if error.kind == "limit":
        if "INT96 timestamp" in message:
            return pa.ArrowInvalid(text)
        if "deep" in message or "depth" in message:
            return OSError(f"Parquet schema too deeply nested: {text}")
        return OSError(f"Couldn't deserialize thrift: Exceeded size limit: {text}" if opening else text)
    if error.kind == "unsupported":
        return pa.ArrowNotImplementedError(text)
    if error.kind == "argument":
        if message.startswith("a key for column"):
            return OSError(f"Encrypted column not in file schema: {text}")
        return pa.ArrowInvalid(text)
    if error.kind == "encrypted":
        return OSError(f"{_of_keys(message)}: {text}")
    return error


def _of_keys(message: str) -> str:
    """Returns pyarrow's message for missing or wrong keys."""
    if "no key was given" in message:
        return "Could not read encrypted metadata, no decryption found in reader's properties"
    if "is not encrypted" in message:
        return "Applying decryption properties on plaintext file"
    return "Failed decryption"

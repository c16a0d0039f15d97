"""Arguments of content-defined chunking."""

from __future__ import annotations

from typing import Any


def content_defined_chunking(argument: Any) -> tuple[int, int, int] | None:
    """Returns minimum and maximum size of a chunk in bytes, and the normalization level; ``None`` if it is off."""
    if argument is None or argument is False:
        return None
    if argument is True:
        return 256 * 1024, 1024 * 1024, 0
    if not isinstance(argument, dict):
        raise TypeError("'use_content_defined_chunking' should be a boolean or a dictionary")
    unknown = set(argument) - {"min_chunk_size", "max_chunk_size", "norm_level"}
    if unknown:
        raise ValueError(f"Unknown options in 'use_content_defined_chunking': {unknown}")
    missing = {"min_chunk_size", "max_chunk_size"} - set(argument)
    if missing:
        raise ValueError(f"Missing options in 'use_content_defined_chunking': {missing}")
    low, high = argument["min_chunk_size"], argument["max_chunk_size"]
    if high <= low:
        raise OSError(f"max_chunk_size must be greater than min_chunk_size, {low} and {high} are given")
    return low, high, argument.get("norm_level", 0)

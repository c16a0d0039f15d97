"""pyarrow's limits of readers, applied to our footer."""

from __future__ import annotations

from .._marquetry import Footer


def limit(name: str, value: int | None) -> int | None:
    """Returns a limit. Raises ``ValueError`` if it is not positive."""
    if value is not None and value <= 0:
        raise ValueError(f"{name} must be greater than zero")
    return value


def depth(levels: int | None) -> int | None:
    """Converts pyarrow's limit of a schema's depth, which counts the root, to ours, which does not."""
    return None if levels is None else levels - 1


def check_thrift(footer: Footer, strings: int | None, containers: int | None) -> None:
    """Raises ``OSError`` if the footer has longer strings or lists. Our reader needs no such limits: the size of the file bounds them."""
    strings, containers = limit("thrift_string_size_limit", strings), limit("thrift_container_size_limit", containers)
    if strings is None and containers is None:
        return
    pairs = [part for pair in footer.key_values for part in pair if part is not None]
    longest = max([len(part) for part in pairs] + [len(element["name"]) for element in footer.elements()], default=0)
    if strings is not None and longest > strings:
        raise OSError(f"Couldn't deserialize thrift: Exceeded size limit: a string of {longest} bytes, {strings} allowed")
    if containers is not None and max(len(footer.elements()), footer.num_columns, footer.num_row_groups) > containers:
        raise OSError(f"Couldn't deserialize thrift: Exceeded size limit: a list is longer than {containers}")

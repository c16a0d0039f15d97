"""Converts arguments of ``pyarrow.parquet``'s writers to options of ours."""

from __future__ import annotations

import os
from typing import Any, Iterator, Mapping

import pyarrow as pa


def leaves(schema: pa.Schema, compliant: bool = True) -> Iterator[tuple[list[str], pa.DataType]]:
    """Yields path and type of each leaf column that an Arrow schema becomes."""

    def walk(path: list[str], data_type: pa.DataType) -> Iterator[tuple[list[str], pa.DataType]]:
        types = pa.types
        if isinstance(data_type, pa.BaseExtensionType):
            data_type = data_type.storage_type
        if types.is_struct(data_type):
            for field in data_type:
                yield from walk([*path, field.name], field.type)
        elif types.is_map(data_type):
            yield from walk([*path, "key_value", "key"], data_type.key_type)
            yield from walk([*path, "key_value", "value"], data_type.item_type)
        elif types.is_nested(data_type) and hasattr(data_type, "value_type"):
            yield from walk([*path, "list", "element" if compliant else data_type.value_field.name], data_type.value_type)
        elif types.is_dictionary(data_type):
            yield path, data_type.value_type
        else:
            yield path, data_type

    for field in schema:
        yield from walk([field.name], field.type)


_CODECS = {"NONE": "uncompressed", "UNCOMPRESSED": "uncompressed", "SNAPPY": "snappy", "GZIP": "gzip", "BROTLI": "brotli",
           "LZ4": "lz4_raw", "LZ4_RAW": "lz4_raw", "ZSTD": "zstd"}  # fmt: skip
_LEVELS = {"gzip": (1, 9), "brotli": (0, 11), "zstd": (-7, 22)}


def codec(name: Any, level: int | None) -> str:
    """Returns a codec and its level as text."""
    if name is None:
        return "uncompressed"
    if not isinstance(name, str) or name.upper() not in _CODECS:
        if isinstance(name, str) and name.upper() == "LZO":
            raise OSError("Codec type LZO not supported in Parquet format")
        raise pa.ArrowException(f"Unsupported compression: {name}")
    ours = _CODECS[name.upper()]
    if level is None:
        return ours
    if ours == "lz4_raw":
        # Our LZ4 has only one level, which compresses well.
        return ours
    if ours not in _LEVELS:
        raise pa.ArrowInvalid(f"Codec '{name}' doesn't support setting a compression level.")
    low, high = _LEVELS[ours]
    if ours == "gzip" and not low <= level <= high:
        raise pa.ArrowInvalid(f"GZIP has levels from {low} to {high}, and not {level}")
    return f"{ours}:{min(max(level, low), high)}"


def compression(names: Any, levels: Any, columns: list[str]) -> dict[str, Any]:
    """Returns the codec of all columns, or by column. With names by column, other columns are not compressed."""
    by_column = levels if isinstance(levels, Mapping) else {}
    level = None if isinstance(levels, Mapping) else levels
    if not isinstance(names, Mapping) and not by_column:
        return {"compression": codec(names, level)}
    known = set(columns)
    # pyarrow ignores unknown columns.
    by_column = {column: of_column for column, of_column in by_column.items() if column in known}
    if isinstance(names, Mapping):
        chosen = {column: codec(name, by_column.get(column, level if codec(name, None) in _LEVELS else None)) for column, name in names.items()}
        out: dict[str, Any] = {"compression": "uncompressed"}
    else:
        chosen = {column: codec(names, of_column) for column, of_column in by_column.items()}
        out = {"compression": codec(names, None)}
    out["column_compression"] = _of_known(chosen, columns)
    return out


def _of_known(chosen: Mapping[str, Any], columns: list[str]) -> list[tuple[list[str], Any]]:
    """Returns the settings of existing columns. pyarrow ignores unknown ones."""
    known = dict(zip(columns, columns))
    return [(name.split("."), value) for name, value in chosen.items() if name in known]


_ENCODINGS = (
    "PLAIN", "BYTE_STREAM_SPLIT", "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "RLE", "BIT_PACKED",
)  # fmt: skip


def encodings(
    schema: pa.Schema, use_dictionary: Any, use_byte_stream_split: Any, column_encoding: Any, compliant: bool,
    integer_decimals: bool = False,
) -> list[tuple[list[str], str]]:
    """Returns the encoding of each column."""
    use_dictionary, use_byte_stream_split = _listed(use_dictionary), _listed(use_byte_stream_split)
    if column_encoding is not None:
        # With both by column, they conflict only if they name the same column.
        named = use_byte_stream_split if isinstance(column_encoding, Mapping) and isinstance(use_byte_stream_split, frozenset) else None
        if use_byte_stream_split and (named is None or any(column_encoding.get(name) is not None for name in named)):
            raise ValueError("'use_byte_stream_split' cannot be passed together with 'column_encoding'")
        if use_dictionary is True:
            raise ValueError("To use 'column_encoding' set 'use_dictionary' to False")
        if not isinstance(column_encoding, (str, Mapping)):
            raise TypeError("'column_encoding' should be a dictionary or a string")
        for name in column_encoding.values() if isinstance(column_encoding, Mapping) else [column_encoding]:
            _check_encoding(name)
    out = []
    for path, data_type in leaves(schema, compliant):
        name = ".".join(path)
        encoding = "rle_dictionary" if _chosen(use_dictionary, name) else "plain"
        if encoding == "plain" and _chosen(use_byte_stream_split, name):
            _check_split(data_type, name)
            encoding = "byte_stream_split"
        of_column = column_encoding.get(name) if isinstance(column_encoding, Mapping) else column_encoding
        if of_column is not None:
            if encoding == "rle_dictionary":
                raise ValueError(f"column {name} cannot have an encoding and a dictionary")
            encoding = of_column.lower()
            _check_type(encoding, data_type, name, integer_decimals)
        if pa.types.is_boolean(data_type) and encoding == "rle_dictionary":
            encoding = "plain"
        out.append((path, encoding))
    return out


def _listed(setting: Any) -> Any:
    """Returns a setting for all columns as it is, and a list of columns as a set, which is fast with many columns."""
    return setting if isinstance(setting, (bool, type(None))) else frozenset(setting)


def _chosen(setting: Any, name: str) -> bool:
    return name in setting if isinstance(setting, frozenset) else bool(setting)


def _check_encoding(name: Any) -> None:
    if name in ("RLE_DICTIONARY", "PLAIN_DICTIONARY"):
        raise ValueError(f"'{name}' is already used by default.")
    if name not in _ENCODINGS:
        raise ValueError(f"Unsupported column encoding: {name!r}")


def _check_split(data_type: pa.DataType, name: str) -> None:
    types = pa.types
    ok = types.is_integer(data_type) or types.is_floating(data_type) or types.is_fixed_size_binary(data_type)
    # Columns of type null are stored as INT32.
    if not (ok or types.is_null(data_type) or types.is_decimal(data_type) or types.is_temporal(data_type)):
        raise OSError(f"BYTE_STREAM_SPLIT only supports FLOAT, DOUBLE, INT32, INT64 and FIXED_LEN_BYTE_ARRAY, not column {name}")


def _check_type(encoding: str, data_type: pa.DataType, name: str, integer_decimals: bool) -> None:
    types = pa.types
    if encoding == "byte_stream_split":
        _check_split(data_type, name)
    is_integer = types.is_integer(data_type) or types.is_temporal(data_type)
    is_integer |= types.is_decimal(data_type) and integer_decimals and data_type.precision <= 18
    if encoding == "delta_binary_packed" and not is_integer:
        raise OSError(f"DELTA_BINARY_PACKED encoder only supports INT32 and INT64, not column {name}")
    if encoding == "rle" and not types.is_boolean(data_type):
        raise OSError(f"RLE only supports BOOLEAN, not column {name}")
    is_bytes = any(
        is_one(data_type)
        for is_one in (
            types.is_string, types.is_binary, types.is_large_string, types.is_large_binary, types.is_string_view, types.is_binary_view,
        )
    )  # fmt: skip
    # Types that are stored as FIXED_LEN_BYTE_ARRAY.
    is_fixed = types.is_fixed_size_binary(data_type) or types.is_float16(data_type)
    is_fixed |= types.is_decimal(data_type) and not (integer_decimals and data_type.precision <= 18)
    if encoding == "delta_length_byte_array" and not is_bytes:
        raise OSError(f"DELTA_LENGTH_BYTE_ARRAY only supports BYTE_ARRAY, not column {name}")
    if encoding == "delta_byte_array" and not (is_bytes or is_fixed):
        raise OSError(f"DELTA_BYTE_ARRAY only supports BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY, not column {name}")
    if encoding == "bit_packed":
        raise OSError("BIT_PACKED is not written")


def page_limits(
    page_size: int | None, page_rows: int | None, batch_rows: int | None, dictionary_page_size: int | None
) -> dict[str, int | None]:
    """Returns the limits of pages."""
    page_size, page_rows = _whole("data_page_size", page_size), _whole("max_rows_per_page", page_rows)
    batch_rows = _whole("write_batch_size", batch_rows)
    dictionary_page_size = _whole("dictionary_pagesize_limit", dictionary_page_size)
    for name, value in [("max_rows_per_page", page_rows), ("write_batch_size", batch_rows)]:
        if value is not None and value <= 0:
            raise ValueError(f"{name} must be positive, and is {value}")
    if page_size is not None and page_size <= 0:
        # pyarrow checks the size of a page after each batch of values, so every batch becomes a page.
        batch_rows = 1024 if batch_rows is None else batch_rows
        page_size, page_rows = None, batch_rows if page_rows is None else min(batch_rows, page_rows)
    dictionary_page_size = 1024 * 1024 if dictionary_page_size is None else max(dictionary_page_size, 1)
    return {"data_page_size": page_size, "data_page_rows": page_rows, "dictionary_page_size": dictionary_page_size}


def _whole(name: str, value: Any) -> int | None:
    """Returns the integer part of a number, as pyarrow does. Raises ``TypeError`` for anything else."""
    if value is not None and not hasattr(value, "__index__") and not isinstance(value, float):
        raise TypeError(f"{name} must be a number, and is a {type(value).__name__}")
    return None if value is None else int(value)


def bloom_filters(options: Any, columns: list[str]) -> list[tuple[list[str], tuple[float | None, int | None]]]:
    """Returns the false positive probability and the number of distinct values of each bloom filter."""
    if options is None:
        return []
    if not isinstance(options, dict):
        raise TypeError(f"'bloom_filter_options' must be a dictionary, got {type(options).__name__}")
    out: dict[str, tuple[float | None, int | None]] = {}
    for column, of_column in options.items():
        if isinstance(of_column, bool):
            if of_column:
                out[column] = (None, None)
            continue
        if not isinstance(of_column, dict):
            raise TypeError(f"'bloom_filter_options:{column}' must be a boolean or a dictionary")
        unknown = set(of_column) - {"ndv", "fpp"}
        if unknown:
            raise ValueError(f"unknown options in 'bloom_filter_options' for column '{column}': {unknown}")
        out[column] = (_fpp(column, of_column.get("fpp")), _ndv(column, of_column.get("ndv")))
    return _of_known(out, columns)


def _ndv(column: str, ndv: Any) -> int | None:
    what = f"'bloom_filter_options:ndv' for column '{column}' must be"
    if ndv is None:
        return None
    if not isinstance(ndv, int) or isinstance(ndv, bool):
        raise TypeError(f"{what} an int, got {type(ndv).__name__}")
    if ndv <= 0:
        raise ValueError(f"{what} greater than zero, got {ndv}")
    return ndv


def _fpp(column: str, fpp: Any) -> float | None:
    what = f"'bloom_filter_options:fpp' for column '{column}' must be"
    if fpp is None:
        return None
    if not isinstance(fpp, float):
        raise TypeError(f"{what} a float, got {type(fpp).__name__}")
    if not 0.0 < fpp < 1.0:
        raise ValueError(f"{what} in (0.0, 1.0), got {fpp}")
    return fpp


def threads() -> int:
    """Returns the number of threads that encode columns: one per processor that this process may use, at most 8."""
    ours = getattr(os, "sched_getaffinity", None)
    return min(len(ours(0)) if ours else os.cpu_count() or 1, 8)

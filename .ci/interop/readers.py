"""Each library as a function from a file to Arrow columns."""

import decimal
import subprocess
import uuid

import numpy as np
import pyarrow as pa


def read_pyarrow(path, columns=None):
    import pyarrow.parquet as pq

    table = pq.read_table(path, columns=columns, use_threads=False, page_checksum_verification=True)
    return {name: table.column(name) for name in table.column_names}


DUCKDB = None


def duckdb_connection():
    global DUCKDB
    if DUCKDB is None:
        import duckdb

        DUCKDB = duckdb.connect()
        DUCKDB.execute("SET threads = 1; SET TimeZone = 'UTC'")
        # Types that Arrow lacks come as themselves, not as something near.
        DUCKDB.execute("SET arrow_lossless_conversion = true")
    return DUCKDB


def read_duckdb(path, columns=None):
    chosen = "*" if columns is None else ", ".join(f'"{name}"' for name in columns)
    table = duckdb_connection().sql(f"SELECT {chosen} FROM read_parquet('{path}')").to_arrow_table()
    return {name: table.column(name) for name in table.column_names}


def read_polars(path, columns=None):
    import polars

    frame = polars.read_parquet(path, columns=columns)
    return {name: frame.get_column(name).to_arrow() for name in frame.columns}


def read_fastparquet(path, columns=None):
    import fastparquet

    frame = fastparquet.ParquetFile(str(path)).to_pandas(columns=columns)
    return {name: frame[name] for name in frame.columns}


def read_ours(path, columns=None):
    raise NotImplementedError("read in one go, see read_all_ours")


def read_all_ours(binary, pairs):
    """Has our reader turn files into Arrow IPC; the errors, by file."""
    import json

    errors = {}
    for at in range(0, len(pairs), 500):
        args = [str(path) for pair in pairs[at : at + 500] for path in pair]
        done = subprocess.run([binary, "read", *args], check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            errors[row["file"]] = row["error"]
    return errors


def read_ipc(path):
    mapped = pa.memory_map(str(path))
    is_file = mapped.read(6) == b"ARROW1"
    mapped.seek(0)
    table = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(mapped).read_all()
    return {name: table.column(name) for name in table.column_names}


READERS = {"pyarrow": read_pyarrow, "duckdb": read_duckdb, "polars": read_polars, "fastparquet": read_fastparquet}


def version(peer):
    import importlib.metadata

    return importlib.metadata.version(peer)


def from_pandas(series, want):
    """A column of fastparquet as Arrow. pandas has fewer types, so this is for values of type `want`:

    nulls are NaN in floats; whole floats are integers where there are nulls; decimals are floats; times of day are
    time spans. What pandas cannot hold is for the caller to know.
    """
    t = pa.types
    if len(series) == 0:
        return pa.array([], want)
    if t.is_list(want) or t.is_map(want) or t.is_struct(want):
        return pa.array([None if is_missing(value) else value for value in series], want)
    kind = series.dtype.kind if isinstance(series.dtype, np.dtype) else None
    if t.is_integer(want) and kind == "f":
        return pa.array([None if np.isnan(value) else int(value) for value in series], pa.int64())
    if t.is_time(want) and kind == "m":
        nanoseconds = series.to_numpy().astype("m8[ns]")
        return pa.array([None if np.isnat(value) else int(value.astype(int)) for value in nanoseconds], pa.int64()).cast(pa.time64("ns"))
    if t.is_fixed_size_binary(want) and kind == "S":
        return pa.array([padded(value, want) for value in series], pa.binary())
    if kind == "O":
        values = [None if is_missing(value) else plain(value) for value in series]
        if t.is_fixed_size_binary(want) and all(isinstance(value, (bytes, type(None))) for value in values):
            values = [value if value is None else padded(value, want) for value in values]
        if all(isinstance(value, bytes) or value is None for value in values):
            return pa.array(values, pa.large_binary())
        return pa.array(values)
    return pa.array(series, from_pandas=True)


def padded(value, want):
    """numpy leaves out zeros at the end."""
    return bytes(value).ljust(want.byte_width, b"\0")


def plain(value):
    return value.bytes if isinstance(value, uuid.UUID) else value


def is_missing(value):
    if value is None:
        return True
    return isinstance(value, (float, np.floating)) and np.isnan(value) or str(value) in ("NaT", "<NA>")


def float_decimals_are_near(got, want):
    """For libraries that make floats of decimals: each is the nearest float of the decimal, or next to it."""
    if len(got) != len(want):
        return False
    for a, b in zip(got.to_pylist(), want.to_pylist()):
        if b is None:
            if a is not None and a == a:
                return False
        elif a is None or abs(decimal.Decimal(a) - b) > abs(b) * decimal.Decimal(2) ** -51:
            return False
    return True

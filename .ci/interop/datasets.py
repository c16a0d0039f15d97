"""Directories of files that other libraries write as one table, for us to read as one."""

import datetime
import subprocess

import duckdb
import fastparquet
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

ROWS = 600


def table(nested=True):
    """Rows with an `id`, and columns that partitions can be made of."""
    ids = list(range(ROWS))
    columns = {
        "id": pa.array(ids, pa.int64()),
        "price": pa.array([None if i % 9 == 4 else i / 4 for i in ids]),
        "name": pa.array([f"näme {i % 50}" for i in ids]),
        "year": pa.array([2020 + i % 3 for i in ids], pa.int32()),
        "city": pa.array([["Köln", "a b/c", "50%", "x=y"][i % 4] for i in ids]),
    }
    if nested:
        columns["tags"] = pa.array([[f"t{j}" for j in range(i % 3)] for i in ids], pa.list_(pa.string()))
        columns["place"] = pa.array([{"x": i, "y": None if i % 5 else "y"} for i in ids])
    return pa.table(columns)


def pyarrow_hive(folder):
    part = ds.partitioning(pa.schema([("year", pa.int32()), ("city", pa.string())]), flavor="hive")
    ds.write_dataset(table(), folder, format="parquet", partitioning=part)
    return folder, table(), []


def pyarrow_with_nulls(folder):
    # Partitions without a value, and dates.
    whole = table()
    days = [None if i % 7 == 2 else datetime.date(2024, 2, 27) + datetime.timedelta(i % 4) for i in range(ROWS)]
    whole = whole.append_column("day", pa.array(days))
    pq.write_to_dataset(whole, folder, partition_cols=["day"])
    return folder, whole, []


def pyarrow_metadata(folder):
    # _metadata has no partition columns: the paths in it do.
    seen = []
    pq.write_to_dataset(table(), folder, partition_cols=["year"], metadata_collector=seen)
    rest = table().drop_columns(["year"]).schema
    pq.write_metadata(rest, folder / "_metadata", metadata_collector=seen)
    pq.write_metadata(rest, folder / "_common_metadata")
    return folder / "_metadata", table(), []


def pyarrow_flat(folder):
    folder.mkdir(parents=True)
    for i in range(4):
        pq.write_table(table().slice(i * 150, 150), folder / f"part-{i}.parquet", row_group_size=40)
    return folder, table(), []


def pyarrow_evolved(folder):
    # Columns come, go, move, and become wider.
    folder.mkdir(parents=True)
    whole = table(nested=False)
    old = whole.slice(0, 200).select(["name", "id"])
    old = old.set_column(1, "id", old["id"].cast(pa.int16()))
    pq.write_table(old, folder / "0.parquet")
    pq.write_table(whole.slice(200), folder / "1.parquet")
    gone = pa.nulls(200)
    want = {
        name: pa.chunked_array([gone.cast(column.type), column.slice(200).combine_chunks()])
        if name not in ("id", "name")
        else column
        for name, column in zip(whole.column_names, whole.columns)
    }
    return folder, pa.table(want), ["--union-by-name"]


def fastparquet_hive(folder):
    fastparquet.write(str(folder), table(nested=False).to_pandas(), file_scheme="hive", partition_on=["year"])
    return folder, table(nested=False), []


def fastparquet_metadata(folder):
    frame = table(nested=False).to_pandas()
    fastparquet.write(str(folder), frame, file_scheme="hive", partition_on=["year"], row_group_offsets=200)
    return folder / "_metadata", table(nested=False), []


def duckdb_hive(folder):
    rows = table()
    duckdb.sql(f"COPY (SELECT * FROM rows) TO '{folder}' (FORMAT parquet, PARTITION_BY (year, city))")
    return folder, rows, []


def polars_hive(folder):
    rows = pl.from_arrow(table())
    rows.write_parquet(str(folder) + "/", partition_by=["year", "city"], mkdir=True)
    return folder, table(), []


WRITERS = {
    "pyarrow": [pyarrow_hive, pyarrow_with_nulls, pyarrow_metadata, pyarrow_flat, pyarrow_evolved],
    "fastparquet": [fastparquet_hive, fastparquet_metadata],
    "duckdb": [duckdb_hive],
    "polars": [polars_hive],
}


def check(binary, folder, peer):
    """(peer, case, failure) for each column of each dataset."""
    results = []
    for write in WRITERS.get(peer, []):
        name = write.__name__
        into = folder / name
        into.parent.mkdir(parents=True, exist_ok=True)
        path, want, options = write(into)
        out = folder / f"{name}.arrow"
        done = subprocess.run([binary, "table", path, out, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        got = None if done.returncode else rows_of(out)
        for column in want.column_names:
            failure = done.stderr if got is None else difference(got, want, column)
            results.append((peer, {"file": name, "column": column, "part": "datasets"}, failure))
        extra = set(got) - set(want.column_names) if got else set()
        results.append((peer, {"file": name, "column": "all", "part": "datasets"}, f"also {extra}" if extra else None))
    return results


def rows_of(path):
    """The columns as lists, in the order of their ids: pyarrow sorts no views."""
    table = ipc.open_file(pa.memory_map(str(path))).read_all()
    ids = table["id"].to_pylist()
    order = sorted(range(len(ids)), key=ids.__getitem__)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    return {name: [column[row] for row in order] for name, column in columns.items()}


def difference(got, want, column):
    if column not in got:
        return f"no column {column}, there are {list(got)}"
    ours, theirs = got[column], want[column].to_pylist()
    for row, (our, their) in enumerate(zip(ours, theirs)):
        # Nulls of floats are NaN to pandas.
        if our != their and not (their is None and our != our):
            return f"row {row}: {our!r}, not {their!r}"
    return None if len(ours) == len(theirs) else f"{len(ours)} rows, not {len(theirs)}"

"""Reading and writing against pyarrow, polars, DuckDB and fastparquet, in one process and in turn.

    python bench.py [--rows 1000000] [--rounds 7] [--file some.parquet]

Prints the median of the time of each, and how many times ours it is. Build the extension with `--release` first
(`maturin develop --release`), and let nothing else run: times of a machine that is busy say nothing.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import tempfile
import time
from typing import Any, Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as theirs

import marquetry
import marquetry.parquet as ours

Contest = dict[str, Callable[[], Any]]


def table(rows: int) -> pa.Table:
    """Numbers, few and many different strings, nulls and lists."""
    random = np.random.default_rng(1)
    words = np.array([f"word {i}" for i in range(1000)])
    lengths = random.integers(0, 4, rows)
    return pa.table(
        {
            "id": np.arange(rows),
            "price": random.random(rows).round(2),
            "few": words[random.integers(0, 20, rows)],
            "many": [f"{value:x}" for value in random.integers(0, 1 << 60, rows)],
            "null": pa.array(random.integers(0, 100, rows), mask=random.random(rows) < 0.3),
            "list": pa.ListArray.from_arrays(np.concatenate([[0], lengths.cumsum()]).astype("int32"), random.integers(0, 9, lengths.sum())),
        }
    )


def optional(name: str) -> Any:
    """A library, if it is installed."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def contests(path: str, folder: str) -> dict[str, Contest]:
    """What is compared, and who does it."""
    polars, duckdb, fastparquet = optional("polars"), optional("duckdb"), optional("fastparquet")
    in_memory = theirs.read_table(path)
    name, last = in_memory.column_names[0], in_memory.num_rows - in_memory.num_rows // 100
    filters = [(name, ">=", last)]
    read: Contest = {"marquetry": lambda: ours.read_table(path), "pyarrow": lambda: theirs.read_table(path)}
    few: Contest = {
        "marquetry": lambda: ours.read_table(path, filters=filters),
        "pyarrow": lambda: theirs.read_table(path, filters=filters),
    }
    write: Contest = {
        "marquetry": lambda: ours.write_table(in_memory, f"{folder}/ours.parquet"),
        "pyarrow": lambda: theirs.write_table(in_memory, f"{folder}/theirs.parquet"),
    }
    if polars is not None:
        read["polars"] = lambda: polars.read_parquet(path)
        few["polars"] = lambda: polars.scan_parquet(path).filter(polars.col(name) >= last).collect()
        frame = polars.DataFrame(in_memory)
        write["polars"] = lambda: frame.write_parquet(f"{folder}/polars.parquet", compression="snappy")
    if duckdb is not None:
        read["duckdb"] = lambda: duckdb.sql(f"select * from '{path}'").to_arrow_table()
        few["duckdb"] = lambda: duckdb.sql(f"select * from '{path}' where {name} >= {last}").to_arrow_table()
    if fastparquet is not None:
        read["fastparquet"] = lambda: fastparquet.ParquetFile(path).to_pandas()
    return {
        "read_table": read,
        "read as views": {"marquetry": lambda: marquetry.open(path).read(), "pyarrow": lambda: theirs.read_table(path)},
        "1 % of the rows": few,
        "iter_batches": {
            "marquetry": lambda: sum(batch.num_rows for batch in ours.ParquetFile(path).iter_batches()),
            "pyarrow": lambda: sum(batch.num_rows for batch in theirs.ParquetFile(path).iter_batches()),
        },
        "first batch": {
            "marquetry": lambda: next(ours.ParquetFile(path).iter_batches(batch_size=1000)),
            "pyarrow": lambda: next(theirs.ParquetFile(path).iter_batches(batch_size=1000)),
        },
        "one column": {
            "marquetry": lambda: ours.read_table(path, columns=[name]),
            "pyarrow": lambda: theirs.read_table(path, columns=[name]),
        },
        "write_table": write,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--file", help="a file of your own, whose first column is of numbers that ascend")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or str(pathlib.Path(folder) / "bench.parquet")
        if options.file is None:
            theirs.write_table(table(options.rows), path, row_group_size=max(options.rows // 8, 1))
        print("| | who | ms | times ours |\n|---|---|--:|--:|")
        for what, contest in contests(path, folder).items():
            times: dict[str, list[float]] = {name: [] for name in contest}
            for _ in range(options.rounds):
                for name, work in contest.items():
                    begun = time.perf_counter()
                    work()
                    times[name].append(time.perf_counter() - begun)
            medians = {name: statistics.median(taken) for name, taken in times.items()}
            for name, median in medians.items():
                print(f"| {what} | {name} | {1000 * median:.1f} | {median / medians['marquetry']:.2f} |")


if __name__ == "__main__":
    main()

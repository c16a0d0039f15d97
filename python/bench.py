"""Reading and writing against pyarrow, polars, DuckDB, fastparquet and arro3-io, in one process and in turn.

    python bench.py [--rows 1000000] [--rounds 7] [--threads 1] [--lineitem lineitem.parquet] [--file some.parquet ...]

Prints the median of the time of each, how many times ours it is, and by how much the memory of the process grew at most, where the
system says it (Linux). ``--lineitem`` is TPC-H's table, which is read in three codecs, as the built-in table is without it.
Build the extension with `--release` first (`maturin develop --release`), and let nothing else run: times of a machine that is busy
say nothing.
"""

from __future__ import annotations

import argparse
import gc
import os
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

CODECS = ("snappy", "zstd", "none")


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


def nested(rows: int) -> pa.Table:
    """Lists of structs, in which there are lists, and some of each are null."""
    random = np.random.default_rng(2)
    lengths = random.integers(0, 4, rows)
    values = [
        None if i % 13 == 0 else [{"a": j, "b": None if j % 5 == 0 else str(j), "c": [j] * (j % 3)} for j in range(length)]
        for i, length in enumerate(lengths.tolist())
    ]
    return pa.table({"id": np.arange(rows), "nested": values})


def wide(columns: int, rows: int) -> pa.Table:
    """Many columns of numbers."""
    random = np.random.default_rng(3)
    return pa.table({f"c{i}": random.integers(0, 1000, rows) for i in range(columns)})


def optional(name: str) -> Any:
    """A library, if it is installed."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def reads(path: str, threads: int, columns: list[str] | None = None) -> Contest:
    """All that read a whole file, or some columns of it, to Arrow tables; fastparquet to pandas."""
    polars, duckdb, fastparquet, arro3 = (optional(name) for name in ("polars", "duckdb", "fastparquet", "arro3.io"))
    many = threads > 1
    contest: Contest = {
        "marquetry": lambda: ours.read_table(path, columns=columns, use_threads=many),
        "pyarrow": lambda: theirs.read_table(path, columns=columns, use_threads=many),
    }
    if polars is not None:
        contest["polars"] = lambda: polars.read_parquet(path, columns=columns).to_arrow()
    if duckdb is not None:
        chosen = "*" if columns is None else ", ".join(f'"{name}"' for name in columns)
        contest["duckdb"] = lambda: duckdb.sql(f"select {chosen} from '{path}'").to_arrow_table()
    if fastparquet is not None:
        contest["fastparquet"] = lambda: fastparquet.ParquetFile(path).to_pandas(columns=columns)
    if arro3 is not None and columns is None:
        contest["arro3"] = lambda: arro3.read_parquet(path).read_all()
    return contest


def one_percent(path: str, threads: int) -> Contest:
    """The last of a column of numbers that ascend."""
    polars, duckdb = optional("polars"), optional("duckdb")
    name = theirs.read_schema(path).names[0]
    column = theirs.read_table(path, columns=[name])[name].to_numpy()
    last = int(np.quantile(column, 0.99))
    filters = [(name, ">=", last)]
    many = threads > 1
    contest: Contest = {
        "marquetry": lambda: ours.read_table(path, filters=filters, use_threads=many),
        "pyarrow": lambda: theirs.read_table(path, filters=filters, use_threads=many),
    }
    if polars is not None:
        contest["polars"] = lambda: polars.scan_parquet(path).filter(polars.col(name) >= last).collect().to_arrow()
    if duckdb is not None:
        contest["duckdb"] = lambda: duckdb.sql(f"select * from '{path}' where \"{name}\" >= {last}").to_arrow_table()
    return contest


def batches(path: str, threads: int) -> dict[str, Contest]:
    """All batches, and the first one."""
    many = threads > 1
    all_batches: Contest = {}
    first: Contest = {}
    for name, module in (("marquetry", ours), ("pyarrow", theirs)):
        # Bound now: the loop goes on.
        def opened(module: Any = module, **options: Any) -> Any:
            return module.ParquetFile(path).iter_batches(use_threads=many, **options)

        all_batches[name] = lambda opened=opened: sum(batch.num_rows for batch in opened())
        first[name] = lambda opened=opened: next(opened(batch_size=1000))
    return {"iter_batches": all_batches, "first batch": first}


def writes(path: str, folder: str) -> Contest:
    """A table from memory, compressed by Snappy."""
    polars, duckdb, arro3 = (optional(name) for name in ("polars", "duckdb", "arro3.io"))
    in_memory = theirs.read_table(path)
    contest: Contest = {
        "marquetry": lambda: ours.write_table(in_memory, f"{folder}/ours.parquet"),
        "pyarrow": lambda: theirs.write_table(in_memory, f"{folder}/theirs.parquet"),
    }
    if polars is not None:
        frame = polars.DataFrame(in_memory)
        contest["polars"] = lambda: frame.write_parquet(f"{folder}/polars.parquet", compression="snappy")
    if duckdb is not None:
        contest["duckdb"] = lambda: duckdb.from_arrow(in_memory).write_parquet(f"{folder}/duckdb.parquet", compression="snappy")
    if arro3 is not None:
        contest["arro3"] = lambda: arro3.write_parquet(in_memory, f"{folder}/arro3.parquet", compression="snappy")
    return contest


def contests(options: argparse.Namespace, folder: str) -> dict[str, Contest]:
    """What is compared, and who does it."""
    rows, threads = options.rows, options.threads
    main = theirs.read_table(options.lineitem) if options.lineitem else table(rows)
    found: dict[str, Contest] = {}
    for codec in CODECS:
        path = f"{folder}/{codec}.parquet"
        theirs.write_table(main, path, compression=codec, row_group_size=max(main.num_rows // 8, 1))
        found[f"read_table, {codec}"] = reads(path, threads)
    del main
    path = f"{folder}/{CODECS[0]}.parquet"
    found["read as views"] = {
        "marquetry": lambda: marquetry.open(path).read(threads=threads),
        "pyarrow": lambda: theirs.read_table(path, use_threads=threads > 1),
    }
    made = {
        "nested": (nested(max(rows // 4, 1)), None),
        "1,200 columns": (wide(1200, max(rows // 200, 1)), None),
        "one column of 10,000": (wide(10_000, max(rows // 2000, 1)), ["c5000"]),
    }
    for name, (data, columns) in made.items():
        other = f"{folder}/{name.replace(' ', '_')}.parquet"
        theirs.write_table(data, other)
        found[name] = reads(other, threads, columns)
    for file in options.file:
        found[pathlib.Path(file).name] = reads(file, threads)
    found["1 % of the rows"] = one_percent(path, threads)
    found |= batches(path, threads)
    found["write_table"] = writes(path, folder)
    return found


def memory(field: str) -> int:
    """A line of what Linux says of the memory of this process, in KiB; 0 elsewhere."""
    try:
        lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(field)), 0)


def growth(work: Callable[[], Any]) -> float | None:
    """By how many MiB memory grew at most; ``None`` where the peak cannot be set back."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    before = memory("VmRSS")
    work()
    return max(memory("VmHWM") - before, 0) / 1024


def run(contest: Contest, what: str, rounds: int) -> None:
    """Prints a line for each who can do it."""
    able, grown = dict(contest), {}
    for name, work in contest.items():
        try:
            grown[name] = growth(work)
        except Exception as error:
            print(f"| {what} | {name} | cannot: {type(error).__name__} | | |")
            del able[name]
    times: dict[str, list[float]] = {name: [] for name in able}
    for _ in range(rounds):
        for name, work in able.items():
            begun = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - begun)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    for name, median in medians.items():
        peak = "" if grown[name] is None else f"{grown[name]:.0f}"
        print(f"| {what} | {name} | {1000 * median:.1f} | {median / medians['marquetry']:.2f} | {peak} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1, help="how many each may use; default %(default)s")
    parser.add_argument("--lineitem", help="TPC-H's lineitem, whose first column is of numbers")
    parser.add_argument("--file", action="append", default=[], help="a file of your own that is read, too; more than once")
    options = parser.parse_args()
    # Before polars is imported, which looks once.
    os.environ["POLARS_MAX_THREADS"] = str(options.threads)
    pa.set_cpu_count(options.threads)
    duckdb = optional("duckdb")
    if duckdb is not None:
        duckdb.sql(f"set threads = {options.threads}")
    with tempfile.TemporaryDirectory() as folder:
        print("| | who | ms | times ours | memory, MiB |\n|---|---|--:|--:|--:|")
        for what, contest in contests(options, folder).items():
            run(contest, what, options.rounds)


if __name__ == "__main__":
    main()

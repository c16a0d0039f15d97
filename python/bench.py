"""Reading and writing against pyarrow, polars, DuckDB, fastparquet and arro3-io, in one process and in turn.

    python bench.py [--rows 1000000] [--rounds 7] [--threads 1] [--lineitem lineitem.parquet] [--file some.parquet ...]

Prints the median of the time of each, how many times ours it is, and by how much the memory of a process that does nothing else grew at
most, where the system says it (Linux). ``--lineitem`` is TPC-H's table, which is read in three codecs, as the built-in table is without it.
Build the extension with `--release` first (`maturin develop --release`), and let nothing else run: times of a machine that is busy
say nothing.
"""

from __future__ import annotations

import argparse
import functools
import gc
import os
import pathlib
import statistics
import subprocess
import sys
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


def batches(path: str, threads: int, first: bool) -> Contest:
    """All batches, or the first one."""
    many = threads > 1
    contest: Contest = {}
    for name, module in (("marquetry", ours), ("pyarrow", theirs)):
        # Bound now: the loop goes on.
        def opened(module: Any = module, **options: Any) -> Any:
            return module.ParquetFile(path).iter_batches(use_threads=many, **options)

        if first:
            contest[name] = lambda opened=opened: next(opened(batch_size=1000))
        else:
            contest[name] = lambda opened=opened: sum(batch.num_rows for batch in opened())
    return contest


def mapped(path: str) -> pa.Table:
    """A table whose bytes nobody has allocated: a library that had read it would have memory left over from that, to write with."""
    arrow = f"{path}.arrow"
    if not os.path.exists(arrow):
        # In a process of its own.
        code = (
            "import sys, pyarrow as pa, pyarrow.parquet as pq\n"
            "table = pq.read_table(sys.argv[1])\n"
            "with pa.ipc.new_file(sys.argv[2], table.schema) as file:\n"
            "    file.write_table(table)"
        )
        subprocess.run([sys.executable, "-c", code, path, arrow], check=True)
    # Decimals may stand in a file where they would have to be copied to be used.
    aligned = pa.ipc.IpcReadOptions(ensure_alignment=pa.ipc.Alignment.At64Byte)
    table = pa.ipc.open_file(pa.memory_map(arrow), options=aligned).read_all()
    for column in table.columns:
        for chunk in column.chunks:
            for buffer in filter(None, chunk.buffers()):
                # Each page is there before anybody is measured.
                np.frombuffer(buffer, np.uint8)[::4096].sum()
    return table


def writes(path: str, folder: str, row_group: int) -> Contest:
    """A table from memory, compressed by Snappy, in row groups of so many rows; 0: of as many as each makes if nothing is said."""
    size = {"row_group_size": row_group} if row_group else {}
    polars, duckdb, arro3 = (optional(name) for name in ("polars", "duckdb", "arro3.io"))
    in_memory = mapped(path)
    contest: Contest = {
        "marquetry": lambda: ours.write_table(in_memory, f"{folder}/ours.parquet", **size),
        "pyarrow": lambda: theirs.write_table(in_memory, f"{folder}/theirs.parquet", **size),
    }
    if polars is not None:
        frame = polars.DataFrame(in_memory)
        contest["polars"] = lambda: frame.write_parquet(f"{folder}/polars.parquet", compression="snappy", **size)
    if duckdb is not None:
        contest["duckdb"] = lambda: duckdb.from_arrow(in_memory).write_parquet(f"{folder}/duckdb.parquet", compression="snappy", **size)
    if arro3 is not None:
        contest["arro3"] = lambda: arro3.write_parquet(in_memory, f"{folder}/arro3.parquet", compression="snappy", **({"max_row_group_size": row_group} if row_group else {}))
    return contest


def make_files(options: argparse.Namespace, folder: str) -> None:
    """Writes what is read."""
    rows = options.rows
    main = theirs.read_table(options.lineitem) if options.lineitem else table(rows)
    for codec in CODECS:
        theirs.write_table(main, f"{folder}/{codec}.parquet", compression=codec, row_group_size=max(main.num_rows // 8, 1))
    theirs.write_table(nested(max(rows // 4, 1)), f"{folder}/nested.parquet")
    theirs.write_table(wide(1200, max(rows // 200, 1)), f"{folder}/1,200 columns.parquet")
    theirs.write_table(wide(10_000, max(rows // 2000, 1)), f"{folder}/one column of 10,000.parquet")


def views(path: str, threads: int) -> Contest:
    """Text as we have it by default, which pyarrow copies."""
    return {
        "marquetry": lambda: marquetry.open(path).read(threads=threads),
        "pyarrow": lambda: theirs.read_table(path, use_threads=threads > 1),
    }


def contests(options: argparse.Namespace, folder: str) -> dict[str, Callable[[], Contest]]:
    """What is compared, and who does it. Nothing is read before a contest is asked for."""
    threads = options.threads
    found: dict[str, Callable[[], Contest]] = {}
    for codec in CODECS:
        found[f"read_table, {codec}"] = functools.partial(reads, f"{folder}/{codec}.parquet", threads)
    path = f"{folder}/{CODECS[0]}.parquet"
    found["read as views"] = functools.partial(views, path, threads)
    for name, columns in {"nested": None, "1,200 columns": None, "one column of 10,000": ["c5000"]}.items():
        found[name] = functools.partial(reads, f"{folder}/{name}.parquet", threads, columns)
    for file in options.file:
        found[pathlib.Path(file).name] = functools.partial(reads, file, threads)
    found["1 % of the rows"] = functools.partial(one_percent, path, threads)
    found["iter_batches"] = functools.partial(batches, path, threads, first=False)
    found["first batch"] = functools.partial(batches, path, threads, first=True)
    found["write_table"] = functools.partial(writes, path, folder, options.row_group_size)
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
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    before = memory("VmRSS")
    result = work()
    grown = max(memory("VmHWM") - before, 0) / 1024
    del result
    return grown


def growth_alone(what: str, name: str, folder: str) -> str:
    """The same of one who is asked in a process of its own: memory that others gave back would be used again."""
    command = [sys.executable, __file__, *sys.argv[1:], "--alone", folder, what, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else f"failed: {done.stderr.strip().splitlines()[-1]}"


def run(contest: Contest, what: str, rounds: int, folder: str) -> None:
    """Prints a line for each who can do it."""
    able = dict(contest)
    for name, work in contest.items():
        try:
            work()
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
        peak = growth_alone(what, name, folder)
        print(f"| {what} | {name} | {1000 * median:.1f} | {median / medians['marquetry']:.2f} | {peak} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1, help="how many each may use; default %(default)s")
    parser.add_argument("--lineitem", help="TPC-H's lineitem, whose first column is of numbers")
    parser.add_argument("--file", action="append", default=[], help="a file of your own that is read, too; more than once")
    parser.add_argument("--contest", help="only the contests whose names have this in them")
    parser.add_argument("--row-group-size", type=int, default=1 << 20, help="rows of a row group that is written; 0 for what each makes of its own; default %(default)s")
    parser.add_argument("--alone", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        # Whoever counts processors finds as many, and threads in the background have no others.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    # Before polars is imported, which looks once.
    os.environ["POLARS_MAX_THREADS"] = str(options.threads)
    pa.set_cpu_count(options.threads)
    duckdb = optional("duckdb")
    if duckdb is not None:
        duckdb.sql(f"set threads = {options.threads}")
    if options.alone is not None:
        folder, what, name = options.alone
        grown = growth(contests(options, folder)[what]()[name])
        print("" if grown is None else f"{grown:.0f}")
        return
    with tempfile.TemporaryDirectory() as folder:
        make_files(options, folder)
        print("| | who | ms | times ours | memory, MiB |\n|---|---|--:|--:|--:|")
        for what, contest in contests(options, folder).items():
            if options.contest is None or options.contest in what:
                run(contest(), what, options.rounds, folder)


if __name__ == "__main__":
    main()

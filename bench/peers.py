"""How long pyarrow, polars and DuckDB take for the files of the benchmark, on one thread and on two.

    cargo run --profile dist -p marquetry-bench -- scan --rounds 1
    cargo run --profile dist -p marquetry-bench -- decode --rounds 1 --write-to target/bench-data/columns
    pip install pyarrow==26.* duckdb==2.* polars==2.*
    python bench/peers.py target/bench-data/{lineitem,hits}-sf1-*.parquet target/bench-data/columns/*.parquet

pyarrow and polars make a table of all columns; DuckDB makes an Arrow table of them, and beside that computes one aggregate of
each column, for which it need not keep them. Each number of threads has a process of its own, as polars is told but once. The
best of some runs counts. Files come from the page cache.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

THREADS = [1, 2]
READERS = ["pyarrow", "polars", "duckdb-aggregate", "duckdb-arrow"]


def aggregate(column, kind):
    """What has to look at every value of a column of that type, and is cheap."""
    column = '"' + column.replace('"', '""') + '"'
    if kind in ("BIGINT[]", "INTEGER[]", "DOUBLE[]", "FLOAT[]"):
        return f"sum(list_sum({column}))"
    if kind == "VARCHAR":
        return f"sum(strlen({column}))"
    if kind == "BLOB":
        return f"sum(octet_length({column}))"
    if kind == "BOOLEAN":
        return f"count_if({column})"
    # No maximum: that may be found in statistics.
    if kind == "DATE":
        return f"sum({column} - DATE '1970-01-01')"
    if kind.startswith("TIMESTAMP"):
        return f"sum(epoch_us({column}))"
    if kind.startswith(("DECIMAL", "FLOAT", "DOUBLE")) or kind.endswith(("INT", "INTEGER")):
        return f"sum({column})"
    return f"count({column})"


def readers(threads):
    """Functions that read a file, by name."""
    import duckdb
    import polars
    import pyarrow
    import pyarrow.parquet as pq

    pyarrow.set_cpu_count(threads)
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")

    def by_duckdb(path):
        columns = connection.execute(f"DESCRIBE SELECT * FROM '{path}'").fetchall()
        query = ", ".join(aggregate(name, kind) for name, kind, *_ in columns)
        return connection.execute(f"SELECT {query} FROM '{path}'").fetchall()

    return dict(zip(READERS, [
        lambda path: pq.read_table(path, use_threads=threads > 1),
        lambda path: polars.read_parquet(path),
        by_duckdb,
        lambda path: connection.sql(f"SELECT * FROM '{path}'").to_arrow_table(),
    ]))


def best(read, path, rounds):
    """Seconds; None, and why on stderr, if it cannot be read."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        try:
            read(path)
        except Exception as error:
            print(f"{path}: {error}", file=sys.stderr)
            return None
        times.append(time.perf_counter() - start)
    return min(times)


def child(options):
    """Prints one JSON object for each reader and file."""
    for reader, read in readers(options.child).items():
        for path in options.files:
            seconds = best(read, str(path), options.rounds)
            print(json.dumps({"name": path.stem, "reader": reader, "threads": options.child, "seconds": seconds}), flush=True)


def measure(options):
    """What a child for each number of threads prints."""
    rows = []
    for threads in THREADS:
        command = [sys.executable, __file__, "--child", str(threads), "--rounds", str(options.rounds), *map(str, options.files)]
        environment = os.environ | {"POLARS_MAX_THREADS": str(threads)}
        printed = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout
        rows += map(json.loads, printed.splitlines())
    return rows


def print_table(rows, files):
    import duckdb
    import polars
    import pyarrow

    print(f"pyarrow {pyarrow.__version__}, polars {polars.__version__}, DuckDB {duckdb.__version__}; seconds on 1 / 2 threads\n")
    print("| file | " + " | ".join(READERS) + " |\n|---" + "|--:" * len(READERS) + "|")
    seconds = {(row["name"], row["reader"], row["threads"]): row["seconds"] for row in rows}
    for name in (path.stem for path in files):
        cells = []
        for reader in READERS:
            times = [seconds[name, reader, threads] for threads in THREADS]
            cells.append(" / ".join("-" if time is None else f"{time:.4f}" for time in times))
        print(f"| `{name}` | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="write a list of {name, reader, threads, seconds} there")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options)
    rows = measure(options)
    print_table(rows, options.files)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()

"""DuckDB and polars over the files and the queries of `marquetry-bench-sql`: what they take, as rows of a table.

    cargo run --release -p marquetry-bench-sql -- --list | python bench/sql/others.py target/bench-data --rounds 3

Needs the packages duckdb and polars. Each has as many threads as there are processors; the best round counts. A query that polars'
SQL does not know is a dash.
"""

import argparse
import math
import os
import pathlib
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("data", type=pathlib.Path, help="the folder of the files")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--sf", default="1", help="TPC-H scale factor, as it is in names of files")
args = parser.parse_args()
threads = os.cpu_count() or 1
os.environ["POLARS_MAX_THREADS"] = str(threads)

import duckdb  # noqa: E402
import polars  # noqa: E402

TABLES = ["nation", "region", "part", "supplier", "customer", "partsupp", "orders", "lineitem"]
files = {name: args.data / f"tpch-{name}-sf{args.sf}-snappy.parquet" for name in TABLES}
files["hits"] = args.data / "hits-sf1-snappy.parquet"


def best(run):
    """Milliseconds of the best round; None if it fails."""
    times = []
    for _ in range(args.rounds):
        start = time.perf_counter()
        try:
            run()
        except Exception as error:  # noqa: BLE001: engines raise what they like for SQL that they do not know
            print(str(error).splitlines()[0], file=sys.stderr)
            return None
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


connection = duckdb.connect()
connection.execute(f"set threads = {threads}")
lazy = {}
for name, path in files.items():
    if path.exists():
        connection.execute(f"create view {name} as select * from '{path}'")
        lazy[name] = polars.scan_parquet(path)
context = polars.SQLContext(lazy)


def with_duckdb(statements):
    for statement in statements:
        connection.execute(statement).to_arrow_table()


def with_polars(statements):
    for statement in statements:
        context.execute(statement, eager=True)


print(f"DuckDB {duckdb.__version__}, polars {polars.__version__}, {threads} threads, milliseconds\n")
print("| query | DuckDB | polars |\n|---|--:|--:|")
logs = {}
for line in sys.stdin:
    name, *statements = line.rstrip("\n").split("\t")
    taken = [best(lambda: with_duckdb(statements)), best(lambda: with_polars(statements))]
    print(f"| {name} | " + " | ".join("-" if ms is None else f"{ms:.1f}" for ms in taken) + " |", flush=True)
    for engine, ms in zip(["DuckDB", "polars"], taken):
        if ms is not None:
            logs.setdefault((name.split()[0], engine), []).append(math.log(ms))
for (suite, engine), values in logs.items():
    print(f"\n{suite}, {engine}: geometric mean {math.exp(sum(values) / len(values)):.1f} ms of {len(values)} queries")

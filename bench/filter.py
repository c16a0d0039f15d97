"""How long DuckDB and polars take for the queries of `marquetry-bench -- filter`, from the same files.

    cargo run --profile dist -p marquetry-bench -- filter --write-to target/bench-data/filter
    pip install duckdb==2.* polars==2.*
    python bench/filter.py target/bench-data/filter

Both run on one thread, and make Arrow tables of all columns, as the Rust side does. The best of some runs counts. Files
come from the page cache, on the Rust side from memory.
"""

import argparse
import os
import pathlib
import time

os.environ["POLARS_MAX_THREADS"] = "1"

import duckdb  # noqa: E402
import polars  # noqa: E402

SELECTIVITIES = [0.0001, 0.001, 0.01, 0.1, 0.5, 1.0]


def bounds(count):
    """The column, and a literal below which `count` of its keys are."""
    return {"int": count, "string": f"a key of some length {count:010}", "double": count / 8}


def by_duckdb(connection, path, column, bound):
    query = f"SELECT * FROM '{path}' WHERE \"{column}\" < ?"
    return connection.sql(query, params=[bound]).to_arrow_table().num_rows


def by_polars(path, column, bound):
    return polars.scan_parquet(path).filter(polars.col(column) < bound).collect().height


def best(run, rounds, rows):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        found = run()
        times.append(time.perf_counter() - start)
        if found != rows:
            raise SystemExit(f"{found} rows, not {rows}")
    return min(times) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    print("| filter | DuckDB ms | polars ms |\n|---|--:|--:|")
    for order in ["clustered", "random"]:
        path = arguments.folder / f"{order}.parquet"
        total = connection.execute(f"SELECT count(*) FROM '{path}'").fetchall()[0][0]
        for part in SELECTIVITIES:
            count = round(total * part)
            for column, bound in bounds(count).items():
                duck = best(lambda: by_duckdb(connection, path, column, bound), arguments.rounds, count)
                polar = best(lambda: by_polars(path, column, bound), arguments.rounds, count)
                print(f"| {column} {order} {part} | {duck:.2f} | {polar:.2f} |")


if __name__ == "__main__":
    main()

"""How long DuckDB and polars take for the questions of `marquetry-bench -- questions`, from the same files.

    cargo run --release -p marquetry-bench -- questions --write-to target/bench-data/questions.json
    pip install duckdb==2.* polars==2.*
    python bench/questions.py target/bench-data/questions.json

Both run on one thread. Each question is asked twice, as the Rust side does: how many rows match, and two other columns of these
as an Arrow table. The best of some runs counts. Files come from the page cache, on the Rust side from memory.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import time

os.environ["POLARS_MAX_THREADS"] = "1"

import duckdb  # noqa: E402
import polars  # noqa: E402
from polars import col, element  # noqa: E402


def in_polars(question):
    """The condition as polars has it."""
    sql = question["sql"]
    if match := re.fullmatch(r"(\w+) (i?)like '(.*)'", sql):
        column, ignores_case, pattern = match.groups()
        parts = [re.escape(part) for part in pattern.split("%")]
        start, end = ("" if pattern.startswith("%") else "^"), ("" if pattern.endswith("%") else "$")
        if not ignores_case and start == "" and end == "" and len(parts) == 3:
            return col(column).str.contains(parts[1], literal=True)
        if not ignores_case and start and end == "" and len(parts) == 2:
            return col(column).str.starts_with(pattern[:-1])
        return col(column).str.contains(("(?is)" if ignores_case else "(?s)") + start + ".*".join(filter(None, parts)) + end)
    if match := re.fullmatch(r"regexp_matches\((\w+), '(.*)'\)", sql):
        return col(match[1]).str.contains(match[2])
    if match := re.fullmatch(r"(\w+) in \((.*)\)", sql):
        return col(match[1]).is_in(list(map(int, match[2].split(","))))
    if sql.startswith("len(list_filter(points"):
        return col("points").list.eval(element().struct.field("x") > 0.9).list.any()
    left, right = sql.split(" < ")
    return col(left) < col(right)


def readers(connection, question, counts):
    """Functions that give the number of rows, by the name of who asks."""
    file, sql, others = (question[key] for key in ["file", "sql", "others"])
    condition = in_polars(question)
    if counts:
        return {
            "DuckDB": lambda: connection.execute(f"SELECT count(*) FROM '{file}' WHERE {sql}").fetchall()[0][0],
            "polars": lambda: polars.scan_parquet(file).filter(condition).select(polars.len()).collect().item(),
        }
    columns = ", ".join(f'"{name}"' for name in others)
    return {
        "DuckDB": lambda: connection.sql(f"SELECT {columns} FROM '{file}' WHERE {sql}").to_arrow_table().num_rows,
        "polars": lambda: polars.scan_parquet(file).filter(condition).select(others).collect().height,
    }


def best(run, rounds, rows):
    """Milliseconds; None, and why on stderr, if it cannot be asked."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        try:
            found = run()
        except Exception as error:
            print(str(error)[:200], file=sys.stderr)
            return None
        times.append(time.perf_counter() - start)
        if found != rows:
            raise SystemExit(f"{found} rows, not {rows}")
    return min(times) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    print(f"DuckDB {duckdb.__version__}, polars {polars.__version__}\n\n| question | DuckDB ms | polars ms |\n|---|--:|--:|")
    for question in json.loads(arguments.questions.read_text()):
        for counts in [True, False]:
            asked = readers(connection, question, counts)
            times = {name: best(run, arguments.rounds, question["rows"]) for name, run in asked.items()}
            cells = " | ".join("-" if time is None else f"{time:.2f}" for time in times.values())
            print(f"| {question['name']}: {'count' if counts else '2 columns'} | {cells} |", flush=True)


if __name__ == "__main__":
    main()

"""`marquetry stats` beside DuckDB's SUMMARIZE: time, memory, and whether both say the same.

    pip install duckdb==2.*
    python bench/stats.py target/compact/marquetry FILE.parquet ... [--rounds 3] [--threads 2]

Counts of nulls, bounds, means and standard deviations are held against each other, and numbers of distinct values against
count(DISTINCT) of DuckDB, within what each claims. A difference ends the run with exit code 1. Files come from the page cache.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time

import duckdb


def ours(command, file):
    """What the command says, its seconds and its most memory in MB."""
    start = time.perf_counter()
    with subprocess.Popen([command, "stats", "--format", "json", file], stdout=subprocess.PIPE) as process:
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command} stats {file}: exit code {process.returncode}")
    return json.loads(out), time.perf_counter() - start, usage.ru_maxrss / 1024


SUMMARIZE = """
import duckdb, json, resource, sys, time
start = time.perf_counter()
connection = duckdb.connect()
connection.execute(f"SET threads = {sys.argv[2]}; SET enable_progress_bar = false")
rows = connection.execute(f"SUMMARIZE SELECT * FROM '{sys.argv[1]}'").fetchall()
seconds = time.perf_counter() - start
print(json.dumps([rows, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024], default=str))
"""


def duckdbs(file, threads):
    """The rows of SUMMARIZE, with seconds and memory of a process of its own."""
    out = subprocess.run([sys.executable, "-c", SUMMARIZE, file, str(threads)], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def close(a, b):
    return a is None or b is None or math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)


def differences(said, rows, file, connection):
    """What both say of the same column, and not alike."""
    ours = {column["column"]: column for column in said["columns"]}
    for name, type_, least, greatest, _, mean, deviation, *_, count, null_share in rows:
        column = ours.get(name)
        if column is None:
            continue
        nulls = float(null_share) / 100 * int(count)
        if abs(nulls - column["nulls"]) > 0.01 * int(count):
            yield f"{name}: {column['nulls']} nulls, DuckDB {nulls:.0f}"
        for fact, theirs in [("min", least), ("max", greatest)]:
            mine = column[fact]
            if number(theirs) is not None and number(mine) is not None:
                if not close(number(mine), number(theirs)):
                    yield f"{name}: {fact} {mine}, DuckDB {theirs}"
            elif type_ in ("VARCHAR", "DATE") and mine != theirs:
                yield f"{name}: {fact} {mine}, DuckDB {theirs}"
        if type_ != "BOOLEAN":
            for fact, theirs in [("mean", mean), ("deviation", deviation)]:
                if not close(column[fact], number(theirs)):
                    yield f"{name}: {fact} {column[fact]}, DuckDB {theirs}"
        if "(" in type_ and "DECIMAL" not in type_ or "[" in type_:
            continue
        quoted = name.replace('"', '""')
        distinct = connection.execute(f"""SELECT count(DISTINCT "{quoted}") FROM '{file}'""").fetchall()[0][0]
        if abs(column["distinct"] - distinct) > column["distinct_error"] * distinct * 1.5:
            yield f"{name}: {column['distinct']} distinct within {column['distinct_error']:.2%}, DuckDB {distinct}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    print(f"{'file':<28}{'ours s':>8}{'MB':>7}{'DuckDB s':>10}{'MB':>7}{'ratio':>7}")
    found = []
    for file in options.files:
        runs = [(ours(options.command, file), duckdbs(file, options.threads)) for _ in range(options.rounds)]
        (said, *_), (rows, *_) = runs[0]
        (mine, memory), (theirs, their_memory) = (
            (min(run[side][1] for run in runs), max(run[side][2] for run in runs)) for side in (0, 1)
        )
        name = os.path.basename(file)
        print(f"{name:<28}{mine:>8.2f}{memory:>7.0f}{theirs:>10.2f}{their_memory:>7.0f}{theirs / mine:>7.2f}")
        found.append((said, rows, file))
    # Behind all that is measured: a process begins with the memory of the one that starts it.
    connection = duckdb.connect()
    is_wrong = False
    for said, rows, file in found:
        for difference in differences(said, rows, file, connection):
            is_wrong = True
            print(f"{os.path.basename(file)}: {difference}")
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())

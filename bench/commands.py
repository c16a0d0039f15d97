"""Whole conversions beside DuckDB and polars: seconds and the most memory of each process.

    cargo build --profile compact -p marquetry-cli
    cargo run --profile dist -p marquetry-bench -- scan --rounds 1
    pip install duckdb==2.* polars==2.*
    python bench/commands.py target/compact/marquetry target/bench-data/lineitem-sf1-snappy.parquet --hits target/bench-data/hits-sf1-snappy.parquet

Every conversion runs in a process of its own, start included, with as many threads as the machine has CPUs. The programs take
turns, and the best of some rounds counts. After the first round the number of rows in each output is compared.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PROGRAMS = ["ours", "duckdb", "polars"]
DUCKDB_READ = {".parquet": "read_parquet('{}')", ".csv": "read_csv('{}')", ".jsonl": "read_json('{}', format='newline_delimited')"}
DUCKDB_WRITE = {".parquet": "(FORMAT parquet, COMPRESSION zstd)", ".csv": "(FORMAT csv, HEADER)", ".jsonl": "(FORMAT json)"}
POLARS_READ = {".parquet": "scan_parquet", ".csv": "scan_csv", ".jsonl": "scan_ndjson"}
POLARS_WRITE = {".parquet": "sink_parquet", ".csv": "sink_csv", ".jsonl": "sink_ndjson"}


def by_duckdb(source, target, keys):
    import duckdb
    order = f" ORDER BY {', '.join(keys)}" if keys else ""
    duckdb.sql("SET preserve_insertion_order = true")
    rows = f"SELECT * FROM {DUCKDB_READ[source.suffix].format(source)}{order}"
    duckdb.sql(f"COPY ({rows}) TO '{target}' {DUCKDB_WRITE[target.suffix]}")


def by_polars(source, target, keys):
    import polars
    table = getattr(polars, POLARS_READ[source.suffix])(source, **({"try_parse_dates": True} if source.suffix == ".csv" else {}))
    if keys:
        table = table.sort(keys, maintain_order=True)
    getattr(table, POLARS_WRITE[target.suffix])(target, **({"compression": "zstd"} if target.suffix == ".parquet" else {}))


def command(program, marquetry, source, target, keys):
    if program == "ours":
        sort = ["--sort-by", ",".join(keys)] if keys else []
        return [marquetry, "convert", source, target, *sort]
    return [sys.executable, __file__, "--child", program, source, target, *keys]


def run(arguments):
    """Seconds and megabytes of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(list(map(str, arguments)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"{' '.join(map(str, arguments))}: {errors.decode()}")
    return seconds, usage.ru_maxrss / 1024


def rows_of(path):
    if path.suffix == ".parquet":
        # In another process: what this one has in memory would count as its children's.
        return int(subprocess.check_output([sys.executable, __file__, "--child", "rows", path]))
    with open(path, "rb") as file:
        lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    return lines - (path.suffix == ".csv")


def compare(name, marquetry, source, suffix, keys, folder, rounds):
    """The best seconds and most megabytes of each program."""
    best = {}
    for round in range(rounds):
        rows = {}
        for program in PROGRAMS:
            target = folder / f"{program}{suffix}"
            target.unlink(missing_ok=True)
            seconds, megabytes = run(command(program, marquetry, source, target, keys))
            before = best.get(program, (seconds, megabytes))
            best[program] = (min(before[0], seconds), max(before[1], megabytes))
            if round == 0:
                rows[program] = rows_of(target)
        if len(set(rows.values())) > 1:
            raise SystemExit(f"{name}: the outputs differ: {rows}")
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("marquetry", type=pathlib.Path)
    parser.add_argument("lineitem", type=pathlib.Path)
    parser.add_argument("--hits", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        texts = {}
        for suffix in (".csv", ".jsonl"):
            texts[suffix] = folder / f"lineitem{suffix}"
            run(command("ours", options.marquetry, options.lineitem, texts[suffix], []))
        cases = [
            ("parquet to csv", options.lineitem, ".csv", []),
            ("csv to parquet", texts[".csv"], ".parquet", []),
            ("parquet to jsonl", options.lineitem, ".jsonl", []),
            ("jsonl to parquet", texts[".jsonl"], ".parquet", []),
            ("sort by l_shipdate, l_partkey", options.lineitem, ".parquet", ["l_shipdate", "l_partkey"]),
            ("parquet to parquet", options.lineitem, ".parquet", []),
        ]
        if options.hits:
            cases.append(("hits to parquet", options.hits, ".parquet", []))
        print("| | " + " | ".join(f"{program}: s, MB" for program in PROGRAMS) + " | better of both over ours |")
        print("|---" + "|--:" * (len(PROGRAMS) + 1) + "|")
        for name, source, suffix, keys in cases:
            best = compare(name, options.marquetry, source, suffix, keys, folder, options.rounds)
            ratio = min(best["duckdb"][0], best["polars"][0]) / best["ours"][0]
            cells = [f"{best[program][0]:.2f}, {best[program][1]:,.0f}" for program in PROGRAMS]
            print(f"| {name} | " + " | ".join(cells) + f" | {ratio:.2f} |", flush=True)
            results[name] = best
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        program, source, *others = sys.argv[2:]
        if program == "rows":
            import polars
            raise SystemExit(print(polars.scan_parquet(source).select(polars.len()).collect().item()))
        target, *keys = others
        {"duckdb": by_duckdb, "polars": by_polars}[program](pathlib.Path(source), pathlib.Path(target), keys)
    else:
        main()

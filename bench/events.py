"""Events as plain JSON text, as VARIANT and as shredded VARIANT: sizes, and what writing and reading them costs, beside DuckDB.

    python bench/events.py MARQUETRY [--rows 1000000] [--rounds 3]

Both sides read the same lines of JSON and write ZSTD. Times are CPU seconds, of all threads together, the least of the rounds: so a
machine that does other things, too, tells nearly the same. DuckDB runs in this process, on one thread; the command is a
process of its own, whose start is in its times."""

import argparse
import json
import os
import random
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import duckdb

KINDS = ["view", "click", "buy", "login", "logout"]
SHAPE = "{id: bigint, at: bigint, kind: text, user: {id: bigint, country: text}, price: decimal(9, 2), tags: [text]}"


def event(number, rng):
    """One in twenty has a text where others have a number, one in ten fields that are rare."""
    user = {"id": rng.randrange(100_000), "country": rng.choice(["DE", "FR", "US", "JP", "BR"])}
    if number % 20 == 7:
        user["id"] = f"guest-{user['id']}"
    out = {"id": number, "at": 1_700_000_000_000 + number * 37 + rng.randrange(30), "kind": rng.choice(KINDS), "user": user}
    if number % 3 == 0:
        out["price"] = float(f"{rng.randrange(1, 100_000) / 100:.2f}")
    out["tags"] = rng.sample(["new", "sale", "mobile", "web", "beta", "eu"], rng.randrange(4))
    if number % 10 == 0:
        out[f"extra_{rng.randrange(50)}"] = {"note": "x" * rng.randrange(40), "n": rng.randrange(1000)}
    return out


def lines(path, rows):
    rng = random.Random(7)
    with open(path, "w") as out:
        for number in range(rows):
            out.write('{"v":' + json.dumps(event(number, rng), separators=(",", ":")) + "}\n")


def of_child(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def of_duckdb(database, query):
    before = time.process_time()
    rows = database.sql(query)
    found = rows.fetchall() if rows is not None else None
    return time.process_time() - before, found


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("marquetry")
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--rounds", type=int, default=3)
    args = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(args, Path(folder))


def run(args, folder):
    source = folder / "events.jsonl"
    lines(source, args.rows)
    database = duckdb.connect()
    database.sql("SET threads = 1")
    database.sql("SET preserve_insertion_order = true")
    ours = {name: str(folder / f"ours-{name}.parquet") for name in ("text", "variant", "shredded")}
    theirs = {name: str(folder / f"duckdb-{name}.parquet") for name in ("text", "shredded")}
    least = {}

    def note(what, who, seconds):
        least[what, who] = min(seconds, least.get((what, who), seconds))

    read = f"read_json('{source}', format = 'newline_delimited', columns = {{v: 'JSON'}})"
    out = str(folder / "out.parquet")
    for _ in range(args.rounds):
        for name, schema, shred in (("text", "v text", "none"), ("variant", "v variant", "none"), ("shredded", "v variant", SHAPE)):
            command = [args.marquetry, "convert", str(source), ours[name], "--schema", schema, "--compression", "zstd:3", "--overwrite"]
            note(f"write {name}", "marquetry", of_child(command + (["--shred", shred] if schema == "v variant" else []))[0])
        for name, cast in (("text", "v"), ("shredded", "v::VARIANT AS v")):
            query = f"COPY (SELECT {cast} FROM {read}) TO '{theirs[name]}' (FORMAT parquet, COMPRESSION zstd)"
            note(f"write {name}", "DuckDB", of_duckdb(database, query)[0])
        # Who reads what: ours, and DuckDB of both.
        for name in ("variant", "shredded"):
            seconds, found = of_child([args.marquetry, "count", ours[name], "--where", "v:user.id::bigint = 4711"])
            note(f"count {name}", "marquetry", seconds)
            command = [args.marquetry, "convert", ours[name], out, "--columns", "v:user.id::bigint", "--overwrite"]
            note(f"path {name}", "marquetry", of_child(command)[0])
            note(f"json {name}", "marquetry", of_child([args.marquetry, "cat", ours[name], "--format", "json"])[0])
        expected = None
        for name, file in (("text", theirs["text"]), ("variant", ours["variant"]), ("shredded", theirs["shredded"])):
            path = "TRY_CAST(json_extract_string(v, '$.user.id') AS BIGINT)" if name == "text" else "TRY_CAST(v.user.id AS BIGINT)"
            try:
                seconds, rows = of_duckdb(database, f"SELECT count(*) FROM '{file}' WHERE {path} = 4711")
                note(f"count {name}", "DuckDB", seconds)
                assert expected in (None, rows), (name, rows, expected)
                expected = rows
                seconds, _ = of_duckdb(database, f"COPY (SELECT {path} AS id FROM '{file}') TO '{out}' (FORMAT parquet, COMPRESSION zstd)")
                note(f"path {name}", "DuckDB", seconds)
                text = "v" if name == "text" else "v::JSON"
                note(f"json {name}", "DuckDB", of_duckdb(database, f"COPY (SELECT {text} FROM '{file}') TO '/dev/null' (FORMAT csv)")[0])
            except duckdb.Error as error:
                print(f"DuckDB, {name}: {error}")
        assert int(found.strip()) == expected[0][0], (found, expected)
    print(f"{args.rows} events, {source.stat().st_size / 1e6:.1f} MB of JSON\n")
    print("| | JSON text | VARIANT | shredded | DuckDB: JSON text | VARIANT | shredded |\n|---|--:|--:|--:|--:|--:|--:|")
    size = lambda files, name: f"{os.path.getsize(files[name]) / 1e6:.1f}" if name in files else "-"
    names = ("text", "variant", "shredded")
    print("| size, MB | " + " | ".join([size(ours, name) for name in names] + [size(theirs, name) for name in names]) + " |")
    titles = {"write": "writing, s", "count": "`count` by a path, s", "path": "a path into a column, s", "json": "all as JSON, s"}
    for what, title in titles.items():
        cells = [least.get((f"{what} {name}", who)) for who in ("marquetry", "DuckDB") for name in names]
        print(f"| {title} | " + " | ".join("-" if cell is None else f"{cell:.2f}" for cell in cells) + " |")


if __name__ == "__main__":
    main()

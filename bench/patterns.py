"""Predicates as people write them: how long counting takes, beside DuckDB and polars, on one thread.

    patterns.py MARQUETRY [--rows N] [--rounds N] [--markdown]

Writes two tables to a temporary folder: one of web hits, in which URLs, titles and referrers are text of many different and of few
different values, and one of order lines with three dates. Every engine is asked in a process of its own that does nothing else;
ours is the command line, its start included, the others are timed inside, without theirs. The counts have to be the same.
"""

import argparse
import datetime
import os
import random
import subprocess
import sys
import tempfile
import time

QUESTIONS = [
    ("hits", "url like '%google%'", None),
    ("hits", "url not like '%google%'", None),
    ("hits", "title like '%a%b%'", None),
    ("hits", "referer like 'https://%'", None),
    ("hits", "url ~ 'page=[0-9]+&'", "regexp_matches(url, 'page=[0-9]+&')"),
    ("hits", "url ilike '%GOOGLE%'", None),
    ("hits", "os like '%in%'", None),
    ("hits", "contains(url, 'shop')", None),
    ("lines", "commit < receipt", None),
    ("lines", "commit < receipt and ship < commit and receipt >= date '1994-01-01' and receipt < date '1995-01-01'", None),
    ("lines", "id in (IDS)", None),
    ("lines", "(ship, id) > (date '1998-06-01', 5)", None),
]


def tables(folder, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq
    rng = random.Random(1)
    hosts = ["www.google.com", "ya.ru", "shop.example.de", "news.example.org", "images.google.de", "example.com"]
    urls = [f"https://{rng.choice(hosts)}/{rng.choice(['search', 'catalog', 'item', 'a/b/c'])}?"
            f"{rng.choice(['q', 'page'])}={rng.randrange(10**6)}&utm={rng.randrange(99)}" for _ in range(max(1, rows // 4))]
    words = ["table", "chair", "lamp", "big", "cheap", "absolutely", "Möbel", "купить", "о"]
    titles = [" ".join(rng.choice(words) for _ in range(rng.randrange(2, 9))) for _ in range(max(1, rows // 20))]
    pick = lambda values: pa.array(rng.choices(values, k=rows))
    hits = pa.table({
        "url": pick(urls), "title": pick(titles), "referer": pick(urls[: len(urls) // 8 + 1] + [""] * (len(urls) // 4)),
        "os": pick(["Windows", "Linux", "macOS", "iOS", "Android", ""]), "counter": pa.array(range(rows)),
    })
    pq.write_table(hits, f"{folder}/hits.parquet", compression="snappy", write_page_index=True)
    start = datetime.date(1992, 1, 1)
    days = [start + datetime.timedelta(days=n) for n in range(2557)]
    ship = rng.choices(range(2400), k=rows)
    near = lambda by: pa.array([days[n + rng.randrange(by)] for n in ship])
    lines = pa.table({"id": pa.array(rng.sample(range(rows * 8), rows)), "ship": pa.array([days[n] for n in ship]),
                      "commit": near(90), "receipt": near(30)})
    pq.write_table(lines, f"{folder}/lines.parquet", compression="snappy", write_page_index=True)
    return ", ".join(str(i) for i in rng.sample(range(rows * 8), 10_000))


def ask_duckdb(path, predicate):
    import duckdb
    db = duckdb.connect()
    db.execute("set threads = 1")
    start = time.perf_counter()
    count = db.execute(f"select count(*) from read_parquet('{path}') where {predicate}").fetchone()[0]
    return count, time.perf_counter() - start


def ask_polars(path, predicate):
    os.environ["POLARS_MAX_THREADS"] = "1"
    import polars
    start = time.perf_counter()
    count = polars.sql(f"select count(*) from read_parquet('{path}') where {predicate}").collect().item()
    return count, time.perf_counter() - start


def ask_marquetry(marquetry, path, predicate):
    start = time.perf_counter()
    # One core: the others have one thread.
    run = subprocess.run(["taskset", "-c", "0", marquetry, "count", path, f"--where={predicate}"], capture_output=True, text=True)
    took = time.perf_counter() - start
    if run.returncode:
        sys.exit(run.stderr)
    return int(run.stdout), took


def alone(ask, *arguments):
    """In a process of its own; `None` if the engine does not know the question."""
    code = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r}); import patterns; " \
           f"print(*patterns.{ask.__name__}(*{arguments!r}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if run.returncode:
        return None
    count, took = run.stdout.split()
    return int(count), float(took)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("marquetry")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ids = tables(folder, args.rows)
        if args.markdown:
            print("| predicate | rows | marquetry | DuckDB | polars |\n|---|--:|--:|--:|--:|")
        for table, predicate, of_others in QUESTIONS:
            path = f"{folder}/{table}.parquet"
            ours, theirs = predicate.replace("IDS", ids), (of_others or predicate).replace("IDS", ids)
            counts, times = {}, {}
            for _ in range(args.rounds):
                for name, found in [("marquetry", ask_marquetry(args.marquetry, path, ours)),
                                    ("DuckDB", alone(ask_duckdb, path, theirs)), ("polars", alone(ask_polars, path, theirs))]:
                    if found:
                        counts[name] = found[0]
                        times[name] = min(times.get(name, found[1]), found[1])
            if len(set(counts.values())) != 1:
                sys.exit(f"{predicate}: {counts}")
            shown = [f"{times[name] * 1000:.0f} ms" if name in times else "-" for name in ["marquetry", "DuckDB", "polars"]]
            cells = [f"`{predicate}`" if args.markdown else predicate, str(counts["marquetry"]), *shown]
            print("| " + " | ".join(cells) + " |" if args.markdown else "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()

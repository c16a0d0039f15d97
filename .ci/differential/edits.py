"""Random sequences of edits of files of five writers: after each, rows, metadata, indexes and bloom filters are what they have to be.

    edits.py MARQUETRY [--cases N] [--seed S] [--steps 6]

A case is a file of pyarrow, DuckDB, Polars, fastparquet or this project, and some of rewrite, merge, append, drop-row-group, split,
meta set, summary and convert, one behind the other. After each step pyarrow reads the rows that a list in memory has, `verify --deep`
finds nothing wrong, key-value metadata is as it was set, and predicates find the rows that pyarrow does, by whatever indexes and
bloom filters there are. Prints each step that differs, and exits with 1 if there is one.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import fastparquet
import polars
import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("price", pa.float64()), ("few", pa.string())])


def rows(rng):
    n = rng.choice([1, 20, 300, 2000])
    name = lambda: None if rng.random() < 0.1 else rng.choice(["", "ä", "x" * 40]) + str(rng.randrange(n))
    columns = {
        "id": [rng.randrange(n) for _ in range(n)] if rng.random() < 0.5 else list(range(n)),
        "name": [name() for _ in range(n)],
        "price": [rng.randrange(-400, 400) / 4 for _ in range(n)],
        "few": [rng.choice("abc") for _ in range(n)],
    }
    return pa.table(columns, SCHEMA)


class Case:
    def __init__(self, marquetry, folder, rng):
        self.marquetry, self.folder, self.rng = marquetry, folder, rng
        self.file, self.rows, self.pairs, self.made = folder / "0.parquet", rows(rng), {}, 0
        self.db = duckdb.connect()
        self.writer = rng.choice(["pyarrow", "duckdb", "polars", "fastparquet", "marquetry"])
        self.write(self.file, self.rows)

    def write(self, path, table):
        rng, size = self.rng, self.rng.choice([7, 100, 1000])
        match self.writer:
            case "pyarrow":
                pq.write_table(table, path, row_group_size=size, write_page_index=rng.random() < 0.5, data_page_size=256,
                               use_dictionary=rng.random() < 0.5, compression=rng.choice(["none", "snappy", "zstd", "gzip"]))
            case "duckdb":
                self.db.register("t", table)
                self.db.execute(f"copy t to '{path}' (format parquet, row_group_size {max(size, 100)})")
            case "polars":
                polars.from_arrow(table).write_parquet(path, row_group_size=size, statistics=rng.choice([True, False, "full"]))
            case "fastparquet":
                fastparquet.write(str(path), table.to_pandas(), row_group_offsets=size, compression=rng.choice([None, "SNAPPY", "ZSTD"]))
            case "marquetry":
                source = path.with_suffix(".arrow")
                with pa.ipc.new_file(source, table.schema) as out:
                    out.write_table(table)
                self.run("convert", source, path, "--row-group-rows", size, "--page-rows", 50, "--bloom", "id")

    def run(self, *words):
        done = subprocess.run([self.marquetry, *map(str, words)], capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"{' '.join(map(str, words))}: exit {done.returncode}: {(done.stderr + done.stdout)[-400:]}")
        return done.stdout.strip()

    def new(self):
        self.made += 1
        return self.folder / f"{self.made}.parquet"

    def rewrite(self):
        rng, out = self.rng, self.new()
        options = rng.choice([[], ["--compression", "zstd"], ["--compression", "snappy"], ["--compression", "gzip:1"], ["--page-rows", "30"],
                              ["--row-group-rows", "64"], ["--statistics"], ["--add-index"], ["--bloom", "name"], ["--encoding", "auto"],
                              ["--statistics", "--add-index", "--bloom", "few"], ["--no-checksums"]])
        self.run("rewrite", self.file, out, *options)
        self.file = out

    def convert(self):
        out = self.new()
        self.run("convert", self.file, out, "--row-group-rows", self.rng.choice([50, 5000]), *self.rng.choice([[], ["--bloom", "id"]]))
        self.file = out

    def merge(self):
        out = self.new()
        self.run("merge", self.file, self.file, out, "--compatible")
        self.file, self.rows = out, pa.concat_tables([self.rows, self.rows])

    def append(self):
        # One of its own pieces, so that the schema is the same.
        piece, n = self.piece()
        self.run("append", self.file, piece, "--compatible")
        self.rows = pa.concat_tables([self.rows, self.rows.slice(0, n)])

    def piece(self):
        into = self.folder / f"pieces{self.made}"
        into.mkdir()
        self.made += 1
        n = self.rng.randrange(1, max(len(self.rows), 2))
        self.run("split", self.file, "--rows", n, "--out-dir", into, "--name", "p-{}.parquet")
        return sorted(into.iterdir())[0], min(n, len(self.rows))

    def split(self):
        piece, n = self.piece()
        self.file, self.rows = piece, self.rows.slice(0, n)

    def drop(self):
        footer = pq.read_metadata(self.file)
        sizes = [footer.row_group(i).num_rows for i in range(footer.num_row_groups)]
        if len(sizes) < 2:
            return
        gone = self.rng.randrange(len(sizes))
        self.run("drop-row-group", self.file, gone)
        start = sum(sizes[:gone])
        self.rows = pa.concat_tables([self.rows.slice(0, start), self.rows.slice(start + sizes[gone])])

    def meta(self):
        key, value = self.rng.choice(["a", "key", "ä"]), self.rng.choice(["", "1", "x=y", "ö" * 50])
        self.run("meta", "set", self.file, f"{key}={value}")
        self.pairs[key] = value

    def summary(self):
        piece, _ = self.piece()
        self.run("summary", piece.parent, "--overwrite")
        counted = self.run("count", piece.parent / "_metadata")
        assert counted == str(len(self.rows)), f"the summary has {counted} rows, of {len(self.rows)}"

    def check(self):
        found = pq.read_table(self.file).select(SCHEMA.names).cast(SCHEMA)
        assert found.equals(self.rows), f"{len(found)} other rows, of {len(self.rows)}"
        self.run("verify", "--deep", self.file)
        pairs = {key.decode(): value.decode() for key, value in (pq.read_metadata(self.file).metadata or {}).items()}
        missing = {key: value for key, value in self.pairs.items() if pairs.get(key) != value}
        assert not missing, f"metadata {missing} became {pairs}"
        self.db.register("t", self.rows)
        for _ in range(2):
            row = self.rows.slice(self.rng.randrange(len(self.rows)), 1).to_pylist()[0] if len(self.rows) else {"id": 0, "name": "", "few": "a"}
            name = (row["name"] or "?").replace("'", "''")
            where = self.rng.choice([f"id = {row['id']}", f"id > {row['id']}", f"name = '{name}'", f"few = '{row['few']}' and price < 0", "name is null"])
            expected = self.db.execute(f"select count(*) from t where {where}").fetchall()[0][0]
            counted = self.run("count", self.file, f"--where={where}")
            assert counted == str(expected), f"{where}: {counted} rows, of {expected}"


STEPS = ["rewrite", "rewrite", "convert", "merge", "append", "split", "drop", "meta", "summary"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("marquetry")
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=6)
    args = parser.parse_args()
    checks = differing = 0
    for number in range(args.cases):
        rng = random.Random(f"{args.seed} {number}")
        done = []
        with tempfile.TemporaryDirectory() as folder:
            try:
                case = Case(args.marquetry, Path(folder), rng)
                case.check()
                for _ in range(args.steps):
                    done.append(rng.choice(STEPS if len(case.rows) < 20_000 else [step for step in STEPS if step != "merge"]))
                    getattr(case, done[-1])()
                    case.check()
                    checks += 1
            except Exception as error:
                differing += 1
                print(f"case {number} of seed {args.seed}, {case.writer}: {', '.join(done)}: {error}", flush=True)
                kept = Path(tempfile.gettempdir()) / f"edits-{args.seed}-{number}"
                if differing <= 5:
                    shutil.copytree(folder, kept, dirs_exist_ok=True)
                    print(f"  {kept}")
    print(f"{args.cases} sequences, {checks} steps checked, {differing} differ")
    sys.exit(1 if differing else 0)


main()

"""Random predicates over datasets whose files differ: the same rows as DuckDB finds.

    datasets.py MARQUETRY [--cases N] [--seed S]

Each dataset has two to four files: columns of evolved types, columns that some files do not have or have only nulls in, structs, and
directories that are partitions by a number, a text or a date. Prints each predicate whose counts or rows differ, and exits with 1
if there is one. Literals are of the table's types: what DuckDB casts to compare is left to the tests of this project.
"""

import argparse
import datetime
import decimal
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

DAY = datetime.date(1999, 12, 25)
#: By name: the types that a file may have, and a value of any of them.
COLUMNS = {
    "n": ([pa.int8(), pa.int16(), pa.int32(), pa.int64()], lambda rng: rng.randrange(-100, 100)),
    "u": ([pa.uint8(), pa.uint16(), pa.uint32()], lambda rng: rng.randrange(0, 200)),
    "f": ([pa.float32(), pa.float64()], lambda rng: rng.randrange(-400, 400) / 4),
    "s": ([pa.string(), pa.large_string()], lambda rng: rng.choice(["", "a", "ab", "abc", "b", "Größe", "a_b", "x" * 70])),
    "d": ([pa.date32()], lambda rng: DAY + datetime.timedelta(days=rng.randrange(30))),
    "t": ([pa.timestamp("ms"), pa.timestamp("us")], lambda rng: datetime.datetime(2000, 1, 1, rng.randrange(24), rng.randrange(60))),
    "x": ([pa.decimal128(9, 2), pa.decimal128(18, 2)], lambda rng: decimal.Decimal(rng.randrange(-9999, 9999)) / 100),
    "b": ([pa.bool_()], lambda rng: rng.random() < 0.5),
}
PARTITIONS = [("p", "int64", "BIGINT", lambda rng: rng.randrange(5)), ("p", "utf8", "VARCHAR", lambda rng: rng.choice(["a", "b c", "ä"])),
              ("p", "date32", "DATE", lambda rng: DAY + datetime.timedelta(days=rng.randrange(3)))]


def quoted(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime.datetime):
        return f"timestamp '{value}'"
    return f"date '{value}'" if isinstance(value, datetime.date) else str(value)


class Dataset:
    """Files in a directory, and what may be asked of them."""

    def __init__(self, folder, rng):
        self.folder, self.values = folder, {}
        names = rng.sample(sorted(COLUMNS), rng.randrange(2, 6))
        self.has_struct = rng.random() < 0.4
        self.partition = rng.choice(PARTITIONS) if rng.random() < 0.5 else None
        next_id = 0
        for i in range(rng.randrange(2, 5)):
            n = rng.choice([1, 3, 50, 400])
            columns = {"id": pa.array(range(next_id, next_id + n), pa.int64())}
            next_id += n
            for name in names:
                if i and rng.random() < 0.15:
                    continue
                types, value = COLUMNS[name]
                if i and rng.random() < 0.1:
                    columns[name] = pa.nulls(n)
                    continue
                values = [None if rng.random() < 0.15 else value(rng) for _ in range(n)]
                if rng.random() < 0.5:
                    values.sort(key=lambda v: (v is None, v if v is not None else 0))
                if any(value is not None for value in values):
                    self.values.setdefault(name, set()).update(v for v in values if v is not None)
                columns[name] = pa.array(values, rng.choice(types))
            if self.has_struct:
                inner = [("a", rng.choice([pa.int32(), pa.int64()])), ("c", pa.string())]
                value = lambda: None if rng.random() < 0.1 else {"a": rng.randrange(9), "c": rng.choice("xyz")}
                columns["st"] = pa.array([value() for _ in range(n)], pa.struct(inner))
            self.write(i, pa.table(columns), rng)
        if self.has_struct:
            self.values |= {"st.a": set(range(9)), "st.c": set("xyz")}

    def write(self, i, table, rng):
        place = self.folder
        if self.partition:
            key, _, _, value = self.partition
            value = value(rng)
            self.values.setdefault(key, set()).add(value)
            place = place / f"{key}={value}"
        place.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, place / f"{i}.parquet", row_group_size=rng.choice([16, 200, 1000]), data_page_size=128,
                       write_page_index=rng.random() < 0.5, use_dictionary=rng.random() < 0.5, write_statistics=rng.random() < 0.8)

    def source(self):
        """The rows as DuckDB reads them."""
        hive = f", hive_partitioning = true, hive_types = {{'{self.partition[0]}': {self.partition[2]}}}" if self.partition else ", hive_partitioning = false"
        return f"read_parquet('{self.folder}/**/*.parquet', union_by_name = true{hive})"

    def options(self):
        return ["--partition-type", f"{self.partition[0]} {self.partition[1]}"] if self.partition else []

    def condition(self, rng):
        name = rng.choice(sorted(self.values))
        value = lambda: quoted(rng.choice(sorted(self.values[name])))
        choice = rng.random()
        if choice < 0.12:
            return f"{name} is {rng.choice(['', 'not '])}null"
        if choice < 0.3:
            return f"{name} in ({', '.join(value() for _ in range(rng.randrange(1, 6)))})"
        if choice < 0.4:
            return f"{name} between {value()} and {value()}"
        if choice < 0.5 and name in ("s", "st.c"):
            return rng.choice([f"{name} like 'a%'", f"starts_with({name}, 'ab')", f"{name} not like '%b%'"])
        return f"{name} {rng.choice(['=', '!=', '<', '<=', '>', '>='])} {value()}"

    def predicate(self, rng, depth=2):
        if depth == 0 or rng.random() < 0.45:
            return self.condition(rng)
        if rng.random() < 0.2:
            return f"not ({self.predicate(rng, depth - 1)})"
        return f"({self.predicate(rng, depth - 1)}) {rng.choice(['and', 'or'])} ({self.predicate(rng, depth - 1)})"


def ask(words):
    run = subprocess.run(words, capture_output=True, text=True)
    return run.stdout.strip(), run.stderr.strip()[:300]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("marquetry")
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, db = random.Random(args.seed), duckdb.connect()
    asked = differing = refused = datasets = 0
    while asked < args.cases:
        with tempfile.TemporaryDirectory() as folder:
            dataset = Dataset(Path(folder) / "table", rng)
            if not dataset.values:
                continue
            datasets += 1
            try:
                db.execute(f"create or replace temp table t as select * from {dataset.source()}")
            except duckdb.Error:
                refused += 1
                continue
            for _ in range(min(12, args.cases - asked)):
                predicate = dataset.predicate(rng)
                try:
                    expected = [row[0] for row in db.execute(f"select id from t where {predicate} order by id").fetchall()]
                except duckdb.Error:
                    refused += 1
                    continue
                asked += 1
                common = [str(dataset.folder), "--union-by-name", *dataset.options(), f"--where={predicate}"]
                counted, error = ask([args.marquetry, "count", *common])
                wrong = counted != str(len(expected)) and f"{counted} {error}, DuckDB {len(expected)}"
                if not wrong and rng.random() < 0.3:
                    rows, error = ask([args.marquetry, "cat", *common, "--columns", "id", "--format", "json"])
                    found = sorted(json.loads(row)["id"] for row in rows.split("\n") if row)
                    wrong = found != expected and f"other rows than were counted: {error}"
                if wrong:
                    differing += 1
                    print(f"seed {args.seed}, dataset {datasets}: {predicate}\n  {wrong}", flush=True)
                    if differing <= 5:
                        kept = Path(tempfile.gettempdir()) / f"dataset-{args.seed}-{datasets}"
                        shutil.copytree(dataset.folder, kept, dirs_exist_ok=True)
                        print(f"  {kept}")
    print(f"{asked} predicates over {datasets} datasets, {differing} differ, {refused} are not for DuckDB")
    sys.exit(1 if differing else 0)


main()

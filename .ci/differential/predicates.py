"""Random predicates over real and made files: the same count as DuckDB's.

    predicates.py MARQUETRY [--cases N] [--seed S] [DIR..]

DIR.. are folders of Parquet files; made tables are always among them. Prints each predicate whose counts differ, and exits
with 1 if there is one. Passed over: files that one of both cannot read, floats with NaN (DuckDB has NaN equal to itself and
above all), INT96, UUIDs and binary columns, types that DuckDB compares by a cast (text with numbers, decimals with floats, points
in time with dates), lists whose names are not identifiers or whose elements are structs by the format's rules only, and the files in LEFT_OUT.
"""

import argparse
import datetime
import os
import random
import subprocess
import sys
import tempfile

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

MOST_BYTES = 4 << 20
# Bounds that are wrong, which DuckDB believes; and strings of a gigabyte.
LEFT_OUT = ["all_types_flat.parquet", "parquet-251.parquet", "large_string_map.brotli.parquet"]


def made(folder, rng):
    """Tables of text, dates, numbers and nulls, with small pages and row groups, so that there is something to prune."""
    for i in range(6):
        n = rng.choice([1, 100, 5000])
        words = ["", "a", "ab", "page=17&x", "https://www.google.com/q", "Größe", "a_b", "100%", "x" * 40, "ABC", "é"]
        null = lambda value: None if rng.random() < 0.1 else value
        day = lambda: datetime.date(1995, 1, 1) + datetime.timedelta(days=rng.randrange(40 if i % 2 else 2000))
        days = sorted(day() for _ in range(n))
        table = pa.table({
            "url": pa.array([null(rng.choice(words) + str(rng.randrange(50) if i % 2 else "")) for _ in range(n)]),
            "title": pa.array([null(rng.choice(words)) for _ in range(n)]),
            "commit": pa.array([null(one) for one in days], pa.date32()),
            "receipt": pa.array([null(one + datetime.timedelta(days=rng.randrange(-3, 9))) for one in days], pa.date32()),
            "at": pa.array([datetime.datetime.combine(one, datetime.time(rng.randrange(24))) for one in days], pa.timestamp("ms")),
            "small": pa.array([null(rng.randrange(-100, 100)) for _ in range(n)], pa.int8()),
            "big": pa.array([null(rng.randrange(-100, 100)) for _ in range(n)], pa.int64()),
            "unsigned": pa.array([null(rng.randrange(0, 200)) for _ in range(n)], pa.uint32()),
            "ratio": pa.array([null(rng.randrange(-400, 400) / 4) for _ in range(n)], pa.float32()),
            "double": pa.array([null(rng.randrange(-400, 400) / 4) for _ in range(n)], pa.float64()),
            "is": pa.array([null(rng.random() < 0.5) for _ in range(n)]),
            "tags": pa.array([null([null(rng.choice(words)) for _ in range(rng.randrange(4))]) for _ in range(n)], pa.list_(pa.string())),
            "numbers": pa.array([null([null(rng.randrange(-100, 100)) for _ in range(rng.randrange(4))]) for _ in range(n)], pa.list_(pa.int64())),
            "points": pa.array([null([null({"x": null(rng.randrange(-400, 400) / 4)}) for _ in range(rng.randrange(3))]) for _ in range(n)],
                               pa.list_(pa.struct([("x", pa.float64())]))),
            "attributes": pa.array([null([(key, null(rng.randrange(-100, 100))) for key in rng.sample(["a", "b", "c d"], rng.randrange(4))])
                                    for _ in range(n)], pa.map_(pa.string(), pa.int64())),
        })
        pq.write_table(table, f"{folder}/{i}.parquet", row_group_size=rng.choice([64, 1000, 5000]),
                       data_page_size=256, write_page_index=bool(i % 3), use_dictionary=bool(i % 2))


KINDS = {"VARCHAR": "text", "DATE": "instant", "TIMESTAMP": "instant", "BOOLEAN": "bool", "FLOAT": "float", "DOUBLE": "float"}
KINDS |= {name: "integer" for name in ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"]}


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def literal(kind, value):
    if kind == "text":
        return quoted(value)
    if kind == "bool":
        return str(value).lower()
    if kind == "instant":
        return f"date '{value}'" if type(value) is datetime.date else f"timestamp '{value}'"
    return repr(value)


class Asker:
    """Random conditions on the columns of one file, as DuckDB writes them."""

    def __init__(self, columns, lists, rng):
        self.columns, self.lists, self.rng = columns, lists, rng
        # How we write those that DuckDB writes otherwise.
        self.ours = {"regexp_matches": "regexp_like"}

    def translated(self, predicate):
        for theirs in sorted(self.ours, key=len, reverse=True):
            predicate = predicate.replace(theirs, self.ours[theirs])
        return predicate

    def of_list(self):
        """Of a list or a map. Null elements leave it open, which DuckDB's functions for lists do not."""
        rng = self.rng
        path, elements, kind, values, key = rng.choice(self.lists)
        sign, value = rng.choice(["=", "!=", "<", "<=", ">", ">="]), literal(kind, rng.choice(values))
        count, choice = rng.randrange(4), rng.random()
        if key is not None:
            theirs, ours = (f"{elements} {sign} {value}", f"{path}[{quoted(key)}] {sign} {value}")
            if choice < 0.3:
                theirs, ours = (f"cardinality({path}) {sign} {count}",) * 2
        elif choice < 0.4:
            theirs = (f"case when {elements} is null then null when len(list_filter({elements}, lambda e: e {sign} {value})) > 0 then true "
                      f"when len(list_filter({elements}, lambda e: e is null)) > 0 then null else false end")
            ours = f"any({path}) {sign} {value}"
        elif choice < 0.7:
            theirs = (f"case when {elements} is null then null when len(list_filter({elements}, lambda e: not (e {sign} {value}))) > 0 then false "
                      f"when len(list_filter({elements}, lambda e: e is null)) > 0 then null else true end")
            ours = f"all({path}) {sign} {value}"
        else:
            theirs, ours = rng.choice([
                (f"len({elements}) {sign} {count}", f"cardinality({path.removesuffix('.x')}) {sign} {count}"),
                (f"len({elements}) = 0", f"{path.removesuffix('.x')} is empty"),
            ])
        self.ours[f"({theirs})"] = f"({ours})"
        return f"({theirs})"

    def pattern(self, value):
        rng, text = self.rng, list("".join(c for c in value if c not in "%_\\"))
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(text) + 1)
            if rng.random() < 0.4 and at < len(text):
                text[at] = "_"
            else:
                text.insert(at, "%")
        return "".join(text)

    def one(self):
        rng = self.rng
        if self.lists and (not self.columns or rng.random() < 0.4):
            return self.of_list()
        name, kind, values = rng.choice(self.columns)
        column = '"' + name.replace('"', '""') + '"'
        value = rng.choice(values)
        choice = rng.random()
        if choice < 0.08:
            return f"{column} is {rng.choice(['', 'not '])}null"
        if kind == "bool" and choice < 0.5:
            return f"{column} is {rng.choice(['', 'not '])}{rng.choice(['true', 'false', 'unknown'])}"
        if kind == "text" and choice < 0.6:
            word = value[rng.randrange(len(value) + 1):][:6] if value else ""
            plain = "".join(c for c in word if c.isascii() and c.isalnum())
            return rng.choice([
                f"{column} {rng.choice(['', 'not '])}like {quoted(self.pattern(value))}",
                f"{column} ilike {quoted(self.pattern(value.swapcase() if value.isascii() else value))}",
                f"contains({column}, {quoted(word)})",
                f"ends_with({column}, {quoted(word)})",
                f"starts_with({column}, {quoted(value[:3])})",
                f"regexp_matches({column}, {quoted('^' + plain)})",
                f"regexp_matches({column}, {quoted('[0-9]' + plain + '|' + plain + '.$')})",
            ])
        others = [other for other in self.columns if other[1] == kind and other[0] != name]
        if others and choice < 0.8:
            other = '"' + rng.choice(others)[0].replace('"', '""') + '"'
            sign = rng.choice(["=", "!=", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"])
            return f"{column} {sign} {other}"
        shown = literal(kind, value)
        if choice < 0.88:
            return f"{column} in ({', '.join(literal(kind, rng.choice(values)) for _ in range(rng.randrange(1, 30)))})"
        if choice < 0.94:
            second, of_second, its = rng.choice(self.columns)
            second = '"' + second.replace('"', '""') + '"'
            sign = rng.choice(["<", "<=", ">", ">=", "="])
            pairs = f"({shown}, {literal(of_second, rng.choice(its))})"
            # Of null DuckDB says that it is above all; in SQL, and here, it is not known.
            return f"({column} is not null and {second} is not null and ({column}, {second}) {sign} {pairs})"
        return f"{column} {rng.choice(['=', '!=', '<', '<=', '>', '>=', 'is distinct from'])} {shown}"

    def any(self, depth=2):
        if depth == 0 or self.rng.random() < 0.5:
            return self.one()
        if self.rng.random() < 0.2:
            return f"not ({self.any(depth - 1)})"
        return f" {self.rng.choice(['and', 'or'])} ".join(f"({self.any(depth - 1)})" for _ in range(2))


def columns_of(db, path):
    """Flat columns of types that both compare alike, with some of their values."""
    found = []
    for name, kind, *_ in db.execute("describe select * from read_parquet(?, hive_partitioning = false)", [path]).fetchall():
        if KINDS.get(kind) is None or "." in name:
            continue
        column = '"' + name.replace('"', '""') + '"'
        values = db.execute(f"select distinct {column} from read_parquet(?, hive_partitioning = false) where {column} is not null limit 50", [path]).fetchall()
        values = [value for (value,) in values]
        if KINDS[kind] == "float" and (any(v != v or v in (float("inf"), -float("inf")) for v in values) or
                                       db.execute(f"select count(*) from read_parquet(?, hive_partitioning = false) where isnan({column})", [path]).fetchone()[0]):
            continue
        # Years of more than four digits have no literal.
        shown = [str(value) for value in values]
        values = [v for v, text in zip(values, shown) if "\0" not in text and len(text) < 200 and
                  (KINDS[kind] != "instant" or (text[4:5] == "-" and not text.endswith("(BC)")))]
        if values:
            found.append((name, KINDS[kind], values))
    return found


def lists_of(db, path):
    """Lists of values, lists of structs and maps by text: how we write them, their elements as DuckDB does, and some of these."""
    found = []
    for name, kind, *_ in db.execute("describe select * from read_parquet(?, hive_partitioning = false)", [path]).fetchall():
        if not (name.isascii() and name.isidentifier()):
            continue
        column = f'"{name}"'
        candidates = []
        if kind.endswith("[]") and KINDS.get(kind[:-2]) not in (None, "float"):
            candidates = [(column, column, KINDS[kind[:-2]], None)]
        elif kind == "STRUCT(x DOUBLE)[]":
            candidates = [(f"{name}.x", f"list_transform({column}, lambda p: p.x)", "float", None)]
        elif kind.startswith("MAP(VARCHAR, ") and KINDS.get(kind[13:-1]) not in (None, "float"):
            keys = db.execute(f"select distinct unnest(map_keys({column})) from read_parquet(?, hive_partitioning = false) limit 3", [path]).fetchall()
            candidates = [(column, f"{column}[{quoted(key)}]", KINDS[kind[13:-1]], key) for (key,) in keys if key and key.isprintable()]
        for ours, elements, of, key in candidates:
            values = elements if key is not None else f"unnest({elements})"
            values = db.execute(f"select distinct {values} as v from read_parquet(?, hive_partitioning = false) limit 50", [path]).fetchall()
            values = [v for (v,) in values if v is not None and "\0" not in str(v) and len(str(v)) < 200 and v == v]
            values = [v for v in values if of != "instant" or (str(v)[4:5] == "-" and not str(v).endswith("(BC)"))]
            if values:
                found.append((ours, elements, of, values, key))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("marquetry")
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("dirs", nargs="*")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    db = duckdb.connect()
    asked = differing = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        made(folder, rng)
        files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        for top in args.dirs:
            for place, _, names in sorted(os.walk(top)):
                paths = [os.path.join(place, name) for name in sorted(names) if name.endswith(".parquet") and name not in LEFT_OUT]
                files += [path for path in paths if "fuzz" not in path and os.path.getsize(path) <= MOST_BYTES]
        known = {}
        while asked < args.cases and files:
            path = rng.choice(files)
            if path not in known:
                try:
                    meta = pq.ParquetFile(path).metadata
                    int96 = {meta.schema.column(i).name for i in range(len(meta.schema)) if meta.schema.column(i).physical_type == "INT96"}
                    lists = lists_of(db, path) if not int96 else []
                    known[path] = ([column for column in columns_of(db, path) if column[0] not in int96], lists)
                except Exception:
                    known[path] = ([], [])
            if not any(known[path]):
                files.remove(path)
                continue
            asker = Asker(*known[path], rng)
            predicate = asker.any()
            try:
                expected = db.execute(f"select count(*) from read_parquet(?, hive_partitioning = false) where {predicate}", [path]).fetchone()[0]
            except Exception:
                refused += 1
                continue
            ours = asker.translated(predicate)
            # One argument has no more.
            if len(ours.encode()) > 100_000:
                refused += 1
                continue
            run = subprocess.run([args.marquetry, "count", "--no-partitions", path, f"--where={ours}"], capture_output=True, text=True)
            if "checksum mismatch" in run.stderr or "do not compare" in run.stderr or "an element has fields" in run.stderr:
                refused += 1
                continue
            asked += 1
            if run.stdout.strip() != str(expected):
                differing += 1
                print(f"{path}\n  {ours}\n  {run.stdout.strip()} {run.stderr.strip()[:300]}, DuckDB {expected}")
    print(f"{asked} predicates over {len(known)} files, {differing} differ; {refused} that one of both refuses")
    sys.exit(differing > 0)


main()

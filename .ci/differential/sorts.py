"""Random tables, sorted by random keys: the order is that of pyarrow, and `verify --deep` finds it true.

    sorts.py MARQUETRY [--cases N] [--seed S]

Keys have nulls, NaN of either sign, negative zeros, equal values and every scalar type. Prints each sort that differs, and exits with
1 if there is one.
"""

import argparse
import datetime
import decimal
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

NAN = float("nan")
FLOATS = [0.0, -0.0, 1.5, -1.5, NAN, -NAN, float("inf"), -float("inf"), 1e-300]
DAY = datetime.date(2000, 1, 1)
TYPES = [
    (pa.int8(), lambda rng: rng.randrange(-128, 128)),
    (pa.int16(), lambda rng: rng.randrange(-5, 5)),
    (pa.int32(), lambda rng: rng.randrange(-(1 << 31), 1 << 31)),
    (pa.int64(), lambda rng: rng.choice([-(1 << 63), (1 << 63) - 1, 0, 7])),
    (pa.uint8(), lambda rng: rng.randrange(256)),
    (pa.uint32(), lambda rng: rng.randrange(1 << 32)),
    (pa.uint64(), lambda rng: rng.choice([0, 1, 1 << 63, (1 << 64) - 1])),
    (pa.float32(), lambda rng: rng.choice(FLOATS)),
    (pa.float64(), lambda rng: rng.choice(FLOATS)),
    (pa.bool_(), lambda rng: rng.random() < 0.5),
    (pa.string(), lambda rng: rng.choice(["", "a", "ab", "b", "ä", "\U0001f600", "z" * 40, "\0"])),
    (pa.binary(), lambda rng: rng.choice([b"", b"\0", b"\xff", b"a", b"ab"])),
    (pa.date32(), lambda rng: DAY + datetime.timedelta(days=rng.randrange(-9, 9))),
    (pa.timestamp("us"), lambda rng: datetime.datetime(1969, 12, 31, rng.randrange(24))),
    (pa.decimal128(20, 3), lambda rng: decimal.Decimal(rng.randrange(-999, 999)) / 1000),
]


def table(rng):
    n = rng.choice([0, 1, 2, 50, 500, 3000])
    chosen = rng.sample(TYPES, rng.randrange(1, 4))
    columns = {f"k{i}": pa.array([None if rng.random() < 0.1 else value(rng) for _ in range(n)], type_) for i, (type_, value) in enumerate(chosen)}
    return pa.table(columns | {"row": pa.array(range(n), pa.int64())})


def sorted_rows(rows, keys):
    """The numbers of the rows, by what is documented: NaN is the largest number, zeros are equal, equal rows keep their order."""
    parts, order = {}, []
    for i, (name, descending, nulls_first) in enumerate(keys):
        column = rows[name].combine_chunks()
        direction = "descending" if descending else "ascending"
        parts[f"n{i}"] = pc.is_null(column).cast(pa.int8())
        order.append((f"n{i}", "descending" if nulls_first else "ascending"))
        if pa.types.is_floating(column.type):
            is_nan = pc.fill_null(pc.is_nan(column), False)
            parts[f"x{i}"] = is_nan.cast(pa.int8())
            order.append((f"x{i}", direction))
            column = pc.add(pc.if_else(is_nan, pa.scalar(0, column.type), column), pa.scalar(0, column.type))
        # What stands for null is equal everywhere.
        parts[f"v{i}"] = column
        order.append((f"v{i}", direction))
    parts["row"], order = rows["row"], order + [("row", "ascending")]
    return pc.take(rows["row"], pc.sort_indices(pa.table(parts), sort_keys=order)).to_pylist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("marquetry")
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    differing = 0
    for case in range(args.cases):
        rng = random.Random(f"{args.seed} {case}")
        rows = table(rng)
        names = [name for name in rows.column_names if name != "row"]
        keys = [(name, rng.random() < 0.4, rng.random() < 0.4) for name in rng.sample(names, rng.randrange(1, len(names) + 1))]
        text = ",".join(f"{name}:{'desc' if down else 'asc'}:nulls-{'first' if first else 'last'}" for name, down, first in keys)
        with tempfile.TemporaryDirectory() as folder:
            before, after = Path(folder) / "in.parquet", Path(folder) / "out.parquet"
            pq.write_table(rows, before, row_group_size=max(rng.choice([7, 100, 5000]), 1))
            words = [args.marquetry, "convert", before, after, "--sort-by", text, "--report", "none", "--row-group-rows", str(rng.choice([64, 1000, 100000]))]
            words += rng.choice([[], ["--memory-limit", "1MiB"], ["--memory-limit", "1"]])
            done = subprocess.run(words, capture_output=True, text=True)
            wrong = done.returncode and done.stderr
            if not wrong:
                found = pq.read_table(after)["row"].to_pylist()
                expected = sorted_rows(rows, keys)
                at = next((i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), None)
                wrong = len(found) != len(expected) and "another number of rows"
                wrong = wrong or at is not None and f"row {expected[at]} expected at {at}, row {found[at]} found"
            if not wrong:
                verified = subprocess.run([args.marquetry, "verify", "--deep", after], capture_output=True, text=True)
                wrong = verified.returncode and verified.stdout + verified.stderr
            if wrong:
                differing += 1
                types = {name: str(rows.schema.field(name).type) for name in names}
                print(f"case {case} of seed {args.seed}: {text} of {types}, {len(rows)} rows: {str(wrong)[:400]}", flush=True)
    print(f"{args.cases} sorts, {differing} differ")
    sys.exit(1 if differing else 0)


main()

"""What `optimize` makes of files: bytes before and after, how far predictions were off, and whether pyarrow reads the same.

    python .ci/advise/savings.py MARQUETRY [--for GOAL] [--budget TIME] [--most N] [--seconds S] [--quick] FILE_OR_FOLDER...

Of a folder, up to N files are taken that are spread evenly over it. Bytes are the same on a busy machine as long as the budget is not
used up: give a long one. Exits with 1 if a file grew, is read otherwise, or if predictions are off by more than 10 % or in the
median by more than 3 %. Files that pyarrow or the command cannot read are counted and left out. `--quick` makes files
of a few writers, too, and stops beginning new files after so many seconds.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.parquet as pq

WITHIN, MEDIAN = 0.10, 0.03


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("marquetry")
    parser.add_argument("--for", dest="goal", default="size")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    args = parser.parse_intermixed_args()
    start = time.monotonic()
    errors, failed, left_out, before, after = {}, [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        made = generated(pathlib.Path(folder)) if args.quick else []
        out = pathlib.Path(folder, "out.parquet")
        for file in made + [file for path in args.paths for file in files_of(path, args.most)]:
            if time.monotonic() - start > args.seconds:
                break
            try:
                rows = pq.ParquetFile(file).read()
            except Exception:
                left_out += 1
                continue
            command = [args.marquetry, "optimize", file, out, "--overwrite", "--for", args.goal, "--budget", args.budget]
            begun = time.monotonic()
            done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True)
            took = time.monotonic() - begun
            if done.returncode != 0:
                left_out += 1
                print(f"{file}: {done.stderr.strip()}", file=sys.stderr)
                continue
            report = json.loads(done.stdout)
            size = out.stat().st_size
            errors[file] = abs(report["predicted"] - size) / size
            before, after = before + file.stat().st_size, after + size
            also = ", ".join(report["also"])
            figures = [report["before"], report["predicted"], size, f"{errors[file]:.1%}", f"{size / report['before'] - 1:+.1%}"]
            print(*[file.name, *figures, f"{took:.1f} s", also], sep="\t", flush=True)
            if size > file.stat().st_size:
                failed.append(f"{file}: grew")
            if not same(rows, pq.ParquetFile(out).read()):
                failed.append(f"{file}: is read otherwise")
    if not errors:
        print("no file was looked at", file=sys.stderr)
        return 1
    median, worst = statistics.median(errors.values()), max(errors.values())
    within = sum(error <= WITHIN for error in errors.values())
    print(f"{len(errors)} files, {left_out} left out: {before} bytes, now {after} ({1 - after / before:.1%} less)")
    print(f"predictions: median {median:.2%} off, worst {worst:.1%}, within {WITHIN:.0%}: {within}")
    failed += [f"{file}: predicted {error:.1%} off" for file, error in errors.items() if error > WITHIN]
    if median > MEDIAN:
        failed.append("predictions are off by too much in the median")
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


def files_of(path, most):
    """The files of a folder, spread evenly."""
    if path.is_file():
        return [path]
    files = sorted(path.rglob("*.parquet"))
    step = max(len(files) / most, 1)
    return [files[int(i * step)] for i in range(min(most, len(files)))]


def generated(folder):
    """The same table by pyarrow with several settings, and by DuckDB and polars where they are installed."""
    rows = 60_000
    mixed = [(i * 2654435761) % (1 << 32) for i in range(rows)]
    words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven"]
    table = pa.table(
        {
            "id": range(rows),
            "amount": pa.array([number % 100_000 / 100 for number in mixed]),
            "kind": [words[number % 8] for number in mixed],
            "text": [f"{words[number % 8]} {number % 997} {words[number // 8 % 8]}" for number in mixed],
            "day": pa.array([number % 2000 for number in mixed], pa.date32()),
            "code": pa.array([number % 50_000 for number in mixed], pa.int64()),
            "tags": [[words[number % 8], words[number % 5]][: number % 3] for number in mixed],
            "maybe": [None if number % 3 else number % 1000 for number in mixed],
        }
    )
    settings = {
        "snappy": {},
        "gzip": {"compression": "gzip"},
        "none": {"compression": None, "use_dictionary": False},
        "zstd": {"compression": "zstd", "row_group_size": 5_000},
        "v2": {"version": "2.6", "data_page_version": "2.0", "write_page_index": True},
        "tiny": {"row_group_size": 500, "write_statistics": False},
    }
    for name, options in settings.items():
        pq.write_table(table, folder / f"pyarrow-{name}.parquet", **options)
    try:
        import duckdb

        duckdb.from_arrow(table).write_parquet(str(folder / "duckdb.parquet"))
    except ImportError:
        pass
    try:
        import polars

        polars.from_arrow(table).write_parquet(folder / "polars.parquet")
    except ImportError:
        pass
    return sorted(folder.glob("*.parquet"))


def same(left, right):
    """Whether tables are the same; NaN are."""
    if left.equals(right):
        return True
    # What has NaN in it equals nothing.
    return left.schema.equals(right.schema) and repr_rows(left) == repr_rows(right)


def repr_rows(table):
    return [repr(column.to_pylist()) for column in table.columns]


if __name__ == "__main__":
    sys.exit(main())

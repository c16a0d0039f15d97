"""What `optimize` makes of files: bytes before and after, how far predictions were off, and whether pyarrow reads the same.

    python bench/optimize.py MARQUETRY [--for GOAL] [--budget TIME] [--most N] FILE_OR_FOLDER...

Bytes are the same on a busy machine as long as the budget is not used up: give a long one. Exits with 1 if a file grew, or is read
otherwise. Files that pyarrow or the command cannot read are counted and left out.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import pyarrow.parquet


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("marquetry")
    parser.add_argument("--for", dest="goal", default="size")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    files = [file for path in args.paths for file in ([path] if path.is_file() else sorted(path.rglob("*.parquet")))]
    errors, failed, left_out, before, after = [], [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out.parquet")
        for file in files[: args.most]:
            try:
                rows = pyarrow.parquet.ParquetFile(file).read()
            except Exception:
                left_out += 1
                continue
            command = [args.marquetry, "optimize", file, out, "--overwrite", "--for", args.goal, "--budget", args.budget]
            done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True)
            if done.returncode != 0:
                left_out += 1
                print(f"{file}: {done.stderr.strip()}", file=sys.stderr)
                continue
            report = json.loads(done.stdout)
            size = out.stat().st_size
            error = abs(report["predicted"] - size) / size
            errors.append(error)
            before, after = before + file.stat().st_size, after + size
            print(f"{file.name}\t{report['before']}\t{report['predicted']}\t{size}\t{error:.1%}")
            if size > file.stat().st_size:
                failed.append(f"{file}: grew")
            if not same(rows, pyarrow.parquet.ParquetFile(out).read()):
                failed.append(f"{file}: is read otherwise")
    if errors:
        within = sum(error <= 0.1 for error in errors)
        print(f"{len(errors)} files, {left_out} left out: {before} bytes, now {after} ({1 - after / before:.1%} less)")
        print(f"predictions: median {statistics.median(errors):.2%} off, worst {max(errors):.1%}, within 10 %: {within}")
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed or not errors else 0


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

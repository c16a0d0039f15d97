"""Runs all commands on files that ask for much, each with a gibibyte of address space and ten seconds of the processor:
python run.py MARQUETRY FILES [--seconds 10] [--only TEXT] [--free]

A command may end with 0, 1 or 2. A signal, and a command that does not end, are failures. --free takes the cap on memory away,
to see what a command takes by itself."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from capped import COMMANDS, Runs, run

#: What takes as long as what was asked for: splitting these makes a file for each two rows, and a terabyte is searched for pages.
LONG = {"split": ("many_", "repeated_", "columns_of_one_page", "row_groups_", "long_", "wide_entry"), "recover": ("sparse_",)}

#: 64 GiB of text, and 16 TiB of it: of these, 64 rows are read and converted.
ENDLESS = ("repeated_entry_65536", "wide_entry")


def arguments(command, file, folder):
    names = {"IN": str(file), "DIR": str(folder), "COLUMN": column(file)}
    done = [names.get(word, str(folder / word.replace("OUT", "out")) if word.startswith("OUT") else word) for word in command]
    return done if "IN" in command else done + [str(file)]


def column(file):
    first = {"bomb": "c0", "columns": "c0", "long_names": "n" * 100_000 + ".c0", "long": "s", "repeated": "s", "one_list": "l.list.a"}
    first |= {"one_string": "s0", "wide_null": "l.list.element", "wide_entry": "f"}
    return next((name for prefix, name in first.items() if file.name.startswith(prefix)), "a")


def places(folder):
    """Paths that are not files, or lead in circles, and what is told of each."""
    os.mkfifo(folder / "fifo.parquet")
    deep = folder / "deep"
    (deep / Path(*["d"] * 900)).mkdir(parents=True)
    loop = folder / "loop"
    loop.mkdir()
    for name, to in (("up", ".."), ("here", "."), ("itself", "itself")):
        (loop / name).symlink_to(to)
    return [folder / "fifo.parquet", deep, loop, folder / "loop" / "itself", Path("/dev/zero"), Path("/dev/stdin"), Path("/proc/self/maps")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("marquetry")
    parser.add_argument("files", type=Path)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--only", default="")
    parser.add_argument("--command", default="")
    parser.add_argument("--free", action="store_true")
    args = parser.parse_args()
    runs = Runs()

    def words(command, path, out):
        few = ["--limit", "64"] if command[0] in ("cat", "convert") and path.name.startswith(ENDLESS) else []
        return arguments(command, path, Path(out)) + few

    def one(path):
        for command in COMMANDS:
            if args.only not in path.name or args.command not in " ".join(command):
                continue
            if path.name.startswith(LONG.get(command[0], ())):
                continue
            with tempfile.TemporaryDirectory() as out:
                ran = run(args.marquetry, words(command, path, out), args.seconds, not args.free)
            runs.add(*ran, f"{' '.join(command)} {path.name}")

    for file in sorted(args.files.glob("*.parquet")):
        one(file)
    with tempfile.TemporaryDirectory() as folder:
        for path in places(Path(folder)):
            one(path)
    runs.print()
    sys.exit(1 if runs.failed else 0)


main()

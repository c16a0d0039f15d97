"""Runs all commands on files that ask for much, each with a gibibyte of address space and ten seconds:
python run.py MARQUETRY FILES [--seconds 10] [--only TEXT] [--free]

A command may end with 0, 1 or 2. A signal, and a command that does not end, are failures. --free takes the cap on memory away,
to see what a command takes by itself."""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GIB = 1 << 30
COMMANDS = [
    ["schema"], ["meta"], ["meta", "--format", "json"], ["pages"], ["pages", "--format", "json"], ["index"], ["index", "--format", "json"],
    ["size"], ["size", "--format", "json"], ["dictionary", "-c", "COLUMN"], ["head"], ["head", "--format", "json"], ["cat"],
    ["cat", "--format", "json"], ["cat", "--on-corrupt", "skip-page", "--format", "json"], ["count"], ["verify"], ["verify", "--deep"],
    ["convert", "IN", "OUT.parquet"], ["convert", "IN", "OUT.arrow"], ["convert", "IN", "OUT.csv"],
    ["convert", "IN", "OUT.parquet", "--memory-limit", "100MiB"], ["rewrite", "--statistics", "IN", "OUT.parquet"],
    ["rewrite", "--statistics", "--compression", "zstd:1", "--add-index", "IN", "OUT.parquet"], ["merge", "IN", "-o", "OUT.parquet"],
    ["split", "--rows", "2", "IN", "--out-dir", "DIR"], ["recover", "IN", "OUT.parquet"],
]
#: Splitting these makes a file for each two rows, which is what was asked for.
PIECES = ("many_", "repeated_", "columns_of_one_page", "row_groups_")


def arguments(command, file, folder):
    names = {"IN": str(file), "DIR": str(folder), "COLUMN": column(file)}
    done = [names.get(word, str(folder / word.replace("OUT", "out")) if word.startswith("OUT") else word) for word in command]
    return done if "IN" in command else done + [str(file)]


def column(file):
    first = {"bomb": "c0", "columns": "c0", "long_names": "n" * 100_000 + ".c0", "long": "s", "repeated": "s", "one": "l.list.a", "wide": "l.list.element"}
    return next((name for prefix, name in first.items() if file.name.startswith(prefix)), "a")


def run(marquetry, words, seconds, cap):
    def limits():
        if cap:
            resource.setrlimit(resource.RLIMIT_AS, (GIB, GIB))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    begin = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            [marquetry, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limits, env=os.environ | {"RUST_BACKTRACE": "0"}
        )
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - begin > seconds:
                child.kill()
                _, status, usage = os.wait4(child.pid, 0)
                return "time", usage, ""
            time.sleep(0.005)
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        return child.returncode, usage, errors.read(2000).decode(errors="replace").strip().split("\n")[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("marquetry")
    parser.add_argument("files", type=Path)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--only", default="")
    parser.add_argument("--command", default="")
    parser.add_argument("--free", action="store_true")
    args = parser.parse_args()
    runs, failed = [], 0
    for file in sorted(args.files.glob("*.parquet")):
        for command in COMMANDS:
            if args.only not in file.name or args.command not in " ".join(command):
                continue
            if command[0] == "split" and file.name.startswith(PIECES):
                continue
            with tempfile.TemporaryDirectory() as folder:
                code, usage, error = run(args.marquetry, arguments(command, file, Path(folder)), args.seconds, not args.free)
            seconds, mib = usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10
            runs.append((mib, seconds, file.name, " ".join(command), code))
            if code not in (0, 1, 2):
                failed += 1
                print(f"FAILED {code}: {' '.join(command)} {file.name}, {mib} MiB, {seconds:.1f} s: {error[:200]}", flush=True)
    print(f"{len(runs)} runs, {failed} failed")
    for name, key in [("memory", 0), ("time", 1)]:
        print(f"most {name}:")
        for mib, seconds, file, command, code in sorted(runs, key=lambda run: -run[key])[:10]:
            print(f"  {mib:5} MiB {seconds:6.1f} s  exit {code}  {command} {file}")
    sys.exit(1 if failed else 0)


main()

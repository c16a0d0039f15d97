"""Changes real files at random, and runs commands on them, each with a gibibyte of address space and ten seconds of the processor:
python mutate.py MARQUETRY DIRECTORY.. [--cases 300] [--first 0] [--commands 1] [--seed 1] [--seconds 10] [--keep DIRECTORY]

Bits are flipped, bytes replaced, ranges cut out, doubled or taken from another file, and all of that in the footer too. A case is
one changed file and so many commands; its number and the seed give it again, so that several processes can share the cases out. A
command may end with 0, 1 or 2: a signal, a panic and a command that does not end are failures, and their files are kept."""

import argparse
import functools
import random
import struct
import sys
import tempfile
from pathlib import Path

from capped import COMMANDS, Runs, run

MOST_BYTES = 1 << 20
EDITS = [["append", "IN", "OTHER"], ["drop-row-group", "IN", "0"], ["meta", "set", "IN", "a=b"], ["merge", "IN", "OTHER", "OUT.parquet"]]
EDITS += [["explain", "--where", "COLUMN is not null", "--scan"], ["count", "--where", "COLUMN is null"]]


def sources(directories):
    files = [path for top in directories for path in sorted(top.rglob("*.parquet"))]
    return [path for path in files if path.is_file() and 12 <= path.stat().st_size <= MOST_BYTES]


def parts(data):
    """What is before the footer, and the footer, if there is one."""
    length = struct.unpack("<I", data[-8:-4])[0] if data[-4:] == b"PAR1" else 0
    return (data[: -8 - length], data[-8 - length : -8]) if 0 < length <= len(data) - 12 else (data, b"")


def mutated(data, others, rng):
    body, footer = (bytearray(part) for part in parts(data))
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        edit(footer if footer and rng.random() < 0.5 else body, others, rng)
    # A footer of another length is found all the same, mostly.
    length = len(footer) if rng.random() < 0.9 else rng.randrange(1 << 32)
    data = bytes(body + footer) + (struct.pack("<I", length) + b"PAR1" if footer else b"")
    return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.1 else data


def edit(data, others, rng):
    if not data:
        return
    at = rng.randrange(len(data))
    length = min(rng.choice([1, 2, 4, 8, 64, 1024]), len(data) - at)
    kind = rng.randrange(7)
    if kind == 0:
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        data[at : at + length] = rng.randbytes(length)
    elif kind == 2:
        data[at : at + length] = rng.choice([b"\0", b"\xff", b"\x80"]) * length
    elif kind == 3:
        del data[at : at + length]
    elif kind == 4:
        data[at:at] = data[at : at + length]
    elif kind == 5:
        other = rng.choice(others).read_bytes()
        start = rng.randrange(len(other))
        data[at : at + length] = other[start : start + length]
    else:
        # A number of Thrift becomes a large one.
        data[at : at + 1] = rng.choice([b"\xfe\xff\xff\xff\x0f", b"\xff\xff\xff\xff\x0f", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("marquetry")
    parser.add_argument("directories", nargs="+", type=Path)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--commands", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    files, runs = sources(args.directories), Runs()
    commands = COMMANDS + EDITS
    for case in range(args.first, args.first + args.cases):
        rng = random.Random(f"{args.seed} {case}")
        file, other = rng.choice(files), rng.choice(files)
        data = mutated(file.read_bytes(), files, rng)
        for command in rng.sample(commands, args.commands):
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                path = folder / "in.parquet"
                # Some commands change it.
                path.write_bytes(data)
                code, usage, error = run(args.marquetry, arguments(command, path, other, folder), args.seconds, True)
            what = f"{' '.join(command)}, case {case} of seed {args.seed}, {file.name}"
            if not runs.add(code, usage, error, what) and args.keep:
                args.keep.mkdir(parents=True, exist_ok=True)
                (args.keep / f"{args.seed}-{case}.parquet").write_bytes(data)
    runs.print()
    sys.exit(1 if runs.failed else 0)


def arguments(command, path, other, folder):
    names = {"IN": str(path), "OTHER": str(other), "DIR": str(folder / "pieces"), "OUT.parquet": str(folder / "out.parquet")}
    names |= {f"OUT.{kind}": str(folder / f"out.{kind}") for kind in ("arrow", "csv", "html")}
    # No argument of a process can have a zero byte.
    column = first_column(other).replace("\0", "")
    done = [names.get(word, word.replace("COLUMN", column)) for word in command]
    return done if "IN" in command else done + [str(path)]


@functools.cache
def first_column(path):
    """Of another file: most have it not, but the name is one."""
    import pyarrow.parquet as pq

    try:
        return '"' + pq.read_schema(path).names[0].replace('"', '""') + '"'
    except Exception:
        return "a"


main()

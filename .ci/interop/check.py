"""Has other libraries read our files, and us read theirs. Called by run.sh."""

import argparse
import concurrent.futures
import pickle
import sys
import tempfile
import time
import zlib
from pathlib import Path

import changes
import datasets
import encryption
import filters
import footer_statistics
import known
import matrix
import merged
import readers
import recovery
import theirs
import variants
import verified
from generate import generate


def processes():
    return concurrent.futures.ProcessPoolExecutor(2, mp_context=matrix.PROCESSES)


def is_worth_trying(peer, row):
    """fastparquet fails on most of what is nested, slowly."""
    return peer != "fastparquet" or row["nesting"] == "flat" or row["nulls"] == "some"


def check_matrix(args, folder, ledger):
    rows = generate(args.binary, "matrix", str(folder), *(["--full"] if args.full else []))
    if args.quick:
        # Chosen by their names: every n-th would have the same codec or page version.
        is_chosen = lambda row: zlib.crc32(row["file"].encode()) % 4 == 0
        for row in rows:
            if not is_chosen(row):
                (folder / row["file"]).unlink()
        rows = list(filter(is_chosen, rows))
    print(f"{len(rows)} files for the matrix", flush=True)
    # Threads that wait for processes.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        tasks = []
        for peer in args.peers:
            chosen = [row for row in rows if args.full or is_worth_trying(peer, row)]
            for at in range(0, len(chosen), 100):
                tasks.append(pool.submit(matrix.check_files, peer, folder, chosen[at : at + 100]))
        results = matrix.check_ours(args.binary, folder, rows)
        for task in tasks:
            results.extend(task.result())
    for peer, row, columns, failures in results:
        for column in columns:
            ledger.note(peer, row["encoding"], {**row, "column": column}, failures.get(column))


def check_filters(args, folder, ledger):
    rows = generate(args.binary, "filters", str(folder))
    peers = [peer for peer in args.peers if peer in filters.CHECKS]
    with processes() as pool:
        tasks = [pool.submit(filters.check_file, (peer, folder, row)) for row in rows for peer in peers]
        for task in tasks:
            for peer, case, failure in task.result():
                ledger.note(peer, "filters", case, failure)


def check_theirs(args, folder, ledger):
    with processes() as pool:
        tasks = [pool.submit(theirs.check, args.binary, folder / peer, peer) for peer in args.peers]
        for task in tasks:
            for peer, case, failure in task.result():
                ledger.note(peer, "theirs, read by us", case, failure)


def check_datasets(args, folder, ledger):
    with processes() as pool:
        tasks = [pool.submit(datasets.check, args.binary, folder / peer, peer) for peer in args.peers]
        for task in tasks:
            for peer, case, failure in task.result():
                ledger.note(peer, "datasets, read by us", case, failure)


def check_changes(args, folder, ledger):
    for peer, what, case, failure in changes.check(args.cli, folder, args.peers, processes):
        ledger.note(peer, what, case, failure)
    for peer, what, case, failure in merged.check(args.cli, folder / "merged", [peer for peer in args.peers if peer in changes.MOST_UNREAD]):
        ledger.note(peer, what, case, failure)


def check_variants(args, folder, ledger):
    for peer, case, failure in variants.check(args.cli, folder, args.peers):
        ledger.note(peer, "variants", case, failure)


def check_recovery(args, folder, ledger):
    with processes() as pool:
        tasks = [pool.submit(recovery.check, args.cli, folder / peer, peer) for peer in args.peers]
        for task in tasks:
            for peer, what, case, failure in task.result():
                ledger.note(peer, "recovered: " + what, case, failure)


def check_encryption(args, folder, ledger):
    for peer, case, failure in encryption.check(args.cli):
        if peer in args.peers:
            ledger.note(peer, "encryption", case, failure)


def check_statistics(args, folder, ledger):
    """Of the files of others that the parts before have left, and of a corpus where there is one."""
    for peer, case, failure in footer_statistics.check(args.binary, folder.parent, folder):
        ledger.note(peer, "statistics", case, failure)


def check_verified(args, folder, ledger):
    """Of the files that the parts before have left."""
    for writer, case, failure in verified.check(args.cli, folder.parent):
        ledger.note(writer, "verified", case, failure)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", help="the example `interop`")
    parser.add_argument("cli", help="the command `marquetry`")
    parser.add_argument("--full", action="store_true", help="every codec with everything")
    parser.add_argument("--quick", action="store_true", help="a quarter of the matrix")
    parser.add_argument("--folder", help="keep the files here")
    parser.add_argument("--peers", nargs="*", default=list(readers.READERS))
    parser.add_argument("--parts", nargs="*", default=[part for part in PARTS if part != "recovery"])
    parser.add_argument("--dump", help="write all unexpected failures here")
    args = parser.parse_args()
    ledger = known.Ledger(args.peers, args.parts, args.quick)
    print(", ".join(f"{peer} {readers.version(peer)}" for peer in args.peers))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(args.folder or temporary)
        for name, part in PARTS.items():
            if name in args.parts:
                begin = time.monotonic()
                part(args, folder / name, ledger)
                print(f"{name}: {time.monotonic() - begin:.0f} s", flush=True)
    if args.dump:
        Path(args.dump).write_bytes(pickle.dumps(ledger.unexpected))
    ledger.print_summary()
    ledger.print_unexpected()
    wrong = len(ledger.unexpected) + len(ledger.stale())
    print(f"\n{wrong} unexpected" if wrong else "\nas expected")
    sys.exit(1 if wrong else 0)


PARTS = {
    "matrix": check_matrix,
    "filters": check_filters,
    "theirs": check_theirs,
    "datasets": check_datasets,
    "changes": check_changes,
    "variants": check_variants,
    "encryption": check_encryption,
    "recovery": check_recovery,
    "statistics": check_statistics,
    "verify": check_verified,
}

if __name__ == "__main__":
    main()

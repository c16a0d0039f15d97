"""Encrypted lineitem: Marquetry, the `parquet` crate and pyarrow in one run.

    cargo build --profile dist -p marquetry-bench
    pip install pyarrow==26.*
    python bench/encrypted.py target/dist/marquetry-bench --sf 1

The benchmark writes its files, plain and by AES-GCM and AES-CTR, and measures both Rust sides in turn. Then pyarrow reads the same
files, and writes the same rows, on one thread. All of it is done `--rounds` times; the best of each counts.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

KEY = b"0123456789012345"
WAYS = {"plain": None, "gcm": "AES_GCM_V1", "ctr": "AES_GCM_CTR_V1"}


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def pyarrow_times(folder):
    """Seconds by row."""
    times = {}
    for way, algorithm in WAYS.items():
        path = str(folder / f"lineitem-{way}.parquet")
        reading = pe.create_decryption_properties(KEY) if algorithm else None
        seconds, table = timed(lambda: pq.read_table(path, use_threads=False, decryption_properties=reading))
        times[f"lineitem_snappy_{way}_read"] = seconds
        writing = pe.create_encryption_properties(KEY, encryption_algorithm=algorithm) if algorithm else None
        times[f"lineitem_snappy_{way}_write"], _ = timed(
            lambda: pq.write_table(table, pa.BufferOutputStream(), compression="snappy", encryption_properties=writing)
        )
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("--sf", default="1")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    pa.set_cpu_count(1)
    best = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for _ in range(options.rounds):
            command = [options.bench, "encrypted", "--sf", options.sf, "--rounds", "1", "--json", "--write-to", name]
            rows = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
            beside = pyarrow_times(folder)
            for row in rows:
                found = {"ours": row.get("ours"), "parquet": row.get("peer"), "pyarrow": beside[row["name"]]}
                for side, seconds in found.items():
                    seconds = seconds["best"] if isinstance(seconds, dict) else seconds
                    if seconds is not None:
                        known = best.setdefault(row["name"], {}).get(side)
                        best[row["name"]][side] = seconds if known is None else min(known, seconds)
    print(f"pyarrow {pa.__version__}; seconds, on one thread; in brackets the cost of encryption\n")
    print("| row | ours | parquet | pyarrow |\n|---|--:|--:|--:|")
    for name, times in best.items():
        plain = best[name.replace("_gcm_", "_plain_").replace("_ctr_", "_plain_")]
        cell = lambda side: f"{times[side]:.3f} ({100 * times[side] / plain[side] - 100:+.0f} %)" if side in times else "-"
        print(f"| `{name}` | " + " | ".join(cell(side) for side in ("ours", "parquet", "pyarrow")) + " |")


if __name__ == "__main__":
    main()

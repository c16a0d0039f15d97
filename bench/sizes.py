"""File sizes of several Parquet writers for the same tables and codecs, as one Markdown table.

    cargo run --profile dist -p marquetry-bench -- sizes
    pip install pyarrow==26.* duckdb==2.* polars==2.*
    python bench/sizes.py target/bench-data/sizes

The first command writes each table as Arrow IPC, and as Parquet by Marquetry and by the `parquet` crate. This script
writes the same tables with pyarrow, DuckDB and polars by their defaults and that codec, Zstandard at level 1, and again
with row groups of 1,048,576 rows where their default is another. Every file of Marquetry is read with pyarrow and
compared with the table first. `--columns` adds a table for each row: bytes of each column by each writer.

Two columns are not by defaults, and are for each other: `marquetry-latest` may take all encodings of the format, and
`duckdb-v2` was asked for PARQUET_VERSION V2, with the delta encodings and BYTE_STREAM_SPLIT, and row groups as large.
"""

import argparse
import pathlib
import sys

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

SAME_ROWS = 1 << 20  # the default of Marquetry, the `parquet` crate and pyarrow
LEVEL = {"zstd": 1}


def by_pyarrow(table, path, codec, rows):
    pq.write_table(table, path, compression=codec, compression_level=LEVEL.get(codec), row_group_size=rows)


def by_duckdb(table, path, codec, rows, version="V1"):
    options = [f"FORMAT parquet, COMPRESSION {codec}, PARQUET_VERSION {version}"]
    if codec in LEVEL:
        options.append(f"COMPRESSION_LEVEL {LEVEL[codec]}")
    if rows:
        options.append(f"ROW_GROUP_SIZE {rows}")
    with duckdb.connect() as connection:
        # Rows in the order of the input, in row groups of full size.
        connection.execute("SET threads = 1; SET preserve_insertion_order = true")
        connection.register("input", table)
        connection.execute(f"COPY input TO '{path}' ({', '.join(options)})")


def by_duckdb_v2(table, path, codec, rows):
    by_duckdb(table, path, codec, rows, "V2")


def by_polars(table, path, codec, rows):
    frame = polars.from_arrow(table, rechunk=False)
    frame.write_parquet(path, compression=codec, compression_level=LEVEL.get(codec), row_group_size=rows)


WRITERS = [
    ("pyarrow", by_pyarrow, None),
    ("duckdb", by_duckdb, None),
    ("duckdb-1Mi", by_duckdb, SAME_ROWS),
    ("polars", by_polars, None),
    ("polars-1Mi", by_polars, SAME_ROWS),
]
V2 = ("duckdb-v2", by_duckdb_v2, SAME_ROWS)
OURS, LATEST = "marquetry", "marquetry-latest"
BY_DEFAULT = [OURS, "parquet-rs"] + [name for name, _, _ in WRITERS]
NAMES = [*BY_DEFAULT, LATEST, V2[0]]


def check(table, path):
    """Our file must hold what was written."""
    read = pq.read_table(path)
    for name in table.column_names:
        if not read[name].cast(table[name].type).equals(table[name]):
            sys.exit(f"{path}: column {name} differs")


def columns(path):
    """Compressed bytes and encodings of every leaf column."""
    metadata = pq.read_metadata(path)
    leaves = {}
    for group in (metadata.row_group(i) for i in range(metadata.num_row_groups)):
        for chunk in (group.column(i) for i in range(group.num_columns)):
            size, encodings = leaves.get(chunk.path_in_schema, (0, set()))
            leaves[chunk.path_in_schema] = (size + chunk.total_compressed_size, encodings | set(chunk.encodings))
    return list(leaves.items())


def print_columns(folder, stem):
    files = {name: columns(folder / f"{stem}.{name}.parquet") for name in NAMES}
    print(f"\n### {stem}: bytes of columns\n")
    print("| column | " + " | ".join(NAMES) + " |\n|---" + "|--:" * len(NAMES) + "|")
    short = {"PLAIN_DICTIONARY": "dict", "RLE_DICTIONARY": "dict", "DELTA_BINARY_PACKED": "dbp",
             "DELTA_LENGTH_BYTE_ARRAY": "dlba", "DELTA_BYTE_ARRAY": "dba", "BYTE_STREAM_SPLIT": "bss"}
    for i, (path, (ours, _)) in enumerate(files[OURS]):
        cells = []
        for name in NAMES:
            _, (size, encodings) = files[name][i]
            tags = "+".join(sorted({short.get(e, e.lower()) for e in encodings} - {"rle", "bit_packed"}))
            cells.append(f"{'**' if size < ours else ''}{size:,}{'**' if size < ours else ''} {tags}")
        print(f"| `{path}` | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--filter", default="", help="only tables with this in their name")
    parser.add_argument("--columns", action="store_true", help="also bytes of each column")
    parser.add_argument("--again", action="store_true", help="write the peers' files even if they are there")
    options = parser.parse_args()
    folder, stems, larger = options.folder, [], 0
    print(f"pyarrow {pa.__version__}, DuckDB {duckdb.__version__}, polars {polars.__version__}; bytes\n")
    titles = [*BY_DEFAULT, "to the smallest", LATEST, V2[0]]
    print("| table, codec | " + " | ".join(titles) + " |\n|---" + "|--:" * len(titles) + "|")
    for ipc in sorted(ipc for ipc in folder.glob("*.arrow") if options.filter in ipc.stem):
        table = None
        for ours in sorted(folder.glob(f"{ipc.stem}.*.{OURS}.parquet")):
            stem = ours.name.removesuffix(f".{OURS}.parquet")
            codec = stem.rsplit(".", 1)[1]
            table = table or pa.ipc.open_file(pa.memory_map(str(ipc))).read_all()
            check(table, ours)
            check(table, folder / f"{stem}.{LATEST}.parquet")
            for name, write, rows in [*WRITERS, V2]:
                path = folder / f"{stem}.{name}.parquet"
                if options.again or not path.exists() or path.stat().st_mtime < ipc.stat().st_mtime:
                    write(table, path, codec, rows)
            sizes = [(folder / f"{stem}.{name}.parquet").stat().st_size for name in NAMES]
            cells = [f"{size:,}" for size in sizes]
            ratio = sizes[0] / min(sizes[1 : len(BY_DEFAULT)])
            larger += ratio > 1
            cells.insert(len(BY_DEFAULT), f"{ratio:.4f}")
            print(f"| {ipc.stem}, {codec} | " + " | ".join(cells) + " |", flush=True)
            stems.append(stem)
    if options.columns:
        for stem in stems:
            print_columns(folder, stem)
    return larger > 0


if __name__ == "__main__":
    sys.exit(main())

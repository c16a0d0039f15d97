"""Writes lineitem and hits with other writers, by their defaults and with some options, for `marquetry-bench -- scan --files`.

    cargo run --profile dist -p marquetry-bench -- scan --rounds 1
    pip install pyarrow==26.* duckdb==2.* polars==2.*
    python bench/foreign.py target/bench-data/foreign
    cargo run --profile dist -p marquetry-bench -- scan --files target/bench-data/foreign/*.parquet

The first command generates the tables. Files are named TABLE.WRITER[-OPTION].parquet; those that are there are kept.
That with INT96 has the timestamps alone; of lineitem, which has none, there is no such file.
"""

import argparse
import pathlib

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

TABLES = ["lineitem", "hits"]


def is_text(field):
    return pa.types.is_string(field.type) or pa.types.is_large_string(field.type)


def split(table):
    """BYTE_STREAM_SPLIT for all that has a fixed width."""
    return {field.name: "PLAIN" if is_text(field) else "BYTE_STREAM_SPLIT" for field in table.schema}


def delta(table):
    """The delta encoding that fits the type; decimals are stored as fixed bytes."""
    def encoding(field):
        if is_text(field):
            # Both of those for strings: neighbours in sorted columns have much in common.
            return "DELTA_BYTE_ARRAY" if field.name.endswith(("URL", "comment")) else "DELTA_LENGTH_BYTE_ARRAY"
        return "DELTA_BYTE_ARRAY" if pa.types.is_decimal(field.type) else "DELTA_BINARY_PACKED"

    return {field.name: encoding(field) for field in table.schema}


def by_pyarrow(table, path, **options):
    encodings = options.pop("encodings", None)
    if encodings:
        options |= {"use_dictionary": False, "column_encoding": encodings(table)}
    pq.write_table(table, path, **options)


def by_pyarrow_int96(table, path):
    """The timestamps alone: among a hundred columns they would not be seen."""
    names = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
    pq.write_table(table.select(names), path, use_deprecated_int96_timestamps=True)


def by_duckdb(table, path, **options):
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1; SET preserve_insertion_order = true")
        connection.register("input", table)
        clauses = ["FORMAT parquet"] + [f"{key} {value}" for key, value in options.items()]
        connection.execute(f"COPY input TO '{path}' ({', '.join(clauses)})")


def by_polars(table, path, **options):
    polars.from_arrow(table, rechunk=False).write_parquet(path, **options)


WRITERS = [
    ("pyarrow", by_pyarrow, {}),
    ("pyarrow-zstd", by_pyarrow, {"compression": "zstd"}),
    ("pyarrow-plain", by_pyarrow, {"use_dictionary": False}),
    ("pyarrow-v2", by_pyarrow, {"data_page_version": "2.0"}),
    ("pyarrow-split", by_pyarrow, {"encodings": split}),
    ("pyarrow-delta", by_pyarrow, {"encodings": delta, "data_page_version": "2.0"}),
    ("pyarrow-int-decimals", by_pyarrow, {"store_decimal_as_integer": True}),
    ("pyarrow-int96", by_pyarrow_int96, {}),
    ("duckdb", by_duckdb, {}),
    ("duckdb-zstd", by_duckdb, {"COMPRESSION": "zstd"}),
    ("duckdb-v2", by_duckdb, {"PARQUET_VERSION": "V2"}),
    ("polars", by_polars, {}),
    ("polars-snappy", by_polars, {"compression": "snappy"}),
    ("polars-uncompressed", by_polars, {"compression": "uncompressed"}),
]


def read(path):
    """The table, with its text as all writers take it."""
    table = pq.read_table(path)
    plain = [field.with_type(pa.string()) if pa.types.is_string_view(field.type) else field for field in table.schema]
    return table.cast(pa.schema(plain))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="where the files go")
    parser.add_argument("--data", type=pathlib.Path, help="where `scan` keeps its files; default: the folder above")
    parser.add_argument("--filter", default="", help="only files with this in their name")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        found = sorted((options.data or options.folder.parent).glob(f"{name}-sf*-snappy.parquet"))
        if not found:
            raise SystemExit(f"no {name}-sf*-snappy.parquet: run `marquetry-bench -- scan` first")
        table = None
        for writer, write, settings in WRITERS:
            path = options.folder / f"{name}.{writer}.parquet"
            if options.filter not in path.stem or path.exists():
                continue
            table = table or read(found[-1])
            if write is by_pyarrow_int96 and not any(pa.types.is_timestamp(field.type) for field in table.schema):
                continue
            unfinished = path.with_suffix(".unfinished")
            write(table, str(unfinished), **settings)
            rows = pq.read_metadata(unfinished).num_rows
            if rows != table.num_rows:
                raise SystemExit(f"{path}: {rows} rows, not {table.num_rows}")
            unfinished.rename(path)
            print(f"{path}: {path.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()

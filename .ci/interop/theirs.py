"""Files that other libraries write, for us to read: each as they can write it, and what is in it as Arrow IPC."""

import datetime
import decimal
import itertools
import random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import canon
import matrix
import readers

ROWS = 700


def leaves():
    """Columns of each type."""
    rng = random.Random(5)
    n = ROWS
    whole = lambda bits: [rng.getrandbits(rng.randrange(1, bits)) * rng.choice([1, -1]) for _ in range(n)]
    natural = lambda bits: [rng.getrandbits(rng.randrange(1, bits + 1)) for _ in range(n)]
    floats = [float("nan"), 0.0, -0.0, float("inf"), -float("inf")] + [rng.randrange(10**6) / 100 for _ in range(n - 5)]
    texts = ["", "ä木🌳", "x" * 500] + [f"https://example.org/{i // 5}" for i in range(n - 3)]
    blobs = [b"", b"\xff" * 70] + [rng.randbytes(rng.randrange(30)) for _ in range(n - 2)]
    days = [rng.randrange(-90_000, 90_000) for _ in range(n)]
    instants = [rng.randrange(-(2**62), 2**62) for _ in range(n)]
    of_day = [rng.randrange(86_400_000_000_000) for _ in range(n)]
    digits = lambda p, s: [
        decimal.Decimal(rng.randrange(-(10**p) + 1, 10**p)).scaleb(-s, decimal.Context(prec=80)) for _ in range(n)
    ]
    columns = {"bool": pa.array([rng.random() < 0.3 for _ in range(n)])}
    for bits, t in [(8, pa.int8()), (16, pa.int16()), (32, pa.int32()), (64, pa.int64())]:
        columns[f"i{bits}"] = pa.array(whole(bits), t)
    for bits, t in [(8, pa.uint8()), (16, pa.uint16()), (32, pa.uint32()), (64, pa.uint64())]:
        columns[f"u{bits}"] = pa.array(natural(bits), t)
    columns["f16"] = pa.array(np.array(floats, np.float16))
    columns["f32"] = pa.array(floats, pa.float32())
    columns["f64"] = pa.array(floats, pa.float64())
    for p, s in [(5, 2), (9, 0), (18, 4), (25, 3), (38, 10)]:
        columns[f"dec_{p}_{s}"] = pa.array(digits(p, s), pa.decimal128(p, s))
    columns["dec256"] = pa.array(digits(60, 5), pa.decimal256(60, 5))
    columns["utf8"] = pa.array(texts)
    columns["large_utf8"] = pa.array(texts, pa.large_string())
    columns["utf8_view"] = pa.array(texts, pa.string_view())
    columns["binary"] = pa.array(blobs, pa.binary())
    columns["fixed_7"] = pa.array([rng.randbytes(7) for _ in range(n)], pa.binary(7))
    columns["dict"] = pa.array([f"color {i * i % 13}" for i in range(n)]).dictionary_encode()
    columns["date"] = pa.array(days, pa.int32()).cast(pa.date32())
    columns["time_ms"] = pa.array([t // 10**6 for t in of_day], pa.int32()).cast(pa.time32("ms"))
    columns["time_us"] = pa.array([t // 10**3 for t in of_day], pa.int64()).cast(pa.time64("us"))
    columns["time_ns"] = pa.array(of_day, pa.int64()).cast(pa.time64("ns"))
    for unit, by in [("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1)]:
        columns[f"ts_{unit}"] = pa.array([t // by for t in instants], pa.int64()).cast(pa.timestamp(unit))
        columns[f"ts_{unit}_utc"] = columns[f"ts_{unit}"].cast(pa.int64()).cast(pa.timestamp(unit, "UTC"))
    columns["duration"] = pa.array([t // 10**3 for t in instants], pa.int64()).cast(pa.duration("us"))
    columns["null"] = pa.nulls(n)
    return columns


def with_nulls(array, how):
    if how == "none" or pa.types.is_null(array.type):
        return array
    rows = [None if how == "all" or i % 7 == 3 or 300 < i < 360 else i for i in range(len(array))]
    if array.type == pa.string_view():  # pyarrow takes nothing from it
        return pa.array([None if row is None else array[row].as_py() for row in rows], array.type)
    return array.take(pa.array(rows, pa.int64()))


def nested(array, nesting, how):
    """The column as it is, or in lists or maps or structs, a third as many."""
    array = with_nulls(array, how)
    if nesting == "flat":
        return array
    lengths = [[2, 0, 1, 3, 1, 1][i % 6] for i in range(len(array) // 2)]
    missing = [how != "none" and i % 11 == 4 for i in range(len(lengths))]
    lengths = [0 if gone else n for n, gone in zip(lengths, missing)]
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    mask = pa.array(missing)
    array = array.slice(0, sum(lengths))
    if nesting == "list":
        return pa.ListArray.from_arrays(offsets, array, mask=mask)
    if nesting == "map":
        keys = pa.array([f"k{k}" for n in lengths for k in range(n)])
        return pa.MapArray.from_arrays(offsets, keys, array, mask=mask)
    parts = pa.StructArray.from_arrays([array, pa.array(range(len(array)), pa.int32())], ["v", "n"])
    return pa.ListArray.from_arrays(offsets, parts, mask=mask)


def legal(data_type, encoding):
    """Whether pyarrow writes this encoding for the type."""
    t = pa.types
    if t.is_list(data_type) or t.is_map(data_type):
        return False
    integer = t.is_integer(data_type) or t.is_date(data_type) or t.is_time(data_type) or t.is_timestamp(data_type)
    integer = integer or t.is_duration(data_type)
    text = canon.is_text(data_type) or t.is_binary(data_type) or t.is_dictionary(data_type)
    fixed = t.is_fixed_size_binary(data_type) or t.is_decimal(data_type) or data_type == pa.float16()
    return {
        "PLAIN": True,
        "RLE": t.is_boolean(data_type),
        "DELTA_BINARY_PACKED": integer,
        "DELTA_LENGTH_BYTE_ARRAY": text,
        "DELTA_BYTE_ARRAY": text or fixed,
        "BYTE_STREAM_SPLIT": integer or fixed or data_type in (pa.float32(), pa.float64()),
    }[encoding]


ENCODINGS = ["PLAIN", "RLE", "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"]
CODECS = ["SNAPPY", "ZSTD", "GZIP", "BROTLI", "LZ4", "NONE"]


def tables():
    """The nested columns of each kind."""
    columns = leaves()
    for nesting, how in itertools.product(["flat", "list", "map", "struct"], ["none", "some", "all"]):
        yield nesting, how, pa.table({name: nested(array, nesting, how) for name, array in columns.items()})
    yield "flat", "empty", pa.table({name: array.slice(0, 0) for name, array in columns.items()})


def by_pyarrow(folder):
    """Every encoding, codec and page version that pyarrow has; the codecs take turns."""
    codecs = itertools.cycle(CODECS)
    for nesting, how, table in tables():
        for encoding, version in itertools.product([*ENCODINGS, "dictionary", "default"], ["1.0", "2.0"]):
            codec = next(codecs)
            part = table
            if nesting == "struct":  # pyarrow cannot slice such a column
                part = table = table.drop_columns([name for name in ["utf8_view"] if name in table.column_names])
            options = {}
            if encoding in ENCODINGS:
                def leaf(t):
                    while not (pa.types.is_struct(t) or pa.types.is_primitive(t)) and canon.is_list(t):
                        t = t.item_type if pa.types.is_map(t) else t.value_type
                    return t.field(0).type if pa.types.is_struct(t) else t

                names = [field.name for field in table.schema if legal(leaf(field.type), encoding)]
                part = table.select(names)
                suffix = {"flat": "", "list": ".list.element", "map": ".key_value.value", "struct": ".list.element.v"}
                options["column_encoding"] = {name + suffix[nesting]: encoding for name in names}
                options["use_dictionary"] = False
            elif encoding == "dictionary":
                options["dictionary_pagesize_limit"] = 500
            path = folder / f"pyarrow-{encoding}-{codec}-v{version}-{nesting}-{how}.parquet"
            pq.write_table(
                part, path, compression=codec, data_page_version=version, data_page_size=1000, row_group_size=400,
                write_page_index=True, write_page_checksum=True, write_batch_size=50, **options,
            )
            yield path, part, {"encoding": encoding, "codec": codec, "version": version, "nesting": nesting, "nulls": how}
    for name, options in {
        "int96": {"use_deprecated_int96_timestamps": True},
        "no-arrow-schema": {"store_schema": False},
        "spark": {"flavor": "spark"},
        "version-1.0": {"version": "1.0"},
        "decimals-as-integers": {"store_decimal_as_integer": True},
        "old-lists": {"use_compliant_nested_type": False},
    }.items():
        for nesting, how, table in tables():
            if name != "old-lists" and nesting != "flat" or nesting == "flat" and name == "old-lists":
                continue
            if name in ("int96", "spark", "version-1.0"):
                # Units are not kept, and seconds of 64 bits do not fit.
                kept = [field.name for field in table.schema if not field.name.startswith(("ts_s", "ts_ms"))]
                table = table.select([name for name in kept if not name.startswith(("time_ns", "ts_us", "duration"))])
            if name == "version-1.0":
                table = table.drop_columns(["ts_ns", "ts_ns_utc"])
            if nesting == "struct":  # pyarrow cannot slice such a column
                table = table.drop_columns(["utf8_view"])
            path = folder / f"pyarrow-{name}-{nesting}-{how}.parquet"
            try:
                pq.write_table(table, path, **options)
            except pa.ArrowException as error:
                print(f"pyarrow does not write {path.name}: {error}")
                continue
            yield path, table, {"encoding": name, "nesting": nesting, "nulls": how}


def by_duckdb(folder):
    connection = readers.duckdb_connection()
    codecs = itertools.cycle(["snappy", "zstd", "gzip", "brotli", "lz4_raw", "uncompressed"])
    for nesting, how, table in tables():
        # DuckDB has no dictionaries of its own, and no such types.
        table = table.drop_columns(["null", "dec256", "f16", "duration"])
        for version in ["V1", "V2"]:
            codec = next(codecs)
            path = folder / f"duckdb-{codec}-{version}-{nesting}-{how}.parquet"
            connection.register("source", table)
            connection.execute("CREATE OR REPLACE TEMP TABLE stored AS SELECT * FROM source")
            connection.unregister("source")
            connection.execute(
                f"COPY stored TO '{path}' (FORMAT parquet, CODEC {codec}, PARQUET_VERSION {version}, ROW_GROUP_SIZE 2048)"
            )
            stored = connection.sql("SELECT * FROM stored").to_arrow_table()
            yield path, stored, {"encoding": version, "codec": codec, "nesting": nesting, "nulls": how}


def by_polars(folder):
    import polars

    codecs = itertools.cycle(["snappy", "zstd", "gzip", "brotli", "lz4", "uncompressed"])
    for nesting, how, table in tables():
        frame = polars.from_arrow(table.drop_columns(["dec256", "fixed_7"]))
        for page_size in [None, 1000]:
            codec = next(codecs)
            path = folder / f"polars-{codec}-{page_size}-{nesting}-{how}.parquet"
            frame.write_parquet(path, compression=codec, data_page_size=page_size, row_group_size=300)
            yield path, frame.to_arrow(), {"encoding": "default", "codec": codec, "nesting": nesting, "nulls": how}


def by_fastparquet(folder):
    import fastparquet
    import pandas

    codecs = itertools.cycle(["SNAPPY", "ZSTD", "GZIP", "BROTLI", "LZ4", None])
    for nesting, how, table in tables():
        if nesting != "flat":
            continue
        kept = [
            name for name in table.column_names
            if not name.startswith(("time_", "null", "duration", "date", "dec", "large", "utf8_view", "fixed", "ts_s", "ts_ms", "ts_us"))
        ]
        if how in ("all", "empty"):  # what Python's objects are is guessed from their values
            kept = [name for name in kept if name not in ("utf8", "binary", "dict")]
        table = table.select(kept)
        frame = pandas.DataFrame({name: as_pandas(table.column(name)) for name in kept})
        for times, row_groups in itertools.product(["int64", "int96"], [1000, 300]):
            codec = next(codecs)
            path = folder / f"fastparquet-{codec}-{times}-{row_groups}-{how}.parquet"
            names = kept if times == "int64" else [name for name in kept if not name.endswith("utc")]
            fastparquet.write(
                str(path), frame[names], compression=codec, times=times, row_group_offsets=row_groups, write_index=False
            )
            yield path, table.select(names), {"encoding": times, "codec": str(codec), "nesting": nesting, "nulls": how}


def as_pandas(column):
    import pandas

    t = pa.types
    if t.is_integer(column.type):
        return column.to_pandas(types_mapper=lambda t: getattr(pandas, NULLABLE[str(t)])())
    if t.is_boolean(column.type):
        return column.to_pandas(types_mapper=lambda t: pandas.BooleanDtype())
    if canon.is_text(column.type):
        return pandas.Series(column.to_pylist(), dtype=object)
    return column.to_pandas()


NULLABLE = {f"{sign}int{bits}": f"{big}Int{bits}Dtype" if sign == "" else f"UInt{bits}Dtype"
            for sign, big in [("", ""), ("u", "U")] for bits in (8, 16, 32, 64)}

WRITERS = {"pyarrow": by_pyarrow, "duckdb": by_duckdb, "polars": by_polars, "fastparquet": by_fastparquet}


def check(binary, folder, peer):
    """(peer, case, failure) for each column of each file."""
    folder.mkdir(parents=True, exist_ok=True)
    written = list(WRITERS[peer](folder))
    pairs = [(path, path.with_suffix(".arrow")) for path, _, _ in written]
    errors = readers.read_all_ours(binary, pairs)
    results = []
    for (path, table, case), (_, arrow) in zip(written, pairs):
        got = None if str(path) in errors else readers.read_ipc(arrow)
        for name in table.column_names:
            failure = errors.get(str(path))
            if failure is None:
                try:
                    check_column(peer, got[name], canon.one_array(table.column(name)))
                except Exception as error:
                    failure = matrix.message_of(error)
            results.append((peer, {**case, "file": path.name, "column": name, "part": "theirs"}, failure))
    return results


def check_column(peer, got, want):
    """Raises `Differs` unless we read what was written."""
    if peer == "fastparquet" and pa.types.is_floating(want.type):
        # Nulls are NaN to pandas.
        got, want = (pc.fill_null(array, float("nan")) for array in (got, want))
    canon.check_same(canon.canon_chunks(got, want.type), canon.canon(want, want.type))

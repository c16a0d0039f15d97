"""Spark reads our files, with both of its readers, and we read Spark's. Called by spark.sh."""

import argparse
import collections
import functools
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

import canon
import matrix
import readers
from generate import generate


def session():
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.memory", "2g")
        .config("spark.sql.files.maxPartitionBytes", "1g")
        .config("spark.sql.parquet.inferTimestampNTZ.enabled", "true")
        .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
        .config("spark.sql.timestampType", "TIMESTAMP_NTZ")
        .getOrCreate()
    )


def read(spark, path, columns=None):
    frame = spark.read.parquet(str(path))
    if columns is not None:
        frame = frame.select(*columns)
    table = frame.coalesce(1).toArrow()
    return {name: table.column(name) for name in table.column_names}


def short(error):
    """The message without Java's stack, and without places."""
    text = str(error)
    for line in text.splitlines():
        if "Caused by:" in line and "SparkException" not in line:
            return matrix.message_of(RuntimeError(line.strip()))
    return matrix.message_of(error)


def compare(got, want, canonical):
    canon.check_same(canon.canon_chunks(got, want.type), canonical)


def wrong_columns(spark, folder, row):
    """The columns that are not read right, with the message."""
    wanted = matrix.truth(folder / row["truth"])
    failures = {}
    try:
        got = read(spark, folder / row["file"])
    except Exception as error:
        if len(row["columns"]) == 1:
            return {row["columns"][0]: short(error)}
        got = None
    for name in row["columns"]:
        try:
            column = got[name] if got is not None else read(spark, folder / row["file"], [name])[name]
            compare(column, *wanted[name])
        except Exception as error:
            failures[name] = short(error)
    return failures


def read_ours(spark, binary, folder, readers_of_spark=("true", "false")):
    """What Spark makes of each encoding; the columns that it cannot take at all are found first."""
    apart = generate(binary, "matrix", str(folder / "apart"), "--apart")
    bad = {}
    for row in apart:
        bad.update(wrong_columns(spark, folder / "apart", row))
    print("\n== types that Spark does not read, or reads as another type (AUTO-maximum, V1)")
    for name, message in bad.items():
        print(f"    {name}: {message}")
    good = [row["columns"][0] for row in apart if row["columns"][0] not in bad]
    print("types that it reads:", ", ".join(good))
    rows = generate(binary, "matrix", str(folder / "matrix"), "--columns", ",".join(good))
    for vectorized in readers_of_spark:
        spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorized)
        nulls = ("some", "required") if vectorized == "true" else ("some",)
        taken = collections.defaultdict(lambda: [0, collections.defaultdict(set)])
        for row in rows:
            # Spark comes without BROTLI.
            if row["nulls"] not in nulls or row["codec"] == "BROTLI":
                continue
            count = taken[row["encoding"], row["version"]]
            failures = wrong_columns(spark, folder / "matrix", row)
            count[0] += len(row["columns"]) - len(failures)
            for name, message in failures.items():
                count[1][message].add(f"{name} ({row['nesting']}, {row['codec']})")
        print(f"\n== {'vectorised' if vectorized == 'true' else 'row by row'}: encoding, pages: columns right; what is wrong")
        for (encoding, version), (right, wrong) in taken.items():
            print(f"{encoding:24} V{version} {right:5} right", flush=True)
            for message, columns in wrong.items():
                print(f"        {len(columns)} wrong: {message}\n            {', '.join(sorted(columns)[:40])}")
    spark.conf.set("spark.sql.parquet.enableVectorizedReader", "true")


def filter_ours(spark, binary, folder):
    """Filters, which Spark holds against statistics, dictionaries, bloom filters and column indexes."""
    rows = generate(binary, "filters", str(folder / "filters"))
    chosen = ["i64", "i32", "i16", "date", "ts_us", "ts_us_utc", "dec_9_2", "dec_18_4", "dec_38_10", "bool", "f64", "f32",
              "f64_nan", "f32_nan", "f64_zero", "utf8", "dict", "utf8_long", "utf8_last", "random_i64", "random_utf8"]
    wrong = tried = 0
    for row in rows:
        if row["name"] not in ("default", "v2", "short-bounds"):
            continue
        path = str(folder / "filters" / row["file"])
        frame = spark.read.schema(spark_schema(folder / "filters" / row["truth"], chosen)).parquet(path)
        frame.createOrReplaceTempView("on_file")
        all_rows = frame.toArrow()
        spark.createDataFrame(all_rows, schema=frame.schema).createOrReplaceTempView("in_memory")
        types = dict(frame.dtypes)
        for name in chosen:
            filters = filters_of(all_rows.column(name), types[name])
            cases = ", ".join(f"collect_list(CASE WHEN `{name}` {text} THEN row END)" for text in filters)
            wanted = spark.sql(f"SELECT {cases} FROM in_memory").collect()[0]
            for text, want in zip(filters, wanted):
                tried += 1
                got = spark.sql(f"SELECT collect_list(row) FROM on_file WHERE `{name}` {text}").collect()[0][0]
                if sorted(want) != sorted(got):
                    wrong += 1
                    print(f"WRONG: {row['file']} {name} {text}: {len(got)} rows instead of {len(want)}")
    print(f"\n== filters on our files: {tried} tried, {wrong} wrong", flush=True)


def filters_of(column, type_name):
    """Conditions on a column, with some of its values."""
    values = sorted({value for value in column.to_pylist() if value is not None and value == value})
    texts = [str(values[round(place * (len(values) - 1))]) for place in (0, 0.4, 1.0)]
    first, middle, last = ["CAST('{}' AS {})".format(text.replace("+00:00", ""), type_name) for text in texts]
    filters = ["IS NULL", f"IN ({first}, {last})", f"= {middle}", f"= {last}", f"<> {middle}", f"< {middle}", f">= {middle}"]
    if type_name in ("double", "float"):
        filters += [f"= CAST('NaN' AS {type_name})", f"> CAST('Infinity' AS {type_name})", "= -0.0D"]
    return filters


def spark_schema(truth, chosen):
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    schema = pa.ipc.open_file(pa.memory_map(str(truth))).schema
    plain = lambda t: t.value_type if pa.types.is_dictionary(t) else t
    return StructType([
        StructField(name, from_arrow_type(plain(schema.field(name).type), prefer_timestamp_ntz=True), True)
        for name in ["row", *chosen]
    ])


def read_theirs(spark, binary, folder):
    """Files by Spark, with all that it can do to them."""
    import theirs

    wrong = tried = 0
    kept = ["bool", "i8", "i16", "i32", "i64", "f32", "f64", "dec_5_2", "dec_18_4", "dec_38_10", "utf8", "binary", "date",
            "ts_us", "ts_us_utc", "dict"]
    settings = [
        {"compression": codec, "parquet.writer.version": version, "parquet.enable.dictionary": dictionary}
        for codec in ["snappy", "gzip", "zstd", "lz4_raw", "uncompressed"]
        for version in ["v1", "v2"]
        for dictionary in ["true", "false"]
    ]
    settings += [{"spark.sql.parquet.outputTimestampType": t} for t in ("INT96", "TIMESTAMP_MILLIS")]
    settings += [{"spark.sql.parquet.writeLegacyFormat": "true"}, {"parquet.page.size": "2000", "parquet.block.size": "20000"}]
    for nesting, how, table in theirs.tables():
        if how == "empty":
            continue
        table = table.select(kept)
        # Spark has no dictionaries.
        table = pa.table({name: unpacked(table.column(name)) for name in kept})
        frame = spark.createDataFrame(table)
        for number, options in enumerate(settings):
            path = folder / "theirs" / f"{nesting}-{how}-{number}"
            usual = {key: spark.conf.get(key) for key in options if key.startswith("spark.")}
            for key in usual:
                spark.conf.set(key, options[key])
            frame.coalesce(1).write.mode("overwrite").options(**options).parquet(str(path))
            for key, value in usual.items():
                spark.conf.set(key, value)
            file = next(path.glob("*.parquet"))
            arrow = path / "ours.arrow"
            errors = readers.read_all_ours(binary, [(file, arrow)])
            got = None if errors else readers.read_ipc(arrow)
            # INT96 is not said to be UTC, and milliseconds are not all of a value.
            not_times = [name for name in kept if not name.startswith("ts_")]
            for name in not_times if "spark.sql.parquet.outputTimestampType" in options else kept:
                tried += 1
                try:
                    if errors:
                        raise canon.Differs(errors[str(file)])
                    want = canon.one_array(table.column(name))
                    canon.check_same(canon.canon_chunks(got[name], want.type), canon.canon(want, want.type))
                except Exception as error:
                    wrong += 1
                    print(f"WRONG: by Spark, {options}, {nesting}, {how}, {name}: {matrix.message_of(error)}")
    print(f"\n== Spark's files read by us: {tried} columns, {wrong} wrong", flush=True)


def unpacked(column):
    array = canon.one_array(column)
    t = array.type
    if pa.types.is_dictionary(t):
        return array.dictionary_decode()
    if canon.is_list(t) and "dictionary" in str(t):
        return pa.array(array.to_pylist(), theirs_type(t))
    return array


def theirs_type(t):
    if pa.types.is_dictionary(t):
        return t.value_type
    if pa.types.is_map(t):
        return pa.map_(t.key_type, theirs_type(t.item_type))
    if pa.types.is_list(t):
        return pa.list_(theirs_type(t.value_type))
    if pa.types.is_struct(t):
        return pa.struct([(field.name, theirs_type(field.type)) for field in t])
    return t


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--folder")
    parser.add_argument("--parts", nargs="*", default=["ours", "filters", "theirs"], help="ours, ours-by-row, filters, theirs")
    args = parser.parse_args()
    spark = session()
    spark.sparkContext.setLogLevel("OFF")
    print("Spark", spark.version)
    rows_only = functools.partial(read_ours, readers_of_spark=["false"])
    parts = {"ours": read_ours, "ours-by-row": rows_only, "filters": filter_ours, "theirs": read_theirs}
    with tempfile.TemporaryDirectory() as temporary:
        for name in args.parts:
            parts[name](spark, args.binary, Path(args.folder or temporary))


if __name__ == "__main__":
    main()

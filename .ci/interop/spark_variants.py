"""Shredded variants: Spark reads ours, of each shape, and we read Spark's. Called by spark.sh --variants.

    spark_variants.py COMMAND
"""

import glob
import json
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

import variants

READ = ["row", "to_json(v) AS text", "v IS NULL AS is_missing", "try_variant_get(v, '$.id', 'long') AS id"]


def as_doubles(value):
    """Spark writes numbers of doubles in its own way: all are compared as doubles."""
    return None if value is None else json.loads(json.dumps(value, default=float), parse_int=float)


def wrong(rows, want):
    """Rows as Spark gives them, with what a path leads to."""
    found = [None if row.is_missing else as_doubles(variants.parsed(row.text)) for row in rows]
    ids = [row.id for row in rows]
    want_ids = [value["v"].get("id") if value and isinstance(value["v"], dict) else None for value in want]
    want_ids = [i if type(i) is int else None for i in want_ids]
    return variants.difference(found, [as_doubles(value) for value in want]) or variants.difference(ids, want_ids)


def main():
    cli = sys.argv[1]
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.variant.writeShredding.enabled", "true")
    builder = builder.config("spark.sql.variant.inferShreddingSchema", "true")
    spark = builder.config("spark.sql.parquet.variant.annotateLogicalType.enabled", "true").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    texts = [variants.text_of(i) for i in range(variants.ROWS)]
    want = [variants.parsed(text) for text in texts]
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        source = folder / "rows.jsonl"
        lines = [f'{{"row": {i}' + (f', "v": {text}' if text else "") + "}" for i, text in enumerate(texts)]
        source.write_text("\n".join(lines) + "\n")
        for name, shape in variants.SHAPES.items():
            path = folder / f"{name}.parquet"
            options = ["--schema", "row int64, v variant", "--shred", f"v={shape}"]
            variants.run(cli, "convert", source, path, *options)
            read = lambda: wrong(spark.read.parquet(str(path)).selectExpr(*READ).orderBy("row").collect(), want)
            failure = variants.attempt(read)
            failures += failure is not None
            print(f"Spark reads {name}: {failure or 'right'}", flush=True)
        # Spark shreds nothing where there are other values beside objects.
        texts = [text if text and text.startswith('{"id"') else None for text in texts]
        want = [variants.parsed(text) for text in texts]
        rows = spark.createDataFrame(list(enumerate(texts)), "row long, text string")
        written = folder / "spark"
        rows.selectExpr("row", "parse_json(text) AS v").coalesce(1).write.parquet(str(written))
        [path] = glob.glob(f"{written}/*.parquet")
        shapes = json.loads(variants.run(cli, "meta", path, "--format", "json"))["shredding"]
        got = [None if value is None else {"v": value} for value in variants.our_rows(cli, path)]
        expected = [as_doubles(value) for value in want]
        failure = variants.difference([as_doubles(value) for value in got], expected)
        failure = failure or (None if shapes else "nothing is shredded")
        failures += failure is not None
        print(f"we read Spark's, shredded as {shapes}: {failure or 'right'}")
    spark.stop()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

"""Encrypted files: parquet-java, in Spark, reads ours, and we read its. Called by spark.sh --encryption.

Master keys are given to both; parquet-java wraps with them locally. There is no other implementation that writes AES_GCM_CTR_V1
with keys of columns, and key material outside of files as Spark has it.

    spark_encryption.py COMMAND
"""

import glob
import itertools
import json
import os
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
from pyspark.sql import SparkSession

import encryption

MASTERS = {"kf": "0123456789012345", "kn": "1234567890123450", "kt": "1234567890123451"}
COLUMNS = "kn: name; kt: tags.list.element"
CODECS = ["snappy", "zstd", "uncompressed", "gzip"]


def compiled(folder):
    """The client of the KMS, as a jar's folder of classes."""
    jars = os.path.join(os.path.dirname(pyspark.__file__), "jars", "*")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "GivenKeys.java")
    subprocess.run(["javac", "-cp", jars, "-d", folder, source], check=True)
    jar = os.path.join(folder, "given-keys.jar")
    subprocess.run(["jar", "cf", jar, "-C", folder, "GivenKeys.class"], check=True)
    return jar


def session(jar):
    hadoop = {
        "parquet.crypto.factory.class": "org.apache.parquet.crypto.keytools.PropertiesDrivenCryptoFactory",
        "parquet.encryption.kms.client.class": "GivenKeys",
        "given.keys": ";".join(f"{name}={key}" for name, key in MASTERS.items()),
    }
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.jars", jar).config("spark.driver.extraClassPath", jar)
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.driver.memory", "2g")
    for name, value in hadoop.items():
        builder = builder.config(f"spark.hadoop.{name}", value)
    return builder.getOrCreate()


def cases():
    choices = itertools.product(encryption.ALGORITHMS, [False, True], ["uniform", "columns", "complete"], [True, False], [True, False])
    for number, (algorithm, plain, how, double, internal) in enumerate(choices):
        bits = [128, 192, 256][number % 3]
        yield algorithm, plain, how, double, internal, bits, CODECS[number % 4], ["v1", "v2"][number // 2 % 2]


def properties(algorithm, plain, how, double, internal, bits):
    out = {"uniform.key": "kf"} if how == "uniform" else {"footer.key": "kf", "column.keys": COLUMNS}
    out |= {"complete.columns": "true"} if how == "complete" else {}
    out |= {"algorithm": algorithm, "plaintext.footer": str(plain).lower(), "double.wrapping": str(double).lower()}
    out |= {"key.material.store.internally": str(internal).lower(), "data.key.length.bits": str(bits)}
    return {f"parquet.encryption.{name}": value for name, value in out.items()}


def main():
    cli = sys.argv[1]
    expected = encryption.table()
    wrong, tried = [], 0
    with tempfile.TemporaryDirectory() as folder:
        spark = session(compiled(folder))
        spark.sparkContext.setLogLevel("OFF")
        print("Spark", spark.version, flush=True)
        tool = encryption.Tool(cli, folder)
        plain_file = os.path.join(folder, "source.parquet")
        pq.write_table(expected, plain_file)
        frame = spark.read.parquet(plain_file).coalesce(1)
        masters = {"master_keys": {name: f"utf8:{key}" for name, key in MASTERS.items()}}

        def theirs(chosen, internal, codec, version):
            path = os.path.join(folder, "theirs")
            writer = frame.write.mode("overwrite").options(**chosen)
            writer.option("compression", codec).option("parquet.writer.version", version).parquet(path)
            [file] = glob.glob(f"{path}/part-*.parquet")
            kms = dict(masters)
            if not internal:
                [kms["key_material"]] = glob.glob(f"{path}/_KEY_MATERIAL_FOR_*.json")
            encryption.same(tool.read(file, {"kms": kms}), expected)
            tool.run("verify", "--deep", file, keys={"kms": kms})

        def ours(chosen, internal, codec, version):
            path = os.path.join(folder, "ours")
            os.makedirs(path, exist_ok=True)
            for old in glob.glob(f"{path}/*"):
                os.remove(old)
            kms = dict(masters)
            if not internal:
                kms["key_material"] = os.path.join(path, "_KEY_MATERIAL_FOR_ours.parquet.json")
            tool.write(
                expected,
                os.path.join(path, "ours.parquet"),
                {"kms": kms} | chosen,
                "--page-version",
                version[1],
                "--compression",
                codec.replace("uncompressed", "none"),
            )
            for vectorized in ("true", "false"):
                spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorized)
                read = spark.read.parquet(os.path.join(path, "ours.parquet"))
                encryption.same(read.coalesce(1).toArrow(), expected)
                found = read.where("id = 77").collect()
                assert [row["name"] for row in found] == ["name 12"], found

        for algorithm, plain, how, double, internal, bits, codec, version in cases():
            chosen = properties(algorithm, plain, how, double, internal, bits)
            for side in (theirs, ours):
                tried += 1
                # It takes the levels of V2 pages to be in the open, as it leaves them: ours are V1.
                version = version if side is theirs else "v1"
                try:
                    side(chosen, internal, codec, version)
                except Exception as error:  # noqa: BLE001
                    lines = [line for line in str(error).splitlines() if line.strip()]
                    caused = [line for line in lines if "Caused by" in line] or lines[:1]
                    name = f"{side.__name__}, {algorithm}, plain footer {plain}, {how}, double wrapping {double}, "
                    name += f"material {'in' if internal else 'beside'} the file, {bits} bits, {codec}, {version}"
                    wrong.append(f"{name}: {type(error).__name__}: {caused[-1][:300] if caused else ''}")
    print(f"encryption with parquet-java: {tried} cases, {len(wrong)} wrong", *wrong, sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

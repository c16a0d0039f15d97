"""Encrypted files: pyarrow and DuckDB read ours, and we read theirs.

pyarrow has keys directly where all is under one key, and by its layer for key management for columns: a toy KMS, whose wrapped keys
are the keys themselves in base64, gives both sides the same ones; our command asks it by a program. DuckDB's dialect is read and written on request.

Alone: encryption.py COMMAND
"""

import base64
import itertools
import json
import os
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

KEYS = {16: b"0123456789012345", 24: b"012345678901234567890123", 32: b"01234567890123456789012345678901"}
OTHER = {16: b"1234567890123450", 24: b"123456789012345678901230", 32: b"12345678901234567890123456789012"}
ALGORITHMS = ["AES_GCM_V1", "AES_GCM_CTR_V1"]
ROWS = 1000
DUCKDB = ["--encryption-dialect", "duckdb"]


def table():
    return pa.table(
        {
            "id": pa.array(range(ROWS), pa.int64()),
            "name": pa.array([None if i % 7 == 3 else f"name {i % 13}" for i in range(ROWS)]),
            "price": pa.array([i * 0.25 for i in range(ROWS)], pa.float64()),
            "tags": pa.array([list(range(i % 4)) for i in range(ROWS)], pa.list_(pa.int32())),
        }
    )


def text(key):
    return "base64:" + base64.b64encode(key).decode()


class Tool:
    """The command, with keys in the environment."""

    def __init__(self, cli, folder):
        self.cli, self.folder = cli, folder

    def run(self, *args, keys=None, encrypt=None):
        env = dict(os.environ, READ=json.dumps(keys), WRITE=json.dumps(encrypt))
        args = [*args, *(["--key-env", "READ"] if keys else []), *(["--encrypt-env", "WRITE"] if encrypt else [])]
        done = subprocess.run([self.cli, *map(str, args)], capture_output=True, text=True, env=env)
        assert done.returncode == 0, f"{' '.join(map(str, args))}: {done.stderr}"
        return done.stdout

    def read(self, path, keys, *args):
        out = os.path.join(self.folder, "read.arrow")
        self.run("convert", path, out, "--overwrite", *args, keys=keys)
        with pa.OSFile(out) as file:
            return pa.ipc.open_file(file).read_all()

    def write(self, table, path, encrypt, *args):
        plain = os.path.join(self.folder, "plain.parquet")
        pq.write_table(table, plain)
        self.run("convert", plain, path, "--overwrite", *args, encrypt=encrypt)


def same(found, expected):
    found = found.select(expected.column_names).cast(expected.schema)
    assert found.equals(expected), "other values"


class Kms(pe.KmsClient):
    """Wraps by base64, and remembers which data keys there were."""

    seen = {}

    def __init__(self, _):
        pe.KmsClient.__init__(self)

    def wrap_key(self, key_bytes, master_key_identifier):
        Kms.seen.setdefault(master_key_identifier, []).append(bytes(key_bytes))
        return base64.b64encode(key_bytes)

    def unwrap_key(self, wrapped_key, master_key_identifier):
        return base64.b64decode(wrapped_key)


def factory():
    return pe.CryptoFactory(Kms)


def material(master, key, is_footer):
    """Key metadata as pyarrow's layer writes it."""
    out = {"keyMaterialType": "PKMT1", "internalStorage": True, "isFooterKey": is_footer, "masterKeyID": master}
    out |= {"kmsInstanceID": "DEFAULT", "kmsInstanceURL": "DEFAULT"} if is_footer else {}
    return json.dumps(out | {"doubleWrapping": False, "wrappedDEK": base64.b64encode(key).decode()})


def direct(tool, folder):
    """One key for all."""
    expected = table()
    choices = itertools.product(ALGORITHMS, KEYS, [False, True], [None, b"prefix"])
    for number, (algorithm, bits, plain, prefix) in enumerate(choices):
        version, codec = ("1.0", "2.0")[number % 2], ("snappy", "zstd", "none")[number % 3]
        name = f"direct {algorithm} {8 * bits} bits, plain footer {plain}, prefix {prefix}, V{version} {codec}"
        path = os.path.join(folder, "direct.parquet")

        def theirs():
            writing = pe.create_encryption_properties(
                KEYS[bits], aad_prefix=prefix, encryption_algorithm=algorithm, plaintext_footer=plain
            )
            pq.write_table(
                expected,
                path,
                encryption_properties=writing,
                compression=codec,
                data_page_version=version,
                write_page_index=True,
                row_group_size=400,
            )
            same(tool.read(path, {"footer_key": text(KEYS[bits])}), expected)

        def ours():
            encrypt = {"footer_key": text(KEYS[bits]), "algorithm": algorithm, "plaintext_footer": plain}
            encrypt |= {"aad_prefix": text(prefix)} if prefix else {}
            tool.write(expected, path, encrypt, "--page-version", version[0], "--compression", codec)
            reading = pe.create_decryption_properties(KEYS[bits], aad_prefix=prefix)
            same(pq.read_table(path, decryption_properties=reading), expected)

        yield name + ", theirs", theirs
        yield name + ", ours", ours


def columns(tool, folder):
    """Keys of columns, by the layer for key management."""
    expected = table()
    for algorithm, bits, plain in itertools.product(ALGORITHMS, KEYS, [False, True]):
        name = f"columns {algorithm} {8 * bits} bits, plain footer {plain}"
        path = os.path.join(folder, "columns.parquet")
        connection = pe.KmsConnectionConfig()

        def theirs():
            Kms.seen.clear()
            config = pe.EncryptionConfiguration(
                footer_key="kf",
                column_keys={"kn": ["name"], "kt": ["tags.list.element"]},
                encryption_algorithm=algorithm,
                plaintext_footer=plain,
                double_wrapping=False,
                data_key_length_bits=8 * bits,
            )
            writing = factory().file_encryption_properties(connection, config)
            pq.write_table(expected, path, encryption_properties=writing, write_page_index=True)
            keys = {"footer_key": text(Kms.seen["kf"][0])}
            keys["column_keys"] = {"name": text(Kms.seen["kn"][0]), "tags.list.element": text(Kms.seen["kt"][0])}
            same(tool.read(path, keys), expected)

        def ours():
            encrypt = {
                "footer_key": text(KEYS[bits]),
                "footer_key_metadata": material("kf", KEYS[bits], True),
                "column_keys": {"name": {"key": text(OTHER[bits]), "metadata": material("kn", OTHER[bits], False)}},
                "algorithm": algorithm,
                "plaintext_footer": plain,
            }
            tool.write(expected, path, encrypt)
            reading = factory().file_decryption_properties(connection)
            same(pq.read_table(path, decryption_properties=reading), expected)

        yield name + ", theirs", theirs
        yield name + ", ours", ours


PROGRAM = """
import base64, json, sys
asked = json.load(sys.stdin)
if asked["action"] == "wrap":
    print(json.dumps({"wrapped": asked["key"]}))
else:
    print(json.dumps({"key": asked["wrapped"]}))
"""


def kms(tool, folder):
    """All of the layer for key management: material in the file and beside it, both wrappings, rotation."""
    expected = table()
    program = os.path.join(folder, "kms.py")
    with open(program, "w") as file:
        file.write(PROGRAM)
    connection = pe.KmsConnectionConfig()
    choices = itertools.product([True, False], [True, False], ALGORITHMS, [False, True], KEYS)
    for double, internal, algorithm, plain, bits in choices:
        path = os.path.join(folder, "kms.parquet")
        beside = os.path.join(folder, "_KEY_MATERIAL_FOR_kms.parquet.json")
        ask = {"command": [sys.executable, program]} | ({} if internal else {"key_material": beside})
        their_path = {} if internal else {"parquet_file_path": path}

        def theirs():
            config = pe.EncryptionConfiguration(
                footer_key="kf",
                column_keys={"kn": ["name"], "kt": ["tags.list.element"]},
                encryption_algorithm=algorithm,
                plaintext_footer=plain,
                double_wrapping=double,
                internal_key_material=internal,
                data_key_length_bits=8 * bits,
            )
            writing = factory().file_encryption_properties(connection, config, **their_path)
            pq.write_table(expected, path, encryption_properties=writing, write_page_index=True)
            same(tool.read(path, {"kms": ask}), expected)
            if not internal:
                before = open(beside).read()
                tool.run("rotate-keys", path, keys={"kms": {"command": ask["command"]}})
                assert open(beside).read() != before, "nothing was wrapped anew"
                same(tool.read(path, {"kms": ask}), expected)
                reading = factory().file_decryption_properties(connection, **their_path)
                same(pq.read_table(path, decryption_properties=reading), expected)

        def ours():
            name = "parquet.encryption."
            encrypt = {
                "kms": ask,
                name + "footer.key": "kf",
                name + "column.keys": "kn: name; kt: tags.list.element",
                name + "algorithm": algorithm,
                name + "plaintext.footer": plain,
                name + "double.wrapping": double,
                name + "key.material.store.internally": internal,
                name + "data.key.length.bits": 8 * bits,
            }
            tool.write(expected, path, encrypt)
            reading = lambda: factory().file_decryption_properties(connection, **their_path)
            same(pq.read_table(path, decryption_properties=reading()), expected)
            if not internal:
                factory().rotate_master_keys(connection, path, double_wrapping=double)
                same(pq.read_table(path, decryption_properties=reading()), expected)
            same(tool.read(path, {"kms": ask}), expected)

        name = f"KMS {'double' if double else 'single'}, material {'in the file' if internal else 'beside it'}, "
        name += f"{algorithm} {8 * bits} bits, plain footer {plain}"
        yield name + ", theirs", theirs
        yield name + ", ours", ours


def dialect(tool, folder):
    """DuckDB's."""
    import duckdb

    expected = table()
    path = os.path.join(folder, "duckdb.parquet")
    for bits, key in KEYS.items():
        connection = duckdb.connect()
        # What it has without an extension is not random enough for it to write with.
        connection.execute("SET force_mbedtls_unsafe = 'true'")
        connection.execute(f"PRAGMA add_parquet_key('k', '{key.decode()}')")

        for version, codec in itertools.product(["1", "2"], ["snappy", "zstd", "none"]):

            def theirs():
                connection.register("t", expected)
                options = f"PARQUET_VERSION V{version}, COMPRESSION {codec.replace('none', 'uncompressed')}"
                options += ", ROW_GROUP_SIZE 2048, ENCRYPTION_CONFIG {footer_key: 'k'}"
                connection.execute(f"COPY (FROM t, range(5)) TO '{path}' (FORMAT parquet, {options})")
                query = f"FROM read_parquet('{path}', encryption_config = {{footer_key: 'k'}})"
                asked = {"keys": {"footer_key": text(key)}}
                same(tool.read(path, asked["keys"], *DUCKDB), connection.sql(query).to_arrow_table())
                tool.run("verify", "--deep", path, *DUCKDB, **asked)
                found = tool.run("cat", path, "--where", "id = 77", "--format", "json", *DUCKDB, **asked)
                assert found.count("name 12") == 5, found

            def ours():
                tool.write(
                    expected,
                    path,
                    {"footer_key": text(key), "dialect": "duckdb"},
                    "--page-version",
                    version,
                    "--compression",
                    codec,
                    "--row-group-rows",
                    "300",
                )
                query = f"FROM read_parquet('{path}', encryption_config = {{footer_key: 'k'}})"
                same(connection.sql(query).to_arrow_table(), expected)
                assert connection.execute(query + " WHERE id = 77").fetchall()[0][1] == "name 12"

            yield f"DuckDB {8 * bits} bits V{version} {codec}, theirs", theirs
            # DuckDB 2.0.0 ends as a whole, for all that comes after, at levels of V2 pages that 2.0.1 reads.
            if version == "1" or duckdb.__version__ != "2.0.0":
                yield f"DuckDB {8 * bits} bits V{version} {codec}, ours", ours


def check(cli):
    """(peer, case, failure) for each case; `None` if nothing is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(cli, folder)
        peers = {"pyarrow": [direct, columns, kms], "duckdb": [dialect]}
        for peer, parts in peers.items():
            for name, case in itertools.chain.from_iterable(part(tool, folder) for part in parts):
                failure = None
                try:
                    case()
                except Exception as error:  # noqa: BLE001
                    failure = f"{type(error).__name__}: {str(error)[:300]}"
                yield peer, {"file": name, "part": "encryption"}, failure


if __name__ == "__main__":
    results = list(check(sys.argv[1]))
    wrong = [f"{case['file']}: {failure}" for _, case, failure in results if failure]
    print(f"encryption: {len(results)} cases, {len(wrong)} wrong", *wrong, sep="\n")
    sys.exit(bool(wrong))

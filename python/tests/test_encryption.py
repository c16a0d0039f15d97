"""Encrypted files: against pyarrow in both directions, and what is said where a key is missing or another one."""

import base64
import copy
import io
import itertools
import multiprocessing
import os
import pathlib
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as theirs
import pyarrow.parquet.encryption as their_keys
import pytest

import marquetry
import marquetry.encryption as keys
import marquetry.parquet as ours

FOOTER, COLUMN, OTHER = b"0123456789012345", b"1234567890123450", b"5432109876543210"
TABLE = pa.table({
    "id": pa.array(range(2000), pa.int64()),
    "name": pa.array([None if i % 7 == 0 else f"name {i % 50}" for i in range(2000)]),
    "place": pa.array([{"x": i / 3, "tags": ["a"] * (i % 3)} for i in range(2000)]),
})  # fmt: skip
ALGORITHMS = ("AES_GCM_V1", "AES_GCM_CTR_V1")


def wrapped(key: bytes, master: str) -> bytes:
    """A key and the name of its master key: enough to tell whether it is asked for by the right one."""
    return base64.b64encode(master.encode() + b"|" + key)


def unwrapped(text: str, master: str) -> bytes:
    name, key = base64.b64decode(text).split(b"|", 1)
    assert name.decode() == master
    return key


class TheirKms(their_keys.KmsClient):
    def __init__(self, connection: Any) -> None:
        super().__init__()

    def wrap_key(self, key: bytes, master: str) -> bytes:
        return wrapped(key, master)

    def unwrap_key(self, text: str, master: str) -> bytes:
        return unwrapped(text, master)


class Kms(keys.KmsClient):
    """It counts what it is asked, and by which thread."""

    def __init__(self, connection: keys.KmsConnectionConfig | None = None, refuses: str | None = None) -> None:
        super().__init__()
        self.connection, self.refuses, self.asked = connection, refuses, []

    def wrap_key(self, key: bytes, master: str) -> bytes:
        self.asked.append(("wrap", master))
        return wrapped(key, master)

    def unwrap_key(self, text: str, master: str) -> bytes:
        self.asked.append(("unwrap", master))
        if master == self.refuses:
            raise Refused(master)
        return unwrapped(text, master)


class Refused(Exception):
    """An exception that only this file knows."""


def factory_of(kms: Kms) -> keys.CryptoFactory:
    return keys.CryptoFactory(lambda connection: kms)


# Against pyarrow


@pytest.mark.parametrize("size", [16, 24, 32])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("plaintext_footer", [False, True])
@pytest.mark.parametrize("prefix", [None, "stored", "supplied"])
def test_direct_keys_in_both_directions(
    tmp_path: pathlib.Path, size: int, algorithm: str, plaintext_footer: bool, prefix: str | None
) -> None:
    key = b"0123456789abcdef0123456789abcdef"[:size]
    write = {
        "encryption_algorithm": algorithm, "plaintext_footer": plaintext_footer,
        "aad_prefix": b"table 7" if prefix else None, "store_aad_prefix": prefix != "supplied",
    }  # fmt: skip
    read = {"aad_prefix": b"table 7" if prefix == "supplied" else None}
    path = tmp_path / "x.parquet"
    ours.write_table(TABLE, path, encryption_properties=keys.create_encryption_properties(key, **write))
    assert path.read_bytes()[:4] == (b"PAR1" if plaintext_footer else b"PARE")
    theirs_read = their_keys.create_decryption_properties(key, **read)
    assert theirs.read_table(path, decryption_properties=theirs_read).equals(TABLE)
    theirs.write_table(TABLE, path, encryption_properties=their_keys.create_encryption_properties(key, **write))
    ours_read = keys.create_decryption_properties(key, **read)
    assert ours.read_table(path, decryption_properties=ours_read).equals(TABLE)
    assert marquetry.open(path, decryption=ours_read).read(["id"]).num_rows == 2000
    assert marquetry.verify(path, level="deep", decryption=ours_read).worst != "corrupt"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("plaintext_footer", [False, True])
@pytest.mark.parametrize("double_wrapping", [False, True])
@pytest.mark.parametrize("internal", [False, True])
@pytest.mark.parametrize("columns", [None, {"kc": ["id", "place"], "kd": ["name"]}])
def test_keys_of_a_kms_in_both_directions(
    tmp_path: pathlib.Path, algorithm: str, plaintext_footer: bool, double_wrapping: bool, internal: bool, columns: Any
) -> None:
    options = {
        "column_keys": columns, "uniform_encryption": columns is None, "encryption_algorithm": algorithm,
        "plaintext_footer": plaintext_footer, "double_wrapping": double_wrapping, "internal_key_material": internal,
        "data_key_length_bits": 256,
    }  # fmt: skip
    pairs = [
        (ours, keys, keys.CryptoFactory(Kms)),
        (theirs, their_keys, their_keys.CryptoFactory(TheirKms)),
    ]
    for number, (writer, reader) in enumerate(itertools.permutations(pairs)):
        path = str(tmp_path / f"{number}.parquet")
        beside = None if internal else path
        module, names, factory = writer
        connection = names.KmsConnectionConfig(kms_instance_id="one", kms_instance_url="https://one")
        encryption = factory.file_encryption_properties(connection, names.EncryptionConfiguration("kf", **options), beside)
        module.write_table(TABLE, path, encryption_properties=encryption)
        assert (tmp_path / f"_KEY_MATERIAL_FOR_{number}.parquet.json").exists() == (not internal)
        module, names, factory = reader
        decryption = factory.file_decryption_properties(names.KmsConnectionConfig(), names.DecryptionConfiguration(), beside)
        assert module.read_table(path, decryption_properties=decryption).equals(TABLE)
        assert module.read_schema(path, decryption_properties=decryption).names == TABLE.schema.names
        assert module.read_metadata(path, decryption_properties=decryption).num_rows == 2000


def test_master_keys_are_rotated(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "x.parquet")
    configuration = keys.EncryptionConfiguration("kf", column_keys={"kc": ["id"]}, internal_key_material=False)
    kms = Kms()
    factory, connection = factory_of(kms), keys.KmsConnectionConfig()
    encryption = factory.file_encryption_properties(connection, configuration, path)
    ours.write_table(TABLE, path, encryption_properties=encryption)
    before, data = (tmp_path / "_KEY_MATERIAL_FOR_x.parquet.json").read_text(), pathlib.Path(path).read_bytes()
    for double_wrapping in (True, False):
        factory.rotate_master_keys(connection, path, double_wrapping=double_wrapping)
        after = (tmp_path / "_KEY_MATERIAL_FOR_x.parquet.json").read_text()
        assert after != before and (f'doubleWrapping\\":{str(double_wrapping).lower()}' in after)
        assert pathlib.Path(path).read_bytes() == data
        their_factory = their_keys.CryptoFactory(TheirKms)
        decryption = their_factory.file_decryption_properties(
            their_keys.KmsConnectionConfig(), their_keys.DecryptionConfiguration(), path
        )
        assert theirs.read_table(path, decryption_properties=decryption).equals(TABLE)
        decryption = factory.file_decryption_properties(connection, None, path)
        assert ours.read_table(path, decryption_properties=decryption).equals(TABLE)
    assert sorted(os.listdir(tmp_path)) == ["_KEY_MATERIAL_FOR_x.parquet.json", "x.parquet"]


def test_key_material_in_other_filesystems(tmp_path: pathlib.Path) -> None:
    import fsspec

    factory, connection = keys.CryptoFactory(Kms), keys.KmsConnectionConfig()
    configuration = keys.EncryptionConfiguration("kf", uniform_encryption=True, internal_key_material=False)
    memory = fsspec.filesystem("memory")
    below = pa.fs.SubTreeFileSystem(str(tmp_path), pa.fs.LocalFileSystem())
    for filesystem, path in [(memory, "/folder/x.parquet"), (below, "x.parquet")]:
        if filesystem is memory:
            memory.mkdirs("/folder", exist_ok=True)
        encryption = factory.file_encryption_properties(connection, configuration, path, filesystem)
        ours.write_table(TABLE, path, filesystem=filesystem, encryption_properties=encryption)
        decryption = factory.file_decryption_properties(connection, None, path, filesystem)
        assert ours.read_table(path, filesystem=filesystem, decryption_properties=decryption).equals(TABLE)
        factory.rotate_master_keys(connection, path, filesystem)
        decryption = factory.file_decryption_properties(connection, None, path, filesystem)
        assert ours.read_table(path, filesystem=filesystem, decryption_properties=decryption).equals(TABLE)
    assert memory.exists("/folder/_KEY_MATERIAL_FOR_x.parquet.json")
    assert (tmp_path / "_KEY_MATERIAL_FOR_x.parquet.json").exists()


def test_key_material_that_is_missing(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "x.parquet")
    factory, connection = keys.CryptoFactory(Kms), keys.KmsConnectionConfig()
    configuration = keys.EncryptionConfiguration("kf", uniform_encryption=True, internal_key_material=False)
    with pytest.raises(OSError, match="path must be specified"):
        factory.file_encryption_properties(connection, configuration)
    ours.write_table(TABLE, path, encryption_properties=factory.file_encryption_properties(connection, configuration, path))
    with pytest.raises(OSError, match="path must be specified"):
        ours.read_table(path, decryption_properties=factory.file_decryption_properties(connection))
    os.remove(tmp_path / "_KEY_MATERIAL_FOR_x.parquet.json")
    with pytest.raises(FileNotFoundError, match="_KEY_MATERIAL_FOR_x.parquet.json"):
        ours.read_table(path, decryption_properties=factory.file_decryption_properties(connection, None, path))
    with pytest.raises(FileNotFoundError, match="_KEY_MATERIAL_FOR_x.parquet.json"):
        factory.rotate_master_keys(connection, path)


# Keys of columns


@pytest.mark.parametrize("plaintext_footer", [False, True])
def test_columns_whose_key_is_missing(tmp_path: pathlib.Path, plaintext_footer: bool) -> None:
    path = tmp_path / "x.parquet"
    encryption = keys.create_encryption_properties(
        FOOTER, column_keys={"id": COLUMN, "place": (OTHER, b"kp")}, complete_columns=True, plaintext_footer=plaintext_footer,
        footer_key_metadata=b"kf",
    )  # fmt: skip
    marquetry.write(TABLE, path, encryption=encryption, bloom_filters=["id"])
    everything = keys.create_decryption_properties(FOOTER, column_keys={"id": COLUMN, "place": OTHER})
    found = keys.create_decryption_properties(None, key_retriever={b"kf": FOOTER, b"kp": OTHER}.get)
    assert pa.table(marquetry.open(path, decryption=everything, text="utf8")).equals(TABLE)
    some = marquetry.open(path, decryption=found, text="utf8")
    assert pa.table(some.read(["name", "place"])).equals(TABLE.select(["name", "place"]))
    with pytest.raises(marquetry.EncryptedError, match="no key was given") as error:
        some.read()
    assert (error.value.column, error.value.row_group, error.value.file) == ("id", 0, str(path))
    file = ours.ParquetFile(path, decryption_properties=found)
    assert file.read(["name"]).equals(TABLE.select(["name"]))
    with pytest.raises(OSError, match="no decryption found.*column id"):
        file.read(["id"])
    if plaintext_footer:
        assert some.metadata.row_group(0).column(0).num_values == 2000
        assert not some.metadata.row_group(0).column(0).is_stats_set
    else:
        with pytest.raises(marquetry.EncryptedError, match="no key was given"):
            some.metadata.row_group(0).column(0)
    wrong = marquetry.open(path, decryption=keys.create_decryption_properties(FOOTER, column_keys={"id": OTHER}))
    with pytest.raises(marquetry.EncryptedError, match="a wrong key was given for the column"):
        wrong.read(["id"])


def test_plaintext_footers_are_read_without_keys(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.parquet"
    encryption = keys.create_encryption_properties(FOOTER, column_keys={"id": COLUMN}, plaintext_footer=True)
    ours.write_table(TABLE, path, encryption_properties=encryption)
    for module in (ours, theirs):
        assert module.read_schema(path).equals(TABLE.schema)
        assert module.read_metadata(path).num_rows == 2000
        assert module.ParquetFile(path).read(["name", "place"]).equals(TABLE.select(["name", "place"]))
        assert module.read_table(path, columns=["name"]).equals(TABLE.select(["name"]))
        with pytest.raises(OSError):
            module.read_table(path)
    assert marquetry.open(path).read(["name"]).num_rows == 2000
    # What bounds are there would tell what the column holds.
    assert b"name 49" in path.read_bytes() and not marquetry.open(path).metadata.row_group(0).column(0).is_stats_set


def test_uniform_encryption_leaves_nothing_in_the_open(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.parquet"
    for columns, is_hidden in [(None, True), ({"id": COLUMN}, False)]:
        encryption = keys.create_encryption_properties(FOOTER, column_keys=columns)
        ours.write_table(TABLE, path, encryption_properties=encryption, compression="none", use_dictionary=False)
        assert (b"name 49" in path.read_bytes()) != is_hidden


def test_key_for_a_column_that_is_not_there(tmp_path: pathlib.Path) -> None:
    encryption = keys.create_encryption_properties(FOOTER, column_keys={"salary": COLUMN})
    with pytest.raises(OSError, match="not in file schema.*salary"):
        ours.write_table(TABLE, tmp_path / "x.parquet", encryption_properties=encryption)
    with pytest.raises(marquetry.ArgumentError, match="a key for column salary, which there is not"):
        marquetry.write(TABLE, tmp_path / "x.parquet", encryption=encryption)
    assert not list(tmp_path.iterdir())


# What is said


def written(**options: Any) -> bytes:
    out = io.BytesIO()
    marquetry.write(TABLE, out, encryption=keys.create_encryption_properties(FOOTER, **options))
    return out.getvalue()


def test_three_sentences() -> None:
    given = keys.create_decryption_properties
    supplied = written(aad_prefix=b"table 7", store_aad_prefix=False)
    cases: list[tuple[bytes, Any, str]] = [
        (written(), None, "the footer is encrypted (PARE), and no key was given"),
        (written(footer_key_metadata=b"kf"), None, 'the footer is encrypted (PARE) with the key "kf", and no key was given'),
        (written(), given(OTHER), "a wrong key was given for the footer, or it was changed"),
        (supplied, given(FOOTER), "the file was written with an AAD prefix that is not stored in it: it must be given"),
        (supplied, given(FOOTER, aad_prefix=b"table 8"), "the key of the footer is right, but not the AAD"),
        (written(aad_prefix=b"table 7"), given(FOOTER, aad_prefix=b"table 8"), 'the AAD prefix of the file is "table 7"'),
        (written(), given(FOOTER, aad_prefix=b"table 8"), "an AAD prefix was given, and the file has none"),
    ]
    for data, decryption, said in cases:
        with pytest.raises(marquetry.EncryptedError) as error:
            marquetry.open(data, decryption=decryption)
        assert said in error.value.message and error.value.kind == "encrypted" and isinstance(error.value, PermissionError)
        for key in (FOOTER, OTHER):
            assert key.decode() not in str(error.value) + repr(error.value) + repr(error.value.args)
        with pytest.raises(OSError, match="AAD|decrypt"):
            ours.ParquetFile(pa.py_buffer(data), decryption_properties=decryption)


def test_files_that_are_not_encrypted(wines: str) -> None:
    with pytest.raises(marquetry.EncryptedError, match="the file is not encrypted"):
        marquetry.open(wines, decryption=keys.create_decryption_properties(FOOTER))
    with pytest.raises(OSError, match="plaintext"):
        ours.read_table(wines, decryption_properties=keys.create_decryption_properties(FOOTER))
    allowed = keys.create_decryption_properties(FOOTER, allow_plaintext_files=True)
    by_kms = keys.CryptoFactory(Kms).file_decryption_properties(keys.KmsConnectionConfig())
    for decryption in (allowed, by_kms):
        assert ours.read_table(wines, decryption_properties=decryption).num_rows == 200
        assert marquetry.open(wines, decryption=decryption).read().num_rows == 200


def test_signatures_of_footers() -> None:
    data = bytearray(written(plaintext_footer=True))
    data[data.rindex(b"name")] ^= 1
    with pytest.raises(marquetry.EncryptedError, match="the signature of the footer does not fit"):
        marquetry.open(bytes(data), decryption=keys.create_decryption_properties(FOOTER))
    unchecked = keys.create_decryption_properties(FOOTER, check_footer_integrity=False)
    assert marquetry.open(bytes(data), decryption=unchecked).num_rows == 2000


def test_wrong_arguments() -> None:
    for make in (keys.create_encryption_properties, keys.create_decryption_properties):
        with pytest.raises(TypeError, match="footer_key must be bytes, not str"):
            make("0123456789012345")
        with pytest.raises(TypeError, match="footer_key must be bytes, not NoneType"):
            make(None)
        with pytest.raises(ValueError, match="16, 24, or 32 bytes, got 5"):
            make(b"short")
        with pytest.raises(ValueError, match="the key of a must be 16, 24, or 32 bytes, got 3"):
            make(FOOTER, column_keys={"a": b"abc"})
        with pytest.raises(TypeError, match="aad_prefix must be bytes"):
            make(FOOTER, aad_prefix="text")
        with pytest.raises(marquetry.ArgumentError, match="dialect"):
            make(FOOTER, dialect="spark")
    with pytest.raises(ValueError, match="Invalid cipher name: 'AES'"):
        keys.create_encryption_properties(FOOTER, encryption_algorithm="AES")
    with pytest.raises(marquetry.ArgumentError, match="nothing but zeros"):
        keys.create_encryption_properties(bytes(16))
    with pytest.raises(marquetry.ArgumentError, match="two keys for column a"):
        keys.create_encryption_properties(FOOTER, column_keys={"a": COLUMN, "a.b": OTHER})
    factory, connection = keys.CryptoFactory(Kms), keys.KmsConnectionConfig()
    for options, said in [
        ({}, "Either column_keys or uniform_encryption must be set"),
        ({"column_keys": {"k": ["a"]}, "uniform_encryption": True}, "Cannot set both column_keys and uniform_encryption"),
        ({"uniform_encryption": True, "data_key_length_bits": 100}, "keys of 100 bits"),
        ({"column_keys": {"k": ["a"], "l": ["a"]}}, "two keys for column a"),
    ]:
        with pytest.raises(OSError, match=said):
            factory.file_encryption_properties(connection, keys.EncryptionConfiguration("kf", **options))
    with pytest.raises(TypeError, match="kms_connection_config is a KmsConnectionConfig, not builtins.int"):
        factory.file_decryption_properties(3)
    with pytest.raises(TypeError, match="must be a callable"):
        keys.CryptoFactory(3)
    with pytest.raises(AttributeError):
        keys.EncryptionConfiguration("kf").footer = 1


def test_objects_of_others(tmp_path: pathlib.Path) -> None:
    with pytest.raises(TypeError, match="not pyarrow._parquet.FileEncryptionProperties"):
        ours.write_table(TABLE, tmp_path / "x.parquet", encryption_properties=their_keys.create_encryption_properties(FOOTER))
    marquetry.write(TABLE, tmp_path / "x.parquet")
    with pytest.raises(TypeError, match="not pyarrow._parquet.FileDecryptionProperties"):
        ours.read_table(tmp_path / "x.parquet", decryption_properties=their_keys.create_decryption_properties(FOOTER))
    with pytest.raises(TypeError, match="decryption"):
        marquetry.open(tmp_path / "x.parquet", decryption=FOOTER)
    with pytest.raises(TypeError, match="encryption"):
        marquetry.write(TABLE, tmp_path / "x.parquet", encryption=FOOTER)


def test_keys_are_not_shown(tmp_path: pathlib.Path) -> None:
    connection = keys.KmsConnectionConfig(key_access_token="sesame", custom_kms_conf={"secret": "sesame"})
    objects = [
        keys.create_encryption_properties(FOOTER, column_keys={"id": COLUMN}),
        keys.create_decryption_properties(FOOTER, column_keys={"id": COLUMN}),
        connection,
        keys.CryptoFactory(Kms),
    ]
    for secret in objects:
        assert not any(key in repr(secret) + str(secret) for key in (FOOTER.decode(), COLUMN.decode(), "sesame"))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="cannot pickle"):
                pickle.dumps(secret, protocol)
        with pytest.raises(TypeError, match="cannot pickle"):
            copy.deepcopy(secret)
    path = tmp_path / "x.parquet"
    marquetry.write(TABLE, path, encryption=objects[0])
    for file in (marquetry.open(path, decryption=objects[1]), ours.ParquetDataset(path, decryption_properties=objects[1])):
        assert FOOTER.decode() not in repr(file)
        with pytest.raises(TypeError, match="cannot pickle FileDecryptionProperties"):
            pickle.dumps(file)
    metadata = pickle.dumps(ours.read_metadata(path, decryption_properties=objects[1]))
    assert FOOTER not in metadata and COLUMN not in metadata


# The client of the KMS


def test_exceptions_of_the_client_come_out_as_they_are(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.parquet"
    configuration = keys.EncryptionConfiguration("kf", column_keys={"kc": ["id"]})
    connection = keys.KmsConnectionConfig()
    encryption = factory_of(Kms()).file_encryption_properties(connection, configuration)
    ours.write_table(TABLE, path, encryption_properties=encryption)

    of_footer = factory_of(Kms(refuses="kf")).file_decryption_properties(connection)
    reads: list[Callable[[Any], Any]] = [
        lambda decryption: ours.read_table(path, decryption_properties=decryption),
        lambda decryption: marquetry.open(path, decryption=decryption),
        lambda decryption: marquetry.dataset(path, decryption=decryption).num_rows,
        lambda decryption: pa.table(marquetry.dataset(path, decryption=decryption).read()),
    ]
    for read in reads:
        with pytest.raises(Refused, match="kf"):
            read(of_footer)
        # As well from a thread that is not the main one.
        with ThreadPoolExecutor(1) as pool, pytest.raises(Refused, match="kf"):
            pool.submit(read, of_footer).result()

    # Who may not read one column reads the others.
    of_column = factory_of(Kms(refuses="kc")).file_decryption_properties(connection)
    file = ours.ParquetFile(path, decryption_properties=of_column)
    assert file.read(["name"]).equals(TABLE.select(["name"]))
    with pytest.raises(Refused, match="kc"):
        file.read(["id"])
    with pytest.raises(Refused, match="kc"):
        list(file.iter_batches(columns=["id"]))
    with pytest.raises(Refused, match="kc"):
        file.metadata.row_group(0).column(0)
    with pytest.raises(Refused, match="kc"):
        marquetry.open(path, decryption=of_column).read(["name"], filter="id = 3")

    class Writing(keys.KmsClient):
        def wrap_key(self, key: bytes, master: str) -> str:
            raise error

    error = Refused("when it wraps")
    with pytest.raises(Refused) as raised:
        keys.CryptoFactory(lambda _: Writing()).file_encryption_properties(connection, configuration)
    assert raised.value is error


def test_clients_that_are_none() -> None:
    connection = keys.KmsConnectionConfig()
    configuration = keys.EncryptionConfiguration("kf", uniform_encryption=True)

    class Numbers(keys.KmsClient):
        def wrap_key(self, key: bytes, master: str) -> Any:
            return 5

    for make, error, said in [
        (lambda _: object(), TypeError, "must return KmsClient instances"),
        (lambda _: keys.KmsClient(), NotImplementedError, None),
        (lambda _: Numbers(), TypeError, "wrap_key must return bytes or text, and gave int"),
    ]:
        with pytest.raises(error, match=said):
            keys.CryptoFactory(make).file_encryption_properties(connection, configuration)


def test_how_often_the_client_is_asked(tmp_path: pathlib.Path) -> None:
    kms = Kms()
    factory, connection = factory_of(kms), keys.KmsConnectionConfig()
    configuration = keys.EncryptionConfiguration("kf", column_keys={"kc": ["id", "name"]})
    for i in range(3):
        encryption = factory.file_encryption_properties(connection, configuration)
        ours.write_table(TABLE, tmp_path / f"{i}.parquet", encryption_properties=encryption)
    assert kms.asked == [("wrap", "kf"), ("wrap", "kc")]

    def read() -> None:
        for i in range(3):
            decryption = factory.file_decryption_properties(connection)
            ours.read_table(tmp_path / f"{i}.parquet", decryption_properties=decryption)

    kms.asked.clear()
    read()
    read()
    assert sorted(kms.asked) == [("unwrap", "kc"), ("unwrap", "kf")]
    factory.remove_cache_entries_for_token("another")
    read()
    assert len(kms.asked) == 2
    factory.remove_cache_entries_for_token(connection.key_access_token)
    read()
    assert len(kms.asked) == 4
    factory.remove_cache_entries_for_all_tokens()
    read()
    assert len(kms.asked) == 6
    connection.refresh_key_access_token("another")
    read()
    assert len(kms.asked) == 8, "what one token has unwrapped is not another's"

    kms.asked.clear()
    configuration.cache_lifetime, configuration.double_wrapping = configuration.cache_lifetime * 0, False
    factory.file_encryption_properties(connection, configuration)
    assert kms.asked == [("wrap", "kf"), ("wrap", "kc"), ("wrap", "kc")]


def test_clients_see_tokens_that_are_refreshed() -> None:
    made: list[keys.KmsConnectionConfig] = []

    def make(connection: keys.KmsConnectionConfig) -> Kms:
        made.append(connection)
        return Kms(connection)

    connection = keys.KmsConnectionConfig(key_access_token="one", custom_kms_conf={"a": "b"})
    configuration = keys.EncryptionConfiguration("kf", uniform_encryption=True)
    keys.CryptoFactory(make).file_encryption_properties(connection, configuration)
    connection.refresh_key_access_token("two")
    assert made[0] is not connection and made[0].key_access_token == "two" and made[0].custom_kms_conf == {"a": "b"}


def test_threads(tmp_path: pathlib.Path) -> None:
    """Threads that wait for a slow client, and one that has Python's lock, do not wait for each other."""
    path = tmp_path / "x.parquet"

    class Slow(Kms):
        def unwrap_key(self, text: str, master: str) -> bytes:
            time.sleep(0.02)
            return super().unwrap_key(text, master)

    kms = Slow()
    factory, connection = factory_of(kms), keys.KmsConnectionConfig()
    configuration = keys.EncryptionConfiguration("kf", column_keys={"kc": ["id"], "kd": ["name"]})
    encryption = factory.file_encryption_properties(connection, configuration)
    ours.write_table(TABLE, path, encryption_properties=encryption, row_group_size=100)
    kms.asked.clear()
    decryption = factory.file_decryption_properties(connection)
    start = threading.Barrier(24)

    def read(number: int) -> bool:
        start.wait()
        if number % 3 == 0:
            metadata = ours.read_metadata(path, decryption_properties=decryption)
            return all(metadata.row_group(i).column(0).num_values == 100 for i in range(20))
        if number % 3 == 1:
            return ours.read_table(path, decryption_properties=decryption).equals(TABLE)
        own = factory.file_decryption_properties(connection)
        return pa.table(marquetry.open(path, decryption=own, text="utf8")).equals(TABLE)

    with ThreadPoolExecutor(24) as pool:
        assert all(pool.map(read, range(24), timeout=120))
    assert sorted(kms.asked) == [("unwrap", "kc"), ("unwrap", "kd"), ("unwrap", "kf")]


def test_two_threads_write_with_the_same_keys(tmp_path: pathlib.Path) -> None:
    encryption = keys.create_encryption_properties(FOOTER, column_keys={"id": COLUMN})

    def write(i: int) -> bytes:
        ours.write_table(TABLE, tmp_path / f"{i}.parquet", encryption_properties=encryption)
        return (tmp_path / f"{i}.parquet").read_bytes()

    with ThreadPoolExecutor(4) as pool:
        files = list(pool.map(write, range(8)))
    assert len(set(files)) == 8, "nonces and identifiers are new in each file"
    decryption = keys.create_decryption_properties(FOOTER, column_keys={"id": COLUMN})
    assert ours.read_table(tmp_path, decryption_properties=decryption).num_rows == 8 * 2000


def _sum(path: str) -> int:
    return sum(ours.read_table(path, columns=["id"], decryption_properties=INHERITED)["id"].to_pylist())


INHERITED: Any = None


def test_processes_that_are_forked_have_the_keys(tmp_path: pathlib.Path) -> None:
    global INHERITED
    path = str(tmp_path / "x.parquet")
    factory, connection = keys.CryptoFactory(Kms), keys.KmsConnectionConfig()
    configuration = keys.EncryptionConfiguration("kf", column_keys={"kc": ["id"]})
    ours.write_table(TABLE, path, encryption_properties=factory.file_encryption_properties(connection, configuration))
    INHERITED = factory.file_decryption_properties(connection)
    try:
        _sum(path)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(_sum, [path] * 4) == [sum(range(2000))] * 4
    finally:
        INHERITED = None


def test_memory_is_given_back(tmp_path: pathlib.Path) -> None:
    def memory() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    path = tmp_path / "x.parquet"
    factory, connection = keys.CryptoFactory(Kms), keys.KmsConnectionConfig()
    configuration = keys.EncryptionConfiguration("kf", column_keys={"kc": ["id"]})
    marquetry.write(TABLE, path, encryption=factory.file_encryption_properties(connection, configuration))

    def read() -> None:
        factory.file_encryption_properties(connection, configuration)
        marquetry.open(path, decryption=factory.file_decryption_properties(connection)).read(["id"])
        with pytest.raises(marquetry.EncryptedError):
            marquetry.open(path, decryption=keys.create_decryption_properties(OTHER))

    for _ in range(200):
        read()
    before = memory()
    # Ten KiB of each would show: what comes and goes by itself is a fifth of a MiB.
    for _ in range(250):
        read()
    assert memory() - before < 2500 << 10


# All doors


def test_doors_of_pyarrow(tmp_path: pathlib.Path) -> None:
    encryption = keys.create_encryption_properties(FOOTER, column_keys={"id": COLUMN, "place": OTHER}, complete_columns=True)
    decryption = keys.create_decryption_properties(FOOTER, column_keys={"id": COLUMN, "place": OTHER})
    table = TABLE.append_column("part", pa.array([i % 3 for i in range(2000)], pa.int32()))
    collected: list[Any] = []
    ours.write_to_dataset(table, tmp_path / "d", partition_cols=["part"], encryption_properties=encryption, metadata_collector=collected)
    assert sum(metadata.num_rows for metadata in collected) == 2000
    for metadata in collected:
        assert metadata.row_group(0).column(0).statistics.max is not None
    read = ours.read_table(tmp_path / "d", decryption_properties=decryption, filters=[("id", "<", 10)], columns=["id", "part"])
    assert sorted(read["id"].to_pylist()) == list(range(10))
    dataset = ours.ParquetDataset(tmp_path / "d", decryption_properties=decryption)
    assert dataset.read().num_rows == 2000 and len(dataset.files) == 3
    path = tmp_path / "x.parquet"
    with ours.ParquetWriter(path, TABLE.schema, encryption_properties=encryption) as writer:
        for batch in TABLE.to_batches(max_chunksize=700):
            writer.write_batch(batch)
    with ours.ParquetFile(path, decryption_properties=decryption) as file:
        assert file.num_row_groups == 3
        assert file.read_row_group(1, ["id"])["id"].to_pylist() == list(range(700, 1400))
        assert pa.Table.from_batches(file.iter_batches()).equals(TABLE)
        assert file.metadata.row_group(0).column(0).statistics.max == 699
    assert ours.read_pandas(path, decryption_properties=decryption).num_rows == 2000
    with open(path, "rb") as opened:
        assert ours.read_table(opened, decryption_properties=decryption).equals(TABLE)


def test_own_doors(tmp_path: pathlib.Path) -> None:
    import polars as pl

    import marquetry.polars

    path = tmp_path / "x.parquet"
    encryption = keys.create_encryption_properties(FOOTER)
    decryption = keys.create_decryption_properties(FOOTER)
    with marquetry.create(path, TABLE.schema, encryption=encryption, row_group_rows=500, bloom_filters=["name"]) as writer:
        writer.write(TABLE)
    assert writer.close().num_rows == 2000
    file = marquetry.open(path, decryption=decryption, text="utf8")
    assert pa.table(file).equals(TABLE)
    assert [batch.num_rows for batch in file.stream(batch_size=1000)] == [1000, 1000]
    for explained in (file.explain("id = 1700"), marquetry.explain(path, "id = 1700", decryption=decryption)):
        assert explained.rows_left <= 500
    table = marquetry.dataset([path, path], decryption=decryption)
    assert table.num_rows == 4000 and table.read(["id"]).num_rows == 4000
    with pytest.raises(marquetry.EncryptedError):
        marquetry.dataset(path).num_rows
    assert marquetry.polars.scan(path, decryption=decryption).select(pl.col("id").sum()).collect().item() == sum(range(2000))
    assert marquetry.verify(path, level="deep", decryption=decryption)
    findings = marquetry.verify(path, decryption=keys.create_decryption_properties(OTHER)).findings
    assert any("a wrong key was given" in found.message for found in findings), findings
    data = bytearray(path.read_bytes())
    data[2000] ^= 1
    assert marquetry.verify(bytes(data), decryption=decryption).worst == "corrupt"


def test_files_say_how_they_are_encrypted(wines: str) -> None:
    assert marquetry.open(wines).encryption is None
    decryption = keys.create_decryption_properties(FOOTER)
    said = marquetry.open(written(footer_key_metadata=b"kf"), decryption=decryption).encryption
    assert said == keys.FileEncryption("AES_GCM_V1", True, b"kf", None, False)
    data = written(plaintext_footer=True, encryption_algorithm="AES_GCM_CTR_V1", aad_prefix=b"table 7", store_aad_prefix=False)
    assert marquetry.open(data).encryption == keys.FileEncryption("AES_GCM_CTR_V1", False, None, None, True)
    stored = marquetry.open(written(aad_prefix=b"table 7"), decryption=decryption).encryption
    assert stored is not None and stored.aad_prefix == b"table 7"


def test_duckdb_reads_and_writes_its_own_dialect(tmp_path: pathlib.Path) -> None:
    import duckdb

    path = tmp_path / "x.parquet"
    table = TABLE.select(["id", "name"])
    connection = duckdb.connect()
    connection.execute(f"pragma add_parquet_key('k', '{FOOTER.decode()}')")
    ours.write_table(table, path, encryption_properties=keys.create_encryption_properties(FOOTER, dialect="duckdb"))
    query = f"from read_parquet('{path}', encryption_config = {{footer_key: 'k'}})"
    assert connection.execute(f"select sum(id), count(name) {query}").fetchone() == (sum(range(2000)), 2000 - 286)
    # What it has of its own is called unsafe for its random numbers.
    connection.execute("set force_mbedtls_unsafe = 'true'")
    connection.execute(f"copy (from range(100) t(x)) to '{path}' (encryption_config {{footer_key: 'k'}})")
    decryption = keys.create_decryption_properties(FOOTER, dialect="duckdb")
    assert ours.read_table(path, decryption_properties=decryption)["x"].to_pylist() == list(range(100))


def test_names_are_those_of_pyarrow() -> None:
    import inspect

    import marquetry.parquet.encryption as module

    for name in dir(their_keys):
        if not name.startswith("_"):
            assert getattr(module, name) is getattr(keys, name)
    assert ours.FileDecryptionProperties is keys.FileDecryptionProperties
    assert ours.FileEncryptionProperties is keys.FileEncryptionProperties
    for make in ("create_encryption_properties", "create_decryption_properties"):
        wanted = inspect.signature(getattr(their_keys, make)).parameters
        known = inspect.signature(getattr(keys, make)).parameters
        assert [known[name].default for name in wanted] == [wanted[name].default for name in wanted]
    ours_default, default = keys.EncryptionConfiguration("kf"), their_keys.EncryptionConfiguration("kf")
    for name in (
        "footer_key", "uniform_encryption", "encryption_algorithm", "plaintext_footer", "double_wrapping", "cache_lifetime",
        "internal_key_material", "data_key_length_bits",
    ):  # fmt: skip
        assert getattr(ours_default, name) == getattr(default, name)
    for name in ("kms_instance_id", "kms_instance_url", "key_access_token", "custom_kms_conf"):
        assert getattr(keys.KmsConnectionConfig(), name) == getattr(their_keys.KmsConnectionConfig(), name)


def test_an_encrypted_file_is_recovered_up_to_its_last_footer(tmp_path: pathlib.Path) -> None:
    whole, saved = tmp_path / "whole.parquet", tmp_path / "saved.parquet"
    marquetry.write(TABLE, whole, encryption=keys.create_encryption_properties(FOOTER, column_keys={"name": COLUMN}))
    decryption = keys.create_decryption_properties(FOOTER, column_keys={"name": COLUMN})
    # The marker of a change that was not finished, and what it had written.
    end = whole.stat().st_size
    damaged = whole.read_bytes() + b"\x93MQgrow\n" + end.to_bytes(8, "little") + bytes(100)
    with pytest.raises(marquetry.Error, match="no key was given"):
        marquetry.recover(damaged, saved)
    assert not saved.exists()
    report = marquetry.recover(damaged, saved, decryption=decryption)
    assert report.rows == 2000 and saved.read_bytes() == whole.read_bytes()
    assert ours.read_table(saved, decryption_properties=decryption).equals(TABLE)
    with pytest.raises(marquetry.Error):
        marquetry.recover(damaged, saved, decryption=keys.create_decryption_properties(OTHER))
    assert saved.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("plaintext_footer", "complete_columns"), list(itertools.product((False, True), repeat=2)))
def test_optimized_files_are_encrypted_as_they_were(
    tmp_path: pathlib.Path, algorithm: str, plaintext_footer: bool, complete_columns: bool
) -> None:
    file, small = tmp_path / "file.parquet", tmp_path / "small.parquet"
    table = pa.concat_tables([TABLE] * 4)
    encryption = keys.create_encryption_properties(
        FOOTER, column_keys={"name": COLUMN, "place.tags": OTHER}, plaintext_footer=plaintext_footer, encryption_algorithm=algorithm,
        complete_columns=complete_columns, aad_prefix=b"table 7", store_aad_prefix=False,
    )  # fmt: skip
    decryption = keys.create_decryption_properties(FOOTER, column_keys={"name": COLUMN, "place.tags": OTHER}, aad_prefix=b"table 7")
    with marquetry.create(file, table.schema, encryption=encryption, compression="none", row_group_rows=500) as writer:
        writer.write(table)
    advice = marquetry.advise(file, decryption=decryption, budget=60)
    for types in (False, True):
        done = marquetry.optimize(file, small, decryption=decryption, types=types, budget=60, overwrite=True)
        assert not done.copied and done.got < done.before and abs(done.predicted - done.got) < 0.1 * done.got
        assert types or advice.predicted <= done.before
        read = ours.read_table(small, decryption_properties=decryption)
        assert read.cast(table.schema).equals(table)
        assert marquetry.open(small, decryption=decryption).encryption == marquetry.open(file, decryption=decryption).encryption
        # What was in the open is, and nothing else.
        for column, is_open in (("id", plaintext_footer and not complete_columns), ("name", False), ("place", False)):
            try:
                marquetry.open(small).read([column])
                assert is_open, column
            except marquetry.EncryptedError:
                assert not is_open, column
    with pytest.raises(marquetry.EncryptedError):
        marquetry.optimize(file, tmp_path / "never.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.parquet", "small.parquet"]


def test_optimized_files_are_encrypted_otherwise_on_request(tmp_path: pathlib.Path) -> None:
    file, small = tmp_path / "file.parquet", tmp_path / "small.parquet"
    encryption, decryption = keys.create_encryption_properties(FOOTER), keys.create_decryption_properties(FOOTER)
    marquetry.write(TABLE, file, encryption=encryption)
    marquetry.optimize(file, small, decryption=decryption, encryption=keys.create_encryption_properties(OTHER))
    assert ours.read_table(small, decryption_properties=keys.create_decryption_properties(OTHER)).equals(TABLE)
    # pyarrow takes keys of columns from a key management service only.
    own = theirs.ParquetFile(small, decryption_properties=their_keys.create_decryption_properties(OTHER)).read()
    assert own.cast(TABLE.schema).equals(TABLE)
    marquetry.optimize(file, small, decryption=decryption, decrypt=True, overwrite=True)
    assert theirs.read_table(small).equals(TABLE)
    marquetry.optimize(small, small.with_suffix(".again"), encryption=encryption)
    assert ours.read_table(small.with_suffix(".again"), decryption_properties=decryption).equals(TABLE)
    with pytest.raises(marquetry.ArgumentError):
        marquetry.optimize(file, small, decryption=decryption, encryption=encryption, decrypt=True, overwrite=True)


def test_optimized_files_keep_their_dialect(tmp_path: pathlib.Path) -> None:
    file, small = tmp_path / "file.parquet", tmp_path / "small.parquet"
    marquetry.write(TABLE, file, encryption=keys.create_encryption_properties(FOOTER, dialect="duckdb"), compression="none")
    decryption = keys.create_decryption_properties(FOOTER, dialect="duckdb")
    assert not marquetry.optimize(file, small, decryption=decryption, budget=60).copied
    assert ours.read_table(small, decryption_properties=decryption).equals(TABLE)

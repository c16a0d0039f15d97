"""Encrypted files whose keys a key management service wraps: against pyarrow in both directions, and what its client is asked."""

import itertools
import multiprocessing
import os
import pathlib
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
from kms import ALGORITHMS, Kms, OTHER, Refused, TABLE, TheirKms, factory_of


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

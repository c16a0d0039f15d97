"""Encrypted files with keys that are given: against pyarrow in both directions, and what is said where a key is missing or another one."""

import copy
import pathlib
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.parquet as theirs
import pyarrow.parquet.encryption as their_keys
import pytest

import marquetry
import marquetry.encryption as keys
import marquetry.parquet as ours
from kms import ALGORITHMS, COLUMN, FOOTER, Kms, OTHER, TABLE, written


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


def test_files_say_how_they_are_encrypted(wines: str) -> None:
    assert marquetry.open(wines).encryption is None
    decryption = keys.create_decryption_properties(FOOTER)
    said = marquetry.open(written(footer_key_metadata=b"kf"), decryption=decryption).encryption
    assert said == keys.FileEncryption("AES_GCM_V1", True, b"kf", None, False)
    data = written(plaintext_footer=True, encryption_algorithm="AES_GCM_CTR_V1", aad_prefix=b"table 7", store_aad_prefix=False)
    assert marquetry.open(data).encryption == keys.FileEncryption("AES_GCM_CTR_V1", False, None, None, True)
    stored = marquetry.open(written(aad_prefix=b"table 7"), decryption=decryption).encryption
    assert stored is not None and stored.aad_prefix == b"table 7"


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

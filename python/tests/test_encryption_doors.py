"""All that reads and writes encrypted files, and what becomes of them."""

import base64
import itertools
import pathlib
import pickle
from typing import Any

import pyarrow as pa
import pyarrow.parquet as theirs
import pyarrow.parquet.encryption as their_keys
import pytest

import marquetry
import marquetry.encryption as keys
import marquetry.parquet as ours
from kms import ALGORITHMS, COLUMN, FOOTER, OTHER, TABLE


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


SECRETS = pa.table({
    "open": pa.array([f"shown{i % 50:04d}" for i in range(500)]),
    "name": pa.array([f"secret{i % 50:04d}" for i in range(500)]),
})  # fmt: skip


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("columns", [None, {"name": COLUMN}])
@pytest.mark.parametrize("dialect", ["parquet", "duckdb"])
def test_files_of_metadata_have_no_values_that_are_encrypted(
    tmp_path: pathlib.Path, plain: bool, columns: dict[str, bytes] | None, dialect: str
) -> None:
    if dialect == "duckdb" and (plain or columns):
        pytest.skip("DuckDB has neither")
    encryption = keys.create_encryption_properties(FOOTER, column_keys=columns, plaintext_footer=plain, dialect=dialect)
    decryption = keys.create_decryption_properties(FOOTER, column_keys=columns, dialect=dialect)
    collected: list[Any] = []
    for name in ("a", "b"):
        ours.write_table(SECRETS, tmp_path / f"{name}.parquet", encryption_properties=encryption, metadata_collector=collected, row_group_size=300)
        collected[-1].set_file_path(f"{name}.parquet")
    assert collected[0].row_group(0).column(1).statistics.max == "secret0049"
    for i, metadata in enumerate([*pickle.loads(pickle.dumps(collected)), ours.read_metadata(tmp_path / "a.parquet", decryption_properties=decryption)]):
        metadata.write_metadata_file(tmp_path / f"_{i}")
    ours.write_metadata(SECRETS.schema, tmp_path / "_metadata", metadata_collector=collected)
    marquetry.append(tmp_path / "b.parquet", SECRETS, decryption=decryption).write_metadata_file(tmp_path / "_appended")
    for i, summary in enumerate(sorted(tmp_path.glob("_*"))):
        contents = summary.read_bytes()
        assert b"secret" not in contents
        assert (b"shown" in contents) == (columns is not None)
    for read in (ours.read_metadata, theirs.read_metadata):
        found = read(tmp_path / "_metadata")
        assert found.num_rows == 1000 and found.num_row_groups == 4
        assert found.row_group(3).column(1).file_path == "b.parquet"
        assert found.row_group(0).column(1).total_compressed_size == collected[0].row_group(0).column(1).total_compressed_size
        assert not found.row_group(0).column(1).is_stats_set


def test_files_of_metadata_have_no_boxes_of_encrypted_geometries(tmp_path: pathlib.Path) -> None:
    geo = b'{"version":"1.1.0","primary_column":"g","columns":{"g":{"encoding":"WKB","geometry_types":[],"bbox":[1.25,2.5,1.25,2.5]}}}'
    table = pa.table({"g": [b"\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf4?\x00\x00\x00\x00\x00\x00\x04@"]}).replace_schema_metadata({"geo": geo})
    path = tmp_path / "g.parquet"
    marquetry.write(table, path, encryption=keys.create_encryption_properties(FOOTER))
    metadata = ours.read_metadata(path, decryption_properties=keys.create_decryption_properties(FOOTER))
    assert b"1.25" in metadata.schema.to_arrow_schema().metadata[b"geo"]
    metadata.write_metadata_file(tmp_path / "_metadata")
    assert b"1.25" not in ours.read_schema(tmp_path / "_metadata").metadata[b"geo"]
    assert b"1.25" not in base64.b64decode(ours.read_metadata(tmp_path / "_metadata").metadata[b"ARROW:schema"])

"""Rows behind those of a file, which stays where it is."""

import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any, Iterator

import polars as pl
import pyarrow as pa
import pyarrow.parquet as theirs
import pytest

import marquetry
import marquetry.encryption as keys

TABLE = pa.table(
    {
        "id": pa.array(range(1000), pa.int64()),
        "name": pa.array([None if i % 7 == 0 else f"name {i % 100}" for i in range(1000)]),
        "tags": pa.array([[str(i)] * (i % 3) for i in range(1000)]),
    }
)
MORE = TABLE.slice(100, 250)


@pytest.fixture(params=["ours", "pyarrow's"])
def path(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "t.parquet"
    if request.param == "ours":
        marquetry.write(TABLE, path)
    else:
        theirs.write_table(TABLE, path)
    return path


def both() -> list[dict[str, Any]]:
    return pa.concat_tables([TABLE, MORE]).to_pylist()


@pytest.mark.parametrize("copy", [False, True])
def test_rows_are_appended(path: pathlib.Path, copy: bool) -> None:
    metadata = marquetry.append(path, MORE, copy=copy, row_group_rows=100, compression="zstd:3")
    assert (metadata.num_rows, metadata.num_row_groups) == (1250, 4)
    assert theirs.read_table(path).to_pylist() == both()
    assert marquetry.verify(path, level="deep")
    assert os.listdir(path.parent) == ["t.parquet"]


def test_other_layouts_and_another_order_of_columns(path: pathlib.Path) -> None:
    frame = pl.DataFrame(MORE).select("tags", "name", "id")
    taken: list[int] = []
    marquetry.append(path, frame, progress=taken.append)
    assert theirs.read_table(path).to_pylist() == both()
    assert taken[-1] == 250
    # A dictionary has the values of a column that is none.
    marquetry.append(path, MORE.set_column(1, "name", MORE["name"].dictionary_encode()))
    assert theirs.read_table(path).to_pylist() == both() + MORE.to_pylist()


@pytest.mark.parametrize("how", ["path", "bytes"])
def test_row_groups_of_a_file_are_copied(path: pathlib.Path, tmp_path: pathlib.Path, how: str) -> None:
    other = tmp_path / "other.parquet"
    marquetry.write(MORE, other, row_group_rows=100)
    assert marquetry.append(path, other if how == "path" else other.read_bytes()).num_row_groups == 4
    assert theirs.read_table(path).to_pylist() == both()
    with pytest.raises(TypeError, match="compression"):
        marquetry.append(path, other, compression="snappy")
    with pytest.raises(ValueError, match="itself"):
        marquetry.append(path, path)


def test_what_does_not_fit_changes_nothing(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    before = path.read_bytes()

    def failing() -> Iterator[pa.RecordBatch]:
        yield from MORE.to_batches()
        raise RuntimeError("no more")

    wrong: list[tuple[Any, type[Exception], str]] = [
        (MORE.drop_columns(["name"]), marquetry.Error, "name"),
        (MORE.append_column("other", MORE["id"]), marquetry.Error, "other"),
        (MORE.set_column(0, "id", MORE["id"].cast(pa.int32())), marquetry.Error, "Int32"),
        (MORE.set_column(0, "id", MORE["id"].cast(pa.float64())), marquetry.Error, "id"),
        (pa.RecordBatchReader.from_batches(MORE.schema, failing()), Exception, "no more"),
        (b"PAR1 and no more", marquetry.Error, "not a Parquet file"),
        (tmp_path / "not there", FileNotFoundError, "not there"),
    ]
    for data, kind, why in wrong:
        with pytest.raises(kind, match=why):
            marquetry.append(path, data, **({"row_group_rows": 100} if hasattr(data, "__arrow_c_stream__") else {}))
        assert path.read_bytes() == before, why
    with pytest.raises(FileNotFoundError):
        marquetry.append(tmp_path / "no such file", MORE)
    assert os.listdir(tmp_path) == ["t.parquet"]


def test_nulls_do_not_come_where_there_may_be_none(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "required.parquet"
    schema = pa.schema([pa.field("x", pa.int64(), nullable=False)])
    marquetry.write(pa.table({"x": [1]}, schema), path)
    # Of a type that says that there may be nulls, without any.
    assert marquetry.append(path, pa.table({"x": [2]})).num_rows == 2
    with pytest.raises(marquetry.Error, match="x"):
        marquetry.append(path, pa.table({"x": [None]}, pa.schema([("x", pa.int64())])))
    assert theirs.read_table(path).to_pydict() == {"x": [1, 2]}


def test_encrypted_files_stay_encrypted(tmp_path: pathlib.Path) -> None:
    path, key = tmp_path / "secret.parquet", b"0123456789012345"
    marquetry.write(TABLE, path, encryption=keys.create_encryption_properties(key))
    decryption = keys.create_decryption_properties(key)
    assert marquetry.append(path, MORE, decryption=decryption).num_rows == 1250
    assert pa.table(marquetry.open(path, decryption=decryption).read()).to_pylist() == both()
    with pytest.raises(marquetry.Error):
        marquetry.append(path, MORE)


def test_ctrl_c_leaves_the_old_file(path: pathlib.Path) -> None:
    before = path.read_bytes()
    code = f"""
import marquetry, pyarrow as pa, pyarrow.parquet, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the shell has left us
table = pa.parquet.read_table({str(path)!r})
def batches():
    print("begun", flush=True)
    while True:
        yield from table.to_batches(1000)
marquetry.append({str(path)!r}, pa.RecordBatchReader.from_batches(table.schema, batches()), row_group_rows=5000)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.5)
    assert path.read_bytes() != before
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert b"KeyboardInterrupt" in errors
    assert path.read_bytes() == before

"""What goes wrong: what is said, what is left, and what is saved."""

import io
import pathlib
import pickle

import pyarrow as pa
import pytest

import marquetry
from samples import TABLE


def test_unknown_options_are_errors(tmp_path: pathlib.Path) -> None:
    with pytest.raises(TypeError, match="no option speed"):
        marquetry.write(TABLE, io.BytesIO(), speed=3)
    with pytest.raises(ValueError, match="compression"):
        marquetry.write(TABLE, io.BytesIO(), compression="zip")


def test_nothing_is_left_of_a_file_that_fails(tmp_path: pathlib.Path) -> None:
    def progress(rows: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        marquetry.write(TABLE, tmp_path / "a.parquet", progress=progress)
    with pytest.raises(KeyError):
        with marquetry.create(tmp_path / "b.parquet", TABLE.schema) as writer:
            writer.write(TABLE)
            raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_errors_say_what_and_where(tmp_path: pathlib.Path, path: str) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        marquetry.open(tmp_path / "none.parquet")
    assert isinstance(missing.value, marquetry.Error)
    assert missing.value.file == str(tmp_path / "none.parquet")
    with pytest.raises(KeyError, match="no column nmae"):
        marquetry.open(path).read(["nmae"])
    contents = bytearray(pathlib.Path(path).read_bytes())
    contents[600] ^= 255
    with pytest.raises(marquetry.Error) as damaged:
        marquetry.open(bytes(contents)).read()
    assert damaged.value.kind == "corrupt"
    assert damaged.value.column is not None
    assert damaged.value.row_group == 0
    assert pickle.loads(pickle.dumps(marquetry.open(path))).num_rows == 10_000


def test_damaged_files_are_errors_and_no_panics(path: str) -> None:
    contents = pathlib.Path(path).read_bytes()
    for at in range(4, len(contents), max(1, len(contents) // 150)):
        damaged = contents[:at] + bytes([contents[at] ^ 0x5A]) + contents[at + 1 :]
        try:
            marquetry.open(damaged, verify_checksums=False).read()
        except marquetry.Error as error:
            assert "a mistake in Marquetry" not in str(error)
    for length in range(0, len(contents), max(1, len(contents) // 60)):
        with pytest.raises(marquetry.Error):
            marquetry.open(contents[:length]).read()


class Broken(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        raise ZeroDivisionError("the file is out")


def test_an_exception_of_a_file_object_comes_out(path: str) -> None:
    with pytest.raises(ZeroDivisionError, match="out"):
        marquetry.open(Broken(pathlib.Path(path).read_bytes()))
    with pytest.raises(TypeError, match="text mode"):
        marquetry.open(io.StringIO("x" * 100))
    with open(path) as text, pytest.raises(TypeError, match="text mode"):
        marquetry.open(text)


def test_a_broken_file_is_verified_and_recovered(tmp_path: pathlib.Path, path: str) -> None:
    assert marquetry.verify(path)
    cut = pathlib.Path(path).read_bytes()[:-50]
    report = marquetry.verify(cut)
    assert not report
    assert report.worst == "corrupt"
    recovered = marquetry.recover(cut, tmp_path / "back.parquet")
    assert recovered.rows == marquetry.open(tmp_path / "back.parquet").num_rows > 0
    with pytest.raises(marquetry.Error):
        marquetry.recover(b"nothing of the kind", tmp_path / "none.parquet")


def test_arrays_that_are_no_tables_are_errors(tmp_path):
    path = tmp_path / "x.parquet"
    with pytest.raises(TypeError, match="rows are structs"):
        marquetry.write(pa.array([1, 2, 3]), path)
    with pytest.raises(ValueError, match="a row is null"):
        marquetry.write(pa.array([{"a": 1}, None]), path)
    assert not path.exists()
    marquetry.write(pa.array([{"a": 1}, {"a": None}]), path)
    assert marquetry.open(path).read().num_rows == 2


def test_a_directory_is_no_file(path, tmp_path):
    (tmp_path / "a.parquet").write_bytes(pathlib.Path(path).read_bytes())
    words = "is a directory, not a file: name a file in it"
    for attempt in (
        lambda: marquetry.verify(tmp_path),
        lambda: marquetry.lint(tmp_path),
        lambda: marquetry.open(tmp_path),
        lambda: marquetry.recover(tmp_path, tmp_path / "out.parquet"),
        lambda: marquetry.diff(tmp_path, tmp_path / "a.parquet"),
        lambda: marquetry.report(tmp_path, tmp_path / "out.html"),
    ):
        with pytest.raises(marquetry.IoError, match=words) as error:
            attempt()
        assert str(tmp_path) in str(error.value)

"""Sources and sinks of others: filesystems of fsspec and pyarrow, and file objects that Python knows nothing of."""

import gc
import io
import pathlib
import uuid
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pytest

import marquetry
import marquetry.parquet as ours

fsspec = pytest.importorskip("fsspec")

TABLE = pa.table({"id": pa.array(range(5000), pa.int64()), "name": [f"name {i % 100}" for i in range(5000)]})


class OwnFile:
    """The least that a file is: not one of :mod:`io`'s."""

    def __init__(self, contents: bytes = b"") -> None:
        self._file = io.BytesIO(contents)

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def write(self, data: bytes) -> int:
        return self._file.write(bytes(data))

    def contents(self) -> bytes:
        return self._file.getvalue()


@pytest.fixture
def memory() -> Any:
    filesystem = fsspec.filesystem("memory")
    folder = f"/{uuid.uuid4()}"
    filesystem.mkdir(folder)
    yield filesystem, folder
    filesystem.rm(folder, recursive=True)


def same(table: Any) -> bool:
    return pa.table(table).cast(TABLE.schema).equals(TABLE)


def test_fsspec_files_are_sources_and_sinks(memory: Any) -> None:
    filesystem, folder = memory
    with filesystem.open(f"{folder}/x.parquet", "wb") as out:
        marquetry.write(TABLE, out)
    with filesystem.open(f"{folder}/x.parquet", "rb") as file:
        assert same(marquetry.open(file, text="utf8").read())
        assert marquetry.verify(file)


def test_files_of_pyarrow_are_sources_and_sinks(tmp_path: pathlib.Path) -> None:
    filesystem = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    with filesystem.open_output_stream("x.parquet") as out:
        marquetry.write(TABLE, out)
    with filesystem.open_input_file("x.parquet") as file:
        assert same(marquetry.open(file, text="utf8").read())


def test_own_file_objects_are_sources_and_sinks() -> None:
    out = OwnFile()
    marquetry.write(TABLE, out)
    assert same(marquetry.open(OwnFile(out.contents()), text="utf8").read())


@pytest.mark.parametrize("kind", ["fsspec", "subtree", "wrapped"])
def test_filesystems_in_the_names_of_pyarrow(kind: str, memory: Any, tmp_path: pathlib.Path) -> None:
    filesystem, folder = memory
    if kind == "subtree":
        filesystem, folder = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem()), "in"
        filesystem.create_dir(folder)
    elif kind == "wrapped":
        filesystem = pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(filesystem))
    ours.write_table(TABLE, f"{folder}/x.parquet", filesystem=filesystem)
    assert same(ours.read_table(f"{folder}/x.parquet", filesystem=filesystem))
    assert ours.ParquetFile(f"{folder}/x.parquet", filesystem=filesystem).metadata.num_rows == 5000
    assert ours.read_schema(f"{folder}/x.parquet", filesystem=filesystem).names == TABLE.column_names
    ours.write_to_dataset(TABLE, f"{folder}/all", partition_cols=["name"], filesystem=filesystem)
    parts = ours.read_table(f"{folder}/all", filesystem=filesystem, filters=[("name", "=", "name 7")])
    assert sorted(parts["id"].to_pylist()) == list(range(7, 5000, 100))


def test_nothing_is_left_in_a_filesystem_of_a_table_that_fails(memory: Any) -> None:
    filesystem, folder = memory
    with pytest.raises(Exception, match="zip|ompression"):
        ours.write_table(TABLE, f"{folder}/x.parquet", filesystem=filesystem, compression="zip")
    assert filesystem.ls(folder) == []


class Store(fsspec.AbstractFileSystem):
    """Shows a file when it is closed, as object stores do, whatever is in it by then."""

    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, bytes] = {}
        self.room = 1 << 30

    def _open(self, path: str, mode: str = "rb", **_: Any) -> io.BytesIO:
        return io.BytesIO(self.files[path]) if mode == "rb" else Upload(self, path)

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        if path not in self.files:
            raise FileNotFoundError(path)
        return {"name": path, "size": len(self.files[path]), "type": "file"}

    def rm_file(self, path: str) -> None:
        del self.files[path]


class Upload(io.BytesIO):
    def __init__(self, store: Store, path: str) -> None:
        super().__init__()
        self.store, self.path = store, path

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > self.store.room:
            raise OSError("the store is full")
        return super().write(data)

    def close(self) -> None:
        if not self.closed:
            self.store.files[self.path] = self.getvalue()
        super().close()


def test_a_store_shows_no_file_that_was_given_up() -> None:
    store = Store()
    ours.write_table(TABLE, "x.parquet", filesystem=store)
    assert same(ours.read_table("x.parquet", filesystem=store))
    store.files.clear()
    refused = pa.table({"x": [1, None]}, pa.schema([pa.field("x", pa.int64(), nullable=False)]))
    with pytest.raises(ValueError, match="null"):
        ours.write_table(refused, "x.parquet", filesystem=store)
    store.room = 1000
    with pytest.raises(OSError, match="full"):
        ours.write_table(TABLE, "x.parquet", filesystem=store)
    with pytest.raises(OSError, match="full"):
        with ours.ParquetWriter("x.parquet", TABLE.schema, filesystem=store, use_dictionary=False, compression=None) as writer:
            for _ in range(9):
                writer.write_table(TABLE)
    with pytest.raises(OSError, match="full"):
        with ours.ParquetWriter("x.parquet", TABLE.schema, filesystem=store):
            # The footer is too long.
            store.room = 10
    del writer
    gc.collect()
    assert store.files == {}


def test_what_was_there_stays_if_arguments_are_wrong() -> None:
    store = Store()
    store.files["x.parquet"] = b"as before"
    with pytest.raises(Exception, match="zip|ompression"):
        ours.write_table(TABLE, "x.parquet", filesystem=store, compression="zip")
    assert store.files == {"x.parquet": b"as before"}

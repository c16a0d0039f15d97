"""What comes from other libraries, and goes to them, by Arrow's C data interface."""

import datetime
import io
import pathlib
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as theirs
import pytest

import marquetry
import marquetry.parquet as pq

POINT = pa.struct([("x", pa.int32()), ("name", pa.string())])
NESTED = {
    "struct": pa.struct([("inner", POINT), ("n", pa.int64())]),
    "struct of a struct of a struct": pa.struct([("a", pa.struct([("b", POINT)])), ("c", POINT)]),
    "fixed-size list": pa.list_(POINT, 2),
    "fixed-size list in a struct": pa.struct([("l", pa.list_(pa.struct([("p", POINT)]), 2))]),
    "list": pa.list_(pa.struct([("p", POINT)])),
    "map": pa.map_(pa.string(), pa.struct([("p", POINT)])),
    "fixed-size list of lists": pa.list_(pa.list_(pa.struct([("p", POINT)])), 2),
}


def value(kind: pa.DataType, n: int) -> object:
    """A value of the type, another one for each row; some are null."""
    if pa.types.is_struct(kind):
        return None if n % 5 == 3 else {field.name: value(field.type, n + 1) for field in kind}
    if pa.types.is_map(kind):
        return [(f"k{i}", value(kind.item_type, n + i)) for i in range(n % 3)]
    if pa.types.is_fixed_size_list(kind):
        return None if n % 7 == 2 else [value(kind.value_type, n), value(kind.value_type, n + 1)]
    if pa.types.is_list(kind):
        return [value(kind.value_type, n + i) for i in range(n % 4)]
    return f"name {n}" if pa.types.is_string(kind) else n


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("how", ["stream", "array"])
def test_slices_of_nested_columns_are_written(tmp_path: pathlib.Path, kind: str, how: str) -> None:
    rows = [value(NESTED[kind], n) for n in range(40)]
    batch = pa.record_batch({"v": pa.array(rows, NESTED[kind]), "i": range(40)})
    for start, length in [(0, 40), (0, 7), (3, 20), (39, 1), (11, 0), (17, 23)]:
        part = batch.slice(start, length)
        # A slice of what is a slice already.
        for again in [part, part.slice(min(1, length))]:
            path = str(tmp_path / "f.parquet")
            marquetry.write(again if how == "array" else pa.table(again), path)
            expected = again.column("v").to_pylist()
            assert theirs.read_table(path).column("v").to_pylist() == expected, (start, length)


def test_fields_that_are_never_null_are_not_looked_at_where_their_struct_is_null(tmp_path: pathlib.Path) -> None:
    field = pa.field("b", pa.int32(), nullable=False)
    inner = pa.StructArray.from_arrays([pa.array([None, 1, 2], pa.int32())], fields=[field], mask=pa.array([True, False, False]))
    outer = pa.StructArray.from_arrays([inner], fields=[pa.field("s", inner.type)])
    path = str(tmp_path / "f.parquet")
    for start in range(3):
        part = pa.table({"a": outer}).slice(start)
        marquetry.write(part, path)
        assert theirs.read_table(path).column("a").to_pylist() == part.column("a").to_pylist()


def test_a_stream_has_no_null_rows() -> None:
    rows = pa.chunked_array([pa.array([{"a": 1}, None], pa.struct([("a", pa.int32())]))])
    with pytest.raises(Exception, match="a row is null"):
        marquetry.write(rows, io.BytesIO())


class OfStorage(pa.ExtensionType):
    """An extension type that keeps its storage type, whatever it is given."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "test.of-storage." + str(storage))

    def __arrow_ext_serialize__(self) -> bytes:
        return str(self.storage_type).encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> "OfStorage":
        return STORED[serialized.decode()]


STORED = {
    str(storage): OfStorage(storage)
    for storage in [
        pa.timestamp("s"), pa.time32("s"), pa.date64(), pa.timestamp("us"), pa.date32(), pa.int16(), pa.string(),
        pa.struct([("t", pa.timestamp("s"))]),
    ]
}  # fmt: skip


@pytest.mark.parametrize("storage", STORED)
def test_extension_types_are_those_of_what_is_read(tmp_path: pathlib.Path, storage: str) -> None:
    """A file has no seconds: who looks at its milliseconds as seconds has other values."""
    kind = STORED[storage]
    plain = {
        "timestamp[s]": datetime.datetime(2020, 1, 2, 3, 4, 5),
        "time32[s]": datetime.time(3, 4, 5),
        "date64[ms]": datetime.date(2020, 1, 2),
        "timestamp[us]": datetime.datetime(2020, 1, 2, 3, 4, 5, 6),
        "date32[day]": datetime.date(2020, 1, 2),
        "int16": 5,
        "string": "five",
        "struct<t: timestamp[s]>": {"t": datetime.datetime(2020, 1, 2)},
    }[storage]
    column = pa.ExtensionArray.from_storage(kind, pa.array([plain, None, plain], kind.storage_type))
    file = str(tmp_path / "f.parquet")
    pa.register_extension_type(kind)
    try:
        theirs.write_table(pa.table({"e": column}), file)
        for table in [pq.read_table(file), pa.table(marquetry.open(file).read())]:
            found = table.column("e")
            table.validate(full=True)
            assert found.to_pylist() == [plain, None, plain]
        kept = isinstance(pq.read_table(file).column("e").type, OfStorage)
        assert kept == (storage in ["timestamp[us]", "date32[day]", "int16", "string"])
    finally:
        pa.unregister_extension_type(kind.extension_name)


CALLBACKS = {
    "a file that is read": """
class Source(io.BytesIO):
    def read(self, *args):
        use()
        return super().read(*args)
assert pa.table(marquetry.open(Source(data)).read()).num_rows == 3
""",
    "a file that is written": """
class Sink(io.BytesIO):
    def write(self, part):
        use()
        return super().write(part)
marquetry.write(table, Sink())
""",
    "a stream": """
class Rows:
    def __arrow_c_stream__(self, requested_schema=None):
        use()
        return table.__arrow_c_stream__(requested_schema)
marquetry.write(Rows(), io.BytesIO())
""",
    "batches": """
def batches():
    for batch in table.to_batches():
        use()
        yield batch
marquetry.write(pa.RecordBatchReader.from_batches(table.schema, batches()), io.BytesIO())
""",
}


@pytest.mark.parametrize("called", CALLBACKS)
def test_what_is_called_may_read_files_itself(called: str) -> None:
    """In a process of its own: pyarrow reads our streams without the interpreter's lock."""
    program = f"""
import io
import marquetry, marquetry.parquet as pq, pyarrow as pa
table = pa.table({{"n": [1, 2, 3]}})
out = io.BytesIO()
pq.write_table(table, out)
data = out.getvalue()
def use():
    assert pa.table(marquetry.open(io.BytesIO(data)).read()).num_rows == 3
    assert pa.RecordBatchReader.from_stream(marquetry.open(data).stream()).read_all().num_rows == 3
{CALLBACKS[called]}
print("done")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr

"""What comes from other libraries, and goes to them, by Arrow's C data interface."""

import datetime
import io
import pathlib
import subprocess
import sys

import polars as pl
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


FRAMES = {
    "alone": pl.DataFrame({"n": [None, None]}),
    "beside others": pl.DataFrame({"a": [1, 2], "n": [None, None], "b": ["x", None]}),
    "in lists": pl.DataFrame({"l": [[None, None], [], None]}),
    "in structs": pl.DataFrame({"s": [{"x": None, "y": 1, "z": {"n": None}}, {"x": None, "y": 2, "z": None}]}),
    "in lists of fixed size": pl.DataFrame({"f": [[None, None]]}, schema={"f": pl.Array(pl.Null, 2)}),
    "in lists of structs": pl.DataFrame({"l": [[{"n": None, "a": 1}], [], None]}),
    "no rows": pl.DataFrame({"n": []}, schema={"n": pl.Null}),
}


@pytest.mark.parametrize("which", FRAMES)
def test_columns_of_nulls_of_polars_are_written(which: str, tmp_path: pathlib.Path) -> None:
    """Its Null arrays have a buffer, which Arrow's Rust library does not expect."""
    frame = FRAMES[which]
    path = tmp_path / "f.parquet"
    for rows in [frame, frame.slice(0, 1), frame.slice(1)]:
        marquetry.write(rows, path)
        assert theirs.read_table(path).to_pylist() == rows.to_dicts()
        assert pa.table(marquetry.Table(rows)).to_pylist() == rows.to_dicts()
    with marquetry.create(path, pa.table(frame).schema) as file:
        file.write(frame)
        file.write(frame)
    assert len(marquetry.open(path).read()) == 2 * len(frame)
    marquetry.append(path, frame)
    assert len(marquetry.open(path).read()) == 3 * len(frame)


def test_dictionaries_and_runs_of_nulls_are_written() -> None:
    # Not by polars: what has them gives the values a buffer or none.
    keys = pa.array([None, None], pa.int32())
    table = pa.table({"d": pa.DictionaryArray.from_arrays(keys, pa.nulls(0)), "n": pa.nulls(2)})
    assert pa.table(marquetry.Table(table))["n"].null_count == 2


BAD = b"ok\xff\xfe"


def texts(values: list[bytes | None], kind: pa.DataType = pa.string()) -> pa.Array:
    """An array of text whose bytes nobody looks at."""
    if kind == pa.string_view():
        stored = pa.array(values, pa.binary_view())
        return pa.Array.from_buffers(kind, len(stored), stored.buffers())
    stored = pa.array(values, pa.large_binary() if kind == pa.large_string() else pa.binary())
    return pa.Array.from_buffers(kind, len(stored), stored.buffers())


def offsets(numbers: list[int]) -> pa.Array:
    return pa.array(numbers, pa.int32())


def runs(ends: list[int], values: pa.Array) -> pa.Array:
    kind = pa.run_end_encoded(pa.int32(), values.type)
    return pa.Array.from_buffers(kind, ends[-1], [None], children=[offsets(ends), values])


LONG = b"a text that is not in the view"
TEXT = texts([b"a", b"b", BAD, b"c"])
NOT_TEXT: dict[str, tuple[pa.Array, str, int]] = {
    "string": (TEXT, "c", 2),
    "long string": (texts([None, LONG, "ö".encode(), LONG + BAD]), "c", 3),
    "large string": (texts([b"a", BAD], pa.large_string()), "c", 1),
    "short view": (texts([b"a", None, LONG, BAD], pa.string_view()), "c", 3),
    "long view": (texts([b"a", None, LONG, LONG + BAD], pa.string_view()), "c", 3),
    "part of a character": (texts(["ö".encode()[:1], "ö".encode()[1:]]), "c", 0),
    "a character across values": (texts([b"a" + "ö".encode()[:1], "ö".encode()[1:] + b"b"]), "c", 0),
    "half characters in views": (texts([LONG + "ö".encode()[:1], "ö".encode()[1:] + LONG], pa.string_view()), "c", 0),
    "surrogates": (texts([b"a", b"\xed\xa0\x80"]), "c", 1),
    "struct": (pa.StructArray.from_arrays([pa.array(range(4)), TEXT], ["n", "t"]), "c.t", 2),
    "list": (pa.ListArray.from_arrays(offsets([0, 1, 1, 3, 4]), TEXT), "c.list.item", 2),
    "large list": (pa.LargeListArray.from_arrays(pa.array([0, 0, 4], pa.int64()), TEXT), "c.list.item", 1),
    "fixed-size list": (pa.FixedSizeListArray.from_arrays(TEXT, 2), "c.list.item", 1),
    "keys of a map": (pa.MapArray.from_arrays(offsets([0, 1, 4]), TEXT, pa.array(range(4))), "c.key_value.key", 1),
    "values of a map": (pa.MapArray.from_arrays(offsets([0, 3, 4]), pa.array(list("abcd")), TEXT), "c.key_value.value", 0),
    "dictionary": (pa.DictionaryArray.from_arrays(offsets([0, 1, 1, 0, 2]), TEXT), "c", 4),
    "dictionary of few rows": (pa.DictionaryArray.from_arrays(offsets([3, 2]), TEXT), "c", 1),
    "runs": (runs([2, 3, 5, 8], TEXT), "c", 3),
    "deep": (
        pa.ListArray.from_arrays(offsets([0, 0, 2]), pa.StructArray.from_arrays([pa.FixedSizeListArray.from_arrays(TEXT, 2)], ["f"])),
        "c.list.item.f.list.item", 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", NOT_TEXT)
@pytest.mark.parametrize("how", ["table", "batch", "reader"])
def test_text_that_is_not_utf8_is_refused(kind: str, how: str, tmp_path: pathlib.Path) -> None:
    array, column, row = NOT_TEXT[kind]
    batch = pa.record_batch({"n": range(len(array)), "c": array})

    def given(batch: pa.RecordBatch) -> object:
        table = pa.Table.from_batches([batch])
        return {"table": table, "batch": batch, "reader": pa.RecordBatchReader.from_batches(batch.schema, [batch])}[how]

    path = tmp_path / "f.parquet"
    for take in [marquetry.Table, lambda data: marquetry.write(data, path)]:
        with pytest.raises(marquetry.ArgumentError, match="is not UTF-8: a column of binary holds such bytes") as caught:
            take(given(batch))
        assert caught.value.column == column and f"in row {row} of the batch" in str(caught.value)
    assert not path.exists()
    # Row by row, only what the row has counts.
    for i in range(len(array)):
        try:
            array.slice(i, 1).to_pylist()
        except UnicodeDecodeError:
            with pytest.raises(marquetry.ArgumentError, match="in row 0 of the batch"):
                marquetry.Table(given(batch.slice(i, 1)))
        else:
            assert marquetry.Table(given(batch.slice(i, 1))).num_rows == 1
    assert marquetry.Table(given(batch.slice(0, row))).num_rows == row


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_bytes_that_no_row_has_are_not_looked_at(kind: pa.DataType) -> None:
    for values in [[b"ab", None, "öü".encode(), LONG, "ö".encode() * 20], [None, None], [b"", b""], []]:
        array = texts(values, kind)
        found = pa.table(marquetry.Table(pa.table({"c": array})))["c"]
        assert found.to_pylist() == [None if value is None else value.decode() for value in values]
    # Null, by a mask over what is not text.
    stored = texts([b"ab", LONG + BAD, BAD, "ö".encode()], kind).buffers()
    masked = pa.Array.from_buffers(kind, 4, [pa.py_buffer(b"\x09"), *stored[1:]])
    for rows in [masked, masked.slice(1), masked.slice(1, 2)]:
        assert pa.table(marquetry.Table(pa.table({"c": rows})))["c"].to_pylist() == rows.to_pylist()


def test_a_slice_of_much_text_is_looked_at_alone() -> None:
    many = texts([LONG] * 1_000_000 + [BAD])
    lists = pa.ListArray.from_arrays(offsets([0, 10, 1_000_001]), many)
    words = pa.DictionaryArray.from_arrays(offsets([5, 7]), many)
    ends = runs(list(range(1, 1_000_002)), many)
    for array in [many.slice(5, 2), lists.slice(0, 1), words, ends.slice(5, 2)]:
        assert pa.table(marquetry.Table(pa.table({"c": array})))["c"].to_pylist() == array.to_pylist()

"""Tables are pickled, and copied."""

import copy
import io
import pickle
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import marquetry
import marquetry.parquet as ours

TABLES = {
    "plain": pa.table({"a": [1, None], "s": ["x", "y"], "l": [[1], None]}),
    "without rows": pa.table({"a": pa.array([], pa.int64())}),
    "without columns": pa.table({}),
    "batches": pa.concat_tables([pa.table({"a": [1]}), pa.table({"a": [2, 3]})]),
    "metadata": pa.table([[1]], schema=pa.schema([pa.field("a", pa.int64(), metadata={"k": "v"})], metadata={"m": "n"})),
    "views": pa.table({"a": pa.array(["x" * 50, None], pa.string_view())}),
    "dictionary": pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode()}),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_tables_are_pickled(name: str, protocol: int) -> None:
    table = marquetry.Table(TABLES[name])
    again = pickle.loads(pickle.dumps(table, protocol))
    assert again.to_pyarrow().equals(TABLES[name], check_metadata=True)
    assert len(again.batches()) == len(table.batches())


def test_tables_are_copied() -> None:
    table = marquetry.Table(TABLES["plain"])
    for again in (copy.copy(table), copy.deepcopy([table])[0]):
        assert again.to_pyarrow().equals(TABLES["plain"])


def test_slices_take_their_rows_along() -> None:
    whole = pa.table({"a": range(100_000)})
    assert len(pickle.dumps(marquetry.Table(whole.slice(500, 10)))) < 2000


def test_without_pyarrow_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    table = marquetry.Table(TABLES["plain"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TypeError, match="pickled by pyarrow"):
        pickle.dumps(table)


def test_what_was_pickled_is_equal() -> None:
    for module in (pq, ours):
        out = io.BytesIO()
        module.write_table(pa.table({"a": [1, 2]}), out)
        metadata = ours.read_metadata(pa.py_buffer(out.getvalue()))
        other = pickle.loads(pickle.dumps(metadata))
        assert other == metadata and copy.copy(metadata) == metadata and other.schema == metadata.schema
        module.write_table(pa.table({"a": [1, 3]}), out)
        assert ours.read_metadata(pa.py_buffer(out.getvalue())) != metadata


def test_a_buffer_that_may_change_is_copied() -> None:
    out = io.BytesIO()
    marquetry.write(pa.table({"a": range(1000)}), out)
    for make in (bytearray, lambda contents: memoryview(bytearray(contents))):
        buffer = make(out.getvalue())
        file = marquetry.open(buffer)
        buffer[:] = bytes(len(buffer))
        assert len(file.read()) == 1000 and len(pickle.loads(pickle.dumps(file)).read()) == 1000
    # Nor is it held.
    buffer = bytearray(out.getvalue())
    file = marquetry.open(memoryview(buffer))
    buffer.extend(b"more")
    assert len(file.read()) == 1000

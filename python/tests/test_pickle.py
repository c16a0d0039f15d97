"""Tables are pickled, and copied."""

import copy
import pickle
import sys

import pyarrow as pa
import pytest

import marquetry

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

"""INT96 timestamps that nanoseconds do not hold, beside those that they do."""

import io
import pathlib
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as theirs
import pytest

import marquetry.parquet as ours
from marquetry import _marquetry

EXACT = [1, -1, 123456789123456789, -(2**63), 2**63 - 1, None]
BEYOND = 10**17


def nanos(values: list[Any]) -> pa.Array:
    return pa.array(values, pa.int64()).cast(pa.timestamp("ns"))


def micros(values: list[Any], kind: Any = pa.int64()) -> pa.Array:
    return pa.array(values, kind)


US = pa.timestamp("us")
COLUMNS = {
    "id": pa.array(range(6)),
    "exact": nanos(EXACT),
    "beyond": micros([0, BEYOND, 5, None, -BEYOND, 7]).cast(US),
    "lists": micros([[1], [BEYOND, 2, None], None, [], [3], [4]], pa.list_(pa.int64())).cast(pa.list_(US)),
    "structs": pa.StructArray.from_arrays([micros([1, 2, BEYOND, 4, None, 6]).cast(US), pa.array(list("abcdef"))], ["t", "s"]),
    "maps": pa.array([[("a", 1)], [("b", BEYOND)], None, [], [("c", None)], [("d", 4)]], pa.map_(pa.string(), pa.int64())),
}
COLUMNS["maps"] = COLUMNS["maps"].cast(pa.map_(pa.string(), US))


@pytest.fixture
def path(tmp_path: pathlib.Path) -> str:
    path = str(tmp_path / "t.parquet")
    theirs.write_table(pa.table(COLUMNS), path, use_deprecated_int96_timestamps=True, row_group_size=3)
    return path


def check(table: pa.Table, wanted: pa.Schema) -> None:
    assert table.schema.equals(wanted) and table.num_rows == 6
    assert table["exact"].cast(pa.int64()).to_pylist() == EXACT
    assert table["beyond"].cast(pa.int64()).to_pylist() == [0, None, 5000, None, None, 7000]
    as_numbers = table["lists"].cast(pa.list_(pa.int64())).to_pylist()
    assert as_numbers == [[1000], [None, 2000, None], None, [], [3000], [4000]]
    structs = table["structs"].combine_chunks()
    assert pc.struct_field(structs, "t").cast(pa.int64()).to_pylist() == [1000, 2000, None, 4000, None, 6000]
    assert pc.struct_field(structs, "s").to_pylist() == list("abcdef")
    maps = table["maps"].cast(pa.map_(pa.string(), pa.int64())).to_pylist()
    assert maps == [[("a", 1000)], [("b", None)], None, [], [("c", None)], [("d", 4000)]]


@pytest.mark.parametrize("groups", [None, [0, 1], [1, 0], [0]])
def test_row_groups_that_are_read_one_by_one_have_one_unit(groups: list[int] | None) -> None:
    near, far = micros([1, 2]).cast(US), micros([BEYOND, None]).cast(US)
    out = io.BytesIO()
    table = pa.table({"t": pa.concat_arrays([near, far]), "n": nanos([1, 2, 3, 4])})
    # Without a stored schema, which would say a unit.
    theirs.write_table(table, out, use_deprecated_int96_timestamps=True, row_group_size=2, store_schema=False)
    file = _marquetry.File(out.getvalue(), {"int96": "auto"})
    found = pa.table(file.read({"row_groups": groups}, "row_group"))
    whole = pa.table(file.read({"row_groups": groups}))
    assert found.equals(whole) and found["t"].num_chunks == len(groups or [0, 1])
    assert found.schema.field("t").type.unit == ("us" if groups != [0] else "ns")
    assert found.schema.field("n").type.unit == "ns"
    # Of other columns it is not asked.
    assert pa.table(file.read({"columns": ["n"]}, "row_group")).equals(table.select(["n"]))


WARNING = "timestamps that nanoseconds do not hold"


def test_only_what_is_beyond_is_null(path: str) -> None:
    wanted = theirs.read_schema(path)
    with pytest.warns(UserWarning, match=WARNING) as warned:
        check(ours.read_table(path), wanted)
    assert sorted(str(each.message).split()[1] for each in warned) == ["beyond", "lists", "maps", "structs"]
    with pytest.warns(UserWarning, match=WARNING):
        check(ours.read_table(path, filters=[("id", ">=", 0)]), wanted)
    with pytest.warns(UserWarning, match=WARNING):
        check(ours.ParquetFile(path).read(), wanted)
    with pytest.warns(UserWarning, match=WARNING):
        columns = ours.read_table(path, columns=["beyond", "exact"])
    assert columns.column_names == ["beyond", "exact"] and columns["exact"].cast(pa.int64()).to_pylist() == EXACT


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_batches_have_them_too(path: str, size: int) -> None:
    with pytest.warns(UserWarning, match=WARNING):
        batches = list(ours.ParquetFile(path).iter_batches(size))
    assert all(0 < batch.num_rows <= size for batch in batches)
    check(pa.Table.from_batches(batches), theirs.read_schema(path))


def test_a_file_of_nothing_else(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "t.parquet")
    theirs.write_table(pa.table({"t": COLUMNS["beyond"]}), path, use_deprecated_int96_timestamps=True)
    with pytest.warns(UserWarning, match=WARNING):
        table = ours.read_table(path)
    assert table["t"].cast(pa.int64()).to_pylist() == [0, None, 5000, None, None, 7000]
    assert ours.read_table(path, coerce_int96_timestamp_unit="us")["t"].cast(pa.int64()).to_pylist()[1] == BEYOND


def test_other_timestamps_keep_their_unit(tmp_path: pathlib.Path) -> None:
    """Only INT96 is read in another unit."""
    contents = io.BytesIO()
    table = pa.table({"t": COLUMNS["beyond"], "s": nanos(EXACT)})
    theirs.write_table(table, contents, use_deprecated_int96_timestamps=True)
    plain = io.BytesIO()
    theirs.write_table(pa.table({"u": COLUMNS["beyond"]}), plain)
    assert ours.read_table(plain).schema.field("u").type == US
    with pytest.warns(UserWarning, match=WARNING):
        assert ours.read_table(contents)["s"].cast(pa.int64()).to_pylist() == EXACT

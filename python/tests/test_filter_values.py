"""Filters whose values Python has no types for, and files whose columns become others in the table: as pyarrow has them."""

from __future__ import annotations

import datetime
import decimal
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as theirs
import pytest

import marquetry
import marquetry.parquet as pq

X = pc.field("x")


def written(where: Path, *tables: pa.Table) -> str:
    where.mkdir()
    for i, table in enumerate(tables):
        theirs.write_table(table, where / f"{i}.parquet")
    return str(where)


def of(data_type: pa.DataType, *values: Any) -> pa.Table:
    return pa.table({"x": pa.array(values, data_type)})


@pytest.mark.parametrize(
    "tables, filters, rows",
    [
        ([of(pa.float32(), 1.5), of(pa.float64(), 0.1, 0.2, 16777217.0)], X > 0.1, 4),
        ([of(pa.float32(), 1.5), of(pa.float64(), 0.1, 16777217.0)], [("x", "==", 16777216.0)], 1),
        ([of(pa.int64(), 1), of(pa.int32(), 1, 2)], [("x", "==", 1)], 2),
        ([of(pa.timestamp("us"), 1_000), of(pa.timestamp("ms"), 1, 2)], X == datetime.datetime(1970, 1, 1, 0, 0, 0, 1000), 2),
        ([of(pa.large_string(), "a"), of(pa.string(), "a", "b")], [("x", "in", ["a"])], 2),
        ([of(pa.float64(), 0.0, -0.0, 1.0)], ~X.isin([0.0]), 2),
        ([of(pa.float64(), 0.0, -0.0, 1.0)], [("x", "not in", [0.0])], 2),
        ([of(pa.float64(), 0.0, -0.0, 1.0)], X.isin([0.0]), 1),
        ([of(pa.timestamp("us"), 1, 2**61)], X > pa.scalar(2**60, pa.timestamp("us")), 1),
        ([of(pa.timestamp("us"), 1, 2**61)], [("x", ">", pa.scalar(2**60, pa.timestamp("us")))], 1),
        ([of(pa.timestamp("us"), 1, 2**61)], X.isin(pa.array([2**61], pa.timestamp("us"))), 1),
        ([of(pa.date32(), 1, 2**30)], X == pa.scalar(2**30, pa.date32()), 1),
        ([of(pa.time64("ns"), 1, 2, 1000)], X == pa.scalar(1, pa.time64("ns")), 1),
    ],
)
def test_rows_are_those_of_pyarrow(tmp_path: Path, tables: list[pa.Table], filters: Any, rows: int) -> None:
    folder = written(tmp_path / "t", *tables)
    wanted = theirs.read_table(folder, filters=filters)
    assert wanted.num_rows == rows
    assert pq.read_table(folder, filters=filters).equals(wanted)


@pytest.mark.parametrize("value", ["a\\x00", "abcd", "61620001", b"a\\x00", b"a\0", b"ab\0\1", b"abcd", memoryview(b"a\0")])
@pytest.mark.parametrize("name", ["raw", "view", "fixed", "words"])
def test_text_and_bytes_are_their_own_bytes(name: str, value: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    raw = [b"a\0", b"a\\x00", b"61620001", b"abcd", None]
    fixed = [b"ab\0\1", b"a\\x0", b"abcd", b"0001", None]
    columns = {"raw": pa.array(raw), "view": pa.array(raw, pa.binary_view()), "fixed": pa.array(fixed, pa.binary(4))}
    table = pa.table({**columns, "words": columns["raw"].dictionary_encode(), "n": range(5)})
    marquetry.write(table, path)
    own = value.encode() if isinstance(value, str) else bytes(value)
    rows = [i for i, bytes_ in enumerate(fixed if name == "fixed" else raw) if bytes_ == own]
    column = pc.field(name)
    filters: list[Any] = [[(name, "=", value)], [(name, "in", [value])], column == value, column.isin([value])]
    for filter in filters[:2] if isinstance(value, memoryview) else filters:
        assert pa.table(marquetry.open(path).read(["n"], filter=filter))["n"].to_pylist() == rows
        # pyarrow compares no views, and not all lists with bytes of a fixed length.
        assert name in ("view", "fixed") or pq.read_table(path, columns=["n"], filters=filter)["n"].to_pylist() == rows
    # As text they are what is shown, and as digits themselves.
    shown = [0] if value == ("61620001" if name == "fixed" else "a\\x00") else rows
    text = f"{name} = '{value}'" if isinstance(value, str) else f"{name} = X'{own.hex()}'"
    assert pa.table(marquetry.open(path).read(["n"], filter=text))["n"].to_pylist() == shown


def test_days_of_instants(tmp_path: Path) -> None:
    folder = written(tmp_path / "t", of(pa.timestamp("us"), 18_000_000_000, 5))
    schema = pa.schema([("x", pa.date32())])
    # pyarrow shows both rows without a filter, and rules the file out with one: it takes the bounds of instants for days.
    assert theirs.read_table(folder, schema=schema).num_rows == 2
    assert pq.read_table(folder, schema=schema, filters=X == datetime.date(1970, 1, 1)).num_rows == 2


def test_times_in_nanoseconds(tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    theirs.write_table(of(pa.time64("ns"), 1, 2, 1000), path)
    one, other = pa.scalar(1, pa.time64("ns")), pa.scalar(1500, pa.time64("ns"))

    def rows(filters: Any) -> int:
        return pa.table(marquetry.open(path).read(filter=filters)).num_rows

    assert (rows(X == one), rows([("x", ">", one)]), rows(X == other)) == (1, 2, 0)
    assert rows(X.isin(pa.array([1, 1500], pa.time64("ns")))) == 1
    assert rows([("x", "in", [one, other])]) == 1


@pytest.mark.parametrize("data_type", [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")])
def test_times_of_no_day(data_type: pa.DataType, tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    theirs.write_table(of(data_type, 1, 2), path)
    for value in (-1, 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[data_type.unit]):
        late = pa.scalar(value, pa.int32() if data_type.bit_width == 32 else pa.int64()).cast(data_type)
        # Python's own have the time of the day before, or after.
        for filters in (X > late, [("x", ">", late)], X.isin(pa.array([late])), [("x", "in", [late])]):
            with pytest.raises(ValueError, match="none of a day"):
                marquetry.open(path).read(filter=filters)


def test_instants_that_python_has_not(tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    theirs.write_table(of(pa.timestamp("us"), 1, 2**61), path)
    late = pa.scalar(2**60, pa.timestamp("us"))
    for filters in (X > late, [("x", ">", late)]):
        with pytest.raises(ValueError, match="years 1 to 9999"):
            marquetry.open(path).read(filter=filters)


def test_partitions_that_have_one_place(tmp_path: Path) -> None:
    table = pa.table({"v": [1, 2, 3, 4], "k": ["a", "b", "a", "c"], "j": pa.array([1, 2, 2, 4], pa.int32())})
    by_name = ds.partitioning(pa.schema([("k", pa.string()), ("j", pa.int32())]), flavor="filename")
    for behaviour in ("overwrite_or_ignore", "delete_matching"):
        where = str(tmp_path / behaviour)
        pq.write_to_dataset(table, where, partitioning=by_name, existing_data_behavior=behaviour)
        found = ds.dataset(where, format="parquet", partitioning=by_name).to_table().sort_by("v")
        assert found.select(["v", "k", "j"]).equals(table)
    table = pa.table({"v": [1, 2, 3], "k": [None, "__HIVE_DEFAULT_PARTITION__", None]})
    pq.write_to_dataset(table, str(tmp_path / "null"), partition_cols=["k"])
    written_files = sorted((tmp_path / "null").rglob("*.parquet"))
    assert [theirs.read_table(path, partitioning=None)["v"].to_pylist() for path in written_files] == [[1, 2, 3]]


def spans(unit: str) -> bytes:
    out = io.BytesIO()
    columns = {"x": pa.array([1, 2, None, -1], pa.duration(unit)), "n": pa.array([1, 2, 3, 4])}
    theirs.write_table(pa.table(columns), out)
    return out.getvalue()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("operator", ["<", "<=", "=", "!=", ">", ">=", "in", "not in"])
def test_spans_of_time_are_compared_in_the_unit_of_their_column(unit: str, operator: str) -> None:
    data = spans(unit)
    for number in (np.timedelta64(2, unit), np.timedelta64(1_500, "ns"), pd.Timedelta(1, unit="us"), pa.scalar(-1, pa.duration(unit))):
        value: Any = [number] if "in" in operator else number
        wanted = theirs.read_table(io.BytesIO(data), filters=[("x", operator, value)])["n"].to_pylist()
        assert marquetry.open(data).read(filter=[("x", operator, value)]).to_pyarrow()["n"].to_pylist() == wanted
    with pytest.raises(TypeError, match="a span of time is compared with a column of durations"):
        marquetry.open(data).read(filter=[("n", "=", datetime.timedelta(1))])


def test_a_span_of_time_and_what_is_no_column_of_durations() -> None:
    out, microseconds = io.BytesIO(), pa.duration("us")
    group = pa.struct([("d", microseconds), ("k", pa.int64())])
    columns: dict[str, Any] = {
        "span": pa.array([1, 2], microseconds),
        "s": pa.array([{"d": datetime.timedelta(0), "k": 1}] * 2, group),
        "l": pa.array([[1]] * 2),
        "a:b": pa.array([1, 2], microseconds),
    }
    theirs.write_table(pa.table(columns), out)
    file = marquetry.open(out.getvalue())
    day = datetime.timedelta(1)
    conditions: list[tuple[list[Any], str]] = [
        ([("spam", "=", day), pc.field("spam") == day, pc.field("spam").isin([day])], "no column spam; did you mean span"),
        ([("s.d", "=", day), pc.field("s.d") == day], 'no column "s.d"; there are'),
        ([pc.field("s", "q") > day], "no column s.q; did you mean s.d"),
        ([("s", "in", [day]), pc.field("s") == day], "s is a group"),
        ([("l", "<", day), pc.field("l") < day], "it is inside a list or a map"),
    ]
    for filters, said in conditions:
        for condition in filters:
            with pytest.raises(marquetry.ArgumentError, match=said):
                file.read(filter=[condition] if isinstance(condition, tuple) else condition)
    for condition in (pc.field("s", "k") == day, [("p:x::bigint", "=", day)], pc.field("p:x::bigint") == day):
        with pytest.raises(TypeError, match="a span of time is compared with a column of durations"):
            file.read(filter=condition)
    microsecond = datetime.timedelta(microseconds=1)
    for condition in ([("a:b", "=", microsecond)], pc.field("a:b") == microsecond):
        assert file.read(filter=condition).num_rows == 1
    # Where no file tells the types, that is what is said.
    with pytest.raises(TypeError, match="where the types of columns are not known"):
        marquetry.report(out.getvalue(), io.BytesIO(), filter=[("span", "=", day)])  # type: ignore[arg-type]


def test_spans_of_time_in_expressions() -> None:
    file = marquetry.open(spans("us"))
    for expression, rows in [
        (X == datetime.timedelta(microseconds=2), [2]),
        (X.isin([datetime.timedelta(microseconds=2), None]), [2, 3]),
        (pc.is_nan(X), []),
        (~pc.is_nan(X), [1, 2, 4]),
    ]:
        assert file.read(filter=expression).to_pyarrow()["n"].to_pylist() == rows
        assert pq.read_table(io.BytesIO(spans("us")), filters=expression)["n"].to_pylist() == rows


@pytest.mark.parametrize("null", [pd.NaT, pd.NA, np.datetime64("NaT", "ns"), np.timedelta64("NaT"), pa.scalar(None, pa.int64())])
def test_nulls_of_other_libraries(null: Any) -> None:
    file = marquetry.open(spans("us"))

    def rows(operator: str, value: Any) -> list[int]:
        return file.read(filter=[("x", operator, value)]).to_pyarrow()["n"].to_pylist()  # type: ignore[no-any-return]

    assert (rows("=", null), rows("!=", null)) == ([], [])
    assert rows("in", iter([null, np.timedelta64(2, "us")])) == [2, 3]
    assert rows("not in", iter([null, np.timedelta64(2, "us")])) == [1, 4]


def test_instants_of_numpy_keep_their_nanoseconds() -> None:
    out = io.BytesIO()
    instants = pa.array([1_577_923_200_000_000_000, 1_577_923_200_000_000_001, -1, None], pa.timestamp("ns"))
    theirs.write_table(pa.table({"t": instants, "n": pa.array([1, 2, 3, 4])}), out)
    file = marquetry.open(out.getvalue())

    def rows(value: Any, column: str = "t") -> list[int]:
        return file.read(filter=[(column, "=", value)]).to_pyarrow()["n"].to_pylist()  # type: ignore[no-any-return]

    assert rows(np.datetime64("2020-01-02T00:00:00.000000001")) == [2]
    assert rows(np.datetime64("1969-12-31T23:59:59.999999999")) == [3]
    assert rows(np.datetime64("2020-01-02")) == rows(np.datetime64("2020-01-02T00", "h")) == [1]
    # They are not numbers.
    with pytest.raises(marquetry.Error, match="not comparable"):
        rows(np.datetime64(1, "ns"), "n")
    with pytest.raises(ValueError, match="outside of the years"):
        rows(np.datetime64("12020-01-02"))
    with pytest.raises(ValueError, match="nanoseconds are the shortest unit"):
        rows(np.datetime64(1, "ps"))


@pytest.mark.parametrize("number", [float("inf"), -float("inf"), float("nan"), np.float32("inf"), pa.scalar(float("-inf"))])
@pytest.mark.parametrize("column", ["f", "g", "i", "d"])
def test_numbers_that_are_not_finite(number: Any, column: str) -> None:
    values = [1.0, float("inf"), float("-inf"), float("nan"), None]
    table = pa.table({
        "f": values, "g": pa.array(values, pa.float32()), "i": [1, 2, -3, 4, None], "d": pa.array([1, 2, -3, 4, None], pa.decimal128(9, 2)),
        "n": range(5),
    })  # fmt: skip
    out = io.BytesIO()
    marquetry.write(table, out)
    file = marquetry.open(out.getvalue())
    for operator in ["=", "==", "!=", "<", "<=", ">", ">=", "in", "not in"]:
        if operator in ("in", "not in") and column in "id":
            # A list of numbers of another type is what pyarrow makes of it.
            continue
        given = getattr(number, "as_py", lambda: number)()
        value: Any = [float(given), 1.0] if "in" in operator else number
        expression = pq.filters_to_expression([(column, operator, value)])
        expected = table.filter(expression)["n"].to_pylist()
        for asked in [[(column, operator, value)], expression]:
            assert file.read(filter=asked).to_pyarrow()["n"].to_pylist() == expected, (operator, asked)


def test_a_number_that_is_not_finite_is_no_text() -> None:
    out = io.BytesIO()
    marquetry.write(pa.table({"s": ["inf", "nan", "-inf"]}), out)
    for number in [float("inf"), float("nan")]:
        for asked in [[("s", "=", number)], [("s", "in", [number])], pc.field("s") == number]:
            with pytest.raises(marquetry.ArgumentError):
                marquetry.open(out.getvalue()).read(filter=asked)


NARROW = [0.1, 0.5, 16777216.0, 3.4028235e38, 1e-45, 0.0, -0.0, float("inf"), float("-inf"), float("nan"), None]
NUMBERS: list[Any] = [
    0.1, -0.1, 0.5, 16777217.0, 16777215.5, 1e300, -1e300, 1e-46, -1e-46, 5e-324, 3.4028235677973366e38, float("inf"),
    decimal.Decimal("0.1"), np.float64(0.1), np.float32(0.1), pa.scalar(0.1), pa.scalar(0.1, pa.float32()), 7, np.int16(7),
]  # fmt: skip


@pytest.mark.parametrize("operator", ["<", "<=", "=", "!=", ">", ">="])
def test_narrow_floats_are_compared_with_doubles(operator: str) -> None:
    values = [value for known in NARROW for value in ([known] if known is None else [known, -known])]
    table = pa.table({"f": pa.array(values, pa.float32()), "s": [{"f": value} for value in values], "n": range(len(values))})
    table = table.set_column(1, "s", table["s"].cast(pa.struct([("f", pa.float32())])))
    words = table.set_column(0, "f", table["f"].combine_chunks().dictionary_encode())
    for data in (table, words):
        out = io.BytesIO()
        theirs.write_table(data, out)
        file = marquetry.open(out.getvalue())
        for number in NUMBERS:
            for sign in (1, -1):
                value = number if sign == 1 or hasattr(number, "as_py") else -number
                expression = pq.filters_to_expression([("f", operator, value)])
                expected = table.filter(expression)["n"].to_pylist()
                assert marquetry.Table(file.read(filter=expression)).to_pyarrow()["n"].to_pylist() == expected, (operator, value)
                assert file.read(filter=[("f", operator, value)]).to_pyarrow()["n"].to_pylist() == expected, (operator, value)
                nested = pq.filters_to_expression([[(("s", "f"), operator, value)]])
                assert file.read(filter=nested).to_pyarrow()["n"].to_pylist() == expected, (operator, value)


def test_numbers_that_floats_round_are_none_of_them() -> None:
    out = io.BytesIO()
    theirs.write_table(pa.table({"f": pa.array([16777216.0], pa.float32()), "d": [float(2**53)]}), out)
    file = marquetry.open(out.getvalue())
    # pyarrow raises.
    for column, number in (("f", 2**24 + 1), ("d", 2**53 + 1)):
        for filters in ([(column, "=", number)], [(column, ">=", number)], pc.field(column) == number, pc.field(column) > number):
            assert len(file.read(filter=filters)) == 0
        assert len(file.read(filter=[(column, "<", number)])) == 1
    # Text is as SQL has it.
    out = io.BytesIO()
    theirs.write_table(pa.table({"f": pa.array([0.1], pa.float32())}), out)
    assert len(marquetry.open(out.getvalue()).read(filter="f = 0.1")) == 1


@pytest.mark.parametrize("number", [1e300, -1e300, 3.4028235677973366e38, 3.4028235e38, 0.1, float("inf"), np.float64(1e300), pa.scalar(1e300)])
def test_lists_have_the_nearest_floats(number: Any) -> None:
    table = pa.table({"f": pa.array(NARROW, pa.float32())})
    out = io.BytesIO()
    theirs.write_table(table, out)
    value = number.as_py() if hasattr(number, "as_py") else number
    expected = table.filter(pc.field("f").isin([float(value)]))
    for filters in ([("f", "in", [number, 7.0])], pc.field("f").isin([float(value)])):
        assert marquetry.open(out.getvalue()).read(filter=filters).to_pyarrow().equals(expected)


DAY, NOON = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 12)


@pytest.mark.parametrize("data_type", [pa.date32(), pa.timestamp("us"), pa.timestamp("s")])
@pytest.mark.parametrize(
    "value",
    [DAY, NOON, datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, 0, 0, 0, 5), datetime.datetime(1969, 12, 31, 23)],
)
def test_lists_of_days_and_instants(data_type: pa.DataType, value: Any) -> None:
    instants = [datetime.datetime(2020, 1, 1), NOON, datetime.datetime(1969, 12, 31), datetime.datetime(1970, 1, 1), None]
    table = pa.table({"x": pa.array(instants, pa.timestamp("s")).cast(data_type, safe=False), "n": range(5)})
    out = io.BytesIO()
    theirs.write_table(table, out)
    file = marquetry.open(out.getvalue())
    for operator in ("in", "not in"):
        filters = [("x", operator, [value])]
        expected = table.filter(pq.filters_to_expression(filters))["n"].to_pylist()
        assert file.read(filter=filters).to_pyarrow()["n"].to_pylist() == expected
        assert file.read(filter=pq.filters_to_expression(filters)).to_pyarrow()["n"].to_pylist() == expected
    others: list[Any] = [np.datetime64(value, "us"), pd.Timestamp(value)]
    if data_type == pa.date32():
        found = [file.read(filter=[("x", "in", [other])]).to_pyarrow()["n"].to_pylist() for other in [value, *others]]
        assert found[1:] == [found[0]] * 2


def test_lists_take_both_zeros_for_one() -> None:
    out = io.BytesIO()
    theirs.write_table(of(pa.float64(), 0.0, -0.0, 1.0), out)
    # pyarrow's own tell them apart, and its comparisons do not.
    assert len(marquetry.open(out.getvalue()).read(filter=X.isin([0.0]))) == 2
    assert len(marquetry.open(out.getvalue()).read(filter=[("x", "in", [-0.0])])) == 2


def test_lists_with_nan_of_other_numbers() -> None:
    table = pa.table({"i": [1, 2, None], "d": pa.array([1, 2, None], pa.decimal128(5, 2)), "n": range(3)})
    out = io.BytesIO()
    theirs.write_table(table, out)
    file, nan = marquetry.open(out.getvalue()), float("nan")
    for column in "id":
        for operator, value, expected in (("in", [1.0, nan], [0]), ("in", [nan], []), ("not in", [nan, 2.0], [0, 2]), ("in", [nan, None], [2])):
            for filters in ([(column, operator, value)], pq.filters_to_expression([(column, operator, value)])):
                assert file.read(filter=filters).to_pyarrow()["n"].to_pylist() == expected, (column, operator, value)

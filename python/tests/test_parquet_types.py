"""Types and order of columns, as `pyarrow.parquet` has them."""

import io
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as theirs
import pytest

import marquetry
import marquetry.parquet as ours

TEXTS = ["a", None, "b"]


def written(module: Any, table: pa.Table, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    module.write_table(table, file, **options)
    return file


def outcome(work: Any) -> Any:
    """What comes of it, or what pyarrow raises."""
    try:
        return work()
    except pa.ArrowException as error:
        return type(error)


def of_dictionary(values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.int8()), values)


INSTANTS = pa.array([1_000_000_001, 5_000_000_000], pa.timestamp("ns"))
WHOLE = pa.array([1, 5], pa.timestamp("s", "Europe/Berlin"))
VIEWS = pa.array([[1], None, [2, 3], []], pa.list_view(pa.timestamp("s")))
COLUMNS = {
    "instants": of_dictionary(INSTANTS),
    "whole seconds": of_dictionary(WHOLE),
    "dates": of_dictionary(pa.array([86_400_007, 5], pa.date64())),
    "times": of_dictionary(pa.array([5, 6], pa.time32("s"))),
    "uint32": of_dictionary(pa.array([1, 2**32 - 1], pa.uint32())),
    "durations": of_dictionary(pa.array([1, 2], pa.duration("s"))),
    "list of dictionary": pa.ListArray.from_arrays([0, 1, 4], of_dictionary(WHOLE)),
    "struct of dictionary": pa.StructArray.from_arrays([of_dictionary(INSTANTS)], ["x"]),
    "extension": pa.ExtensionArray.from_storage(pa.opaque(pa.timestamp("s"), "a", "b"), pa.array([1], pa.timestamp("s"))),
    "dates with times": pa.array([5 * 86_400_000 + 7, -5, None, -86_400_001], pa.date64()),
    "list views": VIEWS.slice(1),
    "list views in any order": pa.ListViewArray.from_arrays(pa.array([2, 0, 0]), pa.array([1, 2, 3]), pa.array([1, 2, 3], pa.timestamp("s"))),
    "views of views": pa.array([[[1], None], None, [[2], [3, 4]]], pa.list_view(pa.large_list_view(pa.timestamp("s")))).slice(1),
    "struct of views": pa.StructArray.from_arrays([VIEWS], ["v"], mask=pa.array([False, False, True, False])).slice(1),
    "fixed lists of views": pa.FixedSizeListArray.from_arrays(VIEWS, 2).slice(1),
    "views that are never null": pa.StructArray.from_arrays(
        [pa.array([[1], [2, 3]], pa.list_view(pa.field("x", pa.timestamp("s"), False)))],
        fields=[pa.field("v", pa.list_view(pa.field("x", pa.timestamp("s"), False)), False)],
    ),
    "map of views": pa.MapArray.from_arrays(pa.array([0, 1, 4]), pa.array(list("abcd")), VIEWS).slice(1),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize(
    "options",
    [
        {}, {"version": "1.0"}, {"version": "2.4"}, {"coerce_timestamps": "ms"}, {"coerce_timestamps": "us"},
        {"coerce_timestamps": "ms", "allow_truncated_timestamps": True}, {"store_schema": False}, {"flavor": "spark"},
    ],
    ids=str,
)  # fmt: skip
def test_rules_of_types_reach_everywhere(name: str, options: dict[str, Any]) -> None:
    table = pa.table({"a": COLUMNS[name]})

    def told(writer: Any, reader: Any) -> Any:
        file = written(writer, table, **options)
        found = reader.read_table(file)
        leaves = [(column.path, column.physical_type, str(column.logical_type)) for column in theirs.read_metadata(file).schema]
        # Maps have a name more in pyarrow.
        return leaves, str(found.schema.types).replace(" ('a')", ""), found.to_pylist()

    expected = outcome(lambda: told(theirs, theirs))
    assert outcome(lambda: told(ours, theirs)) == expected
    assert outcome(lambda: told(theirs, ours)) == expected


@pytest.mark.parametrize("wrap", [lambda dates: dates, pa.Array.dictionary_encode, lambda dates: pa.array([dates.to_pylist()], pa.list_(pa.date64()))])
def test_dates_beyond_32_bits_are_errors(wrap: Any) -> None:
    day = 86_400_000
    for days in (2**31, -(2**31) - 1, 10**11 - 1):
        dates = pa.array([days * day, None, 0], pa.int64()).cast(pa.date64())
        # There is no such day in Python.
        lists = pa.ListArray.from_arrays([0, 3], dates)
        array = lists if pa.types.is_list(wrap(dates.slice(2)).type) else wrap(dates)
        with pytest.raises(pa.ArrowInvalid, match="32 bits"):
            written(ours, pa.table({"a": array}))
    ends = pa.array([(2**31 - 1) * day, -(2**31) * day, None], pa.int64()).cast(pa.date64())
    found = theirs.read_table(written(ours, pa.table({"a": ends}))).column("a")
    assert found.cast(pa.int32()).to_pylist() == [2**31 - 1, -(2**31), None]
    assert ours.read_table(written(ours, pa.table({"a": ends.slice(2)}))).column("a").to_pylist() == [None]


TIMES = {
    "s": [0, -1, 10**13, None], "ms": [0, 1500, -1, 10**16, None], "us": [0, 1500, -1, None], "ns": [0, 1500, -1, 10**18 + 1, None],
}  # fmt: skip


@pytest.mark.parametrize("unit", TIMES)
@pytest.mark.parametrize("version", ["1.0", "2.4", "2.6"])
@pytest.mark.parametrize("truncated", [True, False])
@pytest.mark.parametrize("coerced", [None, "ms", "us"])
def test_truncated_timestamps_lose_digits_and_nothing_else(unit: str, version: str, truncated: bool, coerced: str | None) -> None:
    options = {"version": version, "allow_truncated_timestamps": truncated, "coerce_timestamps": coerced}
    # By themselves, as one that fails has the others written by nobody; and without what says that digits may go, pyarrow cuts none off.
    for value in TIMES[unit]:
        table = pa.table({"a": pa.array([value], pa.int64()).cast(pa.timestamp(unit))})

        def told(writer: Any) -> Any:
            found = theirs.read_table(written(writer, table, **options))
            return str(found.schema.types), found.column(0).cast(pa.int64()).to_pylist()

        assert outcome(lambda: told(ours)) == outcome(lambda: told(theirs)), value


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("binary_type", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_a_layout_that_is_asked_for_outweighs_dictionaries(stored: bool, binary_type: pa.DataType) -> None:
    table = pa.table({"d": pa.array(TEXTS).dictionary_encode(), "b": pa.array(TEXTS, pa.binary()).dictionary_encode(), "s": pa.array(TEXTS)})
    file = written(theirs, table, store_schema=stored)
    for options in ({}, {"read_dictionary": ["s"]}):
        found, expected = (m.read_table(file, binary_type=binary_type, **options) for m in (ours, theirs))
        assert found.schema == expected.schema
        assert found.to_pylist() == expected.to_pylist()


NESTED = pa.table({"s": [{"p": 1, "q": 2, "r": {"x": 3, "y": 4}}], "t": [5], "u": [6], "l": [[{"p": 7, "q": 8}]]})


@pytest.mark.parametrize(
    "columns",
    [
        ["s.q", "s.p"], ["t", "s.r.y", "s.p"], ["s.r.y", "s.r.x", "s.q"], ["s.q", "s"], ["u", "s", "t"], ["s.q", "t", "s.p"], ["s.r", "s.p"],
        ["l.list.element.q", "l.list.element.p"],
    ],
    ids=str,
)  # fmt: skip
def test_what_is_in_a_struct_has_the_order_of_the_file(columns: list[str]) -> None:
    file = written(theirs, NESTED)
    readers = [ours.ParquetFile(file), theirs.ParquetFile(file)]
    found, expected = (reader.read(columns=columns) for reader in readers)
    assert found.equals(expected)
    found, expected = (reader.read_row_group(0, columns=columns) for reader in readers)
    assert found.equals(expected)
    found, expected = (next(reader.iter_batches(columns=columns)) for reader in readers)
    assert found.equals(expected)
    if "l." not in columns[0]:
        assert ours.read_table(file, columns=columns).equals(theirs.read_table(file, columns=columns))


NAN = float("nan")
ANY = pa.table(
    {
        "i": [1, None, 3], "s": ["x", None, "z"], "f": [1.0, NAN, None], "l": [[1], None, []], "d": pa.array([1, None, 2], pa.decimal128(4, 1)),
        "st": pa.array([{"g": NAN, "i": 1}, None, {"g": 1.0, "i": None}]), "h": pa.array([1, NAN, None], pa.float16()),
        "k": pa.array([1, NAN, None]).dictionary_encode(),
    }
)  # fmt: skip


@pytest.mark.parametrize(
    "expression",
    [
        *(pc.field(name).is_null(nan_is_null=True) for name in ANY.column_names),
        pc.field("st", "g").is_null(nan_is_null=True), pc.field("st", "i").is_null(nan_is_null=True), ~pc.field("i").is_null(nan_is_null=True),
        pc.field("i").is_nan(), ~pc.field("i").is_nan(), pc.field("d").is_nan() | (pc.field("s") == "x"),
    ],
    ids=str,
)  # fmt: skip
def test_nan_is_asked_for_of_any_type(expression: pc.Expression) -> None:
    file = written(theirs, ANY)
    # Not by their values: NaN is not equal to itself.
    expected = repr(ANY.filter(expression).to_pylist())
    assert repr(ours.read_table(file, filters=expression).to_pylist()) == expected
    if str(expression) != "is_null(st, {nan_is_null=true})":
        assert repr(pa.table(marquetry.open(file.getvalue()).read(filter=expression)).to_pylist()) == expected


@pytest.mark.parametrize("expression", [pc.field("st").is_null(), (pc.field("i") > 1).is_null(), pc.field("l").is_valid()], ids=str)
def test_what_our_reader_cannot_ask_is_filtered_by_pyarrow(expression: pc.Expression) -> None:
    file = written(theirs, ANY)
    assert repr(ours.read_table(file, filters=expression).to_pylist()) == repr(ANY.filter(expression).to_pylist())


def test_no_rows_behind_others() -> None:
    table = pa.table({"f": pa.array([[1, 2]] * 4, pa.list_(pa.int64(), 2)), "s": ["abcd"] * 4}).slice(3, 0)
    assert theirs.read_table(written(ours, table)) == theirs.read_table(written(theirs, table))


def test_zones_of_int96_and_metadata_of_what_is_not_restored() -> None:
    fields = [
        pa.field("t", pa.timestamp("ns", "Europe/Berlin"), metadata={"k": "t"}), pa.field("u", pa.time64("us"), metadata={"k": "u"}),
        pa.field("d", pa.dictionary(pa.int32(), pa.int64()), metadata={"k": "d"}), pa.field("s", pa.string(), metadata={"k": "s"}),
    ]  # fmt: skip
    table = pa.table([pa.array([1], fields[0].type), pa.array([1], fields[1].type), pa.array([1]).dictionary_encode(), ["a"]], schema=pa.schema(fields))
    for options in ({}, {"use_deprecated_int96_timestamps": True}):
        file = written(theirs, table, **options)
        for reading in ({}, {"read_dictionary": ["s"]}, {"coerce_int96_timestamp_unit": "ms"}):
            assert ours.read_table(file, **reading).equals(theirs.read_table(file, **reading), check_metadata=True)


def test_instants_of_pandas_are_compared_as_pyarrow_does() -> None:
    file = written(theirs, pa.table({"t": pa.array([1_000_000_001, 5], pa.timestamp("ns"))}))
    for operator in ("=", "!=", "<=", "in"):
        value: Any = pd.Timestamp(1_000_000_001)
        filters = [("t", operator, [value] if operator == "in" else value)]
        assert ours.read_table(file, filters=filters) == theirs.read_table(file, filters=filters)


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "BYTE_STREAM_SPLIT", "DELTA_BINARY_PACKED"])
@pytest.mark.parametrize("column", [pa.array(["a"], pa.string_view()), pa.array([1], pa.decimal128(9, 2)), pa.array([1.5], pa.float16())], ids=["text", "decimal", "half"])
@pytest.mark.parametrize("integers", [True, False])
def test_encodings_fit_the_same_types(encoding: str, column: pa.Array, integers: bool) -> None:
    table = pa.table({"a": column})
    options = {"column_encoding": encoding, "use_dictionary": False, "store_decimal_as_integer": integers}

    def encodings(module: Any) -> Any:
        try:
            return set(theirs.read_metadata(written(module, table, **options)).row_group(0).column(0).encodings)
        except OSError:
            return "refused"

    assert encodings(ours) == encodings(theirs)


def test_local_times_have_no_older_annotation() -> None:
    file = written(theirs, pa.table({"t": pa.array([1], pa.timestamp("ms")), "u": pa.array([1], pa.timestamp("ms", "UTC"))}))
    found, expected = ([column.converted_type for column in module.read_metadata(file).schema] for module in (ours, theirs))
    assert found == expected == ["NONE", "TIMESTAMP_MILLIS"]


@pytest.mark.parametrize("is_stored", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"binary_type": pa.large_binary()},
        {"binary_type": pa.binary_view()},
        {"arrow_extensions_enabled": False},
        {"arrow_extensions_enabled": False, "binary_type": pa.large_binary()},
    ],
)
@pytest.mark.parametrize("is_dictionary", [True, False])
def test_json_keeps_its_type(is_stored: bool, options: dict[str, Any], is_dictionary: bool) -> None:
    json = pa.ExtensionArray.from_storage(pa.json_(pa.string()), pa.array(['{"a":1}', None, "[]"]))
    table = pa.table({"j": json, "l": pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), json).take([0, 1, 1]), "s": ["a", "b", "a"]})
    data = io.BytesIO()
    theirs.write_table(table, data, store_schema=is_stored)
    if is_dictionary:
        options = {**options, "read_dictionary": ["j", "l.list.element", "s"]}
    wanted = theirs.read_table(io.BytesIO(data.getvalue()), **options)
    read = ours.read_table(io.BytesIO(data.getvalue()), **options)
    assert read.schema.equals(wanted.schema)
    assert read.to_pylist() == wanted.to_pylist()

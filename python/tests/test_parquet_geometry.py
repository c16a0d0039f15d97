"""Filters on geometries, which Arrow has as bytes."""

import pathlib
import struct

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as theirs
import pytest

import marquetry
import marquetry.parquet as ours

POINTS = [None if i == 3 else struct.pack("<BIdd", 1, 1, i, -i) for i in range(6)]
POINT = POINTS[2]


@pytest.fixture
def path(tmp_path: pathlib.Path) -> str:
    field = pa.field("g", pa.binary(), metadata={"ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": "{}"})
    path = str(tmp_path / "g.parquet")
    marquetry.write(pa.table([pa.array(range(6)), pa.array(POINTS)], schema=pa.schema([("i", pa.int64()), field])), path)
    assert ours.read_metadata(path).schema.column(1).logical_type.type == "GEOMETRY"
    return path


@pytest.mark.parametrize(
    "filters",
    [
        *([("g", sign, POINT)] for sign in ("=", "!=", "<", "<=", ">", ">=")),
        [("g", "in", [POINT])],
        [("g", "not in", [POINT])],
        [("g", "<", POINT), ("i", ">", 0)],
        [[("g", ">", POINT)], [("i", "=", 3)]],
        pc.field("g") > POINT,
        (pc.field("g") <= POINT) & (pc.field("i") != 1),
        pc.field("g").is_null(),
    ],
    ids=lambda filters: str(filters)[:20],
)
def test_filters_on_geometries_want_the_rows_that_pyarrow_wants(path: str, filters: object) -> None:
    expected = theirs.read_table(path, filters=filters)["i"].to_pylist()
    assert ours.read_table(path, filters=filters, columns=["i"])["i"].to_pylist() == expected
    assert ours.ParquetDataset([path], filters=filters).read(["i"])["i"].to_pylist() == expected


def test_other_errors_are_not_taken_for_a_predicate_that_cannot_be_asked(path: str) -> None:
    contents = bytearray(pathlib.Path(path).read_bytes())
    contents[10:60] = b"\xff" * 50
    pathlib.Path(path).write_bytes(contents)
    with pytest.raises((OSError, pa.ArrowInvalid)):
        ours.read_table(path, filters=[("i", ">", 1)])

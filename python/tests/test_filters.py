"""Filters of the package: those of pyarrow, boxes of geometries, and paths into variants."""

import pathlib
import struct

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import marquetry
from samples import TABLE


@pytest.mark.parametrize(
    ("filter", "expression"),
    [
        ("id > 5 and name = 'name 8'", (pc.field("id") > 5) & (pc.field("name") == "name 8")),
        ([("id", "<", 10)], pc.field("id") < 10),
        ([[("id", "=", 3)], [("name", "in", ["name 1", None])]], (pc.field("id") == 3) | pc.field("name").isin(["name 1", None])),
        ([("name", "not in", ["name 1"])], ~pc.field("name").isin(["name 1"])),
        (~pc.field("name").isin(["name 1", None]), ~pc.field("name").isin(["name 1", None])),
        (pc.field("score") == float("nan"), pc.field("score") == float("nan")),
        (~(pc.field("score") == float("nan")), ~(pc.field("score") == float("nan"))),
        (pc.field("score") != float("nan"), pc.field("score") != float("nan")),
        (pc.field("name").is_null(), pc.field("name").is_null()),
        (pc.field("score").is_null(nan_is_null=True), pc.field("score").is_null(nan_is_null=True)),
        (~(pc.field("id") > 100), ~(pc.field("id") > 100)),
        (pc.field("name") != "name 1", pc.field("name") != "name 1"),
    ],
)
def test_filters_want_the_rows_that_pyarrow_wants(path: str, filter: object, expression: pc.Expression) -> None:
    expected = TABLE.filter(expression).column("id").to_pylist()
    assert pa.table(marquetry.open(path).read(["id"], filter=filter)).column("id").to_pylist() == expected
    assert pa.table(marquetry.dataset(path).read(["id"], filter=filter)).column("id").to_pylist() == expected


def test_boxes_of_geometries(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "g.parquet")
    points = [None if i % 10 == 3 else struct.pack("<BIdd", 1, 1, i / 10, -i / 20) for i in range(1000)]
    marquetry.write(pa.table({"id": range(1000), "geom": pa.array(points, pa.binary())}), path, row_group_rows=100)
    expected = [i for i in range(1000) if i % 10 != 3 and 20 <= i / 10 <= 21 and i / 20 <= 10.25]
    filter = "bbox_intersects(geom, 20, -10.25, 21, 0)"
    assert len(expected) == 5
    for file in marquetry.open(path), marquetry.dataset(path):
        assert pa.table(file.read(["id"], filter=filter)).column("id").to_pylist() == expected
    with pytest.raises(marquetry.ArgumentError, match="four numbers"):
        marquetry.open(path).read(filter="bbox_intersects(geom, 1, 2)")


@pytest.mark.parametrize(
    "filter",
    [pc.field("id") + 1 > 2, pc.utf8_length(pc.field("name")) > 2, [("id", "~", 1)], [], 5],
)
def test_filters_that_are_no_predicates_are_errors(path: str, filter: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        marquetry.open(path).read(filter=filter)


def test_paths_into_variants_in_tuples():
    from marquetry._filters import predicate

    assert predicate([("v:user.id::bigint", ">", 5)]) == "(v:user.id::bigint > 5)"
    assert predicate([("v::bigint", ">", 5), ("v:$::text", "=", "x")]) == "(v::bigint > 5 and v:$::text = 'x')"
    assert predicate([[("a:b", "=", "x")], [('a:"odd name"[*]', "=", 1)]]) == "((a:b = 'x') or (a:\"odd name\"[*] = 1))"
    # What is not a path is a name.
    for name in ("time: now", "a.b", "x:", "any:x", "a:b c"):
        assert predicate([(name, "=", 1)]) == f'("{name}" = 1)'

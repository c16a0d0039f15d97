"""Bounds of column chunks: which are shown, and as what; beside pyarrow."""

import io
import sys
from typing import Any

import pyarrow as pa
import pyarrow.parquet as theirs
import pytest

import marquetry.parquet as ours
from marquetry._marquetry import Footer
from marquetry.metadata import FileMetaData


def written(column: pa.Array, **options: Any) -> bytes:
    file = io.BytesIO()
    theirs.write_table(pa.table({"x": column}), file, **options)
    return file.getvalue()


def statistics(contents: bytes) -> list[Any]:
    """pyarrow's, then ours."""
    return [module.ParquetFile(io.BytesIO(contents)).metadata.row_group(0).column(0).statistics for module in (theirs, ours)]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_instants_of_a_column_have_one_type(zone: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    values = [1000, 1_500_000_001]
    contents = written(pa.array(values, pa.timestamp("ns", zone)))
    their, our = statistics(contents)
    assert [type(our.min), type(our.max)] == [type(their.min), type(their.max)] == [pandas.Timestamp] * 2
    assert (our.min, our.max) == (their.min, their.max)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert [our.min, our.max] == values


def without_orders(contents: bytes, *, is_cut: bool) -> FileMetaData:
    """The footer of a file, maybe without what is at its end: the field that says how bounds are ordered."""
    size = int.from_bytes(contents[-8:-4], "little")
    footer = contents[-8 - size : -8]
    # Field 7 behind field 6: a list of one union, of whose first field a struct is empty; then the end.
    orders = b"\x19\x1c\x1c\x00\x00"
    assert footer.endswith(orders + b"\x00")
    return FileMetaData._of(Footer.parse(footer[: -len(orders) - 1] + b"\x00" if is_cut else footer))


@pytest.mark.parametrize(
    ("column", "is_signed"),
    [
        (pa.array([3, 1]), True),
        (pa.array([3.0, 1.0]), True),
        (pa.array([True, False]), True),
        (pa.array(["b", "a"]), False),
        (pa.array([3, 1], pa.uint32()), False),
    ],
)
def test_bounds_in_no_known_order_are_not_shown(column: pa.Array, is_signed: bool) -> None:
    contents = written(column)
    for is_cut in (False, True):
        found = without_orders(contents, is_cut=is_cut).row_group(0).column(0).statistics
        # pyarrow writes the older bounds, too, where they have an order.
        is_shown = is_signed or not is_cut
        bounds = sorted(column.to_pylist()) if is_shown else [None, None]
        assert (found.has_min_max, [found.min, found.max], found.null_count) == (is_shown, bounds, 0)
        assert (found.min_raw is not None) == is_shown


def test_int96_has_bounds_only_where_the_file_declares_their_order() -> None:
    column = pa.array([1, 2], pa.timestamp("ns"))
    contents = written(column, use_deprecated_int96_timestamps=True)
    shown = [found is not None and found.has_min_max for found in statistics(contents)]
    assert shown == [False, False]

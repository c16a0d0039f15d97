"""Tables without rows or without columns, and what is written of tables as many files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as theirs
import pytest

import marquetry.parquet as ours

EMPTY = pa.table({"x": pa.array([], pa.int64()), "l": pa.array([], pa.list_(pa.string())), "d": pa.array([], pa.string()).dictionary_encode()})
PAIRS = pa.table({"a": [1, 1, 2], "b": ["x", "y", None]})


def test_a_table_without_rows_has_no_row_groups() -> None:
    # Java and ClickHouse refused files with a row group of 0 rows for years.
    out = io.BytesIO()
    with ours.ParquetWriter(out, EMPTY.schema) as writer:
        writer.write_table(EMPTY)
        writer.write_batch(pa.RecordBatch.from_arrays([column.combine_chunks() for column in EMPTY.columns], schema=EMPTY.schema))
        writer.write_table(EMPTY)
    assert ours.read_metadata(io.BytesIO(out.getvalue())).num_row_groups == 0
    assert theirs.read_table(io.BytesIO(out.getvalue())).equals(ours.read_table(io.BytesIO(out.getvalue())))
    assert theirs.read_table(io.BytesIO(out.getvalue())).equals(EMPTY)


def test_rows_without_columns_are_counted() -> None:
    rows = PAIRS.select([])
    out = io.BytesIO()
    ours.write_table(rows, out, row_group_size=2)
    assert ours.read_metadata(io.BytesIO(out.getvalue())).num_rows == 3
    assert ours.read_table(io.BytesIO(out.getvalue())).shape == theirs.read_table(io.BytesIO(out.getvalue())).shape == (3, 0)


@pytest.mark.parametrize(
    "options",
    [
        {"partition_cols": ["a", "b"]},
        {"partitioning": ["a", "b"], "partitioning_flavor": "hive"},
        {"partitioning": ds.partitioning(PAIRS.schema, flavor="hive")},
    ],
)
def test_all_columns_may_be_partitions(tmp_path: Path, options: dict[str, Any]) -> None:
    ours.write_to_dataset(PAIRS, tmp_path, **options)
    for library in (ours, theirs):
        read = library.read_table(tmp_path)
        assert sorted(zip(read["a"].to_pylist(), read["b"].to_pylist())) == [(1, "x"), (1, "y"), (2, None)]


def test_no_rows_without_columns_stay_none(tmp_path: Path) -> None:
    ours.write_to_dataset(pa.table({}), tmp_path)
    assert theirs.read_table(tmp_path).num_rows == 0


@pytest.mark.parametrize(
    "options, message",
    [
        ({"max_rows_per_group": 10, "max_rows_per_file": 5}, "max_rows_per_group must be less than or equal to max_rows_per_file"),
        ({"row_group_size": 10, "max_rows_per_file": 5}, "max_rows_per_group must be less than or equal to max_rows_per_file"),
        ({"row_group_size": 2, "min_rows_per_group": 3}, "min_rows_per_group must be less than or equal to max_rows_per_group"),
        ({"row_group_size": 0}, "max_rows_per_group must be a positive number"),
        ({"max_partitions": 0}, "max_partitions must be positive"),
        ({"max_rows_per_file": -1}, "max_rows_per_file must not be negative"),
    ],
)
def test_limits_that_contradict_each_other(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ours.write_to_dataset(PAIRS, tmp_path / "d", **options)
    assert not (tmp_path / "d").exists()


def test_options_of_write_dataset(tmp_path: Path) -> None:
    collected: list[Any] = []
    options = {"min_rows_per_group": 1, "max_open_files": 1, "preserve_order": True, "max_rows_per_file": 2, "max_rows_per_group": 1}
    ours.write_to_dataset(PAIRS, tmp_path, metadata_collector=collected, **options)
    assert [(footer.num_rows, footer.num_row_groups) for footer in collected] == [(2, 2), (1, 1)]

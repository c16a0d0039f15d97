"""Expressions that are long: pyarrow shows a part of them, and cuts within a character."""

import pathlib

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as theirs
import pytest

import marquetry
import marquetry.parquet as ours


def test_long_lists_of_other_letters(tmp_path: pathlib.Path) -> None:
    letters = ["a" * k + "é" * 80 for k in range(9)]
    path = str(tmp_path / "t.parquet")
    theirs.write_table(pa.table({"s": [*letters, "b", "c"]}), path)
    expression = pc.field("s").isin([*letters, "b"])
    with pytest.raises(UnicodeDecodeError):
        str(expression)
    assert ours.read_table(path, filters=expression)["s"].to_pylist() == [*letters, "b"]
    assert marquetry.open(path).read(filter=expression).to_pyarrow()["s"].to_pylist() == [*letters, "b"]
    one, two = (ours.ParquetDataset(path, filters=pc.field("s").isin([*letters, last])) for last in "bc")
    assert one == ours.ParquetDataset(path, filters=expression) and one != two
    assert one != ours.ParquetDataset(path)

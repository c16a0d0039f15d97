"""The package's own names: reading, writing, and what goes to other libraries."""

import io
import os
import pathlib
import subprocess
import sys

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as theirs
import pytest

import marquetry
from samples import TABLE, rows


def test_what_is_written_is_read(path: str) -> None:
    file = marquetry.open(path, text="utf8")
    assert pa.table(file.read()).cast(TABLE.schema).equals(TABLE) or rows(file.read()) == rows(TABLE)
    assert file.num_row_groups == 4
    assert file.num_rows == len(file.read()) == 10_000
    assert file.metadata.row_group(0).num_rows == 3000


@pytest.mark.parametrize("ends", [pa.int16(), pa.int32()])
def test_long_columns_of_runs_are_handed_over(tmp_path: pathlib.Path, ends: pa.DataType) -> None:
    """Batches are not longer than the ends of runs, which have 16 bits, can say."""
    runs = [pa.RunEndEncodedArray.from_arrays(pa.array([10_000, 30_000], ends), [f"a{i}", None]) for i in range(3)]
    path = tmp_path / "runs.parquet"
    marquetry.write(pa.table({"r": pa.chunked_array(runs)}), path)
    expected = [text for i in range(3) for text in [f"a{i}"] * 10_000 + [None] * 20_000]
    for read in [marquetry.open(path), marquetry.open(path).read(), marquetry.dataset(path), marquetry.dataset(path).read()]:
        chunks = pa.table(read)["r"].chunks
        assert chunks[0].type.run_end_type == ends
        assert [text for chunk in chunks for text in pc.run_end_decode(chunk).to_pylist()] == expected
    assert marquetry.write(marquetry.open(path), tmp_path / "again.parquet").num_rows == 90_000


def test_every_source_gives_the_same(path: str) -> None:
    expected = rows(marquetry.open(path).read(limit=100))
    contents = pathlib.Path(path).read_bytes()
    sources = [pathlib.Path(path), contents, bytearray(contents), io.BytesIO(contents), pa.BufferReader(contents), pa.py_buffer(contents)]
    for source in sources:
        assert rows(marquetry.open(source).read(limit=100)) == expected, type(source)
    with open(path, "rb") as file:
        assert rows(marquetry.open(file).read(limit=100)) == expected
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open(f"file://{path}") as file:
        assert rows(marquetry.open(file).read(limit=100)) == expected


def test_columns_rows_and_row_groups(path: str) -> None:
    file = marquetry.open(path)
    table = pa.table(file.read(["score", "id"], row_groups=[1], offset=10, limit=5))
    assert table.column_names == ["score", "id"]
    assert table.column("id").to_pylist() == list(range(3010, 3015))
    numbered = pa.table(file.read(["id"], filter="id >= 9998", row_numbers="row"))
    assert numbered.to_pydict() == {"id": [9998, 9999], "row": [9998, 9999]}
    for read in (file.read, file.stream):
        with pytest.raises(marquetry.ArgumentError, match="row_numbers is id, and a column of this name is read"):
            read(row_numbers="id")
        assert pa.table(read(["name"], row_numbers="id", row_groups=[1], limit=2))["id"].to_pylist() == [3000, 3001]


def test_batches_go_to_other_libraries(path: str) -> None:
    file = marquetry.open(path)
    assert pl.DataFrame(file.read(["id"])).height == 10_000
    assert pl.DataFrame(file)["id"].sum() == sum(range(10_000))
    assert duckdb.sql("select sum(id) from file where id > 9000").fetchall() == [(sum(range(9001, 10_000)),)]
    # Twice: the stream is made anew.
    assert duckdb.sql("select count(*) from file").fetchall() == duckdb.sql("select count(*) from file").fetchall()
    assert pa.table(file.stream(batch_size=999)).num_rows == 10_000
    assert sum(batch.num_rows for batch in file.stream(batch_size=999)) == 10_000
    assert pa.record_batch(next(file.stream(batch_size=7))).num_rows == 7


def test_a_stream_is_read_once(path: str) -> None:
    stream = marquetry.open(path).stream()
    pa.table(stream)
    with pytest.raises(ValueError, match="read already"):
        pa.table(stream)


def test_everything_with_a_stream_is_written(tmp_path: pathlib.Path, path: str) -> None:
    target = str(tmp_path / "out.parquet")
    frame = pl.DataFrame({"x": [1, 2, 3]})
    for data in (frame, frame.to_arrow(), frame.to_arrow().to_reader(), duckdb.sql("select 1 as x"), marquetry.open(path)):
        written = marquetry.write(data, target)
        assert written.num_rows == pa.table(marquetry.open(target)).num_rows
    marquetry.write(pa.record_batch({"x": [1]}), target)
    out = io.BytesIO()
    seen: list[int] = []
    marquetry.write(TABLE, out, progress=seen.append, compression={"name": "snappy"}, bloom_filters=["name"])
    assert seen[-1] == 10_000
    chunk = marquetry.open(out.getvalue()).metadata.row_group(0).column(1)
    assert chunk.compression == "SNAPPY"
    assert chunk.bloom_filter_length > 0


def test_datasets(tmp_path: pathlib.Path) -> None:
    for year in (2023, 2024):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        marquetry.write(pa.table({"x": [year, year + 1]}), folder / "0.parquet")
    table = marquetry.dataset(tmp_path)
    assert table.num_rows == 4
    assert pa.table(table.read(["x", "year"], filter="year = 2024")).to_pydict() == {"x": [2024, 2025], "year": [2024, 2024]}
    assert len(table.files) == 2


def test_a_column_without_values_says_no_type(tmp_path: pathlib.Path) -> None:
    """The first file decides: pyarrow fails, too, and we say what helps."""
    marquetry.write(pa.table({"x": pa.nulls(2), "n": [1, 2]}), tmp_path / "0.parquet")
    marquetry.write(pa.table({"x": [3, 4], "n": [3, 4]}), tmp_path / "1.parquet")
    with pytest.raises(marquetry.ArgumentError, match="union") as caught:
        marquetry.dataset(tmp_path).read()
    assert caught.value.column == "x" and str(caught.value.file).endswith("1.parquet")
    with pytest.raises(NotImplementedError, match="cast from int64 to null"):
        theirs.read_table(tmp_path)
    assert pa.table(marquetry.dataset(tmp_path).read(["n"]))["n"].to_pylist() == [1, 2, 3, 4]
    table = pa.table(marquetry.dataset(tmp_path, union_by_name=True))
    assert table["x"].to_pylist() == [None, None, 3, 4] and table["x"].type == pa.int64()


def test_a_page_shows_files(tmp_path: pathlib.Path, path: str) -> None:
    page = tmp_path / "page.html"
    marquetry.report([path, pathlib.Path(path).read_bytes()], page, filter="id >= 9000", verify="deep")
    text = page.read_text()
    assert pathlib.Path(path).name in text and "file 1" in text and str(tmp_path) not in text
    before = page.read_bytes()
    for wrong in ({"verify": "none at all"}, {"filter": "nothing > 3"}):
        with pytest.raises(marquetry.Error):
            marquetry.report(path, page, **wrong)
    with pytest.raises(marquetry.Error):
        marquetry.report(b"PAR1 and no more", page)
    assert page.read_bytes() == before


def test_explain_tells_what_is_left(path: str) -> None:
    told = marquetry.explain(path, pc.field("id") >= 9000)
    assert told.rows == 10_000
    assert told.rows_left == 1000
    assert told.stages[0]["row_groups_left"] == 1
    assert "1000 of 10000" in str(told)


def test_they_are_shown(path: str) -> None:
    file = marquetry.open(path)
    assert "10000 rows, 4 row groups" in repr(file)
    assert "<table>" in file._repr_html_()
    assert "name: Utf8View" in repr(file.read())
    assert "10,000 rows" in file.read()._repr_html_()


def test_a_lazy_frame_reads_what_it_needs(path: str) -> None:
    import marquetry.polars

    frame = marquetry.polars.scan(path)
    assert frame.filter(pl.col("id") >= 9990).select("name").collect().height == 10
    assert frame.head(7).collect()["id"].to_list() == list(range(7))
    assert frame.select(pl.len()).collect().item() == 10_000
    assert frame.collect().equals(pl.DataFrame(marquetry.open(path)))


def test_names_of_files_may_be_any_bytes(tmp_path: pathlib.Path) -> None:
    name = os.path.join(os.fsencode(tmp_path), b"\xff.parquet")

    class InBytes:
        def __fspath__(self) -> bytes:
            return name

    for where in (InBytes(), os.fsdecode(name), pathlib.Path(os.fsdecode(name))):
        marquetry.write(TABLE, where)
        assert marquetry.open(where).num_rows == TABLE.num_rows
    assert os.listdir(os.fsencode(tmp_path)) == [b"\xff.parquet"]


def test_modules_are_there_without_an_import() -> None:
    program = "import marquetry as m; m.encryption.create_decryption_properties; m.parquet.read_table; m.polars.scan"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_order_of_ordered_dictionaries_is_kept(tmp_path: pathlib.Path) -> None:
    sizes = pd.Categorical(["large", None, "small"], categories=["small", "medium", "large"], ordered=True)
    frame = pd.DataFrame({"size": sizes})
    marquetry.write(pa.Table.from_pandas(frame), tmp_path / "x.parquet")
    pd.testing.assert_frame_equal(marquetry.open(tmp_path / "x.parquet").read().to_pandas(), frame)

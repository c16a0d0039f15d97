"""What README.md says of other libraries: the one line that reads files in Dask and in Ray, and values that others take for others."""

import decimal
import pathlib

import pyarrow as pa
import pytest

import marquetry
import marquetry.parquet as pq


@pytest.fixture
def paths(tmp_path: pathlib.Path) -> list[str]:
    """Three files, of which the third begins at 200."""
    files = [str(tmp_path / f"{i}.parquet") for i in range(3)]
    for i, file in enumerate(files):
        marquetry.write(pa.table({"x": range(100 * i, 100 * i + 100), "y": ["a", "b"] * 50}), file)
    return files


def test_dask(paths: list[str]) -> None:
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_map(lambda path: pq.read_table(path).to_pandas(), paths)
    assert frame.npartitions == 3
    assert frame.x.sum().compute() == sum(range(300))
    assert frame[frame.y == "a"].x.compute().tolist() == list(range(0, 300, 2))


def test_ray(paths: list[str]) -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        files = ray.data.from_items([{"path": path} for path in paths])
        rows = files.map_batches(lambda batch: pq.read_table(batch["path"][0]), batch_size=1)
        assert rows.count() == 300
        assert rows.sum("x") == sum(range(300))
    finally:
        ray.shutdown()


def test_narrow_decimals(tmp_path: pathlib.Path) -> None:
    """polars takes decimals of 32 and 64 bits, as pyarrow has them stored, for such of 128."""
    pl = pytest.importorskip("polars")
    import marquetry.polars

    values = [decimal.Decimal("1.25"), None, decimal.Decimal("-3.50")]
    types = {
        "narrow": pa.decimal32(7, 2), "wider": pa.decimal64(15, 2), "nested": pa.list_(pa.decimal32(5, 2)),
        "within": pa.struct([("x", pa.decimal64(12, 2))]),
    }  # fmt: skip
    nested = {"nested": [[value] for value in values], "within": [{"x": value} for value in values]}
    path = str(tmp_path / "decimals.parquet")
    pq.write_table(pa.table({name: pa.array(nested.get(name, values), of) for name, of in types.items()}), path)
    file = marquetry.open(path)
    expected = [dict(zip(types, row)) for row in zip(values, values, nested["nested"], nested["within"])]
    assert pl.DataFrame(file).to_dicts() == expected
    assert file.read().to_polars().to_dicts() == expected
    assert marquetry.polars.scan(path).collect().to_dicts() == expected
    assert pa.table(file).to_pylist() == expected
    # pyarrow knows them.
    assert pq.read_table(path).schema.field("narrow").type == pa.decimal32(7, 2)

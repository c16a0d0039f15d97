"""The one line that reads files in Dask and in Ray, as README.md has it."""

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

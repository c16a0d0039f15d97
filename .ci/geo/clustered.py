"""Points in the order of a Hilbert curve: a box of a thousandth of the map reads at most a hundredth of the bytes.

    python .ci/geo/clustered.py target/debug/marquetry                         200,000 points, some seconds
    python .ci/geo/clustered.py target/compact/marquetry --points 10000000     as the figure in COVERAGE.md was measured

Half of the points are spread evenly, half stand around 400 towns. The rows that a box has are compared with what numpy finds.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def points(count: int, random: np.random.Generator) -> np.ndarray:
    """Longitudes and latitudes."""
    even = np.column_stack([random.uniform(-180, 180, count), random.uniform(-80, 80, count)])
    towns = np.column_stack([random.uniform(-170, 170, 400), random.uniform(-70, 70, 400)])
    near = towns[random.integers(0, 400, count)] + random.normal(0, 0.5, (count, 2))
    return np.where(random.random((count, 1)) < 0.5, even, near)


def write(path: pathlib.Path, places: np.ndarray) -> None:
    packed = np.zeros(len(places), dtype=[("order", "u1"), ("kind", "<u4"), ("x", "<f8"), ("y", "<f8")])
    packed["order"], packed["kind"] = 1, 1
    packed["x"], packed["y"] = places[:, 0], places[:, 1]
    fixed = pa.Array.from_buffers(pa.binary(21), len(places), [None, pa.py_buffer(packed.tobytes())])
    meaning = {"ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": '{"crs": "OGC:CRS84"}'}
    fields = [pa.field("id", pa.int64()), pa.field("geom", pa.binary(), metadata=meaning)]
    geometries = fixed.cast(pa.binary())
    pq.write_table(pa.table([pa.array(np.arange(len(places))), geometries], schema=pa.schema(fields)), path)


def run(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(argument) for argument in arguments], check=True, capture_output=True, text=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("marquetry")
    parser.add_argument("--points", type=int, default=200_000)
    parser.add_argument("--boxes", type=int, default=20)
    options = parser.parse_args()
    random = np.random.default_rng(1)
    places = points(options.points, random)
    with tempfile.TemporaryDirectory() as folder:
        plain, clustered = pathlib.Path(folder) / "plain.parquet", pathlib.Path(folder) / "clustered.parquet"
        write(plain, places)
        # Smaller pages are skipped better, and their indexes, which are read, are larger.
        rows = 2048 if options.points > 1_000_000 else 512
        run(options.marquetry, "convert", plain, clustered, "--sort-by", "hilbert(geom)", "--geoparquet", "1.1",
            "--covering", "--page-rows", rows, "--report", "none")
        size = clustered.stat().st_size
        shares = []
        side = 0.001**0.5
        for _ in range(options.boxes):
            x, y = random.uniform(-180, 180 - 360 * side), random.uniform(-80, 80 - 160 * side)
            box = (x, y, x + 360 * side, y + 160 * side)
            inside = (places >= box[:2]).all(axis=1) & (places <= box[2:]).all(axis=1)
            where = f"bbox_intersects(geom, {', '.join(map(repr, map(float, box)))})"
            found = run(options.marquetry, "cat", clustered, "--where", where, "--format", "json", "--metrics",
                        "--columns", "id,geom")
            ids = sorted(json.loads(line)["id"] for line in found.stdout.split("\n") if line)
            assert ids == np.flatnonzero(inside).tolist(), f"{where}: {len(ids)} rows, {inside.sum()} are inside"
            read = json.loads(found.stderr)["read"]
            shares.append(read["bytes_fetched"] / size)
        shares.sort()
        middle, most = shares[len(shares) // 2], shares[-1]
        print(f"{options.points} points, {size} bytes, {options.boxes} boxes of a thousandth of the map: "
              f"{middle:.2%} of the bytes are read, at most {most:.2%}")
        # Of few points the indexes are the most that is read.
        limit = 0.01 if options.points >= 10_000_000 else 0.07
        sys.exit(most > limit)


if __name__ == "__main__":
    main()

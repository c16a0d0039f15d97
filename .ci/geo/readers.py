"""geopandas and pyogrio read our GeoParquet and GeoJSON, and we theirs.

    python .ci/geo/readers.py target/debug/marquetry

Needs geopandas and pyogrio. What they cannot read yet is said, and not counted as ours.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import geopandas
import pyarrow.parquet as pq
import pyogrio
import shapely


def run(*arguments: object) -> str:
    done = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def frames() -> dict[str, geopandas.GeoDataFrame]:
    points = [None if i % 7 == 3 else shapely.Point(i / 10, -i / 20) for i in range(300)]
    mixed = [
        shapely.Point(1, 2),
        shapely.LineString([(0, 0), (3.5, -1e-7)]),
        shapely.Polygon([(0, 0), (4, 0), (4, 4), (0, 0)]),
        shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(2, 2, 3, 3)]),
        shapely.GeometryCollection([shapely.Point(5, 5), shapely.LineString([(1, 1), (2, 2)])]),
        shapely.Polygon(),
        None,
    ]
    heights = [shapely.Point(i, i + 1, i + 2) for i in range(5)]
    frame = lambda geometry, crs: geopandas.GeoDataFrame(
        {"id": range(len(geometry)), "name": [f"é {i}" for i in range(len(geometry))]}, geometry=geometry, crs=crs
    )
    return {
        "points": frame(points, "OGC:CRS84"),
        "mixed": frame(mixed, "EPSG:4326"),
        "heights": frame(heights, "OGC:CRS84"),
        "projected": frame(points, "EPSG:2056"),
        "unknown": frame(points, None),
    }


def same(left: geopandas.GeoDataFrame, right: geopandas.GeoDataFrame, what: str, with_crs: bool = True) -> None:
    assert left["id"].tolist() == right["id"].tolist() and left["name"].tolist() == right["name"].tolist(), what
    for mine, theirs in zip(left.geometry, right.geometry):
        assert (mine is None) == (theirs is None), what
        assert mine is None or shapely.equals_identical(mine, theirs), f"{what}: {mine} {theirs}"
    if with_crs:
        is_lonlat = lambda crs: crs is not None and crs.to_epsg() in (None, 4326, 4979) and crs.is_geographic
        both = is_lonlat(left.crs) and is_lonlat(right.crs)
        assert both or left.crs == right.crs, f"{what}: {left.crs!r} {right.crs!r}"


def main() -> None:
    marquetry = sys.argv[1]
    checked, told = 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind, frame in frames().items():
            theirs = folder / f"{kind}.parquet"
            # Theirs, of each version that they write, is read, and found right.
            for version in ("1.0.0", "1.1.0"):
                frame.to_parquet(theirs, schema_version=version, write_covering_bbox=version == "1.1.0")
                run(marquetry, "verify", "--deep", theirs)
                for ours_version in ("1.0", "1.1", "2.0"):
                    ours = folder / f"{kind}-{ours_version}.parquet"
                    covering = ["--covering"] if ours_version != "1.0" else []
                    run(marquetry, "convert", theirs, ours, "--geoparquet", ours_version, "--overwrite", *covering)
                    run(marquetry, "verify", "--deep", ours)
                    what = f"{kind}, {version} to {ours_version}"
                    meta = json.loads(pq.read_metadata(ours).metadata[b"geo"])
                    assert meta["version"].startswith(ours_version), what
                    rewritten = folder / f"{kind}-{ours_version}-rewritten.parquet"
                    run(marquetry, "rewrite", theirs, rewritten, "--geoparquet", ours_version, "--overwrite")
                    run(marquetry, "verify", "--deep", rewritten)
                    of_rewrite = json.loads(pq.read_metadata(rewritten).metadata[b"geo"])
                    assert of_rewrite["version"] == meta["version"], what
                    if ours_version != "2.0":
                        same(frame, geopandas.read_parquet(rewritten), f"{what}, rewritten")
                    try:
                        found = geopandas.read_parquet(ours)
                    except (ValueError, NotImplementedError) as error:
                        assert ours_version == "2.0", f"{what}: {error}"
                        told.append(f"geopandas {geopandas.__version__} does not read {ours_version}: {error}")
                        continue
                    same(frame, found, what)
                    checked += 1
                    if ours_version == "1.1" and kind == "points":
                        box = (2.0, -5.0, 4.0, -1.0)
                        some = geopandas.read_parquet(ours, bbox=box)
                        where = f"bbox_intersects(geometry, {', '.join(map(str, box))})"
                        lines = run(marquetry, "cat", ours, "--where", where, "--columns", "id", "--format", "json")
                        ids = [json.loads(line)["id"] for line in lines.split("\n") if line]
                        assert ids == some["id"].tolist() and len(ids) > 3, what
            if kind in ("projected", "unknown"):
                continue
            # GeoJSON, both ways.
            text = folder / f"{kind}.geojson"
            run(marquetry, "convert", theirs, text, "--columns", "id,name,geometry", "--overwrite")
            same(frame, geopandas.read_file(text, engine="pyogrio"), f"{kind}: our GeoJSON")
            by_them, back = folder / f"{kind}-them.geojson", folder / f"{kind}-back.parquet"
            pyogrio.write_dataframe(frame, by_them, driver="GeoJSON", COORDINATE_PRECISION=17)
            run(marquetry, "convert", by_them, back, "--geoparquet", "1.1", "--overwrite")
            same(frame, geopandas.read_parquet(back), f"{kind}: their GeoJSON")
            checked += 2
    for line in sorted(set(told)):
        print(line)
    print(f"{checked} files are read the same by geopandas {geopandas.__version__} and pyogrio {pyogrio.__version__}")


if __name__ == "__main__":
    main()

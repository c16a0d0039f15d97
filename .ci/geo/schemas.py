"""The `geo` metadata that we write is what GeoParquet's own JSON schemas say, and `verify` finds what they find.

    python .ci/geo/schemas.py target/debug/marquetry

Needs geopandas, jsonschema and pyproj, which has the schema of PROJJSON. Version 2.0 is not out: its schema wants `2.0-dev`, and
we write `2.0.0`, so that the version alone is not compared there.
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj
import referencing
import referencing.jsonschema
import shapely

from readers import frames, run

HERE = pathlib.Path(__file__).resolve().parent
SCHEMAS = {"1.0": "geoparquet-1.0.0.json", "1.1": "geoparquet-1.1.0.json", "2.0": "geoparquet-2.0-dev.json"}


def validators() -> dict[str, jsonschema.Draft7Validator]:
    projjson = json.loads((pathlib.Path(pyproj.datadir.get_data_dir()) / "projjson.schema.json").read_text())
    resource = referencing.Resource.from_contents(projjson, default_specification=referencing.jsonschema.DRAFT7)
    # Each version adds to the one before.
    urls = [f"https://proj.org/schemas/v0.{minor}/projjson.schema.json" for minor in range(5, 8)]
    registry = referencing.Registry().with_resources([(url, resource) for url in urls])
    found = {}
    for version, name in SCHEMAS.items():
        schema = json.loads((HERE / "schemas" / name).read_text())
        if version == "2.0":
            schema["properties"]["version"]["const"] = "2.0.0"
        jsonschema.Draft7Validator.check_schema(schema)
        found[version] = jsonschema.Draft7Validator(schema, registry=registry)
    return found


def geo(path: pathlib.Path) -> dict:
    return json.loads(pq.read_metadata(path).metadata[b"geo"])


def written(marquetry: str, folder: pathlib.Path):
    """Files that we write, with the version of each."""
    texts = {
        "z": ["POINT Z (1 2 3)", "LINESTRING Z (1 2 3, 4 5 6)"],
        "all": [
            "POINT (1 2)", "LINESTRING (1 2, 3 4)", "POLYGON ((0 0, 1 0, 1 1, 0 0))", "MULTIPOINT ((1 2), (3 4))",
            "MULTILINESTRING ((1 2, 3 4))", "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)))",
            "GEOMETRYCOLLECTION (POINT (1 2))", "POINT EMPTY", "GEOMETRYCOLLECTION EMPTY",
        ],
        "m": ["POINT M (1 2 3)", "POINT ZM (1 2 3 4)"],
        "empty": ["POINT EMPTY"],
        "nothing": [None, None],
    }
    sources = {}
    for kind, frame in frames().items():
        sources[kind] = folder / f"{kind}.parquet"
        frame.to_parquet(sources[kind], schema_version="1.1.0")
    points = ["POINT (179 0)", "MULTIPOINT ((179 0), (-179 1))", "POINT EMPTY", None]
    lines = [*points, "LINESTRING (179 0, -179 60)"]
    for kind, values, meaning in [
        *((kind, values, {}) for kind, values in texts.items()),
        ("spherical-points", points, {"edges": "spherical"}),
        ("spherical", lines, {"edges": "spherical"}),
        ("karney", lines, {"edges": "karney"}),
        ("unknown-crs", points, {"crs": "0", "crs_type": "srid"}),
        ("projected-crs", points, {"crs": pyproj.CRS("EPSG:2056").to_json_dict(), "crs_type": "projjson"}),
    ]:
        meaning = {"ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": json.dumps(meaning)}
        field = pa.field("geometry", pa.binary(), metadata=meaning)
        wkb = [value and shapely.to_wkb(shapely.from_wkt(value), flavor="iso") for value in values]
        table = pa.table([range(len(wkb)), wkb], schema=pa.schema([pa.field("id", pa.int64()), field]))
        arrow, sources[kind] = folder / f"{kind}.arrow", folder / f"{kind}.parquet"
        with pa.ipc.new_file(arrow, table.schema) as file:
            file.write_table(table)
        run(marquetry, "convert", arrow, sources[kind])
    for kind, source in sources.items():
        for version in SCHEMAS:
            # These versions have no place for them.
            if version != "2.0" and kind in ("karney", "m"):
                continue
            for how, words in [
                ("converted", ["convert", "--geoparquet", version]),
                ("rewritten", ["rewrite", "--geoparquet", version]),
                ("covered", ["convert", "--geoparquet", version, "--covering"]),
            ]:
                if how == "covered" and version == "1.0":
                    continue
                out = folder / f"{kind}-{version}-{how}.parquet"
                run(marquetry, words[0], source, out, *words[1:])
                yield version, out
    both = [folder / f"points-1.1-{how}.parquet" for how in ("converted", "rewritten")]
    run(marquetry, "merge", *both, folder / "merged.parquet")
    yield "1.1", folder / "merged.parquet"
    (folder / "parts").mkdir()
    run(marquetry, "split", both[0], "--out-dir", folder / "parts", "--rows", 100)
    for part in sorted((folder / "parts").iterdir()):
        yield "1.1", part


def wrongs(right: dict):
    """What a schema refuses, each with a word for it."""
    column = right["primary_column"]

    def changed(change):
        made = copy.deepcopy(right)
        change(made, made["columns"][column])
        return made

    yield "no version", changed(lambda geo, of: geo.pop("version"))
    yield "no primary column", changed(lambda geo, of: geo.pop("primary_column"))
    yield "an empty primary column", changed(lambda geo, of: geo.update(primary_column=""))
    yield "no columns", changed(lambda geo, of: geo.update(columns={}))
    yield "columns as a list", changed(lambda geo, of: geo.update(columns=[]))
    yield "a column as a text", changed(lambda geo, of: geo["columns"].update({column: "WKB"}))
    yield "no encoding", changed(lambda geo, of: of.pop("encoding"))
    yield "an encoding of WKT", changed(lambda geo, of: of.update(encoding="WKT"))
    yield "no types", changed(lambda geo, of: of.pop("geometry_types"))
    yield "types as a text", changed(lambda geo, of: of.update(geometry_types="Point"))
    yield "a type that is none", changed(lambda geo, of: of.update(geometry_types=["Point", "Curve"]))
    yield "a type twice", changed(lambda geo, of: of.update(geometry_types=["Point", "Point"]))
    yield "a type without its space", changed(lambda geo, of: of.update(geometry_types=["PointZ"]))
    yield "a number as a type", changed(lambda geo, of: of.update(geometry_types=[1]))
    yield "crs as a text", changed(lambda geo, of: of.update(crs="EPSG:4326"))
    yield "crs as a list", changed(lambda geo, of: of.update(crs=["EPSG", 4326]))
    yield "crs that describes nothing", changed(lambda geo, of: of.update(crs={}))
    yield "edges of another kind", changed(lambda geo, of: of.update(edges="curved"))
    yield "edges as a number", changed(lambda geo, of: of.update(edges=1))
    yield "clockwise", changed(lambda geo, of: of.update(orientation="clockwise"))
    yield "a box of three", changed(lambda geo, of: of.update(bbox=[1, 2, 3]))
    yield "a box of texts", changed(lambda geo, of: of.update(bbox=["1", "2", "3", "4"]))
    yield "an epoch as a text", changed(lambda geo, of: of.update(epoch="2020"))
    if right["version"].startswith("1.1"):
        names = {name: ["bbox", name] for name in ("xmin", "ymin", "xmax", "ymax")}
        yield "a covering without a box", changed(lambda geo, of: of.update(covering={}))
        less = {name: path for name, path in names.items() if name != "ymax"}
        yield "a covering without ymax", changed(lambda geo, of: of.update(covering={"bbox": less}))
        other = {**names, "xmin": ["bbox", "west"]}
        yield "a covering of another name", changed(lambda geo, of: of.update(covering={"bbox": other}))
        deep = {**names, "xmin": ["a", "bbox", "xmin"]}
        yield "a covering deep down", changed(lambda geo, of: of.update(covering={"bbox": deep}))
    if right["version"].startswith("2"):
        yield "another algorithm", changed(lambda geo, of: of.update(algorithm="haversine"))
    else:
        yield "a type with M", changed(lambda geo, of: of.update(geometry_types=["Point M"]))
        yield "a box of eight", changed(lambda geo, of: of.update(bbox=[1, 2, 3, 4, 5, 6, 7, 8]))


def main() -> None:
    marquetry, all_validators = sys.argv[1], validators()
    failures, files, refused = [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for version, path in written(marquetry, folder):
            files += 1
            for error in all_validators[version].iter_errors(geo(path)):
                failures.append(f"{path.name}: {error.json_path}: {error.message}")
        for version, validator in all_validators.items():
            source = folder / f"points-{version}-converted.parquet"
            table = pq.read_table(source)
            for what, wrong in wrongs(geo(source)):
                assert not validator.is_valid(wrong), f"{version}: the schema has nothing against {what}"
                path = folder / "wrong.parquet"
                pq.write_table(table.replace_schema_metadata({"geo": json.dumps(wrong)}), path)
                done = subprocess.run([marquetry, "verify", str(path)], capture_output=True, text=True)
                if "geoparquet-" not in done.stdout + done.stderr:
                    failures.append(f"{version}: verify has nothing against {what}")
                refused += 1
    print("\n".join(failures))
    print(f"{files} files that we write are what the schemas say; {refused} that are not are found by verify"
          if not failures else f"{len(failures)} failures")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()

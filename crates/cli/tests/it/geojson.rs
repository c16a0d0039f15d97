//! GeoJSON to Parquet and back.

use crate::command::{Folder, failure, success};
use crate::geometry::{geometries, points};
use marquetry_geo::wkt;

/// Features with properties of several kinds, and one without a geometry.
const COLLECTION: &str = r#"{"type": "FeatureCollection", "name": "places", "features": [
    {"type": "Feature", "properties": {"name": "a, \"b\"", "people": 12, "tags": ["x"]}, "geometry": {"type": "Point", "coordinates": [7.45, -0.0]}},
    {"type": "Feature", "id": 9, "properties": {"people": null}, "geometry": null},
    {"type": "Feature", "properties": {"name": "c", "share": 0.1}, "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}}
]}"#;

#[test]
fn geojson_becomes_parquet_and_comes_back() {
    let folder = Folder::new("geojson");
    let (source, parquet) = (folder.path("places.geojson"), folder.path("places.parquet"));
    std::fs::write(&source, COLLECTION).unwrap();
    success(&["convert", &source, &parquet]);
    let schema = success(&["schema", &parquet]);
    assert!(schema.contains("geometry (GEOMETRY)") && schema.contains("int64 people"), "{schema}");
    assert_eq!(
        success(&["cat", &parquet, "--columns", "name,people,geometry", "--format", "json"]),
        concat!(
            r#"{"name":"a, \"b\"","people":12,"geometry":{"type":"Point","coordinates":[7.45,-0]}}"#,
            "\n",
            r#"{"name":null,"people":null,"geometry":null}"#,
            "\n",
            r#"{"name":"c","people":null,"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}"#,
            "\n"
        )
    );
    let back = folder.path("back.geojson");
    success(&["convert", &parquet, &back]);
    let collection: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&back).unwrap()).unwrap();
    assert_eq!(collection["type"], "FeatureCollection");
    let features = collection["features"].as_array().unwrap();
    assert_eq!(features.len(), 3);
    assert_eq!(features[0]["properties"]["people"], 12);
    assert_eq!(features[1]["geometry"], serde_json::Value::Null);
    assert_eq!((&features[1]["type"], &features[1]["properties"]["id"]), (&"Feature".into(), &9.into()));
    let again = folder.path("again.parquet");
    success(&["convert", &back, &again]);
    // Columns stand where they first came.
    let columns = "name,people,tags,id,share,geometry";
    let rows = |path: &str| success(&["cat", path, "--columns", columns, "--format", "json"]);
    assert_eq!(rows(&again), rows(&parquet));
    // GeoParquet of bytes, too, and no features at all.
    let old = folder.path("old.parquet");
    success(&["convert", &source, &old, "--geoparquet", "1.1", "--covering"]);
    let text = success(&["convert", &old, "-", "--to", "geojson", "--columns", "name,geometry"]);
    assert!(
        text.starts_with(
            "{\"type\":\"FeatureCollection\",\"features\":[\n{\"type\":\"Feature\",\"properties\":{\"name\":"
        ),
        "{text}"
    );
    let none = success(&["convert", &old, "-", "--to", "geojson", "--where", "name = 'nobody'"]);
    assert_eq!(none, "{\"type\":\"FeatureCollection\",\"features\":[\n]}\n");
    let schema = success(&["schema", &old]);
    assert!(schema.contains("GeoParquet 1.1.0\n  geometry: WKB, OGC:CRS84, planar edges, Point, Polygon, boxes in bbox (primary)"), "{schema}");
}

#[test]
fn what_geojson_cannot_be_is_told() {
    let folder = Folder::new("geojson_errors");
    let (source, out) = (folder.path("x.geojson"), folder.path("x.parquet"));
    for (text, message) in [
        ("{}", "not a FeatureCollection"),
        (
            r#"{"features": [{"type": "Feature", "properties": {}, "geometry": {"type": "Point"}}]}"#,
            "feature 1: GeoJSON: a geometry has `coordinates`",
        ),
        (r#"{"features": [{"type": "Feature", "properties": {"geometry": 1}}]}"#, "feature 1"),
        (
            r#"{"features": [{"type": "Feature", "id": 7, "properties": {"id": "x"}}]}"#,
            "feature 1: its id is 7, and a property called id is \"x\"",
        ),
        (
            r#"{"features": [{"type": "Feature", "geometry": {"type": "Point", "coordinates": [null, 2]}}]}"#,
            "feature 1: GeoJSON: a position has numbers only",
        ),
        (
            r#"{"crs": {"type": "link", "properties": {"href": "x"}}, "features": [{"type": "Feature"}]}"#,
            "not an EPSG code",
        ),
    ] {
        std::fs::write(&source, text).unwrap();
        let (code, errors) = failure(&["convert", &source, &out]);
        assert!(code != 0 && errors.join(" ").contains(message), "{errors:?}");
    }
    let projected = r#"{"type":"ProjectedCRS","name":"LV95","id":{"authority":"EPSG","code":2056}}"#;
    let path = points(&folder, &format!(r#"{{"crs":{projected},"crs_type":"projjson"}}"#));
    let (code, errors) = failure(&["convert", &path, &folder.path("y.geojson")]);
    assert!(code != 0 && errors[0].contains("OGC:CRS84"), "{errors:?}");
    let (code, errors) = failure(&["convert", &path, &folder.path("y.geojson"), "--columns", "id"]);
    assert!(code != 0 && errors[0].contains("no column of geometries"), "{errors:?}");
}

#[test]
fn the_reference_system_of_an_old_file_is_taken_over() {
    let folder = Folder::new("geojson_crs");
    let (source, out) = (folder.path("old.geojson"), folder.path("old.parquet"));
    let crs = |name: &str| format!(r#""crs":{{"type":"name","properties":{{"name":"{name}"}}}},"#);
    for (crs, said) in [
        (crs("urn:ogc:def:crs:EPSG::3857"), "geometry (GEOMETRY(EPSG:3857))"),
        (crs("urn:ogc:def:crs:OGC:1.3:CRS84"), "geometry (GEOMETRY)"),
        (crs("EPSG:4326"), "geometry (GEOMETRY)"),
        (r#""crs":null,"#.to_owned(), "geometry (GEOMETRY(srid:0))"),
    ] {
        let text = format!(
            r#"{{"type":"FeatureCollection",{crs}"features":[{{"type":"Feature","geometry":{{"type":"Point","coordinates":[1000000,2000000]}}}}]}}"#
        );
        std::fs::write(&source, text).unwrap();
        success(&["convert", &source, &out, "--overwrite"]);
        let schema = success(&["schema", &out]);
        assert!(schema.contains(said), "{crs}: {schema}");
    }
}

#[test]
fn coordinates_that_json_has_not_are_an_error() {
    let folder = Folder::new("geojson_infinite");
    let (path, out) = (folder.path("odd.parquet"), folder.path("odd.geojson"));
    for (text, said) in [("POINT (inf 2)", "infinite"), ("LINESTRING (0 0, NaN 1)", "NaN")] {
        geometries(&path, &[wkt::parse("POINT EMPTY").unwrap(), wkt::parse(text).unwrap()]);
        let (code, errors) = failure(&["convert", &path, &out]);
        let said = format!("GeoJSON has no coordinate that is {said}");
        assert!(code != 0 && errors.join(" ").contains(&said), "{errors:?}");
        assert!(!std::path::Path::new(&out).exists());
    }
}

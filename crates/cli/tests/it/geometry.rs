//! GEOMETRY and GEOGRAPHY in text: well-known text, and GeoJSON in JSON.

use crate::command::{Folder, failure, success};
use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use std::collections::HashMap;
use std::sync::Arc;

/// A point, a line string in big-endian, a NULL, and what is no geometry.
fn file(folder: &Folder, parameters: &str) -> String {
    let number = |n: f64| n.to_le_bytes();
    let point = [&[1, 1, 0, 0, 0][..], &number(1.5), &number(-2.0)].concat();
    let ends = [0.0_f64, 1.0, 2.0, 3.0].map(f64::to_be_bytes).concat();
    let line = [&[0, 0, 0, 0, 2, 0, 0, 0, 2][..], &ends].concat();
    let values = BinaryArray::from_iter([Some(&point[..]), Some(&line), None, Some(&[7, 8])]);
    let extension = HashMap::from([
        ("ARROW:extension:name".to_owned(), "geoarrow.wkb".to_owned()),
        ("ARROW:extension:metadata".to_owned(), parameters.to_owned()),
    ]);
    let field = Field::new("g", DataType::Binary, true).with_metadata(extension);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(values) as ArrayRef]).unwrap();
    let path = folder.path("geometries.parquet");
    let mut file = marquetry::create(&path, schema).unwrap();
    file.write(&batch).unwrap();
    file.close().unwrap();
    path
}

#[test]
fn geometries_are_well_known_text_and_geojson() {
    let folder = Folder::new("geometries");
    let path = file(&folder, "{}");
    assert_eq!(
        success(&["cat", &path, "--format", "json"]),
        concat!(
            r#"{"g":{"type":"Point","coordinates":[1.5,-2]}}"#,
            "\n",
            r#"{"g":{"type":"LineString","coordinates":[[0,1],[2,3]]}}"#,
            "\n",
            "{\"g\":null}\n{\"g\":\"0708\"}\n"
        )
    );
    let csv = folder.path("out.csv");
    success(&["convert", &path, &csv]);
    assert_eq!(
        std::fs::read_to_string(csv).unwrap(),
        "g\nPOINT (1.5 -2)\n\"LINESTRING (0 1, 2 3)\"\n\n0708\n"
    );
    assert!(success(&["head", &path]).contains("LINESTRING (0 1, 2 3)"));
}

#[test]
fn the_schema_shows_reference_system_and_edges() {
    let folder = Folder::new("reference_systems");
    let path = file(&folder, r#"{"crs":"EPSG:4267","edges":"karney"}"#);
    assert!(success(&["schema", &path]).contains("GEOGRAPHY(EPSG:4267,KARNEY)"));
}

/// 4,000 points all over 100 by 50 degrees, in an order that has near nothing together, and their numbers.
fn points(folder: &Folder, parameters: &str) -> String {
    let place = |i: u64, factor: u64| (i * factor % 4_000) as f64;
    let bytes = |i: u64| {
        [
            &[1, 1, 0, 0, 0][..],
            &(place(i, 1_777) / 40.0).to_le_bytes(),
            &(place(i, 2_341) / 80.0).to_le_bytes(),
        ]
        .concat()
    };
    let values: BinaryArray = (0..4_000).map(|i| (i % 100 != 99).then(|| bytes(i))).collect();
    let extension = HashMap::from([
        ("ARROW:extension:name".to_owned(), "geoarrow.wkb".to_owned()),
        ("ARROW:extension:metadata".to_owned(), parameters.to_owned()),
    ]);
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("geom", DataType::Binary, true).with_metadata(extension),
    ]));
    let ids = Int64Array::from_iter_values(0..4_000);
    let batch =
        RecordBatch::try_new(schema.clone(), vec![Arc::new(ids) as ArrayRef, Arc::new(values)]).unwrap();
    let path = folder.path("points.parquet");
    let mut file = marquetry::create(&path, schema).unwrap();
    file.write(&batch).unwrap();
    file.close().unwrap();
    path
}

const BOX: &str = "bbox_intersects(geom, 20, 30, 25, 35)";

#[test]
fn a_curve_has_few_row_groups_with_what_is_in_a_box() {
    for parameters in ["{}", r#"{"edges":"spherical"}"#] {
        let folder = Folder::new(&format!("hilbert{}", parameters.len()));
        let (path, sorted) = (points(&folder, parameters), folder.path("sorted.parquet"));
        let ids = |path: &str| {
            let text = success(&["cat", path, "--columns", "id", "--where", BOX, "--format", "json"]);
            let mut ids: Vec<String> = text.lines().map(str::to_owned).collect();
            ids.sort();
            ids
        };
        let expected: Vec<u64> = (0..4_000u64)
            .filter(|i| {
                let [x, y] =
                    [(1_777, 40.0), (2_341, 80.0)].map(|(factor, share)| (i * factor % 4_000) as f64 / share);
                i % 100 != 99 && (20.0..=25.0).contains(&x) && (30.0..=35.0).contains(&y)
            })
            .collect();
        assert!(expected.len() > 5);
        let mut lines: Vec<String> = expected.iter().map(|id| format!("{{\"id\":{id}}}")).collect();
        lines.sort();
        assert_eq!(ids(&path), lines);
        success(&["convert", &path, &sorted, "--sort-by", "hilbert(geom)", "--row-group-rows", "100"]);
        assert_eq!(ids(&sorted), lines);
        let explained: serde_json::Value =
            serde_json::from_str(&success(&["explain", &sorted, "--where", BOX, "--format", "json"]))
                .unwrap();
        let statistics = &explained["stages"][1];
        assert_eq!(statistics["stage"], "statistics", "{explained}");
        let left = statistics["row_groups"].as_u64().unwrap();
        assert!((1..=4).contains(&left), "{left} of 40: {explained}");
        // Nulls stand at the end, and the order of a curve is none that the footer could tell.
        let text = success(&["cat", &sorted, "--columns", "geom", "--offset", "3959", "--limit", "2"]);
        assert!(text.contains("POINT"), "{text}");
        let meta = success(&["meta", &sorted, "--format", "json"]);
        assert!(!meta.contains("\"sorting_columns\":[{"), "{meta}");
    }
}

#[test]
fn what_is_no_geometry_is_told_with_its_place() {
    let folder = Folder::new("no_geometry");
    let path = file(&folder, "{}");
    let (code, errors) = failure(&["cat", &path, "--where", "bbox_intersects(g, 0, 0, 9, 9)"]);
    let errors = errors.join("\n");
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("bbox_intersects(g, 0, 0, 9, 9)") && errors.contains("value 3"), "{errors}");
    let (code, errors) = failure(&["convert", &path, &folder.path("o.parquet"), "--sort-by", "hilbert(g)"]);
    assert_eq!(code, 1, "{errors:?}");
    let (code, errors) = failure(&["cat", &path, "--where", "bbox_intersects(g, 0, 0, 9)"]);
    assert!(code != 0 && errors[0].contains("four numbers"), "{errors:?}");
}

/// The metadata of GeoParquet, and the schema.
fn geoparquet(path: &str) -> (serde_json::Value, String) {
    let file = marquetry::open(path).unwrap();
    let pairs = file.metadata().key_value_metadata();
    let pairs: Vec<_> = pairs.iter().filter(|pair| pair.key == "geo").collect();
    let value = pairs.first().and_then(|pair| pair.value.as_deref()).unwrap_or("null");
    assert!(pairs.len() < 2, "{pairs:?}");
    (serde_json::from_str(value).unwrap(), success(&["schema", path]))
}

#[test]
fn versions_of_geoparquet_become_each_other() {
    let folder = Folder::new("geoparquet");
    let path = points(&folder, "{}");
    let rows = |path: &str| success(&["cat", path, "--columns", "id,geom", "--format", "json"]);
    let wkb = |path: &str| {
        let batches = marquetry::open(path).unwrap().columns(["geom"]).batches().unwrap();
        let columns = batches.map(|batch| batch.unwrap().column(0).to_data());
        columns.map(|data| format!("{data:?}")).collect::<Vec<_>>().join("")
    };
    let values = |path: &str| {
        let batches = marquetry::open(path).unwrap().columns(["id", "geom"]).batches().unwrap();
        let columns = batches.flat_map(|batch| batch.unwrap().columns().to_vec());
        columns.map(|column| column.to_data()).collect::<Vec<_>>()
    };
    let expected = rows(&path);
    let mut from = path.clone();
    for (version, full, has_type) in
        [("2.0", "2.0.0", true), ("1.1", "1.1.0", false), ("1.0", "1.0.0", false), ("2.0", "2.0.0", true)]
    {
        let to = format!("{}.then{version}.parquet", from.trim_end_matches(".parquet"));
        success(&["convert", &from, &to, "--geoparquet", version]);
        let (geo, schema) = geoparquet(&to);
        assert_eq!(geo["version"], full);
        assert_eq!(geo["primary_column"], "geom");
        let column = &geo["columns"]["geom"];
        assert_eq!(column["encoding"], "WKB");
        assert_eq!(column["geometry_types"], serde_json::json!(["Point"]));
        assert_eq!(column["bbox"], serde_json::json!([0.0, 0.0, 99.975, 49.9875]));
        assert_eq!(schema.contains("GEOMETRY"), has_type, "{schema}");
        assert_eq!(wkb(&to).len(), wkb(&path).len());
        if has_type {
            assert_eq!(rows(&to), expected);
        }
        // What is text shows it, whether the type says that it is a geometry or the metadata.
        let lines = |format: &str| {
            success(&["convert", &to, "-", "--to", format, "--columns", "id,geom", "--limit", "3"])
        };
        assert!(lines("csv").contains("POINT (0 0)"), "{}", lines("csv"));
        assert!(lines("jsonl").contains(r#"{"type":"Point","coordinates":[0"#), "{}", lines("jsonl"));
        // A rewrite says the same, and copies what needs no other statistics.
        let rewritten = folder.path("rewritten.parquet");
        let report = success(&[
            "rewrite",
            &from,
            &rewritten,
            "--geoparquet",
            version,
            "--overwrite",
            "--format",
            "json",
        ]);
        assert_eq!(geoparquet(&rewritten), (geo, schema), "{version} of {from}");
        assert!(values(&rewritten) == values(&from), "{version} of {from}");
        success(&["verify", "--deep", &rewritten]);
        let has_statistics = |path: &str| {
            let file = marquetry::open(path).unwrap();
            file.metadata().row_groups().all(|group| {
                let chunks = group.columns().map(|chunk| chunk.unwrap().meta_data().unwrap());
                chunks.filter(|chunk| chunk.geospatial_statistics.is_some()).count() == 1
            })
        };
        assert_eq!(has_statistics(&rewritten), has_type);
        assert_eq!(
            report.contains("statistics of geometries"),
            has_type && !has_statistics(&from),
            "{report}"
        );
        from = to;
    }
    // What is left of the rows has a box of its own, in a file of the same version.
    let part = folder.path("part.parquet");
    success(&["convert", &from, &part, "--where", BOX]);
    let bbox = geoparquet(&part).0["columns"]["geom"]["bbox"].clone();
    let bbox: Vec<f64> = serde_json::from_value(bbox).unwrap();
    assert!(bbox[0] >= 20.0 && bbox[1] >= 30.0 && bbox[2] <= 25.0 && bbox[3] <= 35.0, "{bbox:?}");
    // Without its geometries a file has none of the metadata.
    let none = folder.path("none.parquet");
    success(&["convert", &from, &none, "--columns", "id"]);
    assert!(geoparquet(&none).0.is_null());
    for (arguments, message) in [
        (vec!["--geoparquet", "1.0", "--covering"], "1.0 has no such columns"),
        (vec!["--covering", "--columns", "id"], "--covering"),
        (vec!["--geoparquet", "1.1", "--columns", "id"], "no column of geometries"),
    ] {
        let refused = folder.path("refused.parquet");
        let (code, errors) = failure(&[&["convert", &path, &refused], &arguments[..]].concat());
        assert!(code != 0 && errors.join(" ").contains(message), "{errors:?}");
    }
}

#[test]
fn covering_columns_tell_pages_apart() {
    let folder = Folder::new("covering");
    let (path, covered) = (points(&folder, "{}"), folder.path("covered.parquet"));
    let sorted = ["--sort-by", "hilbert(geom)", "--page-rows", "50"];
    success(&[&["convert", &path, &covered, "--geoparquet", "1.1", "--covering"], &sorted[..]].concat());
    let (geo, schema) = geoparquet(&covered);
    assert_eq!(geo["columns"]["geom"]["covering"]["bbox"]["xmax"], serde_json::json!(["bbox", "xmax"]));
    assert!(schema.contains("float xmin"), "{schema}");
    let ids = |path: &str| {
        let text = success(&["cat", path, "--columns", "id", "--where", BOX, "--format", "json"]);
        let mut ids: Vec<String> = text.lines().map(str::to_owned).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&covered), ids(&path));
    let explained = success(&["explain", &covered, "--where", BOX, "--format", "json"]);
    let explained: serde_json::Value = serde_json::from_str(&explained).unwrap();
    let stages = explained["stages"].as_array().unwrap();
    let rows = stages.iter().find(|stage| stage["stage"] == "page index").unwrap()["rows"].as_u64().unwrap();
    assert!((10..=250).contains(&rows), "{explained}");
    // A file that has such columns keeps them, also in another version.
    let again = folder.path("again.parquet");
    success(&["convert", &covered, &again, "--geoparquet", "2.0", "--covering"]);
    let (geo, schema) = geoparquet(&again);
    assert_eq!(geo["columns"]["geom"]["covering"]["bbox"]["ymin"], serde_json::json!(["bbox", "ymin"]));
    assert_eq!(schema.matches("xmin").count(), 1, "{schema}");
    assert_eq!(ids(&again), ids(&path));
}

#[test]
fn reference_systems_and_edges_are_kept() {
    let folder = Folder::new("reference_systems_kept");
    let projjson = r#"{"type":"ProjectedCRS","name":"LV95","id":{"authority":"EPSG","code":2056}}"#;
    for (parameters, crs, edges, text) in [
        (format!(r#"{{"crs":{projjson},"crs_type":"projjson"}}"#), projjson, "null", "GEOMETRY({"),
        (r#"{"crs":"0","crs_type":"srid"}"#.to_owned(), "null", "null", "GEOMETRY(srid:0)"),
        (r#"{"edges":"spherical"}"#.to_owned(), "absent", "\"spherical\"", "GEOGRAPHY"),
    ] {
        let path = points(&folder, &parameters);
        let (old, new) = (folder.path("old.parquet"), folder.path("new.parquet"));
        success(&["convert", &path, &old, "--geoparquet", "1.1", "--overwrite"]);
        let (geo, schema) = geoparquet(&old);
        assert!(!schema.contains("GEO"), "{schema}");
        let column = geo["columns"]["geom"].as_object().unwrap();
        match crs {
            "absent" => assert!(!column.contains_key("crs")),
            crs => assert_eq!(column["crs"], serde_json::from_str::<serde_json::Value>(crs).unwrap()),
        }
        assert_eq!(
            geo["columns"]["geom"]["edges"],
            serde_json::from_str::<serde_json::Value>(edges).unwrap()
        );
        success(&["convert", &old, &new, "--geoparquet", "2.0", "--overwrite"]);
        assert!(geoparquet(&new).1.contains(text), "{}", geoparquet(&new).1);
    }
    let path = points(&folder, r#"{"crs":"EPSG:2056"}"#);
    let (code, errors) = failure(&["convert", &path, &folder.path("x.parquet"), "--geoparquet", "1.1"]);
    assert!(code == 1 && errors[0].contains("EPSG:2056 described by PROJJSON"), "{errors:?}");
    let path = points(&folder, r#"{"edges":"karney"}"#);
    let (code, errors) = failure(&["convert", &path, &folder.path("x.parquet"), "--geoparquet", "1.1"]);
    assert!(code == 1 && errors[0].contains("no edges of karney"), "{errors:?}");
}

#[test]
fn parts_and_wholes_have_boxes_of_their_own() {
    let folder = Folder::new("geo_parts");
    let (path, whole) = (points(&folder, "{}"), folder.path("whole.parquet"));
    let sorted = ["--sort-by", "hilbert(geom)", "--row-group-rows", "700"];
    success(&[&["convert", &path, &whole, "--geoparquet", "2.0", "--covering"], &sorted[..]].concat());
    let out = folder.path("");
    success(&["split", &whole, "--rows", "1000", "--out-dir", &out]);
    let part = |i: usize| folder.path(&format!("whole-0000{i}.parquet"));
    let mut counted = 0;
    for i in 0..4 {
        let (geo, _) = geoparquet(&part(i));
        let column = &geo["columns"]["geom"];
        assert_eq!(column["geometry_types"], serde_json::json!(["Point"]));
        let bbox: Vec<f64> = serde_json::from_value(column["bbox"].clone()).unwrap();
        assert!(bbox[0] > 1.0 || bbox[1] > 1.0 || bbox[2] < 99.0 || bbox[3] < 49.0, "{bbox:?}");
        let inside = format!("bbox_intersects(geom, {}, {}, {}, {})", bbox[0], bbox[1], bbox[2], bbox[3]);
        let count: serde_json::Value =
            serde_json::from_str(&success(&["count", &part(i), "--where", &inside, "--format", "json"]))
                .unwrap();
        counted += count["rows"].as_u64().unwrap();
    }
    assert_eq!(counted, 3_960);
    let merged = folder.path("merged.parquet");
    success(&["merge", &part(0), &part(1), &part(2), &part(3), &merged]);
    assert_eq!(geoparquet(&merged).0, geoparquet(&whole).0);
    // Without statistics of geometries a part knows of no box, but of the only kind.
    let old = folder.path("old.parquet");
    success(&["convert", &whole, &old, "--geoparquet", "1.1"]);
    success(&["split", &old, "--rows", "3000", "--out-dir", &out]);
    let column = geoparquet(&folder.path("old-00000.parquet")).0["columns"]["geom"].clone();
    assert!(
        column.get("bbox").is_none() && column["geometry_types"] == serde_json::json!(["Point"]),
        "{column}"
    );
    // Names follow, and columns that are left out are left out there.
    let other = folder.path("other.parquet");
    success(&["rewrite", &whole, &other, "--rename", "geom=place", "--drop", "bbox"]);
    let geo = geoparquet(&other).0;
    assert_eq!(
        (&geo["primary_column"], &geo["columns"]["geom"]),
        (&"place".into(), &serde_json::Value::Null)
    );
    assert!(geo["columns"]["place"].get("covering").is_none() && geo["columns"]["place"]["bbox"].is_array());
    success(&["rewrite", &whole, &other, "--drop", "geom", "--overwrite"]);
    assert!(geoparquet(&other).0.is_null());
    // Coordinates of several systems are not put together.
    let (left, right) = (folder.path("left.parquet"), folder.path("right.parquet"));
    let systems = [r#"{"type":"GeographicCRS","name":"a"}"#, r#"{"type":"GeographicCRS","name":"b"}"#];
    for (to, crs) in [&left, &right].into_iter().zip(systems) {
        let from = points(&folder, &format!(r#"{{"crs":{crs},"crs_type":"projjson"}}"#));
        success(&["convert", &from, to, "--geoparquet", "1.0"]);
    }
    let (code, errors) = failure(&["merge", &left, &right, &folder.path("both.parquet")]);
    assert!(code != 0 && errors[0].contains("reference system"), "{errors:?}");
    let (code, errors) = failure(&["convert", &left, &right, &folder.path("both.parquet")]);
    assert!(code != 0 && errors[0].contains("reference system"), "{errors:?}");
}

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
        ("{}", "no FeatureCollection"),
        (
            r#"{"features": [{"type": "Feature", "properties": {}, "geometry": {"type": "Point"}}]}"#,
            "feature 1: GeoJSON: a geometry has `coordinates`",
        ),
        (r#"{"features": [{"type": "Feature", "properties": {"geometry": 1}}]}"#, "feature 1"),
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
fn bytes_that_geoparquet_calls_geometries_are_shown_as_such() {
    let folder = Folder::new("geoparquet_text");
    let path = points(&folder, "{}");
    let native = success(&["cat", &path, "--limit", "3", "--format", "json"]);
    assert!(native.contains(r#""type":"Point""#), "{native}");
    for version in ["1.0", "1.1"] {
        let old = folder.path("old.parquet");
        success(&["convert", &path, &old, "--geoparquet", version, "--overwrite"]);
        assert!(!success(&["schema", &old]).contains("GEOMETRY"));
        assert_eq!(success(&["cat", &old, "--limit", "3", "--format", "json"]), native);
        assert!(success(&["head", &old]).contains("POINT ("));
    }
}

#[test]
fn bytes_of_many_files_are_geometries_where_geoparquet_says_so() {
    let folder = Folder::new("geoparquet_text_of_many");
    let path = points(&folder, "{}");
    for part in ["old", "mixed"] {
        std::fs::create_dir_all(folder.path(part)).unwrap();
    }
    let part = |name: &str, version: &str, offset: &str| {
        let to = folder.path(name);
        let rows = ["--offset", offset, "--limit", "3", "--columns", "id,geom"];
        success(&[&["convert", &path, &to, "--geoparquet", version], &rows[..]].concat());
        to
    };
    let a = part("old/a.parquet", "1.0", "0");
    let b = part("old/b.parquet", "1.1", "3");
    let c = part("mixed/c.parquet", "2.0", "6");
    let chosen = |offset: &str, limit: &str, format: &str| {
        let rows = ["--offset", offset, "--limit", limit, "--columns", "id,geom", "--to", format];
        success(&[&["convert", &path, "-"], &rows[..]].concat())
    };
    let (folders, mixed) = (folder.path("old"), folder.path("mixed"));
    for format in ["csv", "jsonl"] {
        let expected = chosen("0", "6", format);
        assert!(
            expected.contains(if format == "csv" { "POINT (" } else { r#""type":"Point""# }),
            "{expected}"
        );
        for inputs in [&[&a, &b][..], &[&folders]] {
            let inputs: Vec<&str> = inputs.iter().map(|input| input.as_str()).collect();
            assert_eq!(success(&[&["convert"], &inputs[..], &["-", "--to", format]].concat()), expected);
        }
    }
    let expected = chosen("0", "6", "jsonl");
    let expected_of_both = expected.clone();
    assert_eq!(success(&["cat", &a, &b, "--format", "json"]), expected);
    assert_eq!(success(&["cat", &folders, "--format", "json"]), expected);
    assert!(success(&["head", &folders]).contains("POINT ("));
    assert!(success(&["cat", &a, &b]).contains("POINT ("));
    // One file of them says what they said, and the box of all rows.
    let (one, boxes) = (folder.path("one.parquet"), [&a, &b].map(|part| geoparquet(part).0));
    success(&["convert", &folders, &one]);
    let (geo, column) =
        (geoparquet(&one).0, |geo: &serde_json::Value, name: &str| geo["columns"]["geom"][name].clone());
    assert_eq!((&geo["version"], column(&geo, "encoding")), (&"1.0.0".into(), "WKB".into()));
    for axis in 0..4 {
        let of_parts = boxes.each_ref().map(|geo| column(geo, "bbox")[axis].as_f64().unwrap());
        let around = if axis < 2 { of_parts[0].min(of_parts[1]) } else { of_parts[0].max(of_parts[1]) };
        assert_eq!(column(&geo, "bbox")[axis], around);
    }
    assert_eq!(success(&["convert", &one, "-", "--to", "jsonl"]), expected_of_both);
    // Whatever says it: the type, or the metadata.
    let expected = chosen("3", "6", "jsonl");
    assert_eq!(success(&["cat", &b, &c, "--format", "json"]), expected);
    let turned: String = [chosen("6", "3", "jsonl"), chosen("3", "3", "jsonl")].concat();
    assert_eq!(success(&["cat", &c, &b, "--format", "json"]), turned);
    assert_eq!(success(&["cat", &mixed, &b, "--format", "json", "--union-by-name"]), turned);
    // A column that the first file does not have is one of the file that has it first.
    let without = folder.path("without.parquet");
    success(&["convert", &path, &without, "--columns", "id", "--limit", "1"]);
    let shown = success(&["cat", &without, &a, "--union-by-name", "--format", "json"]);
    assert_eq!(shown, format!("{{\"id\":0,\"geom\":null}}\n{}", chosen("0", "3", "jsonl")));
}

/// A condition cannot be asked of it: the rows that were looked at with it are lost, and that is told.
#[test]
fn what_is_no_geometry_is_a_loss_where_damage_is_no_error() {
    let folder = Folder::new("broken_geometries");
    let path = file(&folder, "{}");
    let condition = "bbox_intersects(g, -10, -10, 10, 10)";
    let (code, lines) = failure(&["cat", &path, "--where", condition]);
    assert!(code == 1 && lines.join("").contains("is no geometry"), "{lines:?}");
    for mode in ["skip-page", "null-page", "skip-row-group"] {
        let (code, lines) = failure(&["cat", &path, "--where", condition, "--on-corrupt", mode]);
        let told = lines.join("");
        assert!(
            code == 1 && told.contains("rows 0 to 3") && told.contains("is no geometry"),
            "{mode}: {told}"
        );
        // Without a condition nothing of it is looked at.
        assert_eq!(success(&["count", &path]).trim(), "4");
        assert_eq!(success(&["cat", &path, "--format", "json", "--on-corrupt", mode]).lines().count(), 4);
    }
}

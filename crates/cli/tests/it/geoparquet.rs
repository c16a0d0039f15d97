//! GeoParquet: its versions become each other, and geometries of old ones are read as such.

use crate::command::{Folder, failure, success};
use crate::geometry::{BOX, geometries, points};
use marquetry_geo::wkt;

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

#[test]
fn kinds_that_geoparquet_has_not_are_refused() {
    let folder = Folder::new("geoparquet_kinds");
    let (path, out) = (folder.path("kinds.parquet"), folder.path("out.parquet"));
    for (text, kind) in [
        ("POLYHEDRALSURFACE Z (((0 0 0, 1 0 0, 0 1 0, 0 0 0)))", "PolyhedralSurface Z"),
        ("TIN (((0 0, 1 0, 0 1, 0 0)))", "TIN"),
        ("TRIANGLE ((0 0, 1 0, 0 1, 0 0))", "Triangle"),
    ] {
        geometries(&path, &[wkt::parse("POINT (1 2)").unwrap(), wkt::parse(text).unwrap()]);
        for version in ["1.0", "1.1", "2.0"] {
            for command in ["convert", "rewrite"] {
                let (code, errors) = failure(&[command, &path, &out, "--geoparquet", version]);
                let said = format!("column geom: GeoParquet {version} has no geometries of kind {kind}");
                assert!(code != 0 && errors.join(" ").contains(&said), "{command}: {errors:?}");
                assert!(!std::path::Path::new(&out).exists());
            }
        }
    }
}

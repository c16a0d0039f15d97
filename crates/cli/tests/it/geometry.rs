//! GEOMETRY and GEOGRAPHY in text: well-known text, and GeoJSON in JSON.

use crate::command::{Folder, failure, success};
use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use std::collections::HashMap;
use std::sync::Arc;

/// A point, a line string in big-endian, a NULL, and what is not a geometry.
pub(crate) fn file(folder: &Folder, parameters: &str) -> String {
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

/// A file of these geometries in well-known binary, of the type of longitudes and latitudes.
pub(crate) fn geometries(path: &str, values: &[Vec<u8>]) {
    let extension = HashMap::from([
        ("ARROW:extension:name".to_owned(), "geoarrow.wkb".to_owned()),
        ("ARROW:extension:metadata".to_owned(), "{}".to_owned()),
    ]);
    let field = Field::new("geom", DataType::Binary, true).with_metadata(extension);
    let schema = Arc::new(Schema::new(vec![field]));
    let values: BinaryArray = values.iter().map(|value| Some(&value[..])).collect();
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(values) as ArrayRef]).unwrap();
    let mut file = marquetry::create(path, schema).unwrap();
    file.write(&batch).unwrap();
    file.close().unwrap();
}

/// 4,000 points all over 100 by 50 degrees, in an order that has near nothing together, and their numbers.
pub(crate) fn points(folder: &Folder, parameters: &str) -> String {
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

pub(crate) const BOX: &str = "bbox_intersects(geom, 20, 30, 25, 35)";

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
        // Nulls are last; and the order along the curve cannot be recorded in the footer.
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

/// A condition cannot be evaluated on it: the rows that were filtered with it are lost, and that is reported.
#[test]
fn what_is_no_geometry_is_a_loss_where_damage_is_no_error() {
    let folder = Folder::new("broken_geometries");
    let path = file(&folder, "{}");
    let condition = "bbox_intersects(g, -10, -10, 10, 10)";
    let (code, lines) = failure(&["cat", &path, "--where", condition]);
    assert!(code == 1 && lines.join("").contains("is not a geometry"), "{lines:?}");
    for mode in ["skip-page", "null-page", "skip-row-group"] {
        let (code, lines) = failure(&["cat", &path, "--where", condition, "--on-corrupt", mode]);
        let told = lines.join("");
        assert!(
            code == 1 && told.contains("rows 0 to 3") && told.contains("is not a geometry"),
            "{mode}: {told}"
        );
        // Without a condition the geometry is not parsed.
        assert_eq!(success(&["count", &path]).trim(), "4");
        assert_eq!(success(&["cat", &path, "--format", "json", "--on-corrupt", mode]).lines().count(), 4);
    }
}

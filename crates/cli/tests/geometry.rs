//! GEOMETRY and GEOGRAPHY in text: well-known text, and GeoJSON in JSON.

mod command;

use arrow_array::{ArrayRef, BinaryArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use command::{Folder, success};
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

//! Files that break one rule of GeoParquet's metadata, and good ones.

use crate::chunk::Column;
use crate::chunk::file::{group, leaf, root};
use crate::file_rules::optional_strings;
use crate::make::Make;
use bytes::Bytes;
use marquetry_encoding::PhysicalType;
use marquetry_format::{KeyValue, LogicalType, Repetition};

/// A point as well-known binary.
pub(crate) fn point(x: f64, y: f64) -> Vec<u8> {
    let mut bytes = vec![
        1, // little-endian
        1, 0, 0, 0, // point
    ];
    bytes.extend(x.to_le_bytes());
    bytes.extend(y.to_le_bytes());
    bytes
}

/// Metadata of GeoParquet, with a file that breaks it in one way each.
pub(crate) fn geoparquet() -> Vec<(&'static str, Bytes)> {
    let with = |make: Make, version: &str, column: &str| {
        let json = format!(
            r#"{{"version": "{version}", "primary_column": "x", "columns": {{"x": {{"encoding": "WKB", {column}}}}}}}"#
        );
        with_geo(make, json)
    };
    let plain = || Make::strings(&[&point(3.0, 4.0)]);
    let known = r#""geometry_types": ["Point"], "bbox": [3, 4, 3, 4]"#;
    let covering = r#""geometry_types": [], "covering": {"bbox": {"xmin": ["b", "xmin"], "ymin": ["b", "ymin"],
        "xmax": ["b", "xmax"], "ymax": ["b", "ymax"]}}"#;
    vec![
        ("geoparquet-json", with_geo(plain(), "{".to_owned())),
        ("geoparquet-json", with_geo(plain(), "[]".to_owned())),
        ("geoparquet-metadata", with_geo(plain(), "{}".to_owned())),
        ("geoparquet-metadata", with(plain(), "7.0.0", known)),
        ("geoparquet-metadata", with(plain(), "1.1.0", r#""geometry_types": ["Point", "Circle"]"#)),
        ("geoparquet-metadata", with(plain(), "1.1.0", r#""geometry_types": ["Point"], "bbox": [1, 2, 3]"#)),
        (
            "geoparquet-metadata",
            with(
                plain(),
                "1.0.0",
                r#""geometry_types": ["Point"], "edges": "karney"}"#.trim_end_matches('}'),
            ),
        ),
        ("geoparquet-column", with(Make::ints(), "1.1.0", r#""geometry_types": []"#)),
        ("geoparquet-column", with(plain(), "2.0.0", known)),
        ("geoparquet-covering", with(plain(), "1.1.0", covering)),
        ("geoparquet-boxes", covered("planar", &[(Some(multipoint()), Some([5.0, -10.0, 9.0, 10.0]))])),
        ("geoparquet-boxes", covered("planar", &[(Some(multipoint()), Some([-180.0, -10.0, 180.0, 4.0]))])),
        ("geoparquet-boxes", covered("planar", &[(Some(multipoint()), Some([f32::NAN; 4]))])),
        ("geoparquet-boxes", covered("planar", &[(Some(point(0.0, 0.0)), None)])),
        ("geoparquet-boxes", covered("planar", &[(None, Some([0.0; 4]))])),
        // It goes across the antimeridian, and the point is where it does not.
        (
            "geoparquet-boxes",
            covered("spherical", &[(Some(point(0.0, 0.0)), Some([170.0, -1.0, -170.0, 1.0]))]),
        ),
        ("geoparquet-values", with(plain(), "1.1.0", r#""geometry_types": ["Polygon"]"#)),
        ("geoparquet-values", with(plain(), "1.1.0", r#""geometry_types": [], "bbox": [0, 0, 2, 5]"#)),
        (
            "geoparquet-values",
            with(points(&point(3.0, 4.0)), "2.0.0", r#""geometry_types": [], "bbox": [0, 0, 2, 5]"#),
        ),
        ("geoparquet-values", with(Make::strings(&[b"no geometry"]), "1.1.0", r#""geometry_types": []"#)),
    ]
}

fn with_geo(make: Make, json: String) -> Bytes {
    make.good().edited(|made| {
        let pair = KeyValue::new("geo", json);
        made.file.metadata.key_value_metadata = Some(vec![pair]);
    })
}

/// Geometries beside boxes.
type Covered = (Option<Vec<u8>>, Option<[f32; 4]>);

/// A column of geometries, and one of boxes, of FLOAT.
fn covered(edges: &str, rows: &[Covered]) -> Bytes {
    let names = ["xmin", "ymin", "xmax", "ymax"];
    let mut make = Make::ints();
    make.schema = vec![
        root(2),
        leaf("x", Repetition::OPTIONAL, PhysicalType::ByteArray),
        group("b", Repetition::OPTIONAL, 4),
    ];
    make.schema.extend(names.map(|name| leaf(name, Repetition::REQUIRED, PhysicalType::Float)));
    let geometries: Vec<Option<&[u8]>> = rows.iter().map(|(wkb, _)| wkb.as_deref()).collect();
    make.columns = vec![(optional_strings(&geometries, 1), vec!["x".into()])];
    for (at, name) in names.iter().enumerate() {
        let bits: Vec<Option<u64>> =
            rows.iter().map(|(_, bbox)| bbox.map(|bbox| u64::from(bbox[at].to_bits()))).collect();
        let column = Column::flat(PhysicalType::Float, &bits, true);
        make.columns.push((column, vec!["b".into(), (*name).to_owned()]));
    }
    make.rows = rows.len();
    let paths = names.map(|name| format!(r#""{name}": ["b", "{name}"]"#)).join(", ");
    let json = format!(
        r#"{{"version": "1.1.0", "primary_column": "x", "columns": {{"x": {{"encoding": "WKB", "geometry_types": [],
            "edges": "{edges}", "covering": {{"bbox": {{{paths}}}}}}}}}}}"#
    );
    with_geo(make, json)
}

/// Points at 170 -5 and -170 5.
fn multipoint() -> Vec<u8> {
    let mut bytes = vec![
        1, // little-endian
        4, 0, 0, 0, // multi-point
        2, 0, 0, 0, // of two
    ];
    bytes.extend(point(170.0, -5.0));
    bytes.extend(point(-170.0, 5.0));
    bytes
}

/// Boxes around geometries, rounded outward or to the nearest, across the antimeridian, and of empty geometries.
#[test]
fn boxes_that_are_right() {
    let near = point(0.1, -0.1);
    let nearest = [0.1f32, -0.1, 0.1, -0.1];
    let empty = point(f64::NAN, f64::NAN);
    for (edges, rows) in [
        ("planar", vec![(Some(multipoint()), Some([-170.0, -5.0, 170.0, 5.0])), (None, None)]),
        ("planar", vec![(Some(near), Some(nearest)), (Some(empty.clone()), Some([f32::NAN; 4]))]),
        ("planar", vec![(Some(empty), None)]),
        ("spherical", vec![(Some(multipoint()), Some([170.0, -5.0, -170.0, 5.0]))]),
    ] {
        let report = crate::report(&covered(edges, &rows), marquetry_verify::Level::Deep);
        assert!(report.findings.is_empty(), "{:?}", report.findings);
    }
}

/// Good metadata breaks nothing.
#[test]
fn geoparquet_that_is_right() {
    for (make, version) in
        [(Make::strings(&[&point(3.0, 4.0)]), "1.0.0"), (points(&point(3.0, 4.0)), "2.0.0")]
    {
        let json = format!(
            r#"{{"version": "{version}", "primary_column": "x", "columns": {{"x": {{"encoding": "WKB",
                "geometry_types": ["Point"], "bbox": [3, 4, 3, 4], "crs": null, "orientation": "counterclockwise"}}}}}}"#
        );
        let report = crate::report(&with_geo(make, json), marquetry_verify::Level::Deep);
        assert!(report.findings.is_empty(), "{:?}", report.findings);
    }
}

pub(crate) fn points(value: &[u8]) -> Make {
    Make::strings(&[value]).annotated(|field| field.logical_type = Some(LogicalType::Geometry { crs: None }))
}

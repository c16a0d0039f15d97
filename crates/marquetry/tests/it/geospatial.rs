//! The format's own test files of GEOMETRY and GEOGRAPHY, all ten: what `geospatial.yaml` says is in them, where it is, and that nothing of
//! it is lost by a box.

use crate::corpus;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use bytes::Bytes;
use marquetry::file::metadata::ParquetMetaData;
use marquetry::geo::{BBox, Extent, geojson, wkt};
use marquetry::predicate::col;
use marquetry::prune::{PruneOptions, PruneReport, RowGroupMatch, prune_row_group};
use std::path::Path;
use std::sync::Arc;

const FOLDER: &str = "parquet-testing/data/geospatial";

/// Reads groups of texts, in their order. A text may continue in more indented lines.
fn groups(yaml: &str) -> Vec<(String, Vec<Option<String>>)> {
    let mut out: Vec<(String, Vec<Option<String>>)> = Vec::new();
    for line in yaml.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(item) = line.strip_prefix("- ") {
            out.last_mut().unwrap().1.push((item != "null").then(|| item.to_owned()));
        } else if let Some(name) = line.strip_suffix(':') {
            out.push((name.to_owned(), Vec::new()));
        } else {
            let text = out.last_mut().unwrap().1.last_mut().unwrap().as_mut().unwrap();
            text.push(' ');
            text.push_str(line.trim());
        }
    }
    out
}

fn read(root: &Path, name: &str) -> (Bytes, Arc<ParquetMetaData>, Vec<RecordBatch>) {
    let bytes = corpus::bytes(root, &format!("{FOLDER}/{name}"));
    let file = marquetry::open_bytes(bytes.clone()).unwrap();
    let metadata = file.metadata().clone();
    let groups = 0..metadata.num_row_groups();
    let batches = groups.map(|group| {
        let batches: Vec<_> =
            file.clone().row_groups([group]).batches().unwrap().map(Result::unwrap).collect();
        arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap()
    });
    (bytes, metadata, batches.collect())
}

fn geometries(batch: &RecordBatch) -> Vec<Option<Vec<u8>>> {
    let column = batch.columns().last().unwrap();
    let values = arrow_cast::cast(column, &arrow_schema::DataType::Binary).unwrap();
    values.as_binary::<i32>().iter().map(|value| value.map(<[u8]>::to_vec)).collect()
}

#[test]
fn each_group_has_what_the_list_says() {
    let Some(root) = corpus::root() else { return };
    let yaml = std::fs::read_to_string(root.join(FOLDER).join("geospatial.yaml")).unwrap();
    let groups = groups(&yaml);
    let (_, _, batches) = read(&root, "geospatial.parquet");
    assert_eq!(batches.len(), groups.len());
    let mut compared = 0;
    for (batch, (name, texts)) in batches.iter().zip(&groups) {
        let found = geometries(batch);
        assert_eq!(found.len(), texts.len(), "{name}");
        for (wkb, text) in found.iter().zip(texts) {
            let Some((wkb, text)) = wkb.as_ref().zip(text.as_ref()) else {
                assert_eq!(wkb.is_some(), text.is_some(), "{name}");
                continue;
            };
            assert_eq!(&wkt::to_string(wkb).unwrap(), text, "{name}");
            // And back: the same bytes, which are little-endian there, too.
            assert_eq!(&wkt::parse(text).unwrap(), wkb, "{name}: {text}");
            // GeoJSON has no M, and does not state the dimensions of empty geometries.
            if !text.contains(" M ") && !text.contains(" ZM ") && !text.contains("EMPTY") {
                assert_eq!(&geojson::parse(&geojson::to_string(wkb).unwrap()).unwrap(), wkb, "{text}");
            }
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared}");
}

/// The metadata of each file about its coordinates, and whether its texts are its geometries.
#[test]
fn reference_systems_and_edges() {
    let Some(root) = corpus::root() else { return };
    for (name, shown) in [
        ("crs-default.parquet", "(GEOMETRY)"),
        ("crs-geography.parquet", "(GEOGRAPHY(OGC:CRS84))"),
        ("crs-projjson.parquet", "(GEOMETRY(projjson:projjson_epsg_5070))"),
        ("crs-srid.parquet", "(GEOMETRY(srid:5070))"),
        ("crs-arbitrary-value.parquet", "(GEOMETRY({"),
        ("geography-points.parquet", "(GEOGRAPHY(OGC:CRS84,SPHERICAL))"),
        ("geography-lines.parquet", "(GEOGRAPHY(OGC:CRS84,SPHERICAL))"),
        ("geography-polygons.parquet", "(GEOGRAPHY(OGC:CRS84,SPHERICAL))"),
        ("geospatial.parquet", "(GEOMETRY)"),
        ("geospatial-with-nan.parquet", "(GEOMETRY)"),
    ] {
        let (_, metadata, batches) = read(&root, name);
        assert!(metadata.schema().to_string().contains(shown), "{name}: {}", metadata.schema());
        let mut texts = 0;
        for batch in &batches {
            let Some(column) = batch.column_by_name("wkt") else { continue };
            let column = arrow_cast::cast(column, &arrow_schema::DataType::Utf8).unwrap();
            for (text, wkb) in column.as_string::<i32>().iter().zip(geometries(batch)) {
                let Some((text, wkb)) = text.zip(wkb) else { continue };
                let same = wkt::to_string(&wkt::parse(text).unwrap()).unwrap();
                assert_eq!(wkt::to_string(&wkb).unwrap(), same, "{name}");
                texts += 1;
            }
        }
        assert_eq!(texts > 0, !name.starts_with("geography-"), "{name}");
    }
}

/// Boxes prune row groups of these files, but none with a geometry in the box.
#[test]
fn boxes_lose_nothing_of_them() {
    let Some(root) = corpus::root() else { return };
    let mut skipped = std::collections::BTreeMap::new();
    for name in [
        "geography-points.parquet",
        "geography-lines.parquet",
        "geography-polygons.parquet",
        "geospatial.parquet",
        "geospatial-with-nan.parquet",
    ] {
        let (bytes, metadata, batches) = read(&root, name);
        let is_geography = name.starts_with("geography");
        for (x, y) in (-18..18).flat_map(|x| (-9..9).map(move |y| (f64::from(x) * 10.0, f64::from(y) * 10.0)))
        {
            for (width, height) in [(10.0, 10.0), (40.0, 20.0)] {
                let east = if x + width > 180.0 { x + width - 360.0 } else { x + width };
                let bbox = BBox::new(x, y, east, (y + height).min(90.0)).unwrap();
                let column = metadata.schema().columns().last().unwrap().name().to_owned();
                let bound = col(column).bbox_intersects(bbox).bind(metadata.schema()).unwrap();
                for (group, batch) in batches.iter().enumerate() {
                    let report = &mut PruneReport::default();
                    let options = PruneOptions::default();
                    let kept = prune_row_group(&bytes, &metadata, group, &bound, &options, report).unwrap();
                    if kept != RowGroupMatch::None {
                        continue;
                    }
                    *skipped.entry(name).or_insert(0) += 1;
                    for wkb in geometries(batch).into_iter().flatten() {
                        assert!(!bbox.intersects(&wkb, is_geography).unwrap(), "{name}, {group}: {bbox}");
                        assert!(Extent::of(&wkb).is_ok());
                    }
                }
            }
        }
    }
    // The course of edges on a sphere is unknown.
    assert_eq!(
        skipped.keys().copied().collect::<Vec<_>>(),
        ["geography-points.parquet", "geospatial-with-nan.parquet", "geospatial.parquet"]
    );
    assert!(skipped["geography-points.parquet"] > 10_000, "{skipped:?}");
}

//! Files whose geometries are in several coordinate reference systems.

use super::*;
use arrow_array::BinaryViewArray;
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use std::collections::HashMap;

/// Writes a file with a number and a column of that metadata.
fn write_points(folder: &TempDir, name: &str, metadata: &[(&str, &str)]) {
    let metadata: HashMap<String, String> =
        metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let geometry = Field::new("geom", DataType::BinaryView, true).with_metadata(metadata);
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int32, true), geometry]));
    let points: ArrayRef = Arc::new(BinaryViewArray::from(vec![&b"point"[..]]));
    let batch = RecordBatch::try_new(schema.clone(), vec![ints([1]), points]).unwrap();
    let file = fs::File::create(folder.path().join(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, schema, None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

const CRS84: [(&str, &str); 2] =
    [(EXTENSION_TYPE_NAME_KEY, "geoarrow.wkb"), (EXTENSION_TYPE_METADATA_KEY, r#"{"crs":"OGC:CRS84"}"#)];
const MERCATOR: [(&str, &str); 2] =
    [(EXTENSION_TYPE_NAME_KEY, "geoarrow.wkb"), (EXTENSION_TYPE_METADATA_KEY, r#"{"crs":"EPSG:3857"}"#)];

fn dataset(folder: &TempDir) -> Dataset {
    Dataset::open([folder.path()]).unwrap()
}

#[test]
fn coordinates_of_several_systems_are_not_one_column() {
    let folder = folder();
    write_points(&folder, "a.parquet", &CRS84);
    write_points(&folder, "b.parquet", &MERCATOR);
    for (is_union, what) in [
        (false, "the column is geoarrow.wkb (EPSG:3857, planar edges) in the file, which is not"),
        (true, "the column is geoarrow.wkb (EPSG:3857, planar edges), and geoarrow.wkb (OGC:CRS84"),
    ] {
        let error = error(Ok(dataset(&folder).union_by_name(is_union))).to_string();
        assert!(error.contains(what) && error.contains("b.parquet") && error.contains("geom"), "{error}");
        // Reads without that column do not fail.
        let others = dataset(&folder).union_by_name(is_union).columns(["id"]);
        assert_eq!(rows(others), ["1", "1"]);
    }
}

#[test]
fn a_union_with_plain_bytes_is_plain_bytes() {
    let folder = folder();
    write_points(&folder, "a.parquet", &MERCATOR);
    write_points(&folder, "b.parquet", &[]);
    let union = dataset(&folder).union_by_name(true);
    assert_eq!(*union.schema().unwrap().field(1), Field::new("geom", DataType::BinaryView, true));
    assert_eq!(union.batches().unwrap().map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 2);
}

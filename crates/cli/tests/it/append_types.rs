//! `append`, `merge` and `summary` of files whose stored Arrow schemas, or whose GeoParquet metadata, give the same bytes another meaning.

use crate::command::{Folder, failure, success};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, Date64Array, DictionaryArray, DurationMillisecondArray, DurationSecondArray,
    FixedSizeListArray, Int32Array, Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray,
    Time32MillisecondArray, Time32SecondArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray, TimestampSecondArray,
};
use arrow_schema::Schema;
use marquetry::arrow::ArrowWriter;
use marquetry::file::metadata::ParquetMetaData;
use marquetry::file::properties::{StoredForms, WriterProperties};
use marquetry::file::{LocalFile, read_metadata};
use marquetry::internals::format::KeyValue;
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;

/// A file of one column, with metadata of the file and of its Arrow schema.
fn write_with(
    folder: &Folder,
    name: &str,
    columns: &[(&str, ArrayRef)],
    own: &str,
    geo: Option<&Value>,
) -> String {
    let batch = RecordBatch::try_from_iter(columns.iter().cloned()).expect("a batch");
    let mut metadata = std::collections::HashMap::from([("own".to_owned(), own.to_owned())]);
    metadata.extend(geo.map(|geo| ("geo".to_owned(), geo.to_string())));
    let schema = Schema::clone(&batch.schema()).with_metadata(metadata);
    let batch = batch.with_schema(Arc::new(schema)).expect("a batch");
    let path = folder.path(name);
    let file = fs::File::create(&path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    if let Some(geo) = geo {
        writer.append_key_value_metadata(KeyValue::new("geo", geo.to_string())).expect("a writer");
    }
    writer.write(&batch).expect("rows");
    writer.close().expect("a file");
    path
}

fn write(folder: &Folder, name: &str, column: ArrayRef) -> String {
    write_with(folder, name, &[("c", column)], name, None)
}

fn metadata(path: &str) -> ParquetMetaData {
    read_metadata(&LocalFile::open(path).expect("a file"), &Default::default()).expect("a footer").metadata
}

#[track_caller]
fn rows(file: &str) -> String {
    success(&["cat", "--format", "json", file])
}

fn list() -> ListArray {
    ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])])
}

fn three() -> FixedSizeListArray {
    FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), Some(2), Some(3)])], 3)
}

/// Then nothing is written: neither in place, nor to a copy, nor to a new file.
#[test]
fn values_that_would_become_others_are_refused() {
    let folder = Folder::new("append-types");
    let cases: [(&str, ArrayRef, ArrayRef); 8] = [
        (
            "seconds and milliseconds",
            Arc::new(DurationSecondArray::from(vec![1, 7])),
            Arc::new(DurationMillisecondArray::from(vec![7000])),
        ),
        (
            "durations and numbers",
            Arc::new(DurationSecondArray::from(vec![1])),
            Arc::new(Int64Array::from(vec![7000])),
        ),
        (
            "numbers and durations",
            Arc::new(Int64Array::from(vec![7000])),
            Arc::new(DurationSecondArray::from(vec![1])),
        ),
        (
            "days and numbers",
            Arc::new(Date64Array::from(vec![86_400_000])),
            Arc::new(Int64Array::from(vec![5])),
        ),
        ("three and some", Arc::new(three()), Arc::new(list())),
        (
            "instants",
            Arc::new(TimestampSecondArray::from(vec![1])),
            Arc::new(TimestampMillisecondArray::from(vec![1500])),
        ),
        (
            "times",
            Arc::new(Time32SecondArray::from(vec![1])),
            Arc::new(Time32MillisecondArray::from(vec![1500])),
        ),
        (
            "words",
            Arc::new(DictionaryArray::<Int32Type>::from_iter(["a", "b"])),
            Arc::new(StringArray::from(vec!["c"])),
        ),
    ];
    for (what, ours, theirs) in cases {
        let (file, other) = (write(&folder, "f.parquet", ours), write(&folder, "other.parquet", theirs));
        let old = fs::read(&file).expect("a file");
        for how in [&[][..], &["--copy"], &["--compatible"]] {
            let (code, errors) = failure(&[&["append", &file, &other], how].concat());
            assert_eq!((code, errors.len()), (2, 1), "{what}: {errors:?}");
            let says = if what == "words" { "has dictionaries" } else { "convert" };
            assert!(errors[0].contains("other.parquet") && errors[0].contains(says), "{what}: {errors:?}");
            assert!(fs::read(&file).expect("a file") == old, "{what}");
        }
    }
}

#[test]
fn merged_pages_have_one_meaning() {
    let folder = Folder::new("merge-types");
    let out = folder.path("out.parquet");
    let seconds = write(&folder, "s.parquet", Arc::new(DurationSecondArray::from(vec![1, 7])));
    let millis = write(&folder, "ms.parquet", Arc::new(DurationMillisecondArray::from(vec![7000])));
    let numbers = write(&folder, "n.parquet", Arc::new(Int64Array::from(vec![7000])));
    for pair in [[&seconds, &millis], [&millis, &seconds], [&seconds, &numbers], [&numbers, &seconds]] {
        let (code, errors) = failure(&["merge", pair[0], pair[1], &out]);
        assert_eq!((code, errors.len()), (2, 1), "{errors:?}");
        assert!(errors[0].contains("column c") && errors[0].contains("convert"), "{errors:?}");
        assert!(!fs::exists(&out).expect("a folder"));
    }
    // Read together by a summary, they would be mixed up, too.
    let (code, errors) = failure(&["summary", &folder.path("")]);
    assert!(code != 0 && errors[0].contains("column c"), "{errors:?}");
    assert!(!fs::exists(folder.path("_metadata")).expect("a folder"));
    // What is the same without a stored schema is copied, and has none.
    let (three, list) =
        (write(&folder, "3.parquet", Arc::new(three())), write(&folder, "l.parquet", Arc::new(list())));
    let told = success(&["merge", &three, &list, &out]);
    assert!(told.contains("none is kept"), "{told}");
    assert_eq!(rows(&out), rows(&three) + &rows(&list));
    let words = write(&folder, "w.parquet", Arc::new(DictionaryArray::<Int32Type>::from_iter(["a", "b"])));
    let text = write(&folder, "t.parquet", Arc::new(StringArray::from(vec!["c"])));
    assert!(success(&["merge", &words, &text, &out, "--overwrite"]).contains("none is kept"));
    assert!(metadata(&out).value_of("ARROW:schema").is_none());
}

/// What holds the values of INT96 in two units is not known before all are read: not by a copy, but by what encodes them.
#[test]
fn int96_in_two_units_is_encoded_again() {
    let folder = Folder::new("merge-int96");
    let write = |name: &str, column: ArrayRef| {
        let batch = RecordBatch::try_from_iter([("c", column)]).expect("a batch");
        let forms = StoredForms::default().with_int96_timestamps(true);
        let properties = WriterProperties::builder().set_stored_forms(forms).build();
        let path = folder.path(name);
        let file = fs::File::create(&path).expect("a file");
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a writer");
        writer.write(&batch).expect("rows");
        writer.close().expect("a file");
        path
    };
    let micros = write("us.parquet", Arc::new(TimestampMicrosecondArray::from(vec![1_500])));
    let nanos = write("ns.parquet", Arc::new(TimestampNanosecondArray::from(vec![7])));
    let out = folder.path("out.parquet");
    for [first, other] in [[&micros, &nanos], [&nanos, &micros]] {
        let (code, errors) = failure(&["merge", first, other, &out]);
        assert_eq!((code, errors.len()), (2, 1), "{errors:?}");
        assert!(errors[0].contains("marquetry convert --union-by-name"), "{errors:?}");
        success(&["convert", "--union-by-name", first, other, &folder.path("all.parquet"), "--overwrite"]);
        let all = rows(&folder.path("all.parquet"));
        assert!(all.contains("00:00:00.000000007") && all.contains("00:00:00.0015"), "{all}");
    }
}

/// pandas writes the number of rows into its metadata, which the stored Arrow schema has, too.
#[test]
fn types_are_compared_and_not_bytes() {
    let folder = Folder::new("merge-types-metadata");
    let columns = |n: i64| -> [(&str, ArrayRef); 2] {
        [
            ("c", Arc::new(DurationSecondArray::from(vec![n; 3]))),
            ("i", Arc::new(Int32Array::from(vec![1; 3]))),
        ]
    };
    let a = write_with(&folder, "a.parquet", &columns(1), r#"{"stop": 5}"#, None);
    let b = write_with(&folder, "b.parquet", &columns(2), r#"{"stop": 7}"#, None);
    let stored = |path: &str| metadata(path).value_of("ARROW:schema").map(|text| text.into_owned());
    assert_ne!(stored(&a), stored(&b));
    let out = folder.path("out.parquet");
    let told = success(&["merge", &a, &b, &out]);
    assert!(!told.contains("stored Arrow schemas"), "{told}");
    assert_eq!(stored(&out), stored(&a));
    assert_eq!(rows(&out), rows(&a) + &rows(&b));
    let before = stored(&a);
    success(&["append", &a, &b]);
    assert_eq!((stored(&a), rows(&a)), (before, rows(&out)));
    // Different Arrow layouts are not different types.
    let small = write(&folder, "small.parquet", Arc::new(StringArray::from(vec!["x"])));
    let large = write(&folder, "large.parquet", Arc::new(LargeStringArray::from(vec!["y"])));
    assert!(success(&["merge", &small, &large, &out, "--overwrite"]).contains("the first file's is kept"));
    assert_eq!(stored(&out), stored(&small));
    assert!(success(&["append", &small, &large]).contains("FILE's is kept"));
    assert_eq!(rows(&small), rows(&out));
}

/// A point as well-known binary.
fn point(x: f64, y: f64) -> Vec<u8> {
    [&[1, 1, 0, 0, 0][..], &x.to_le_bytes(), &y.to_le_bytes()].concat()
}

fn points(folder: &Folder, name: &str, at: f64, change: impl FnOnce(&mut Value)) -> String {
    let mut geo = json!({
        "version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": {
            "encoding": "WKB", "geometry_types": ["Point"], "bbox": [at, at, at, at],
        }},
    });
    change(&mut geo["columns"]["geometry"]);
    let column: ArrayRef = Arc::new(BinaryArray::from_vec(vec![&point(at, at)]));
    write_with(folder, name, &[("geometry", column)], name, Some(&geo))
}

fn geo_of(path: &str) -> Value {
    serde_json::from_str(&metadata(path).value_of("geo").expect("GeoParquet")).expect("JSON")
}

#[test]
fn geometries_of_other_systems_are_refused() {
    let folder = Folder::new("append-geo-systems");
    let mercator =
        json!({"type": "ProjectedCRS", "name": "Pseudo-Mercator", "id": {"authority": "EPSG", "code": 3857}});
    let file = points(&folder, "f.parquet", 1.0, |_| {});
    let other_crs = points(&folder, "crs.parquet", 2.0, |column| column["crs"] = mercator);
    let spherical = points(&folder, "edges.parquet", 2.0, |column| column["edges"] = "spherical".into());
    let old = fs::read(&file).expect("a file");
    for (other, says) in [(&other_crs, "reference system"), (&spherical, "edges")] {
        for how in [&[][..], &["--copy"]] {
            let (code, errors) = failure(&[&["append", &file, other], how].concat());
            assert!(code == 2 && errors.len() == 1 && errors[0].contains(says), "{errors:?}");
            assert!(fs::read(&file).expect("a file") == old);
        }
        let (_, errors) = failure(&["merge", &file, other, &folder.path("out.parquet")]);
        assert!(errors[0].contains(says), "{errors:?}");
    }
}

#[test]
fn what_is_said_of_geometries_is_true_of_appended_ones() {
    let folder = Folder::new("append-geo-boxes");
    for how in [&[][..], &["--copy"]] {
        let file = points(&folder, "f.parquet", 1.0, |_| {});
        let other = points(&folder, "other.parquet", 5.0, |_| {});
        let out = folder.path("out.parquet");
        success(&["merge", &file, &other, &out, "--overwrite"]);
        success(&[&["append", &file, &other], how].concat());
        assert_eq!(geo_of(&file)["columns"]["geometry"]["bbox"], json!([1.0, 1.0, 5.0, 5.0]));
        assert_eq!(geo_of(&file), geo_of(&out));
        success(&["verify", "--deep", &file]);
        // Readers that take it from the stored Arrow schema find no old one there.
        let stored = metadata(&file).value_of("ARROW:schema").map(|text| text.into_owned());
        let stored = marquetry::arrow::parse_stored_schema(&stored.expect("a schema")).expect("a schema");
        assert!(!stored.metadata.contains_key("geo") && stored.metadata.contains_key("own"));
    }
    // Of a file that says nothing of its geometries nothing is known.
    let file = points(&folder, "f.parquet", 1.0, |_| {});
    let column: ArrayRef = Arc::new(BinaryArray::from_vec(vec![&point(9.0, 9.0)]));
    let silent = write_with(&folder, "silent.parquet", &[("geometry", column)], "silent", None);
    success(&["append", &file, &silent]);
    let column = &geo_of(&file)["columns"]["geometry"];
    assert!(column.get("bbox").is_none() && column["geometry_types"] == json!([]), "{column}");
    success(&["verify", "--deep", &file]);
}

//! `diff`: what two files differ in, and the exit code that says so.

use crate::command::{Folder, everything, success, wines};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float32Array, Float64Array, RecordBatch, TimestampMicrosecondArray,
};
use marquetry::arrow::ArrowWriter;
use marquetry::file::properties::{StoredForms, WriterProperties};
use serde_json::{Value, json};
use std::sync::Arc;

fn diff(arguments: &[&str]) -> (Option<i32>, Value) {
    let (code, text) = everything(&[&["diff", "--format", "json"], arguments].concat());
    (code, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}")))
}

/// A file of these lines of CSV.
fn of_csv(folder: &Folder, name: &str, rows: &str) -> String {
    let (csv, parquet) =
        (folder.write(&format!("{name}.csv"), rows), folder.path(&format!("{name}.parquet")));
    success(&["convert", &csv, &parquet]);
    parquet
}

#[test]
fn the_same_rows_stored_otherwise() {
    let folder = Folder::new("diff-layout");
    let (base, other) = (folder.path("base.parquet"), folder.path("other.parquet"));
    success(&["convert", &wines(), &base]);
    success(&["convert", &base, &other, "--compression", "snappy", "--row-group-rows", "70"]);
    let (code, same) = diff(&["--rows", &base, &other]);
    assert_eq!((code, &same["same"], &same["rows"]["left"]), (Some(0), &true.into(), &200.into()), "{same}");
    assert_eq!(same["differences"], json!([]));
    let (code, layout) = diff(&[&base, &other]);
    assert_eq!(code, Some(1));
    let is_there = |fact: &str| layout["differences"].as_array().unwrap().iter().any(|it| it["fact"] == fact);
    assert!(is_there("row groups") && is_there("codecs"), "{layout}");
    assert!(layout["rows"].is_null());
    assert_eq!(everything(&["diff", &wines(), &wines()]), (Some(0), String::new()));
    assert_eq!(everything(&["diff", "--rows", &wines(), &wines()]), (Some(0), String::new()));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    for files in [[&wines()[..], "absent.parquet"], ["absent.parquet", &wines()]] {
        let (code, text) = everything(&[&["diff"], &files[..]].concat());
        assert_eq!(code, Some(2));
        assert!(text.starts_with("marquetry: absent.parquet: not found: "), "{text}");
    }
}

#[test]
fn rows_by_place_and_by_key() {
    let folder = Folder::new("diff-rows");
    let file = |name: &str, rows: &str| of_csv(&folder, name, rows);
    let left = file("left", "id,name,price\n1,a,10\n2,b,20\n3,c,30\n");
    let changed = file("changed", "id,name,price\n1,a,10\n2,b,25\n3,c,30\n");
    let (code, found) = diff(&["--rows", &left, &changed]);
    assert_eq!(code, Some(1));
    let rows = &found["rows"];
    assert_eq!((&rows["changed"], &rows["removed"], &rows["added"]), (&1.into(), &0.into(), &0.into()));
    assert_eq!(rows["changed_columns"], json!([{"column": "price", "rows": 1}]));
    let cell = json!({"column": "price", "left": 20, "right": 25});
    assert_eq!(rows["changed_rows"], json!([{"left_row": 1, "right_row": 1, "cells": [cell]}]));

    let edited = file("edited", "id,name,price\n4,d,40\n3,c,33\n1,a,10\n");
    let (code, text) = everything(&["diff", "--key", "id", &left, &edited]);
    assert_eq!(code, Some(1));
    let expected = "rows: 3 and 3\n  1 removed\n  1 added\n  1 changed\n  changed by column: price 1\n\
                    - 1: {\"id\":2,\"name\":\"b\",\"price\":20}\n+ 0: {\"id\":4,\"name\":\"d\",\"price\":40}\n~ 2 -> 1: price: 30 -> 33\n";
    assert_eq!(text, expected);
    let (code, text) = everything(&["diff", "--columns", "name", &left, &changed]);
    assert_eq!((code, &*text), (Some(0), ""));
}

/// The columns of the key need not be among those that are compared.
#[test]
fn a_key_that_columns_leave_out() {
    let folder = Folder::new("diff-key-left-out");
    let file = |name: &str, rows: &str| of_csv(&folder, name, rows);
    let left = file("left", "id,name,price\n1,a,10\n2,b,20\n3,c,30\n");
    let right = file("right", "id,name,price\n3,c,31\n2,x,20\n1,a,10\n");
    let (code, found) = diff(&["--key", "id", "--columns", "price", &left, &right]);
    assert_eq!(code, Some(1), "{found}");
    let cell = json!({"column": "price", "left": 30, "right": 31});
    assert_eq!(found["rows"]["changed_rows"], json!([{"left_row": 2, "right_row": 0, "cells": [cell]}]));
    assert_eq!((&found["rows"]["removed"], &found["rows"]["added"]), (&0.into(), &0.into()));

    // A column that cannot be a key is reported with the file in which it cannot.
    let texts = file("texts", "id,name,price\nx,a,10\n");
    let other = file("other", "number,name,price\n1,a,10\n");
    let nested = folder.write("nested.jsonl", "{\"s\": {\"id\": 1}, \"price\": 2}\n");
    let of_structs = folder.path("structs.parquet");
    success(&["convert", &nested, &of_structs]);
    for (key, files, why) in [
        ("ID", [&left, &right], "the key: no column ID; did you mean id?"),
        ("id", [&left, &other], "the key: no column id; there are number, name, price"),
        (
            "id",
            [&left, &texts],
            "the key's column id cannot be compared: it is Int64 in one file, and Utf8View in the other",
        ),
        (
            "s.id",
            [&of_structs, &of_structs],
            "the key's column s.id is a part of another one: a key has whole columns, such as s",
        ),
    ] {
        for columns in [&[][..], &["--columns", "price"]] {
            let (code, text) =
                everything(&[&["diff", "--key", key], columns, &files.map(|file| &**file)].concat());
            assert!(code == Some(2) && text.contains(why), "{key} {columns:?}: {code:?} {text}");
            let is_named = text.contains("other.parquet");
            assert_eq!(is_named, files[1] == &other, "{text}");
        }
    }
}

#[test]
fn what_cannot_be_compared_is_neither_the_same_nor_different() {
    let folder = Folder::new("diff-bad");
    let bad = folder.write("bad.parquet", "PAR1 is not enough PAR1");
    for arguments in [
        &[&*wines(), &*bad][..],
        &["--rows", &wines(), "absent.parquet"],
        &["--key", "country", &wines(), &wines()],
    ] {
        let (code, text) = everything(&[&["diff"], arguments].concat());
        assert_eq!(code, Some(2), "{text}");
    }
}

fn written(folder: &Folder, name: &str, columns: Vec<(&str, ArrayRef)>) -> String {
    let path = folder.path(name);
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let mut file = marquetry::create(&path, batch.schema()).expect("a file");
    file.write(&batch).expect("rows");
    file.close().expect("a file");
    path
}

#[test]
fn cells_of_dictionaries_and_of_floats_show_what_differs() {
    let folder = Folder::new("diff-cells");
    let words = |words: [&str; 3]| Arc::new(DictionaryArray::<Int32Type>::from_iter(words)) as ArrayRef;
    let single: ArrayRef = Arc::new(Float32Array::from(vec![0.1, 0.25, 3.0]));
    let double: ArrayRef = Arc::new(Float64Array::from(vec![0.1, 0.25, 3.0]));
    let left = written(&folder, "l.parquet", vec![("d", words(["a", "b", "c"])), ("f", single)]);
    let right = written(&folder, "r.parquet", vec![("d", words(["a", "x", "c"])), ("f", double)]);
    let (code, found) = diff(&["--rows", &left, &right]);
    assert_eq!(code, Some(1));
    assert_eq!(
        found["rows"]["changed_rows"],
        json!([
            {"left_row": 0, "right_row": 0, "cells": [{"column": "f", "left": 0.10000000149011612, "right": 0.1}]},
            {"left_row": 1, "right_row": 1, "cells": [{"column": "d", "left": "b", "right": "x"}]},
        ])
    );
}

#[test]
fn a_variant_that_is_shredded_otherwise_is_not_compared() {
    let folder = Folder::new("diff-variant");
    let lines =
        folder.write("in.jsonl", "{\"id\": 1, \"v\": {\"a\": 1}}\n{\"id\": 2, \"v\": {\"a\": \"x\"}}\n");
    let file = |name: &str, shape: &[&str]| {
        let path = folder.path(name);
        success(&[&["convert", &lines, &path, "--schema", "id int64, v variant"], shape].concat());
        path
    };
    let (plain, shredded) = (file("p.parquet", &[]), file("s.parquet", &["--shred", "v={a: bigint}"]));
    for files in [[&*plain, &*shredded], [&shredded, &plain]] {
        let (code, found) = diff(&[&["--rows"], &files[..]].concat());
        assert_eq!(found["rows"]["not_compared"], json!(["v"]), "{code:?} {found}");
        assert_eq!(found["rows"]["changed"], 0);
        let (_, text) = everything(&[&["diff", "--rows"], &files[..]].concat());
        assert!(text.ends_with("rows: the same 2\n  not compared: v\n"), "{text}");
    }
    let (_, found) = diff(&["--rows", &shredded, &shredded]);
    assert_eq!(found["rows"]["not_compared"], json!([]));
}

/// INT96 as Spark writes it: no unit is stored.
fn int96(folder: &Folder, name: &str, micros: &[i64]) -> String {
    let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(micros.to_vec()));
    let batch = RecordBatch::try_from_iter([("t", times)]).unwrap();
    let forms = StoredForms::default().with_int96_timestamps(true);
    let properties = WriterProperties::builder().set_stored_forms(forms).set_arrow_schema(false);
    let properties = properties.set_max_row_group_row_count(Some(2)).build();
    let path = folder.path(name);
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

/// The years 2024, 1001 and 9999.
#[test]
fn timestamps_beyond_nanoseconds_are_compared_and_shown() {
    let folder = Folder::new("diff-int96");
    let (near, early, late) = (1_704_067_200_000_000, -30_578_688_000_000_000, 253_402_225_200_000_000);
    let left = int96(&folder, "left.parquet", &[near, near, early, late]);
    assert_eq!(everything(&["diff", "--rows", &left, &left]), (Some(0), String::new()));
    let right = int96(&folder, "right.parquet", &[near, near + 1, early, late]);
    let (code, text) = everything(&["diff", "--rows", &left, &right]);
    assert_eq!(code, Some(1));
    assert!(text.contains("1 changed") && text.contains("~ 1: t:"), "{text}");
    assert!(text.contains(r#""2024-01-01T00:00:00" -> "2024-01-01T00:00:00.000001""#), "{text}");
    let near = int96(&folder, "near.parquet", &[near, near]);
    let (code, text) = everything(&["diff", "--rows", &left, &near]);
    assert_eq!(code, Some(1));
    assert!(text.contains(r#"- 2: {"t":"1001-01-01T00:00:00"}"#) && !text.contains('~'), "{text}");
}

/// The encoded text of a stored Arrow schema tells a reader nothing.
#[test]
fn types_of_stored_arrow_schemas_are_told() {
    let folder = Folder::new("diff-stored");
    let input = folder.write("in.csv", "d,n\na,1\nb,2\n");
    let file = |name: &str, schema: &str| {
        let path = folder.path(name);
        success(&["convert", &input, &path, "--schema", schema, "--report", "none"]);
        path
    };
    let (left, right) =
        (file("l.parquet", "d dictionary<utf8>, n int32"), file("r.parquet", "d utf8, n int32"));
    let (_, found) = diff(&[&left, &right]);
    let facts = found["differences"].as_array().unwrap();
    let types: Vec<_> = facts.iter().filter(|fact| fact["fact"] == "type").collect();
    assert_eq!(types.len(), 1, "{found}");
    assert_eq!(types[0]["of"], "ARROW:schema, d", "{found}");
    assert!(
        types[0]["left"].as_str().unwrap().starts_with("Dictionary(") && types[0]["right"] == "Utf8",
        "{found}"
    );
}

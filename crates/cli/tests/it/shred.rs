//! `--shred` of `convert` and `rewrite`: other columns, the same rows.

use crate::command::{Folder, failure, success};
use serde_json::Value;

/// Rows of two columns of VARIANT: `v` is alike in most rows, `w` has nothing in common.
fn rows(folder: &Folder) -> String {
    let line = |i: usize| match i {
        7 => r#"{"id": 7}"#.to_owned(),
        8 => r#"{"id": 8, "v": null, "w": []}"#.to_owned(),
        _ => format!(
            r#"{{"id": {i}, "v": {{"at": {i}, "kind": "kind {}", "price": {}.50, "tags": ["a", {}], "odd": {{"x{i}": null}}}}, "w": {{}}}}"#,
            i % 5,
            i % 300,
            if i.is_multiple_of(9) { "null" } else { "\"b\"" },
        ),
    };
    let lines: Vec<String> = (0..3000).map(line).collect();
    folder.write("rows.jsonl", &(lines.join("\n") + "\n"))
}

const SCHEMA: [&str; 2] = ["--schema", "id int64, v variant, w variant"];

fn converted(folder: &Folder, input: &str, name: &str, options: &[&str]) -> String {
    let path = folder.path(name);
    success(&[&["convert", input, &path, "--row-group-rows", "1000"], &SCHEMA[..], options].concat());
    path
}

fn shapes(path: &str) -> Vec<(String, String)> {
    let meta: Value = serde_json::from_str(&success(&["meta", path, "--format", "json"])).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let shapes = meta["shredding"].as_array().unwrap();
    shapes.iter().map(|shape| (text(&shape["column"]), text(&shape["shape"]))).collect()
}

#[test]
fn convert_shreds_into_a_shape_and_back() {
    let folder = Folder::new("shred_convert");
    let input = rows(&folder);
    let plain = converted(&folder, &input, "plain.parquet", &[]);
    assert_eq!(shapes(&plain), []);
    let expected = success(&["cat", &plain, "--format", "json"]);
    let shape = "v={at: bigint, kind: string, price: decimal(9,2), tags: [string]}";
    let shredded = converted(&folder, &input, "shredded.parquet", &["--shred", shape]);
    let told = "{at: int64, kind: string, price: decimal(9, 2), tags: [string]}";
    assert_eq!(shapes(&shredded), [("v".to_owned(), told.to_owned())]);
    assert!(success(&["meta", &shredded]).contains(&format!("shredded     v as {told}")));
    assert_eq!(success(&["cat", &shredded, "--format", "json"]), expected);
    success(&["verify", &shredded, "--deep"]);
    let (other, back) = (folder.path("other.parquet"), folder.path("back.parquet"));
    success(&["convert", &shredded, &other, "--shred", "{kind: int8, odd: variant}"]);
    assert_eq!(success(&["cat", &other, "--format", "json"]), expected);
    success(&["convert", &other, &back, "--shred", "none"]);
    assert_eq!(shapes(&back), []);
    assert_eq!(success(&["cat", &back, "--format", "json"]), expected);
    // NULL, and a variant that is null.
    let csv = folder.path("shredded.csv");
    success(&["convert", &shredded, &csv, "--columns", "v"]);
    let csv = std::fs::read_to_string(csv).unwrap();
    assert_eq!(csv.lines().skip(8).take(2).collect::<Vec<_>>(), ["", "null"]);
}

#[test]
fn auto_shreds_what_pays_and_says_so() {
    let folder = Folder::new("shred_auto");
    let input = rows(&folder);
    let path = folder.path("auto.parquet");
    let command = ["convert", &input, &path, "--shred", "auto", "--report", "json"];
    let report = success(&[&command[..], &SCHEMA].concat());
    let report: Value = serde_json::from_str(&report).unwrap();
    let of = |i: usize, member: &str| report["shredding"][i][member].clone();
    assert_eq!(of(0, "shape"), "{at: int64, kind: string, price: decimal(18, 2), tags: [string]}");
    assert_eq!((of(0, "is_shredded"), of(1, "is_shredded")), (true.into(), false.into()));
    assert!(of(0, "shredded_bytes").as_u64() < of(0, "unshredded_bytes").as_u64());
    assert_eq!(of(0, "prunable")[0], "typed_value.at.typed_value");
    assert_eq!(of(1, "shape"), Value::Null);
    assert_eq!(shapes(&path).len(), 1);
    // The order of rows is kept, those of the sample included.
    let plain = converted(&folder, &input, "plain.parquet", &[]);
    assert_eq!(success(&["cat", &path, "--format", "json"]), success(&["cat", &plain, "--format", "json"]));
    let again = folder.path("again.parquet");
    let text = success(&["convert", &plain, &again, "--shred", "auto"]);
    assert!(text.contains("v is shredded as {at: int64, "), "{text}");
    assert!(text.contains("w is not shredded: its values have nothing in common"), "{text}");
}

#[test]
fn rewrite_shreds_and_copies_the_other_columns() {
    let folder = Folder::new("shred_rewrite");
    let input = rows(&folder);
    let plain = converted(&folder, &input, "plain.parquet", &["--compression", "snappy"]);
    let expected = success(&["cat", &plain, "--format", "json"]);
    let (shredded, auto, back) =
        (folder.path("shredded.parquet"), folder.path("auto.parquet"), folder.path("back.parquet"));
    let report = success(&["rewrite", &plain, &shredded, "--shred", "v={at: bigint}", "--format", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let columns = report["columns"].as_array().unwrap();
    let reasons: Vec<_> = columns.iter().map(|column| column["reason"].as_str().unwrap()).collect();
    assert_eq!(
        (reasons[0], reasons[1], reasons[4]),
        ("copied", "encoded again: another shredding", "encoded again: another shredding")
    );
    assert_eq!(columns[4]["column"], "v.typed_value.at.typed_value");
    assert!(columns.iter().all(|column| column["codec"] == "SNAPPY"), "{columns:?}");
    assert_eq!(reasons.iter().filter(|reason| **reason == "copied").count(), 3);
    assert_eq!(success(&["cat", &shredded, "--format", "json"]), expected);
    assert_eq!(report["row_groups"], 3);
    success(&["verify", &shredded, "--deep"]);
    let text = success(&["rewrite", &shredded, &auto, "--shred", "auto"]);
    assert!(text.contains("note: v is shredded as {at: int64, "), "{text}");
    assert_eq!(success(&["cat", &auto, "--format", "json"]), expected);
    success(&["rewrite", &auto, &back, "--shred", "none"]);
    assert_eq!(shapes(&back), []);
    assert_eq!(success(&["cat", &back, "--format", "json"]), expected);
    success(&["verify", &back, "--deep"]);
}

/// As in other options.
#[test]
fn names_may_stand_in_quotes() {
    let folder = Folder::new("shred_quotes");
    let input = folder.write("rows.jsonl", r#"{"a.b":"{\"x\":1}","v":"{\"x\":1}"}"#);
    let plain = folder.path("plain.arrow");
    success(&["convert", &input, &plain]);
    let names = ["\"a.b\"", "v"];
    let change = |name: &str| format!("{name}=variant");
    let changes = names.map(change);
    let shreds = ["\"a.b\"={x: int8}", "\"v\"={x: int16}"];
    let out = folder.path("out.parquet");
    let mut command = vec!["convert", &plain, &out];
    changes.iter().for_each(|change| command.extend(["--change-type", change]));
    shreds.iter().for_each(|shred| command.extend(["--shred", shred]));
    success(&command);
    let shape = |column: &str, shape: &str| (column.to_owned(), shape.to_owned());
    let expected = [shape("a.b", "{x: int8}"), shape("v", "{x: int16}")];
    assert_eq!(shapes(&out), expected);
    let again = folder.path("again.parquet");
    success(&["rewrite", &out, &again, "--shred", "\"a.b\"=none"]);
    assert_eq!(shapes(&again), [shape("v", "{x: int16}")]);
    let (code, text) = failure(&["rewrite", &out, &folder.path("no.parquet"), "--shred", "\"w\"=none"]);
    assert!(code == 2 && text[0].contains("no column of VARIANT is called w"), "{text:?}");
}

#[test]
fn mistakes_are_named() {
    let folder = Folder::new("shred_mistakes");
    let input = rows(&folder);
    let out = folder.path("out.parquet");
    let told = |arguments: &[&str]| failure(&[arguments, &SCHEMA[..]].concat()).1.join("\n");
    let text = told(&["convert", &input, &out, "--shred", "id={a: int8}"]);
    assert!(text.contains("--shred: no column of VARIANT is called id; there are: v, w"), "{text}");
    let text = told(&["convert", &input, &out, "--shred", "v={a: uint8}"]);
    assert!(
        text.contains("a type is wanted, such as int64, string or decimal(9, 2), at character 5"),
        "{text}"
    );
    let plain = converted(&folder, &input, "plain.parquet", &[]);
    let (code, text) = failure(&["rewrite", &plain, &out, "--shred", "auto", "--drop", "id"]);
    let text = text.join("\n");
    assert!(code == 2 && text.contains("cannot be used with"), "{text}");
    assert!(!std::path::Path::new(&out).exists());
}

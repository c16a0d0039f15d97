//! JSON Lines keep what they are: no member is lost, and no value becomes one of another kind unless that was asked for.

use crate::command::{Folder, failure, success, with_input};

fn jsonl(rows: &str, options: &[&str]) -> String {
    with_input(&[&["convert", "-", "-", "--from", "jsonl"], options].concat(), rows)
}

#[track_caller]
fn refused(folder: &Folder, rows: &str, parts: &[&str]) {
    let input = folder.write("in.jsonl", rows);
    let (code, errors) = failure(&["convert", &input, "-"]);
    assert_eq!((code, errors.len()), (1, 1), "{rows}: {errors:?}");
    for part in parts {
        assert!(errors[0].contains(part), "{rows}: {errors:?}");
    }
}

#[test]
fn members_that_come_twice() {
    let folder = Folder::new("json-twice");
    for (rows, parts) in [
        ("{\"a\":1,\"a\":\"x\"}\n", ["line 1, column a", "twice"]),
        ("{\"b\":[]}\n{\"b\":[{\"c\":1}]}\n{\"b\":[{\"c\":1,\"c\":2}]}\n", ["line 3, column b.c", "twice"]),
        ("{\"a\":1}\n{\"a\":1,\"\\u0061\":1}\n", ["line 2, column a", "twice"]),
    ] {
        refused(&folder, rows, &parts);
    }
    let csv = folder.write("in.csv", "s\n\"{\"\"a\"\":1,\"\"a\"\":2}\"\n");
    let (code, errors) = failure(&["convert", &csv, "-", "--schema", "s struct<a int8>"]);
    assert!(code == 1 && errors[0].contains("line 2, column s: a: comes twice"), "{errors:?}");
    // Maps may have a key twice.
    let rows = "{\"m\":{\"x\":1,\"x\":2}}\n";
    assert_eq!(jsonl(rows, &["--schema", "m map<utf8, int8>"]), rows);
}

/// Numbers after the rows from which types are inferred do not become text.
#[test]
fn late_numbers_stay_numbers() {
    let folder = Folder::new("json-late");
    for (first, late) in [
        ("{\"a\":null}\n", "{\"a\":1}\n"),
        ("{\"a\":null,\"n\":{\"x\":1}}\n", "{\"a\":true,\"n\":null}\n"),
        ("{\"a\":[]}\n", "{\"a\":[1]}\n"),
        ("{\"a\":\"x\"}\n", "{\"a\":1.5}\n"),
        ("{\"a\":{\"b\":null}}\n", "{\"a\":{\"b\":1}}\n"),
        ("{\"a\":null}\n", "{\"a\":{}}\n"),
    ] {
        let rows = first.repeat(10_001) + late;
        refused(&folder, &rows, &["line 10002, column a", "--infer-rows all"]);
    }
    let texts = "{\"a\":null}\n".repeat(10_001) + "{\"a\":\"1\"}\n";
    assert_eq!(jsonl(&texts, &[]), texts);
    // Mixed values among the inferred rows become text, as do those for which that was requested.
    assert_eq!(
        jsonl("{\"a\":1.50}\n{\"a\":\"x\"}\n{\"a\":true}\n", &[]),
        "{\"a\":\"1.50\"}\n{\"a\":\"x\"}\n{\"a\":\"true\"}\n"
    );
    assert_eq!(
        jsonl("{\"a\":\"x\"}\n{\"a\":1}\n", &["--schema", "a utf8", "--infer-rows", "1"]),
        "{\"a\":\"x\"}\n{\"a\":\"1\"}\n"
    );
}

#[test]
fn nested_values_as_text() {
    let folder = Folder::new("json-nested-text");
    let rows = "{\"a\":1}\n{\"a\":{\"b\": [1.50,{}]}}\n{\"a\":\"x\"}\n{\"a\":null}\n{\"a\":[]}\n";
    refused(&folder, rows, &["line 2, column a", "--schema"]);
    let kept =
        "{\"a\":\"1\"}\n{\"a\":\"{\\\"b\\\": [1.50,{}]}\"}\n{\"a\":\"x\"}\n{\"a\":null}\n{\"a\":\"[]\"}\n";
    assert_eq!(jsonl(rows, &["--schema", "a utf8"]), kept);
    assert_eq!(jsonl("{\"a\":{}}\n", &["--schema", "a utf8"]), "{\"a\":\"{}\"}\n");
    assert_eq!(
        jsonl("{\"a\":[{\"x\":1},\"y\"]}\n", &["--schema", "a list<utf8>"]),
        "{\"a\":[\"{\\\"x\\\":1}\",\"y\"]}\n"
    );
}

#[test]
fn maps_of_any_keys() {
    let folder = Folder::new("json-maps");
    for (schema, row) in [
        ("m map<int64, utf8>", "{\"m\":[{\"key\":-1,\"value\":\"x\"},{\"key\":2,\"value\":null}]}\n"),
        (
            "m map<date, map<bool, int8>>",
            "{\"m\":[{\"key\":\"2013-07-30\",\"value\":[{\"key\":true,\"value\":1}]}]}\n",
        ),
        ("m map<struct<x int8>, int8>", "{\"m\":[{\"key\":{\"x\":1},\"value\":1}]}\n"),
        ("m map<utf8, list<int8>>", "{\"m\":{\"a\":[1],\"\":null}}\n"),
        ("m map<binary, float32>", "{\"m\":[{\"key\":\"\\\\x00\",\"value\":\"NaN\"}]}\n"),
    ] {
        let rows = format!("{row}{{\"m\":null}}\n");
        assert_eq!(jsonl(&rows, &["--schema", schema]), rows, "{schema}");
        let csv = folder.write("t.csv", &jsonl(&rows, &["--schema", schema, "--to", "csv"]));
        assert_eq!(success(&["convert", &csv, "-", "--schema", schema]), rows, "{schema}");
    }
}

/// Columns of one name, and columns without a name, all come through; names that were given stay.
#[test]
fn columns_of_one_name() {
    use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray, StructArray};
    use arrow_schema::{DataType, Field, Fields, Schema};
    use std::sync::Arc;
    let folder = Folder::new("column-names");
    let number: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let children: Fields = ["s", "s"].map(|name| Field::new(name, DataType::Int32, true)).to_vec().into();
    let nested: ArrayRef =
        Arc::new(StructArray::new(children, vec![number.clone(), Arc::new(Int32Array::from(vec![2]))], None));
    let columns = [number.clone(), text.clone(), number, text, nested];
    let names = ["", "C0", "a", "a", "n"];
    let fields: Vec<Field> = names
        .iter()
        .zip(&columns)
        .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
        .collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.to_vec()).expect("a batch");
    let input = folder.path("in.arrow");
    let file = std::fs::File::create(&input).expect("a file");
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.finish().expect("a file");
    let row = "{\"C0_\":1,\"C0\":\"x\",\"a\":1,\"a_1\":\"x\",\"n\":{\"s\":1,\"s_1\":2}}\n";
    let parquet = folder.path("out.parquet");
    success(&["convert", &input, &parquet, "--overwrite", "--report", "none"]);
    for input in [&input, &parquet] {
        assert_eq!(success(&["convert", input, "-"]), row);
        let csv = success(&["convert", input, "-", "--to", "csv"]);
        assert_eq!(csv.lines().next(), Some("C0_,C0,a,a_1,n"));
        // Arrow may have a name twice.
        let output = folder.path("out.arrow");
        success(&["convert", input, &output, "--overwrite"]);
        let file = std::fs::File::open(&output).expect("a file");
        let schema = arrow_ipc::reader::FileReader::try_new(file, None).expect("an Arrow file").schema();
        let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(found, ["C0_", "C0", "a", "a", "n"]);
    }
}

//! `convert` reads CSV, JSON Lines, Arrow and Parquet, also from standard input, and no value becomes another one.

use crate::command;
use crate::command::{Folder, everything, failure, piped, success, wines, with_input};
use arrow_array::types::{Int16Type, Int32Type};
use arrow_array::{ArrayRef, DictionaryArray, LargeStringArray, RecordBatch, RunArray};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use std::sync::Arc;

/// The rows of a file as JSON Lines.
fn rows(path: &str) -> String {
    success(&["convert", path, "-"])
}

/// Name and type of each Arrow field of a file.
fn types(path: &str) -> Vec<String> {
    let schema: Value =
        serde_json::from_str(&success(&["schema", "--arrow", path, "--format", "json"])).unwrap();
    let fields = schema["fields"].as_array().unwrap().iter();
    fields
        .map(|field| format!("{} {}", field["name"].as_str().unwrap(), field["type"].as_str().unwrap()))
        .collect()
}

const CSV: &str = "\
id,zip,price,day,at,ok,note
1,00123,1.5,2013-07-30,2013-07-30T12:30:00Z,true,\"a, \"\"b\"\"\"
2,04567,2,2013-07-31,2013-07-30 12:30:00.5+01:00,false,
3,,NaN,,,,\"two
lines\"
";

const ROWS: &str = r#"{"id":1,"zip":"00123","price":1.5,"day":"2013-07-30","at":"2013-07-30T12:30:00Z","ok":true,"note":"a, \"b\""}
{"id":2,"zip":"04567","price":2.0,"day":"2013-07-31","at":"2013-07-30T11:30:00.500Z","ok":false,"note":null}
{"id":3,"zip":null,"price":"NaN","day":null,"at":null,"ok":null,"note":"two\nlines"}
"#;

#[test]
fn csv_with_guessed_types() {
    let folder = Folder::new("csv_with_guessed_types");
    let (input, output) = (folder.write("in.csv", CSV), folder.path("out.parquet"));
    let report = success(&["convert", &input, &output]);
    assert!(report.contains("3 rows, 1 row group,") && report.contains("zip"), "{report}");
    assert_eq!(rows(&output), ROWS);
    let expected = [
        "id Int64",
        "zip Utf8View",
        "price Float64",
        "day Date32",
        "at Timestamp(µs, \"UTC\")",
        "ok Boolean",
        "note Utf8View",
    ];
    assert_eq!(types(&output), expected);
    // Tabs, semicolons, other nulls, no header; from standard input, and compressed.
    let tabs = folder.write("in.tsv", "a\tb\n1\tx,y\n");
    assert_eq!(rows(&tabs), "{\"a\":1,\"b\":\"x,y\"}\n");
    let options = [
        "convert",
        "-",
        &output,
        "--from",
        "csv",
        "--delimiter",
        ";",
        "--no-header",
        "--null-values",
        "NA",
        "--report",
        "none",
        "--overwrite",
    ];
    assert_eq!(with_input(&options, "1;NA;\n2;;x\n"), "");
    assert_eq!(
        rows(&output),
        "{\"column_1\":1,\"column_2\":null,\"column_3\":\"\"}\n{\"column_1\":2,\"column_2\":\"\",\"column_3\":\"x\"}\n"
    );
    let gzip = folder.gzip("in.csv.gz", CSV);
    assert_eq!(success(&["convert", &gzip, "-"]), ROWS);
}

#[test]
fn later_values_that_do_not_fit_are_errors() {
    let folder = Folder::new("later_values_that_do_not_fit_are_errors");
    let output = folder.path("out.parquet");
    for (values, line) in
        [("1\n2\n1.5\n", 4), ("1\n2\n3\n007\n", 5), ("1\n2\nx\n", 4), ("true\nfalse\n1\n", 4)]
    {
        let csv = folder.write("in.csv", &format!("a\n{values}"));
        let (code, lines) = failure(&["convert", &csv, &output, "--overwrite", "--infer-rows", "2"]);
        assert_eq!((code, lines.len()), (1, 1), "{lines:?}");
        assert!(lines[0].contains(&format!("line {line}, column a")), "{lines:?}");
        assert!(lines[0].contains("--infer-rows all") && lines[0].contains("first 2 rows"), "{lines:?}");
        assert!(!std::path::Path::new(&output).exists(), "nothing is left behind");
        success(&["convert", &csv, &output, "--overwrite", "--infer-rows", "all", "--report", "none"]);
        assert_eq!(
            success(&["convert", &output, "-", "--to", "csv"]).replace(".0", ""),
            format!("a\n{values}")
        );
        std::fs::remove_file(&output).unwrap();
    }
    let jsonl = folder.write("in.jsonl", "{\"a\": 1}\n\n{\"a\": 1.5}\n");
    let (code, lines) = failure(&["convert", &jsonl, &output, "--overwrite", "--infer-rows", "1"]);
    assert_eq!(code, 1);
    assert!(lines[0].contains("line 3, column a") && lines[0].contains("1.5"), "{lines:?}");
    let jsonl = folder.write("in.jsonl", "{\"a\": 1}\n\n{\"a\": 1.5}\n{\"b\": 1}\n");
    let (_, lines) = failure(&["convert", &jsonl, &output, "--overwrite", "--infer-rows", "2"]);
    assert!(lines[0].contains("line 4") && lines[0].contains('b'), "{lines:?}");
    assert_eq!(rows(&jsonl), "{\"a\":1.0,\"b\":null}\n{\"a\":1.5,\"b\":null}\n{\"a\":null,\"b\":1}\n");
    for (text, part) in [("[1]\n", "object 1"), ("{\"a\": 1}\n{\n\"a\": 2}\n", "line 2"), ("", "no rows")] {
        let jsonl = folder.write("in.jsonl", text);
        let (code, lines) = failure(&["convert", &jsonl, &output, "--overwrite"]);
        assert!(code == 1 && lines[0].contains(part), "{lines:?}");
    }
    let csv = folder.write("in.csv", "a,b\n1,2\n3\n");
    let (code, lines) = failure(&["convert", &csv, &output, "--overwrite"]);
    assert!(code == 1 && lines[0].contains("line 3"), "{lines:?}");
    // After inference from all rows, the error does not suggest --infer-rows.
    let jsonl = folder.write("in.jsonl", "{\"a\": [1, {\"b\": 2}]}\n");
    let (_, lines) = failure(&["convert", &jsonl, &output, "--overwrite"]);
    assert!(lines[0].contains("line 1, column a") && !lines[0].contains("--infer-rows"), "{lines:?}");
}

#[test]
fn given_schemas() {
    let folder = Folder::new("given_schemas");
    let (input, output) = (folder.write("in.csv", CSV), folder.path("out.parquet"));
    let schema = folder.write("schema.txt", "zip int32\nprice decimal(9, 2) !  # euros\n");
    let (code, lines) = failure(&["convert", &input, &output, "--overwrite", "--schema", &schema]);
    assert!(code == 1 && lines[0].contains("line 4, column price"), "{lines:?}");
    let csv = folder.write(
        "nested.csv",
        "price,tags,id\n1.5,\"[\"\"a\"\",null]\",00000000-0000-0000-0000-0000000000ff\n",
    );
    let given = "price decimal(9, 2) not null, tags list<utf8>, id fixed(16)";
    success(&["convert", &csv, &output, "--overwrite", "--schema", given, "--report", "none"]);
    assert_eq!(
        rows(&output),
        "{\"price\":1.50,\"tags\":[\"a\",null],\"id\":\"000000000000000000000000000000ff\"}\n"
    );
    assert!(success(&["schema", &output]).contains("required"), "not null is kept");
    let jsonl = folder.write(
        "in.jsonl",
        "{\"m\": {\"x\": 1, \"y\": 2}, \"at\": \"2013-07-30T12:30:00.1Z\", \"n\": 12345678901234567890}\n",
    );
    let given = "m map<utf8, int8>, at timestamp(ms, UTC), late int8";
    success(&["convert", &jsonl, &output, "--overwrite", "--schema", given, "--report", "none"]);
    assert_eq!(
        rows(&output),
        "{\"m\":{\"x\":1,\"y\":2},\"at\":\"2013-07-30T12:30:00.100Z\",\"n\":12345678901234567890,\"late\":null}\n"
    );
    let (code, lines) = failure(&["convert", &csv, &output, "--overwrite", "--schema", "price wurst"]);
    assert!(code == 2 && lines[0].contains("wurst"), "{lines:?}");
    let (code, lines) = failure(&["convert", &csv, &output, "--overwrite", "--schema", "cost int8"]);
    assert!(code == 2 && lines[0].contains("cost"), "{lines:?}");
}

#[test]
fn every_format_to_every_other() {
    let folder = Folder::new("every_format_to_every_other");
    let wines = command::wines();
    let expected = rows(&wines);
    let mut file = wines;
    for name in ["a.arrow", "b.parquet", "c.jsonl", "d.parquet", "e.arrow", "f.jsonl"] {
        let next = folder.path(name);
        let options = ["convert", &file, &next, "--report", "none"];
        success(&options[..if name.ends_with("parquet") { 5 } else { 3 }]);
        file = next;
    }
    // Dates are strings in JSON, and are read as such: nothing else has changed.
    assert_eq!(rows(&folder.path("b.parquet")), expected);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 200);
    // From Parquet to Parquet the Arrow schema is that of the source.
    let direct = folder.path("direct.parquet");
    success(&["convert", &command::wines(), &direct, "--overwrite", "--report", "none"]);
    let stored = |path: &str| {
        let file = std::fs::File::open(path).unwrap();
        ParquetRecordBatchReaderBuilder::try_new(file).unwrap().schema().fields().clone()
    };
    assert_eq!(stored(&direct), stored(&command::wines()));
    assert_eq!(rows(&direct), expected);
    // Through standard input and output.
    for (from, name) in [("parquet", "b.parquet"), ("arrow", "a.arrow"), ("jsonl", "c.jsonl")] {
        let bytes = std::fs::read(folder.path(name)).unwrap();
        let parquet = command::piped(&["convert", "-", "-", "--from", from, "--to", "parquet"], &bytes);
        let again = folder.path("again.parquet");
        std::fs::write(&again, &parquet).unwrap();
        assert_eq!(success(&["count", &again]), "200\n");
        let stream = command::piped(&["convert", "-", "-", "--from", from, "--to", "arrow"], &bytes);
        let rows = command::piped(
            &["convert", "-", "-", "--from", "arrow", "--to", "jsonl", "--limit", "3", "--offset", "5"],
            &stream,
        );
        assert_eq!(String::from_utf8(rows).unwrap().lines().count(), 3);
    }
    let (code, lines) = failure(&["convert", "-", &folder.path("x.parquet"), "--overwrite"]);
    assert!(code == 2 && lines[0].contains("--from"), "{lines:?}");
}

#[test]
fn columns_and_rows_of_text() {
    let folder = Folder::new("columns_and_rows_of_text");
    let csv = folder.write("in.csv", CSV);
    let chosen = success(&["convert", &csv, "-", "--columns", "zip,id", "--offset", "1", "--limit", "1"]);
    assert_eq!(chosen, "{\"zip\":\"04567\",\"id\":2}\n");
    let (code, lines) = failure(&["convert", &csv, "-", "--columns", "zap"]);
    assert!(code == 2 && lines[0].contains("zap"), "{lines:?}");
}

#[test]
fn arrow_files_with_dictionaries_and_runs() {
    let folder = Folder::new("arrow_files_with_dictionaries_and_runs");
    let words = ["oak", "elm", "oak", "ash"];
    let dictionary: DictionaryArray<Int16Type> = words.into_iter().collect();
    let runs: RunArray<Int32Type> = ["x", "x", "y", "y"].into_iter().collect();
    let large = LargeStringArray::from(vec![Some("a"), None, Some("b"), Some("")]);
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("d", Arc::new(dictionary) as ArrayRef, true),
        ("r", Arc::new(runs) as ArrayRef, true),
        ("l", Arc::new(large) as ArrayRef, true),
    ])
    .unwrap();
    let expected = r#"{"d":"oak","r":"x","l":"a"}
{"d":"elm","r":"x","l":null}
{"d":"oak","r":"y","l":"b"}
{"d":"ash","r":"y","l":""}
"#;
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let mut file = FileWriter::try_new_with_options(Vec::new(), batch.schema_ref(), options).unwrap();
        file.write(&batch).unwrap();
        let input = folder.path("in.arrow");
        std::fs::write(&input, file.into_inner().unwrap()).unwrap();
        assert_eq!(success(&["convert", &input, "-"]), expected);
        let output = folder.path("out.parquet");
        success(&["convert", &input, &output, "--overwrite", "--report", "none"]);
        assert_eq!(rows(&output), expected);
        let stored = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&output).unwrap()).unwrap();
        assert_eq!(stored.schema().fields(), batch.schema_ref().fields());
        let again = folder.path("again.arrow");
        for from in [&input, &output] {
            success(&["convert", from, &again, "--overwrite"]);
            let file = FileReader::try_new(std::fs::File::open(&again).unwrap(), None).unwrap();
            assert_eq!(file.schema().fields(), batch.schema_ref().fields());
            assert_eq!(success(&["convert", &again, "-"]), expected);
        }
        success(&["convert", &output, &again, "--overwrite", "--plain-types"]);
        let file = FileReader::try_new(std::fs::File::open(&again).unwrap(), None).unwrap();
        assert!(file.schema().fields().iter().all(|field| field.data_type().is_string()));
        let sorted = success(&["convert", &input, "-", "--sort-by", "d:desc,l", "--memory-limit", "1"]);
        assert!(
            sorted.starts_with("{\"d\":\"oak\",\"r\":\"x\",\"l\":\"a\"}\n{\"d\":\"oak\",\"r\":\"y\""),
            "{sorted}"
        );
    }
    let broken = folder.write("broken.arrow", "ARROW1\0\0nonsense");
    let (code, lines) = failure(&["convert", &broken, "-"]);
    assert!(code == 1 && lines.len() == 1, "{lines:?}");
}

/// Null and the empty text, in several columns and in one, come back as they were.
#[test]
fn nulls_and_empty_texts_of_csv() {
    let folder = Folder::new("csv-nulls");
    for rows in [
        "{\"a\":\"\",\"b\":1}\n{\"a\":null,\"b\":2}\n{\"a\":\"x\",\"b\":null}\n",
        "{\"a\":\"x\"}\n{\"a\":null}\n{\"a\":\"\"}\n{\"a\":null}\n",
        "{\"a\":1}\n{\"a\":null}\n{\"a\":3}\n{\"a\":null}\n",
    ] {
        let csv = with_input(&["convert", "-", "-", "--from", "jsonl", "--to", "csv"], rows);
        for line_end in ["\n", "\r\n"] {
            let input = folder.write("in.csv", &csv.replace('\n', line_end));
            assert_eq!(success(&["convert", &input, "-", "--to", "jsonl"]), rows, "{csv:?}");
        }
    }
    let input = folder.write("in.csv", "a,b\n\"\",1\n");
    assert_eq!(
        success(&["convert", &input, "-", "--to", "jsonl", "--schema", "a utf8 !"]),
        "{\"a\":\"\",\"b\":1}\n"
    );
}

#[test]
fn a_quote_that_is_never_closed() {
    let folder = Folder::new("csv-unclosed");
    let input = folder.write("in.csv", "a,b\n1,\"x\n2,y\n3,z\n");
    let (code, errors) = failure(&["convert", &input, "-", "--to", "jsonl"]);
    assert_eq!(code, 1, "{errors:?}");
    assert!(errors[0].contains("line 2: a quote opens here that is never closed"), "{errors:?}");
}

/// A number that is larger than all of its type is an error, also behind the rows from which types are guessed.
#[test]
fn numbers_do_not_become_infinite() {
    let folder = Folder::new("too-large-numbers");
    let many = |row: &str, last: &str| row.repeat(10_001) + last;
    let csv = folder.write("in.csv", &("f\n".to_owned() + &many("1.5\n", "1e400\n")));
    let jsonl = folder.write("in.jsonl", &many("{\"f\":1.5}\n", "{\"f\":-1e999}\n"));
    for input in [csv, jsonl] {
        let (code, errors) = failure(&["convert", &input, &folder.path("out.parquet"), "--overwrite"]);
        assert_eq!(code, 1, "{errors:?}");
        let line = if input.ends_with("csv") { "line 10003" } else { "line 10002" };
        assert!(errors[0].contains(line), "{errors:?}");
    }
    for (data_type, text) in [("float64", "1e400"), ("float32", "1e39"), ("float16", "65520")] {
        let input = folder.write("in.csv", &format!("f\n{text}\n"));
        let schema = format!("f {data_type}");
        let (code, errors) = failure(&["convert", &input, "-", "--to", "jsonl", "--schema", &schema]);
        assert_eq!(code, 1, "{data_type} {errors:?}");
        let input = folder.write("in.csv", "f\ninf\n-Infinity\n");
        let rows = success(&["convert", &input, "-", "--to", "jsonl", "--schema", &schema]);
        assert_eq!(rows, "{\"f\":\"Infinity\"}\n{\"f\":\"-Infinity\"}\n");
    }
}

#[test]
fn a_negative_zero_of_json() {
    let rows = "{\"a\":-0}\n{\"a\":1}\n";
    let found = with_input(&["convert", "-", "-", "--from", "jsonl", "--to", "jsonl"], rows);
    assert_eq!(found, "{\"a\":-0.0}\n{\"a\":1.0}\n");
}

/// An entry of a dictionary may be null itself.
#[test]
fn null_entries_of_dictionaries_stay_null() {
    use arrow_array::types::Int32Type;
    use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, ListArray, RecordBatch, StringArray};
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::{DataType, Field};
    use std::sync::Arc;
    let folder = Folder::new("null-entries");
    let keys = Int32Array::from(vec![Some(0), Some(1), None]);
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None]));
    let text = DictionaryArray::<Int32Type>::new(keys.clone(), values.clone());
    let bytes = arrow_cast::cast(&values, &DataType::Binary).expect("bytes");
    let bytes = DictionaryArray::<Int32Type>::new(keys, bytes);
    let element = Arc::new(Field::new("item", text.data_type().clone(), true));
    let list = ListArray::new(element, OffsetBuffer::from_lengths([1, 2, 0]), Arc::new(text.clone()), None);
    let columns: [(&str, ArrayRef); 3] =
        [("t", Arc::new(text)), ("b", Arc::new(bytes)), ("l", Arc::new(list))];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let input = folder.path("in.arrow");
    let file = std::fs::File::create(&input).expect("a file");
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.finish().expect("a file");
    let rows = "{\"t\":\"x\",\"b\":\"x\",\"l\":[\"x\"]}\n{\"t\":null,\"b\":null,\"l\":[null,null]}\n\
                {\"t\":null,\"b\":null,\"l\":[]}\n";
    assert_eq!(success(&["convert", &input, "-", "--to", "jsonl"]), rows);
    assert_eq!(success(&["convert", &input, "-", "--to", "csv"]).lines().nth(2), Some(",,\"[null,null]\""));
    let again = folder.path("out.arrow");
    success(&["convert", &input, &again]);
    assert_eq!(success(&["convert", &again, "-", "--to", "jsonl"]), rows);
}

#[test]
fn unions_are_refused_as_text() {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, UnionArray};
    use arrow_schema::{DataType, Field, UnionFields};
    use std::sync::Arc;
    let folder = Folder::new("unions");
    let fields = UnionFields::try_new([0], [Field::new("n", DataType::Int64, true)]).expect("fields");
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let union = UnionArray::try_new(fields, vec![0, 0].into(), None, vec![values]).expect("a union");
    let batch = RecordBatch::try_from_iter([("c", Arc::new(union) as ArrayRef)]).expect("a batch");
    let input = folder.path("in.arrow");
    let file = std::fs::File::create(&input).expect("a file");
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.finish().expect("a file");
    for to in ["csv", "jsonl"] {
        let (code, errors) = failure(&["convert", &input, "-", "--to", to]);
        assert!(code != 0 && errors[0].contains("a union has no form as text"), "{errors:?}");
    }
}

/// The dictionaries of row groups are one dictionary in an Arrow file, and the rows are the same, sorted or not.
#[test]
fn dictionaries_that_change_from_batch_to_batch() {
    let folder = Folder::new("growing-dictionaries");
    let (parquet, arrow) = (folder.path("in.parquet"), folder.path("out.arrow"));
    let text: String = (0..3000).map(|i| format!("{},w{}\n", i, (i * i) % 700)).collect();
    let csv = folder.write("in.csv", &format!("i,d\n{text}"));
    let options = ["--schema", "d dictionary<utf8>", "--row-group-rows", "500", "--report", "none"];
    success(&[&["convert", &csv, &parquet], &options[..]].concat());
    for more in [&[][..], &["--sort-by", "d:desc,i"], &["--batch-size", "77"]] {
        success(&[&["convert", &parquet, &arrow, "--overwrite"], more].concat());
        let file = FileReader::try_new(std::fs::File::open(&arrow).unwrap(), None).unwrap();
        assert!(matches!(file.schema().field(1).data_type(), arrow_schema::DataType::Dictionary(..)));
        let expected = success(&[&["convert", &parquet, "-"], more].concat());
        assert_eq!(success(&["convert", &arrow, "-"]), expected);
        let stream = command::piped(&[&["convert", &parquet, "-", "--to", "arrow"], more].concat(), b"");
        std::fs::write(&arrow, stream).unwrap();
        assert_eq!(success(&["convert", &arrow, "-"]), expected);
    }
}

/// A date in milliseconds is a DATE in Parquet, and comes back as it was.
#[test]
fn dates_in_milliseconds() {
    let folder = Folder::new("date64");
    let of = |values: Vec<Option<i64>>| {
        let column: ArrayRef = Arc::new(arrow_array::Date64Array::from(values));
        let batch = RecordBatch::try_from_iter([("d", column)]).unwrap();
        let input = folder.path("in.arrow");
        let mut file = FileWriter::try_new(std::fs::File::create(&input).unwrap(), &batch.schema()).unwrap();
        file.write(&batch).unwrap();
        file.finish().unwrap();
        input
    };
    let (days, out) =
        (of(vec![Some(-86_400_000), None, Some(86_400_000 * 20_000)]), folder.path("out.parquet"));
    success(&["convert", &days, &out, "--report", "none"]);
    assert!(success(&["schema", &out]).contains("DATE"));
    assert_eq!(types(&out), ["d Date64"]);
    assert_eq!(rows(&out), "{\"d\":\"1969-12-31\"}\n{\"d\":null}\n{\"d\":\"2024-10-04\"}\n");
    let again = folder.path("again.arrow");
    success(&["convert", &out, &again]);
    assert_eq!(
        success(&["convert", &again, "-", "--to", "csv"]),
        success(&["convert", &days, "-", "--to", "csv"])
    );
    success(&["convert", &days, &out, "--date64", "int64", "--overwrite", "--report", "none"]);
    assert!(!success(&["schema", &out]).contains("DATE"));
    let (code, lines) = failure(&["convert", &of(vec![Some(1)]), &out, "--overwrite"]);
    assert!(code == 1 && lines[0].contains("--date64 int64"), "{lines:?}");
}

/// Lines are counted in the file, columns in the line.
#[test]
fn broken_lines_of_json_are_named_once() {
    let folder = Folder::new("convert_inputs_broken_lines");
    for (text, message) in [
        ("{\"a\":1}\n{\"a\":x}\n", "line 2: must be one whole JSON object: expected value, at column 6"),
        (
            "{\"a\":1}\n{\"a\":\n",
            "line 2: must be one whole JSON object: EOF while parsing a value, at its end",
        ),
    ] {
        let input = folder.write("broken.jsonl", text);
        let (code, errors) = failure(&["convert", &input, &folder.path("out.parquet")]);
        assert!(code == 1 && errors[0].ends_with(message) && errors.len() == 1, "{errors:?}");
    }
}

/// Naming standard output as a file writes the rows to it, and nothing else.
#[cfg(unix)]
#[test]
fn no_report_goes_behind_the_rows() {
    let wines = wines();
    let command = ["convert", &*wines, "/dev/stdout", "--to", "parquet"];
    let file = piped(&command, b"");
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    let (code, text) = everything(&[&command[..], &["--report", "text"]].concat());
    assert!(code == Some(2) && text.contains("standard output has the rows"), "{text}");
}

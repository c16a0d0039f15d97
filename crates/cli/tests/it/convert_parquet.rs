//! `convert` writes Parquet: options, order, the report, and what is left behind.

use crate::command::{Folder, failure, success, wines};
use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, Time64MicrosecondArray};
use arrow_schema::{DataType, Field, Schema};
use marquetry::arrow::ArrowWriter;
use marquetry::file::properties::{StoredForms, WriterProperties};
use serde_json::Value;
use std::fmt::Write;
use std::sync::Arc;

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&success(arguments)).expect("one line of JSON")
}

fn file_len(path: &str) -> u64 {
    std::fs::metadata(path).expect("a file").len()
}

/// So many rows: a number that goes up, one of few groups, one that jumps.
fn csv(rows: u64) -> String {
    let mut text = "id,group,jump\n".to_owned();
    for i in 0..rows {
        let jump = i.wrapping_mul(2_654_435_761) % 1_000_003;
        let group = jump % 7;
        let _ = match group {
            0 => writeln!(text, "{i},,{jump}"),
            _ => writeln!(text, "{i},g{group},{jump}"),
        };
    }
    text
}

#[test]
fn options_reach_the_file() {
    let folder = Folder::new("options_reach_the_file");
    let (input, output) = (folder.write("in.csv", &csv(5000)), folder.path("out.parquet"));
    success(&[
        "convert",
        &input,
        &output,
        "--compression",
        "snappy",
        "--compression",
        "id=gzip:9",
        "--encoding",
        "id=DELTA_BINARY_PACKED",
        "--encoding",
        "j*=PLAIN",
        "--row-group-rows",
        "2000",
        "--page-rows",
        "500",
        "--page-version",
        "2",
        "--bloom",
        "group:0.01",
        "--metadata",
        "k=v",
        "--created-by",
        "somebody",
        "--no-checksums",
        "--threads",
        "2",
        "--report",
        "none",
    ]);
    let meta = json(&["meta", &output, "--format", "json"]);
    assert_eq!(meta["created_by"], "somebody");
    let groups = meta["row_groups"].as_array().unwrap();
    let rows: Vec<_> = groups.iter().map(|group| group["rows"].as_u64().unwrap()).collect();
    assert_eq!(rows, [2000, 2000, 1000]);
    let columns = groups[0]["columns"].as_array().unwrap();
    let codecs: Vec<_> = columns.iter().map(|column| column["codec"].as_str().unwrap()).collect();
    assert_eq!(codecs, ["GZIP", "SNAPPY", "SNAPPY"]);
    assert!(columns[0]["encodings"].to_string().contains("DELTA_BINARY_PACKED"));
    assert!(columns[1]["bloom_filter_offset"].is_u64() && columns[2]["bloom_filter_offset"].is_null());
    assert!(meta["key_values"].to_string().contains("\"v\""));
    let pages = json(&["pages", &output, "--format", "json"]);
    let pages = pages["pages"].as_array().unwrap();
    assert!(pages.iter().all(|page| page["checksum"] == "none"));
    let data: Vec<_> = pages.iter().filter(|page| page["kind"] == "DATA_PAGE_V2").collect();
    assert!(data.len() >= 30, "{} pages", data.len());
    let (code, lines) = failure(&["convert", &input, &output, "--overwrite", "--encoding", "nobody=PLAIN"]);
    assert!(code == 2 && lines[0].contains("nobody"), "{lines:?}");
}

#[test]
fn sorted_in_memory_and_not() {
    let folder = Folder::new("sorted_in_memory_and_not");
    let (input, output) = (folder.write("in.csv", &csv(20_000)), folder.path("out.parquet"));
    let mut files = Vec::new();
    for limit in ["1GiB", "200KiB"] {
        let options = [
            "--sort-by",
            "group:desc:nulls-first,jump",
            "--memory-limit",
            limit,
            "--report",
            "none",
            "--threads",
            "1",
        ];
        success(&[&["convert", input.as_str(), &output, "--overwrite"][..], &options].concat());
        files.push(success(&["convert", &output, "-"]));
        let meta = json(&["meta", &output, "--format", "json"]);
        let sorted = meta["row_groups"][0]["sorted_by"].to_string();
        assert!(sorted.contains("group") && sorted.contains("jump"), "{sorted}");
    }
    assert_eq!(files[0], files[1]);
    let rows: Vec<Value> = files[0].lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 20_000);
    let key = |row: &Value| (row["group"].as_str().map(str::to_owned), row["jump"].as_i64());
    let is_ordered = |a: &Value, b: &Value| {
        let ((a, i), (b, j)) = (key(a), key(b));
        // Nulls first, then the largest group, then the smallest jump.
        match (a, b) {
            (None, None) => i <= j,
            (None, Some(_)) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => a > b || (a == b && i <= j),
        }
    };
    assert!(rows.is_sorted_by(is_ordered));
    let (code, lines) = failure(&["convert", &input, &output, "--overwrite", "--sort-by", "nobody"]);
    assert!(code == 2 && lines[0].contains("nobody"), "{lines:?}");
    let (code, lines) = failure(&["convert", &input, &output, "--overwrite", "--sort-by", "id:up"]);
    assert!(code == 2 && lines[0].contains("up"), "{lines:?}");
}

#[test]
fn report_has_sizes_before_and_after() {
    let folder = Folder::new("report_has_sizes_before_and_after");
    let (input, output) = (folder.write("in.csv", &csv(5000)), folder.path("out.parquet"));
    let report = json(&["convert", &input, &output, "--report", "json"]);
    assert_eq!((&report["rows"], &report["before"]), (&Value::from(5000), &Value::from("memory")));
    assert_eq!(report["size"].as_u64(), std::fs::metadata(&output).ok().map(|file| file.len()));
    let id = &report["columns"][0];
    assert_eq!((&id["column"], &id["values"]), (&Value::from("id"), &Value::from(5000)));
    assert!(id["before"].as_u64() >= Some(40_000) && id["after"].as_u64() > Some(0), "{id}");
    assert!(id["encodings"][0]["encoding"].is_string() && id["reason"].is_string(), "{id}");
    let again = folder.path("again.parquet");
    let report = json(&["convert", &output, &again, "--overwrite", "--format", "json"]);
    assert_eq!(report["before"], "parquet");
    assert_eq!(report["columns"][0]["before"], id["after"]);
    let text = success(&["convert", &wines(), &again, "--overwrite"]);
    assert!(text.contains("grapes.list.element") && text.contains("total"), "{text}");
    let (code, _) = failure(&["convert", &input, "-", "--to", "parquet", "--report", "text"]);
    assert_eq!(code, 2);
}

#[test]
fn what_was_there_stays_until_the_end() {
    let folder = Folder::new("what_was_there_stays_until_the_end");
    let output = folder.write("out.parquet", "something else");
    let input = folder.write("in.csv", "a\n1\n2\nx\n");
    let (code, _) = failure(&["convert", &input, &output, "--overwrite", "--infer-rows", "2"]);
    assert_eq!(code, 1);
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "something else");
    success(&["convert", &input, &output, "--overwrite", "--report", "none"]);
    assert_eq!(success(&["count", &output]), "3\n");
    let names: Vec<_> =
        std::fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "no temporary file is left: {names:?}");
    let (code, lines) = failure(&["convert", &output, &output, "--overwrite"]);
    assert!(code == 2 && lines[0].contains("is the file that is read"), "{lines:?}");
}

#[test]
fn empty_inputs_make_files_without_rows() {
    let folder = Folder::new("empty_inputs_make_files_without_rows");
    let (input, output) = (folder.write("in.csv", "a,b\n"), folder.path("out.parquet"));
    success(&["convert", &input, &output, "--overwrite", "--sort-by", "a", "--report", "none"]);
    assert_eq!(success(&["count", &output]), "0\n");
    let empty = folder.write("empty.csv", "");
    let (code, lines) = failure(&["convert", &empty, &output, "--overwrite"]);
    assert!(code == 1 && lines[0].contains("empty"), "{lines:?}");
}

#[test]
fn checkpoints_are_what_is_left_of_a_file_that_was_cut_off() {
    let folder = Folder::new("checkpoints_are_left");
    let (input, output) = (folder.write("in.csv", &csv(3000)), folder.path("out.parquet"));
    let small = ["--row-group-rows", "500"];
    let with =
        [&["convert", &input, &output, "--overwrite", "--checkpoint-every", "2rg"][..], &small].concat();
    let text = success(&with);
    let line = text.lines().last().expect("lines");
    assert!(line.starts_with("checkpoints: 3, of ") && line.ends_with(" s"), "{text}");
    // The bytes of checkpoints are unreferenced in the finished file.
    let cost = json(&[&with[..], &["--format", "json"]].concat())["checkpoints"].clone();
    assert_eq!(cost["count"], 3);
    assert!(cost["seconds"].as_f64().expect("a number") > 0.0, "{cost}");
    let spent = cost["bytes"].as_u64().expect("a number");
    for command in ["meta", "size"] {
        let facts = json(&[command, &output, "--format", "json"]);
        assert_eq!((&facts["unreferenced"], &facts["size"]), (&cost["bytes"], &file_len(&output).into()));
        let text = success(&[command, &output]);
        assert!(text.contains(&format!("nothing refers to {spent} bytes, ")), "{text}");
    }
    let plain = folder.path("plain.parquet");
    success(&[&["convert", &input, &plain, "--overwrite", "--report", "none"][..], &small].concat());
    for command in ["meta", "size"] {
        assert_eq!(json(&[command, &plain, "--format", "json"])["unreferenced"], 0);
        assert!(!success(&[command, &plain]).contains("nothing refers"));
    }
    let rows = |file: &str| success(&["cat", "--format", "json", file]);
    assert_eq!(rows(&output), rows(&plain));
    // The last checkpoint is behind the fourth of six row groups: what was cut off behind it is the sixth.
    let (bytes, without) = (std::fs::read(&output).expect("a file"), std::fs::read(&plain).expect("a file"));
    assert!(bytes.len() > without.len());
    let (cut, out) = (folder.path("cut.parquet"), folder.path("recovered.parquet"));
    std::fs::write(&cut, &bytes[..bytes.len() * 9 / 10]).expect("a file");
    assert_eq!(failure(&["cat", &cut]).0, 1);
    let report = json(&["recover", &cut, &out, "--format", "json"]);
    let recovered = rows(&out);
    let count = recovered.lines().count();
    assert!(count >= 2000 && count % 500 == 0, "{count}: {report}");
    assert!(rows(&output).starts_with(&recovered));
    // `rewrite` drops them.
    let rewritten = folder.path("rewritten.parquet");
    let text = success(&["rewrite", &output, &rewritten]);
    assert!(text.contains(&format!("note: left behind: {spent} bytes that nothing referred to")), "{text}");
    let rewritten = std::fs::read(&rewritten).expect("a file").len();
    assert!(rewritten < bytes.len(), "{rewritten} of {}", bytes.len());
    let (code, errors) = failure(&["convert", &input, &output, "--overwrite", "--checkpoint-every", "5"]);
    assert_eq!(code, 2);
    assert!(errors[0].contains("64MiB"), "{errors:?}");
}

/// Both zeros are one key, and all NaNs are one: keys that follow decide, as `verify` and other readers have it.
#[test]
fn floats_are_sorted_as_readers_compare_them() {
    let folder = Folder::new("sort-floats");
    let schema =
        Schema::new(vec![Field::new("f", DataType::Float64, true), Field::new("s", DataType::Int32, false)]);
    let negative_nan = f64::from_bits(0xfff8_0000_0000_0000);
    let floats =
        [Some(-0.0), Some(0.0), Some(negative_nan), None, Some(f64::NAN), Some(-0.0), Some(1.0), Some(0.0)];
    let floats: ArrayRef = Arc::new(Float64Array::from(floats.to_vec()));
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![4, 3, 2, 9, 1, 2, 5, 1]));
    let dictionary = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Float64));
    for data_type in [DataType::Float64, DataType::Float32, DataType::Float16, dictionary] {
        let floats = arrow_cast::cast(&floats, &data_type).expect("floats");
        let schema = Schema::new(vec![Field::new("f", data_type.clone(), true), schema.field(1).clone()]);
        let batch = RecordBatch::try_new(Arc::new(schema), vec![floats, numbers.clone()]).expect("a batch");
        let (input, output) = (folder.path("in.arrow"), folder.path("out.parquet"));
        let file = std::fs::File::create(&input).expect("a file");
        let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).expect("a writer");
        writer.write(&batch).expect("rows");
        writer.finish().expect("a file");
        for (order, expected) in [("f,s", "1 2 3 4 5 1 2 9"), ("f:desc,s:desc", "2 1 5 4 3 2 1 9")] {
            let _ = std::fs::remove_file(&output);
            success(&["convert", &input, &output, "--overwrite", "--sort-by", order, "--report", "none"]);
            let rows = success(&["convert", &output, "-", "--columns", "s", "--to", "csv"]);
            assert_eq!(rows.lines().skip(1).collect::<Vec<_>>().join(" "), expected, "{data_type} {order}");
            success(&["verify", "--deep", &output]);
        }
    }
}

/// The disk of temporary files is full, not that of the output.
#[test]
fn a_full_disk_for_sorted_rows_is_named() {
    let folder = Folder::new("convert-tmpdir");
    let (input, output) = (wines(), folder.path("out.parquet"));
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_marquetry"))
        .args(["convert", &input, &output, "--sort-by", "name", "--memory-limit", "1"])
        .env("TMPDIR", folder.path("absent"))
        .output()
        .expect("the binary runs");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{errors}");
    assert!(
        errors.contains("/absent: ") && errors.contains("temporary file") && !errors.contains("out.parquet"),
        "{errors}"
    );
}

/// A file is replaced only where that is asked for, as `rewrite` and `merge` have it; what is not a file is written to.
#[test]
fn out_is_not_replaced_unasked() {
    let folder = Folder::new("convert-overwrite");
    for name in ["out.parquet", "out.csv", "out.jsonl", "out.arrow"] {
        let out = folder.write(name, "precious");
        let (code, lines) = failure(&["convert", &wines(), &out]);
        let expected = format!("marquetry: {out}: argument: already exists; use --overwrite to replace it");
        assert_eq!((code, lines), (2, vec![expected]));
        assert_eq!(std::fs::read(&out).expect("a file"), b"precious");
        success(&["convert", &wines(), &out, "--overwrite"]);
        assert_ne!(std::fs::read(&out).expect("a file"), b"precious");
    }
    #[cfg(unix)]
    success(&["convert", &wines(), "/dev/null", "--to", "csv"]);
}

/// Columns that are not written may be sorted by, and names may have commas and colons.
#[test]
fn sorted_by_columns_that_are_not_written() {
    let folder = Folder::new("convert-sort-others");
    let csv = folder.write("in.csv", "a,\"b,c\",\"d:desc\",e\n1,2,x,0\n2,1,y,0\n3,2,z,1\n");
    let rows = |options: &[&str]| success(&[&["convert", &csv, "-", "--to", "csv"], options].concat());
    assert_eq!(rows(&["--columns", "a", "--sort-by", "\"b,c\",\"d:desc\":desc"]), "a\n2\n3\n1\n");
    assert_eq!(rows(&["--columns", "a,e", "--sort-by", "e:desc,\"d:desc\":desc"]), "a,e\n3,1\n2,0\n1,0\n");
    assert_eq!(rows(&["--columns", "e", "--sort-by", "a:desc", "--sort-by", "e"]), "e\n1\n0\n0\n");
    let (code, lines) = failure(&["convert", &csv, "-", "--columns", "a", "--sort-by", "zap"]);
    assert!(code == 2 && lines[0].contains("zap"), "{lines:?}");
    let (code, lines) = failure(&["convert", &csv, "-", "--sort-by", "\"a"]);
    assert!(code == 2 && lines[0].contains("never closed"), "{lines:?}");
    // The file records the order up to the first key that it lacks.
    let out = folder.path("out.parquet");
    success(&[
        "convert",
        &wines(),
        &out,
        "--columns",
        "name",
        "--sort-by",
        "producer.name,name",
        "--report",
        "none",
    ]);
    success(&["verify", "--deep", &out]);
    let all = success(&["convert", &wines(), "-", "--sort-by", "producer.name,name", "--to", "jsonl"]);
    let name = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["name"].clone();
    let written = success(&["convert", &out, "-", "--to", "jsonl"]);
    assert!(written.lines().map(name).eq(all.lines().map(name)));
    assert!(!success(&["meta", &out, "--format", "json"]).contains("\"column_idx\""));
    success(&[
        "convert",
        &wines(),
        &out,
        "--columns",
        "name",
        "--sort-by",
        "name,year",
        "--overwrite",
        "--report",
        "none",
    ]);
    success(&["verify", "--deep", &out]);
}

/// Values that Parquet cannot represent are bad data, with exit code 1; only wrong arguments give 2.
#[test]
fn bad_data_is_no_wrong_usage() {
    use arrow_array::{ArrayRef, IntervalMonthDayNanoArray, RecordBatch, StructArray, TimestampSecondArray};
    use arrow_buffer::IntervalMonthDayNano;
    use std::sync::Arc;
    let folder = Folder::new("convert-codes");
    let columns: [ArrayRef; 3] = [
        Arc::new(TimestampSecondArray::from(vec![i64::MAX])),
        Arc::new(IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(-1, 0, 0)])),
        Arc::new(StructArray::new_empty_fields(1, None)),
    ];
    for column in columns {
        let batch = RecordBatch::try_from_iter([("c", column)]).expect("a batch");
        let input = folder.path("in.arrow");
        let file = std::fs::File::create(&input).expect("a file");
        let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).expect("a writer");
        writer.write(&batch).expect("rows");
        writer.finish().expect("a file");
        let (code, lines) = failure(&["convert", &input, &folder.path("out.parquet")]);
        assert!(code == 1 && lines.len() == 1 && lines[0].contains("in.arrow: "), "{code} {lines:?}");
    }
    let out = folder.path("out.parquet");
    let (code, lines) = failure(&["convert", &wines(), &out, "--encoding", "name=BYTE_STREAM_SPLIT"]);
    assert_eq!(code, 2, "{lines:?}");
}

/// Whoever asks for encryption must not get plain text.
#[test]
fn options_of_parquet_are_refused_for_other_formats() {
    let folder = Folder::new("parquet-only-options");
    let encrypted = ["--encrypt-file", "keys.json"];
    let options = [
        encrypted,
        ["--encrypt-env", "KEYS"],
        ["--compression", "zstd"],
        ["--metadata", "a=b"],
        ["--row-group-rows", "9"],
        ["--page-size", "9KiB"],
        ["--compat", "modern"],
    ];
    for option in options {
        for name in ["out.csv", "out.jsonl", "out.arrow"] {
            let out = folder.path(name);
            let (code, lines) = failure(&["convert", &wines(), &out, option[0], option[1]]);
            assert!(
                code == 2 && lines[0].contains(option[0]) && lines[0].contains("for Parquet"),
                "{lines:?}"
            );
            assert!(!std::path::Path::new(&out).exists(), "{option:?}");
        }
    }
}

#[test]
fn times_of_utc_stay_so() {
    let folder = Folder::new("times_of_utc_stay_so");
    let (input, output) = (folder.path("in.parquet"), folder.path("out.parquet"));
    let times: ArrayRef = Arc::new(Time64MicrosecondArray::from(vec![Some(1), None]));
    let batch = RecordBatch::try_from_iter([("t", times)]).expect("a batch");
    for (utc, text) in [(true, "TIME(MICROS,true)"), (false, "TIME(MICROS,false)")] {
        let forms = StoredForms::default().with_utc_times(utc);
        let properties = WriterProperties::builder().set_stored_forms(forms).build();
        let file = std::fs::File::create(&input).expect("a file");
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a writer");
        writer.write(&batch).expect("rows");
        writer.close().expect("a file");
        success(&["convert", &input, &output, "--overwrite"]);
        assert!(success(&["schema", &output]).contains(text), "{}", success(&["schema", &output]));
    }
}

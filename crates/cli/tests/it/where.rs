//! `--where`: the rows that a condition wants.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn wines() -> String {
    format!("{}/../../examples/wines.parquet", env!("CARGO_MANIFEST_DIR"))
}

/// The exit code, and what was printed on standard output and standard error.
fn marquetry(arguments: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_marquetry")).args(arguments).output().expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("output in UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn rows(arguments: &[&str]) -> Vec<Value> {
    let (code, lines, errors) = marquetry(arguments);
    assert_eq!((code, errors.as_str()), (0, ""), "{arguments:?}");
    lines.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn rows_that_a_condition_wants() {
    let wines = wines();
    let all = rows(&["cat", &wines, "--format", "json"]);
    let is_wanted =
        |row: &&Value| row["year"].as_i64().is_some_and(|year| year >= 2015) && row["country"] != "France";
    let expected: Vec<&Value> = all.iter().filter(is_wanted).collect();
    assert!(!expected.is_empty() && expected.len() < all.len());
    let condition = ["--where", "year >= 2015 and country != 'France'", "--format", "json"];
    let with = |arguments: &[&'static str]| {
        let arguments = [&[arguments[0], wines.as_str()], &condition[..], &arguments[1..]].concat();
        rows(&arguments)
    };
    assert_eq!(with(&["cat"]).iter().collect::<Vec<_>>(), expected);
    assert_eq!(with(&["cat", "--offset", "2", "--limit", "5"]).iter().collect::<Vec<_>>(), expected[2..7]);
    assert_eq!(with(&["head", "-n", "3"]).iter().collect::<Vec<_>>(), expected[..3]);
    let names = with(&["cat", "--columns", "name"]);
    assert_eq!(names.len(), expected.len());
    assert_eq!((&names[0]["name"], &names[0]["year"]), (&expected[0]["name"], &Value::Null));
    assert_eq!(with(&["count"])[0]["rows"], expected.len());

    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("where.parquet");
    let output = output.to_str().expect("a name in UTF-8");
    let arguments = ["convert", &wines, output, "--overwrite", "--report", "none", "--where", condition[1]];
    let (code, _, errors) = marquetry(&arguments);
    assert_eq!(code, 0, "{errors}");
    assert_eq!(rows(&["cat", output, "--format", "json"]).iter().collect::<Vec<_>>(), expected);
}

#[test]
fn conditions_that_cannot_be() {
    let wines = wines();
    let fails = |arguments: &[&str]| {
        let (code, _, errors) = marquetry(arguments);
        (code, errors)
    };
    let (code, errors) = fails(&["cat", &wines, "--where", "year >"]);
    assert_eq!(code, 2, "{errors}");
    let (code, errors) = fails(&["count", &wines, "--where", "yaer > 2000"]);
    assert_eq!(code, 2, "{errors}");
    let (code, errors) = fails(&["cat", &wines, "--where", "yaer > 2000", "--on-corrupt", "skip-page"]);
    assert_eq!(code, 2, "{errors}");
}

/// Intervals are compared as their 12 bytes; literals are written as they are printed.
#[test]
fn intervals_are_written_as_durations() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("i.parquet").display().to_string();
    let months: arrow_array::ArrayRef =
        std::sync::Arc::new(arrow_array::IntervalYearMonthArray::from(vec![Some(1), Some(14), None]));
    let batch = arrow_array::RecordBatch::try_from_iter([("iv", months)]).expect("a column");
    let file = std::fs::File::create(&path).expect("a file");
    let mut writer = marquetry::arrow::ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.close().expect("a file");
    for (condition, count) in
        [("iv = 'P1M'", "1"), ("iv <> 'P1M'", "1"), ("iv = 'P1Y2M'", "1"), ("iv = 'P1D'", "0")]
    {
        let (code, counted, errors) = marquetry(&["count", &path, "--where", condition]);
        assert_eq!((code, counted.trim(), errors.as_str()), (0, count, ""), "{condition}");
    }
    let (code, _, errors) = marquetry(&["count", &path, "--where", "iv = 'a month'"]);
    assert!(code == 2 && errors.contains("an interval is written"), "{errors}");
}

/// Types that Parquet lacks: literals may be as printed, or as stored.
#[test]
fn durations_and_dates_of_milliseconds_are_written_as_they_are_shown() {
    use arrow_array::{ArrayRef, Date64Array, DurationMillisecondArray, DurationSecondArray};
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("d.parquet").display().to_string();
    let millis: ArrayRef =
        std::sync::Arc::new(DurationMillisecondArray::from(vec![Some(1_500), Some(-2_000), None]));
    let seconds: ArrayRef = std::sync::Arc::new(DurationSecondArray::from(vec![90, 86_400, 1]));
    let days: ArrayRef = std::sync::Arc::new(Date64Array::from(vec![Some(0), Some(86_400_001), None]));
    let columns = [("took", millis), ("left", seconds), ("day", days)];
    let batch = arrow_array::RecordBatch::try_from_iter(columns).expect("columns");
    let file = std::fs::File::create(&path).expect("a file");
    let mut writer = marquetry::arrow::ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.close().expect("a file");
    for (condition, count) in [
        ("took = 'PT1.500S'", "1"),
        ("took = 1500", "1"),
        ("took < 'PT0S'", "1"),
        ("took in ('PT1.5S', '-PT2S')", "2"),
        ("took > 'PT1.4999S'", "1"),
        ("left >= 'PT1M30S'", "2"),
        ("left = 'P1D'", "1"),
        ("left < 'PT1.5S'", "1"),
        ("day = '1970-01-01'", "1"),
        ("day = timestamp '1970-01-02 00:00:00.001'", "1"),
        ("day > date '1970-01-01'", "1"),
    ] {
        let (code, counted, errors) = marquetry(&["count", &path, "--where", condition]);
        assert_eq!((code, counted.trim(), errors.as_str()), (0, count, ""), "{condition}");
        let (code, _, errors) = marquetry(&["explain", &path, "--where", condition]);
        assert_eq!((code, errors.as_str()), (0, ""), "{condition}");
    }
    for (condition, hint) in
        [("took = 'P1M'", "a duration is written"), ("day = 'today'", "a timestamp is written")]
    {
        let (code, _, errors) = marquetry(&["count", &path, "--where", condition]);
        assert!(code == 2 && errors.contains(hint), "{errors}");
    }
}

//! Values that were written as text are read as the same values again, with the schema given.

use crate::command::{Folder, failure, success, with_input};

/// Writes JSON Lines with the schema as CSV and as JSON Lines, reads both again, and compares.
#[track_caller]
fn check(folder: &Folder, schema: &str, rows: &str) {
    let (arrow, again) = (folder.path("a.arrow"), folder.path("b.arrow"));
    let input = folder.write("in.jsonl", rows);
    success(&["convert", &input, &arrow, "--overwrite", "--schema", schema]);
    let written = success(&["convert", &arrow, "-"]);
    assert_eq!(written, rows, "{schema}");
    for name in ["t.csv", "t.jsonl"] {
        let text = folder.path(name);
        success(&["convert", &arrow, &text, "--overwrite"]);
        success(&["convert", &text, &again, "--overwrite", "--schema", schema]);
        assert_eq!(success(&["convert", &again, "-"]), rows, "{schema} as {name}");
    }
}

#[test]
fn byte_strings() {
    let folder = Folder::new("text-bytes");
    for data_type in ["binary", "large_binary", "binary_view", "dictionary<binary>"] {
        let schema = format!("a {data_type}, l list<{data_type}>");
        let rows = "{\"a\":\"\\\\x00\\\\xFF\",\"l\":[\"\\\\x5Cx41\",null,\"\"]}\n\
                    {\"a\":\"\",\"l\":null}\n{\"a\":null,\"l\":[]}\n{\"a\":\"aü\",\"l\":[\"\\\\x0A\"]}\n";
        check(&folder, &schema, rows);
    }
    // Two bytes, not eight characters.
    let input = folder.write("in.csv", "a\n\\x00\\xff\n");
    let output = folder.path("out.parquet");
    success(&["convert", &input, &output, "--overwrite", "--schema", "a binary", "--report", "none"]);
    assert!(success(&["meta", &output]).contains("\\x00\\xFF"));
    // A backslash of others that begins no escape stays one.
    let rows = with_input(&["convert", "-", "-", "--from", "csv", "--schema", "a binary"], "a\n\\n\\x4\n");
    assert_eq!(rows, "{\"a\":\"\\\\x5Cn\\\\x5Cx4\"}\n");
}

#[test]
fn dates_and_times_of_the_whole_range() {
    let folder = Folder::new("text-times");
    for (data_type, values) in [
        ("date", &["1970-01-01", "-0001-12-31", "+10000-01-01", "+5881580-07-11", "-5877641-06-23"][..]),
        ("date64", &["1970-01-01", "1969-12-31", "+10000-01-01"]),
        ("timestamp(s)", &["1970-01-01T00:00:00", "+292277026596-12-04T15:30:07", "-0044-03-15T12:00:00"]),
        ("timestamp(ms)", &["+292278994-08-17T07:12:55.807", "-292275055-05-16T16:47:04.192"]),
        ("timestamp(us, UTC)", &["+294247-01-10T04:00:54.775807Z", "-290308-12-21T19:59:05.224192Z"]),
        ("timestamp(ns)", &["1677-09-21T00:12:43.145224192", "2262-04-11T23:47:16.854775807"]),
        ("time(ns)", &["00:00:00", "23:59:59.999999999"]),
        ("duration(s)", &["PT0S", "PT5S", "-PT5S", "-PT9223372036854775808S"]),
        ("duration(ms)", &["PT0.001S", "-PT1.500S", "PT9223372036854775.807S"]),
        ("duration(us)", &["PT0.000001S"]),
        ("duration(ns)", &["-PT9223372036.854775808S"]),
    ] {
        let rows: String = values.iter().map(|value| format!("{{\"a\":\"{value}\"}}\n")).collect();
        check(&folder, &format!("a {data_type}"), &(rows + "{\"a\":null}\n"));
    }
    for (data_type, text) in [
        ("duration(s)", "PT0.5S"),
        ("duration(s)", "5"),
        ("duration(ns)", "PT9223372036.854775808S"),
        ("date", "+09999-01-01"),
        ("date", "-0000-01-01"),
        ("date", "+5881580-07-12"),
        ("interval", "P1X"),
        ("interval", "P"),
        ("interval", "P1DT"),
    ] {
        let input = folder.write("in.csv", &format!("a\n{text}\n"));
        let (code, errors) = failure(&["convert", &input, "-", "--schema", &format!("a {data_type}")]);
        assert_eq!(code, 1, "{text} as {data_type}: {errors:?}");
    }
}

#[test]
fn intervals() {
    let rows = "{\"a\":\"PT0S\"}\n{\"a\":\"P1M2DT3S\"}\n{\"a\":\"P-1M-2DT-3.500S\"}\n\
                {\"a\":\"P2147483647M-2147483648DT-9223372036.854775808S\"}\n{\"a\":null}\n";
    let options = ["convert", "-", "-", "--from", "jsonl", "--schema", "a interval"];
    assert_eq!(with_input(&options, rows), rows);
    let csv = with_input(&["convert", "-", "-", "--from", "jsonl", "--to", "csv"], rows);
    assert_eq!(with_input(&["convert", "-", "-", "--from", "csv", "--schema", "a interval"], &csv), rows);
}

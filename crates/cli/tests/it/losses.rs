//! `--on-corrupt` and `--loss-report`: what is whole of a damaged file is printed, and what is not is told.

use crate::command::{Folder, failure, success, wines};
use serde_json::Value;
use std::fs;
use std::process::Command;

const ROWS: usize = 200;
/// Rows in the example's first row group, each of whose columns has one data page.
const FIRST: usize = 100;

/// The example with one byte of the year's only page in the first row group spoiled, and where the page is.
fn spoiled(folder: &Folder) -> (String, u64, u64) {
    let pages = success(&["pages", &wines(), "--format", "json", "--column", "year"]);
    let pages: Value = serde_json::from_str(&pages).expect("JSON");
    let page = &pages["pages"][0];
    let number = |name: &str| page[name].as_u64().expect("a number");
    let body = number("offset") + number("header_size");
    let mut bytes = fs::read(wines()).expect("the example");
    bytes[body as usize + 20] ^= 0x10;
    let path = folder.path("spoiled.parquet");
    fs::write(&path, bytes).expect("a file");
    (path, number("offset"), body + number("compressed_size"))
}

/// Exit code, standard output and the lines on standard error.
fn run(arguments: &[&str]) -> (i32, String, Vec<String>) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_marquetry")).args(arguments).output().expect("the binary runs");
    let errors = String::from_utf8(output.stderr).expect("errors in UTF-8");
    let code = output.status.code().expect("no signal");
    (code, String::from_utf8(output.stdout).expect("UTF-8"), errors.lines().map(str::to_owned).collect())
}

fn good() -> Vec<String> {
    success(&["cat", &wines(), "--format", "json"]).lines().map(str::to_owned).collect()
}

#[test]
fn without_it_the_command_fails() {
    let folder = Folder::new("losses-fail");
    let (file, ..) = spoiled(&folder);
    let (code, errors) = failure(&["cat", &file, "--format", "json"]);
    assert_eq!(code, 1);
    assert!(errors[0].contains("checksum mismatch") && errors[0].contains("column year"), "{errors:?}");
}

#[test]
fn rows_that_are_whole_are_printed_and_the_rest_is_reported() {
    let folder = Folder::new("losses-skip");
    let (file, start, end) = spoiled(&folder);
    let good = good();
    assert_eq!(good.len(), ROWS);
    for mode in ["skip-page", "skip-row-group"] {
        let report = folder.path(&format!("{mode}.json"));
        let (code, rows, errors) =
            run(&["cat", &file, "--format", "json", "--on-corrupt", mode, "--loss-report", &report]);
        assert_eq!(code, 1, "{mode}");
        assert!(rows.lines().eq(&good[FIRST..]), "{mode}");
        assert!(errors[0].contains("lost: row group 0, column year, page 0, rows 0 to 99"), "{errors:?}");
        assert!(
            errors.last().is_some_and(|line| line.contains("100 rows left out, 0 values made null")),
            "{errors:?}"
        );
        let report: Value =
            serde_json::from_str(&fs::read_to_string(&report).expect("a report")).expect("JSON");
        assert_eq!(
            (&report["file"], &report["rows_left_out"]),
            (&Value::from(file.as_str()), &Value::from(FIRST))
        );
        let loss = &report["losses"][0];
        let place = ["row_group", "page", "first_row", "end_row", "first_byte", "end_byte"];
        let place = place.map(|name| loss[name].as_u64().expect("a number"));
        assert_eq!(place, [0, 0, 0, FIRST as u64, start, end], "{mode}");
        assert_eq!(loss["column"], "year");
        assert_eq!(report["losses"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn values_that_are_lost_can_be_null() {
    let folder = Folder::new("losses-null");
    let (file, ..) = spoiled(&folder);
    let (code, rows, errors) = run(&["cat", &file, "--format", "json", "--on-corrupt", "null-page"]);
    assert_eq!(code, 1);
    assert!(
        errors.last().is_some_and(|line| line.contains("0 rows left out, 100 values made null")),
        "{errors:?}"
    );
    let parse = |line: &str| -> Value { serde_json::from_str(line).expect("JSON") };
    assert_eq!(rows.lines().count(), ROWS);
    for (i, (found, expected)) in rows.lines().zip(&good()).enumerate() {
        let (found, mut expected) = (parse(found), parse(expected));
        if i < FIRST {
            expected["year"] = Value::Null;
        }
        assert_eq!(found, expected, "row {i}");
    }
}

#[test]
fn what_is_not_read_is_not_missed() {
    let folder = Folder::new("losses-unmet");
    let (file, ..) = spoiled(&folder);
    let report = folder.path("lost.json");
    let skip = ["--on-corrupt", "skip-page", "--loss-report", &report];
    let names = success(&[&["cat", &file, "--columns", "name", "--format", "json"][..], &skip].concat());
    assert_eq!(names, success(&["cat", &wines(), "--columns", "name", "--format", "json"]));
    let empty: Value = serde_json::from_str(&fs::read_to_string(&report).expect("a report")).expect("JSON");
    assert_eq!((&empty["rows_left_out"], &empty["losses"]), (&Value::from(0), &Value::Array(vec![])));
    fs::remove_file(&report).expect("a report");
    let second = success(&[&["cat", &file, "--offset", "100", "--format", "json"][..], &skip].concat());
    assert!(second.lines().eq(&good()[FIRST..]));
}

#[test]
fn head_and_convert_take_it_too() {
    let folder = Folder::new("losses-others");
    let (file, ..) = spoiled(&folder);
    let (code, rows, _) = run(&["head", "-n", "3", &file, "--format", "json", "--on-corrupt", "skip-page"]);
    assert_eq!(code, 1);
    assert!(rows.lines().eq(&good()[FIRST..FIRST + 3]));
    let (out, report) = (folder.path("out.parquet"), folder.path("lost.json"));
    let (code, _, errors) = run(&[
        "convert",
        &file,
        &out,
        "--on-corrupt",
        "skip-page",
        "--loss-report",
        &report,
        "--report",
        "none",
    ]);
    assert_eq!(code, 1, "{errors:?}");
    let report: Value = serde_json::from_str(&fs::read_to_string(&report).expect("a report")).expect("JSON");
    assert_eq!(report["rows_left_out"], FIRST);
    assert!(success(&["cat", &out, "--format", "json"]).lines().eq(&good()[FIRST..]));
}

/// The message of a command that refuses to write a report, after which the file `kept` is unchanged.
#[track_caller]
fn refused(arguments: &[&str], report: &str, kept: &str) -> String {
    let before = fs::read(kept).expect("a file");
    let all = [arguments, &["--on-corrupt", "skip-page", "--loss-report", report]].concat();
    let (code, _, errors) = run(&all);
    assert_eq!(code, 2, "{all:?}: {errors:?}");
    assert_eq!(fs::read(kept).expect("a file"), before, "{all:?}");
    let folder = std::path::Path::new(kept).parent().expect("a directory");
    let is_hidden = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    assert!(!fs::read_dir(folder).expect("a directory").flatten().any(|entry| is_hidden(&entry)), "{all:?}");
    errors.join("\n")
}

#[test]
fn a_report_replaces_no_file() {
    let folder = Folder::new("losses-refused");
    let (file, ..) = spoiled(&folder);
    let out = folder.path("out.parquet");
    let commands: [&[&str]; 3] =
        [&["cat", &file], &["head", &file], &["convert", &file, &out, "--overwrite"]];
    for command in commands {
        // The input itself, by its name and by another one.
        let elsewhere = folder.path("./spoiled.parquet");
        for name in [&file, &elsewhere] {
            let error = refused(command, name, &file);
            assert!(error.contains("is a file that is read") && error.contains("spoiled.parquet"), "{error}");
        }
        // Anything else, and an older report too.
        let other = folder.write("other.txt", "of somebody else");
        let error = refused(command, &other, &other);
        assert!(error.contains("other.txt: argument: already exists"), "{error}");
        assert!(!std::path::Path::new(&out).exists(), "{command:?}");
    }
    // Its own output, which is not there yet, or is.
    for report in [&out, &folder.path("./out.parquet")] {
        let error = refused(&["convert", &file, &out, "--overwrite"], report, &file);
        assert!(error.contains("is the file that is written"), "{error}");
    }
    fs::write(&out, "old").expect("a file");
    refused(&["convert", &file, &out, "--overwrite"], &out, &out);
}

#[cfg(unix)]
#[test]
fn links_lead_a_report_nowhere_else() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("losses-links");
    let (file, ..) = spoiled(&folder);
    let (soft, hard, nowhere) =
        (folder.path("soft.json"), folder.path("hard.json"), folder.path("nowhere.json"));
    let out = folder.path("out.parquet");
    symlink(&file, &soft).expect("a link");
    fs::hard_link(&file, &hard).expect("a link");
    symlink("out.parquet", &nowhere).expect("a link");
    for report in [&soft, &hard] {
        refused(&["cat", &file], report, &file);
        refused(&["convert", &file, &out, "--overwrite"], report, &file);
    }
    // A link to what the output will be.
    let error = refused(&["convert", &file, &out, "--overwrite"], &nowhere, &file);
    assert!(error.contains("is the file that is written"), "{error}");
    let error = refused(&["cat", &file], &nowhere, &file);
    assert!(error.contains("already exists"), "{error}");
}

#[test]
fn a_command_that_fails_leaves_no_report_of_what_it_did_not_read() {
    let folder = Folder::new("losses-failed");
    let report = folder.path("lost.json");
    let missing = folder.path("missing.parquet");
    let (code, ..) = run(&["cat", &missing, "--on-corrupt", "skip-page", "--loss-report", &report]);
    assert_eq!(code, 1);
    assert!(!std::path::Path::new(&report).exists());
    // Of several files, what became of the others.
    let (code, ..) =
        run(&["head", &missing, &wines(), "--on-corrupt", "skip-page", "--loss-report", &report]);
    assert_eq!(code, 1);
    assert_eq!(fs::read_to_string(&report).expect("a report").lines().count(), 1);
}

#[test]
fn a_condition_is_asked_about_what_is_whole() {
    let folder = Folder::new("losses-where");
    let (file, ..) = spoiled(&folder);
    let parse = |line: &str| -> Value { serde_json::from_str(line).expect("JSON") };
    let fits =
        |row: &Value| row["year"].as_i64().is_some_and(|year| year >= 2015) && row["country"] != "France";
    let expected: Vec<Value> = good()[FIRST..].iter().map(|line| parse(line)).filter(fits).collect();
    assert!(expected.len() > 7 && expected.len() < ROWS - FIRST, "{}", expected.len());
    let condition = ["--where", "year >= 2015 and country != 'France'", "--format", "json"];
    let out = folder.path("out.parquet");
    let read = |arguments: &[&str]| {
        let (code, rows, errors) = run(&[arguments, &condition].concat());
        // Losses are reported regardless of the condition.
        assert_eq!(code, 1, "{arguments:?}: {errors:?}");
        assert!(errors[0].contains("lost: row group 0, column year"), "{arguments:?}: {errors:?}");
        rows.lines().map(parse).collect::<Vec<_>>()
    };
    // A lost year is null, for which no condition is true.
    for mode in ["skip-page", "skip-row-group", "null-page"] {
        assert_eq!(read(&["cat", &file, "--on-corrupt", mode]), expected, "{mode}");
        let some = read(&["cat", &file, "--on-corrupt", mode, "--offset", "2", "--limit", "5"]);
        assert_eq!(some, expected[2..7], "{mode}");
        assert_eq!(read(&["head", "-n", "3", &file, "--on-corrupt", mode]), expected[..3], "{mode}");
        let names = read(&["cat", &file, "--on-corrupt", mode, "--columns", "name"]);
        assert_eq!((names.len(), &names[0]["name"]), (expected.len(), &expected[0]["name"]), "{mode}");
        assert_eq!(names[0]["year"], Value::Null);
        read(&["convert", &file, &out, "--overwrite", "--on-corrupt", mode, "--report", "none"]);
        let rows = success(&["cat", &out, "--format", "json"]);
        assert_eq!(rows.lines().map(parse).collect::<Vec<_>>(), expected, "{mode}");
        // Several files as one table.
        let twice = read(&["cat", &file, &file, "--on-corrupt", mode]);
        assert_eq!(twice, [&expected[..], &expected].concat(), "{mode}");
    }
}

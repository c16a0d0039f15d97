//! What `advise` prints can be done: each of its commands runs, and keeps rows.

use crate::command::{Folder, everything, failure, success};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

fn json(arguments: &[&str]) -> Value {
    let (code, text) = everything(&[arguments, &["--format", "json"]].concat());
    assert_eq!(code, Some(0), "{text}");
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
}

/// 32 bits by chance.
fn mixed(i: u64) -> u64 {
    let z = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ (z >> 27)) >> 32
}

/// A file in which much is to be done: small row groups without statistics, wide types, an order that helps. There are so many
/// days that dates are smaller than their text: a test cannot count on what is faster.
fn neglected(folder: &Folder, name: &str) -> String {
    let row = |i: u64| {
        let (kind, day) = (mixed(i) % 90, mixed(i + 2_000_000));
        format!(
            "{{\"n\":{},\"kind\":\"kind {kind}\",\"place\":\"{:012x}\",\"day\":\"20{:02}-{:02}-{:02}\",\"id\":\"{:08x}\",\
             \"event\":\"{{\\\"at\\\": {i}, \\\"who\\\": \\\"user {}\\\"}}\",\"tags\":[\"tag {kind}\"]}}\n",
            mixed(i) % 100_000,
            (kind + 1) * 0x1234_5678_9abc,
            day % 24,
            day / 24 % 12 + 1,
            day / 288 % 28 + 1,
            mixed(i + 1_000_000),
            i % 50,
        )
    };
    let rows: String = (0..20_000).map(row).collect();
    let text = folder.write("neglected.jsonl", &rows);
    let path = folder.path(name);
    let options = [
        "--compression",
        "snappy",
        "--encoding",
        "PLAIN",
        "--row-group-rows",
        "1000",
        "--statistics",
        "none",
    ];
    let schema = "n int64, kind utf8, place utf8, day utf8, id utf8, event utf8, tags list<utf8>";
    success(&[&["convert", &text, &path, "--schema", schema], &options[..]].concat());
    path
}

const ASKED: [&str; 6] = ["--where", "id = 'cafe'", "--where", "place = '00'", "--budget", "60s"];

/// Runs each command of the findings, as a shell does, and returns their kinds.
fn run_all(folder: &Folder, advice: &Value, rows: u64) -> BTreeSet<String> {
    let work = folder.path("work");
    let mut kinds = BTreeSet::new();
    for finding in advice["findings"].as_array().unwrap() {
        kinds.insert(finding["kind"].as_str().unwrap().to_owned());
        let command = finding["command"].as_str().unwrap();
        let _ = fs::remove_dir_all(&work);
        fs::create_dir(&work).unwrap();
        let rest = command.strip_prefix("marquetry ").unwrap();
        let line = format!("'{}' {rest}", env!("CARGO_BIN_EXE_marquetry"));
        let done = Command::new("sh").args(["-c", &line]).current_dir(&work).output().unwrap();
        assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
        let written: Vec<_> = fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(written.len(), 1, "{command}");
        let written = written[0].to_str().unwrap();
        assert_eq!(success(&["count", written]).trim(), rows.to_string(), "{command}");
        let (code, text) = everything(&["verify", written]);
        assert_eq!(code, Some(0), "{command}: {text}");
    }
    kinds
}

#[test]
fn each_command_runs() {
    let folder = Folder::new("advise-commands");
    let path = neglected(&folder, "it's neglected; $HOME.parquet");
    let advice = json(&[&["advise", &path, "--for", "filter"], &ASKED[..]].concat());
    assert_eq!(advice["not_measured"], Value::Array(Vec::new()));
    let kinds = run_all(&folder, &advice, 20_000);
    let expected =
        ["encoding", "row-groups", "indexes", "bloom-filter", "sort-order", "type", "variant", "list-of-one"];
    for kind in expected {
        assert!(kinds.contains(kind), "{kind}: {advice:#}");
    }
}

#[test]
fn variants_are_shredded_by_the_command() {
    let folder = Folder::new("advise-variant");
    let row = |i: u64| format!("{{\"event\":{{\"at\":{i},\"who\":{}}}}}\n", mixed(i));
    let rows: String = (0..5_000).map(row).collect();
    let text = folder.write("events.jsonl", &rows);
    let path = folder.path("events.parquet");
    success(&["convert", &text, &path, "--schema", "event variant"]);
    let advice = json(&["advise", &path, "--budget", "60s"]);
    assert!(run_all(&folder, &advice, 5_000).contains("shredding"), "{advice:#}");
}

#[test]
fn small_files_of_a_directory_are_merged() {
    let folder = Folder::new("advise-directory");
    let files = folder.path("small files");
    fs::create_dir(&files).unwrap();
    for i in 0..8 {
        let rows: String = (0..100).map(|j| format!("{},{}\n", i * 100 + j, mixed(j))).collect();
        let csv = folder.write("part.csv", &format!("a,b\n{rows}"));
        success(&["convert", &csv, &format!("{files}/{i}.parquet")]);
    }
    let advice = json(&["advise", &files, "--budget", "60s"]);
    assert_eq!(advice["directory"]["files"], 8);
    let merged: Vec<&Value> =
        advice["findings"].as_array().unwrap().iter().filter(|it| it["kind"] == "small-files").collect();
    assert_eq!(merged.len(), 1, "{advice:#}");
    let only = serde_json::json!({ "findings": merged });
    assert!(run_all(&folder, &only, 800).contains("small-files"));
    // The prediction is met.
    let got = fs::metadata(folder.path("work/merged.parquet")).unwrap().len() as f64;
    let predicted = merged[0]["bytes"]["after"].as_f64().unwrap();
    assert!((predicted - got).abs() < 0.35 * got, "{predicted}, {got}");
    let text = success(&["advise", &files, "--budget", "60s"]);
    assert!(text.contains("8 files of ") && text.contains("small-files: "), "{text}");
}

#[test]
fn text_is_ranked_and_fits() {
    let folder = Folder::new("advise-text");
    let path = neglected(&folder, "neglected.parquet");
    let text = success(&[&["advise", &path, "--for", "filter"], &ASKED[..]].concat());
    let is_command = |line: &str| line.trim_start().starts_with("marquetry ");
    for line in text.lines().filter(|line| !is_command(line)) {
        assert!(line.chars().count() <= 120, "{line}");
    }
    assert!(text.contains("\n1. ") && text.contains("\n2. "), "{text}");
    // The last command applies everything that keeps rows and types, for the same queries.
    let last = text.lines().rfind(|line| line.starts_with("marquetry optimize ")).unwrap();
    let line = last.replacen("marquetry", &format!("'{}'", env!("CARGO_BIN_EXE_marquetry")), 1);
    let done = Command::new("sh").args(["-c", &line]).current_dir(folder.path("")).output().unwrap();
    assert!(done.status.success(), "{last}: {}", String::from_utf8_lossy(&done.stderr));
    assert!(String::from_utf8_lossy(&done.stdout).contains("bloom-filter"), "{last}");
    assert_eq!(success(&["count", &folder.path("optimized.parquet")]).trim(), "20000");
}

#[test]
fn queries_come_from_a_file() {
    let folder = Folder::new("advise-queries");
    let path = neglected(&folder, "neglected.parquet");
    let queries = folder
        .write("queries.sql", "-- of yesterday\n20\tid = 'cafe'\nselect n from t where n < 5 order by n;\n");
    let advice = json(&["advise", &path, "--queries", &queries, "--budget", "60s"]);
    let kinds: Vec<&str> = advice["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["kind"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"bloom-filter"), "{kinds:?}");
    let wrong = folder.write("wrong.sql", "id = 'x'\nid = = 5\n");
    let (code, errors) = failure(&["advise", &path, "--queries", &wrong]);
    assert_eq!((code, errors.len()), (2, 1), "{errors:?}");
    assert!(errors[0].contains("wrong.sql") && errors[0].contains("line 2"), "{errors:?}");
    let (code, errors) = failure(&["advise", &path, "--where", "nothing = 5"]);
    assert!(code == 2 && errors[0].contains("nothing"), "{errors:?}");
}

fn size(path: &str) -> u64 {
    fs::metadata(path).unwrap().len()
}

#[test]
fn rows_are_sorted_and_types_change_on_request_only() {
    let folder = Folder::new("optimize-on-request");
    let before = neglected(&folder, "before.parquet");
    let (plain, sorted, narrow) =
        (folder.path("plain.parquet"), folder.path("sorted.parquet"), folder.path("narrow.parquet"));
    let rows = success(&["cat", &before, "--format", "json"]);
    json(&["optimize", &before, &plain, "--budget", "60s"]);
    assert_eq!(success(&["cat", &plain, "--format", "json"]), rows);
    let report = json(&["optimize", &before, &sorted, "--sort", "--budget", "60s"]);
    assert!(report["also"].as_array().unwrap().iter().any(|kind| kind == "sort-order"), "{report}");
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<String>>();
    let after = success(&["cat", &sorted, "--format", "json"]);
    assert!(after != rows && lines(&after) == lines(&rows));
    assert!(size(&sorted) < size(&plain), "{report}");
    let (predicted, got) = (report["predicted"].as_f64().unwrap(), size(&sorted) as f64);
    assert!((predicted - got).abs() < 0.25 * got, "{report}");
    let report = json(&["optimize", &before, &narrow, "--types", "--budget", "60s"]);
    assert!(report["also"].as_array().unwrap().iter().any(|kind| kind == "type"), "{report}");
    assert_eq!(success(&["cat", &narrow, "--format", "json"]), rows.clone());
    let schema = success(&["schema", &narrow]);
    assert!(schema.contains("int32") && schema.contains("DATE"), "{schema}");
    assert_eq!(
        fs::read_dir(Path::new(&narrow).parent().unwrap()).unwrap().count(),
        5,
        "nothing else is left"
    );
}

#[test]
fn what_is_asked_for_can_be_skipped() {
    let folder = Folder::new("optimize-filter");
    let (before, after) = (neglected(&folder, "before.parquet"), folder.path("after.parquet"));
    let report = json(&[&["optimize", &before, &after, "--for", "filter"], &ASKED[..]].concat());
    let also = report["also"].as_array().unwrap();
    assert!(also.iter().any(|kind| kind == "bloom-filter"), "{report}");
    assert!(size(&after) < size(&before));
    let skipped = |path: &str| success(&["explain", path, "--where", "id = 'cafe'"]);
    assert_ne!(skipped(&before), skipped(&after));
    let (predicted, got) = (report["predicted"].as_f64().unwrap(), size(&after) as f64);
    assert!((predicted - got).abs() <= 0.1 * got, "{report}");
}

#[test]
fn a_type_that_does_not_hold_all_values_is_refused() {
    let folder = Folder::new("change-type");
    let csv = folder.write("a.csv", "n,t\n1,2024-01-01\n3000000000,2024-01-31\n");
    let (path, out) = (folder.path("a.parquet"), folder.path("b.parquet"));
    success(&["convert", &csv, &path, "--schema", "n int64, t utf8"]);
    let (code, errors) = failure(&["convert", &path, &out, "--change-type", "n=int32"]);
    assert!(code == 2 && errors[0].contains("column n") && errors[0].contains("int32"), "{errors:?}");
    let (code, errors) = failure(&["convert", &path, &out, "--change-type", "m=int32"]);
    assert!(code == 2 && errors[0].contains("no column m"), "{errors:?}");
    let (code, errors) = failure(&["convert", &path, &out, "--change-type", "n=int33"]);
    assert!(code == 2 && errors.iter().any(|error| error.contains("int33")), "{errors:?}");
    success(&["convert", &path, &out, "--change-type", "t=date", "--report", "none"]);
    assert!(success(&["schema", &out]).contains("DATE"));
    assert_eq!(success(&["cat", &out, "--format", "json"]), success(&["cat", &path, "--format", "json"]));
}

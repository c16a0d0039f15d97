//! `verify` and `rules`: what they print, and how they exit.

use crate::command::{Folder, failure, success, wines};
use serde_json::Value;
use std::process::Command;

/// The example, with a byte of its first page changed.
fn damaged(folder: &Folder) -> String {
    let mut bytes = std::fs::read(wines()).expect("the example");
    bytes[100] ^= 0x10;
    let path = folder.path("damaged.parquet");
    std::fs::write(&path, bytes).expect("a file");
    path
}

/// Exit code and standard output.
fn verify(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_marquetry"))
        .arg("verify")
        .args(arguments)
        .output()
        .expect("the binary runs");
    (output.status.code().expect("no signal"), String::from_utf8(output.stdout).expect("output in UTF-8"))
}

#[test]
fn a_clean_file_is_one_line() {
    let line = success(&["verify", "--deep", &wines()]);
    assert!(line.starts_with("ok, ") && line.ends_with(" bytes checked\n"), "{line}");
    assert_eq!(line.lines().count(), 1);
    assert!(success(&["verify", "--quick", &wines()]).starts_with("ok, 0 pages"));
}

#[test]
fn damage_is_found_and_exits_with_1() {
    let folder = Folder::new("verify-damage");
    let path = damaged(&folder);
    let (code, text) = verify(&[&path]);
    assert_eq!(code, 1);
    assert!(text.starts_with("1 corrupt, "), "{text}");
    assert!(text.contains("corrupt    page-checksum: the header says "), "{text}");
    assert!(text.contains("row group 0, page "), "{text}");
    let (_, errors) = failure(&["verify", &path]);
    assert_eq!(errors, [format!("marquetry: {path}: 1 corrupt")]);
    // The metadata does not reveal it.
    assert_eq!(verify(&["--quick", &path]).0, 0);
    assert_eq!(verify(&["--ignore", "page-checksum", &path]).0, 0);
    assert_eq!(verify(&["--rule", "footer-rows", &path]).0, 0);
}

#[test]
fn json_has_an_object_for_each_file_in_order() {
    let folder = Folder::new("verify-json");
    let path = damaged(&folder);
    let (code, text) = verify(&["--format", "json", &wines(), &path, &wines()]);
    assert_eq!(code, 1);
    let reports: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(reports.len(), 3);
    assert_eq!(reports[0]["worst"], Value::Null);
    let (code, none_kept) = verify(&["--format", "json", "--most", "0", &path]);
    let none_kept: Value = serde_json::from_str(&none_kept).expect("JSON");
    assert_eq!(
        (code, &none_kept["worst"], &none_kept["omitted"][0]["count"]),
        (1, &"corrupt".into(), &1.into())
    );
    assert_eq!(reports[1]["file"], path);
    assert_eq!(reports[1]["worst"], "corrupt");
    let finding = &reports[1]["findings"][0];
    assert_eq!(finding["rule"], "page-checksum");
    assert!(finding["spec"].as_str().is_some_and(|spec| spec.contains("Checksumming")), "{finding}");
    assert_eq!(finding["row_group"], 0);
    assert!(finding["offset"].is_u64() && finding["column"].is_string() && finding["page"].is_u64());
    assert_eq!(reports[0]["findings"], reports[2]["findings"]);
}

#[test]
fn sarif_is_one_document() {
    let folder = Folder::new("verify sarif");
    let path = damaged(&folder);
    let (code, text) = verify(&["--format", "sarif", &wines(), &path]);
    assert_eq!(code, 1);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    let result = &run["results"][0];
    assert_eq!(run["results"].as_array().expect("results").len(), 1);
    assert_eq!(result["level"], "error");
    let number = result["ruleIndex"].as_u64().expect("a number") as usize;
    assert_eq!(run["tool"]["driver"]["rules"][number]["id"], result["ruleId"]);
    let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().expect("a URI");
    assert!(uri.starts_with("file:///") && uri.ends_with("/verify%20sarif/damaged.parquet"), "{uri}");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    // Files that cannot be read are named, and patterns that no file has.
    let (missing, pattern) = (folder.path("missing.parquet"), folder.path("no*.parquet"));
    let (code, text) = verify(&["--format", "sarif", &wines(), &missing, &pattern]);
    assert_eq!(code, 1);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let invocation = &document["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notifications = invocation["toolExecutionNotifications"].as_array().expect("notifications");
    let uris = notifications.iter().map(|one| {
        assert_eq!(one["level"], "error");
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().expect("a URI")
    });
    let uris: Vec<_> = uris.collect();
    assert!(uris[0].ends_with("/no%2A.parquet") && uris[1].ends_with("/missing.parquet"), "{uris:?}");
    // No other command writes SARIF.
    assert_eq!(failure(&["count", "--format", "sarif", &wines()]).0, 2);
}

#[test]
fn what_cannot_be_read_exits_with_1_and_wrong_usage_with_2() {
    let folder = Folder::new("verify-usage");
    let text = folder.write("text.parquet", "not a Parquet file at all");
    let (code, found) = verify(&[&text]);
    assert_eq!(code, 1);
    assert!(found.contains("corrupt    footer-magic: "), "{found}");
    assert_eq!(verify(&[&folder.path("missing.parquet")]).0, 1);
    let (code, errors) = failure(&["verify", "--rule", "no-such-rule", &wines()]);
    assert_eq!(code, 2);
    assert!(errors[0].contains("no rule is called no-such-rule"), "{errors:?}");
    // A rule that is not checked at the requested level would seem to hold.
    let (code, errors) = failure(&["verify", "--quick", "--rule", "page-checksum", &wines()]);
    assert_eq!(code, 2);
    assert!(errors[0].contains("from the level default on: leave out --quick"), "{errors:?}");
    assert_eq!(failure(&["verify", "--quick", "--rule", "value", &wines()]).0, 2);
    assert!(success(&["verify", "--quick", "--rule", "statistics", &wines()]).starts_with("ok, "));
    assert_eq!(verify(&["--quick", "--deep", &wines()]).0, 2);
}

#[test]
fn a_rule_that_is_asked_for_is_checked() {
    let folder = Folder::new("verify-rule");
    let csv = folder.write("x.csv", "x\n1\n2\n");
    let out = folder.path("x.parquet");
    success(&["convert", &csv, &out, "--overwrite", "--report", "none"]);
    // The rule is of the deep level: values are decoded for it.
    assert!(success(&["verify", "--rule", "statistics-bounds", &out]).starts_with("ok, "));
    assert!(
        success(&["verify", "--deep", "--threads", "2", &out, &wines()])
            .lines()
            .all(|line| line.contains(": ok, "))
    );
}

#[test]
fn rules_are_chosen_by_the_beginning_of_their_ids() {
    let folder = Folder::new("verify-prefix");
    let path = damaged(&folder);
    assert_eq!(verify(&["--rule", "page", &path]).0, 1);
    assert_eq!(verify(&["--rule", "value", &path]).0, 0);
    assert_eq!(verify(&["--ignore", "page", &path]).0, 0);
    // An id that is a prefix of another matches only itself.
    assert_eq!(verify(&["--rule", "page", "--ignore", "page-checksum-untrusted", &path]).0, 1);
    assert_eq!(verify(&["--rule", "page", "--ignore", "page-checksum", &path]).0, 0);
}

#[test]
fn rules_are_listed() {
    let table = success(&["rules"]);
    assert!(table.contains("page-checksum") && table.contains("statistics-bounds"), "{table}");
    let lines = success(&["rules", "page-ch", "--format", "json"]);
    let rules: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rules.len(), 2);
    let one = success(&["rules", "page-checksum"]);
    assert!(one.starts_with("page-checksum: corrupt, from level default on\n"), "{one}");
    assert!(one.contains("format: README.md, Checksumming") && !one.contains("untrusted"), "{one}");
    assert_eq!(rules[0]["rule"], "page-checksum");
    assert_eq!(rules[0]["severity"], "corrupt");
    assert_eq!(rules[0]["level"], "default");
    assert_eq!(failure(&["rules", "no-such"]).0, 2);
}

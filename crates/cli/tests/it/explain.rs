//! `explain` and `count --where`: what is skipped, and that what is counted is right.

use crate::command::{Folder, failure, success, wines, with_input};
use serde_json::Value;

/// Rows (i, word i % 7, i % 100 as amount, nothing each tenth row), ten row groups of 1,000.
fn sample(name: &str, more: &[&str]) -> String {
    let path = Folder::new(name).path("t.parquet");
    let mut csv = "id,word,amount,note\n".to_owned();
    for i in 0..10_000 {
        let note = if i % 10 == 0 { String::new() } else { format!("note {}", i / 2_000) };
        csv += &format!("{i},w{},{},{note}\n", i % 7, i % 100);
    }
    let mut arguments =
        vec!["convert", "-", &path, "--from", "csv", "--row-group-rows", "1000", "--page-rows", "100"];
    arguments.extend(more);
    with_input(&arguments, &csv);
    path
}

fn explained(path: &str, predicate: &str, more: &[&str]) -> Value {
    let mut arguments = vec!["explain", path, "--where", predicate, "--format", "json"];
    arguments.extend(more);
    serde_json::from_str(&success(&arguments)).unwrap()
}

fn count(path: &str, predicate: &str) -> u64 {
    success(&["count", path, "--where", predicate]).trim().parse().unwrap()
}

#[test]
fn rows_that_match_are_counted() {
    let path = sample("count-where", &[]);
    for (predicate, rows) in [
        ("id < 2500", 2_500),
        ("id between 990 and 1010 and word = 'w3'", 3),
        ("word in ('w1', 'w2') or note is null", 3_572),
        ("note like 'note 4%'", 1_800),
        ("not (amount >= 50)", 5_000),
        ("id >= 0", 10_000),
        ("id < 0", 0),
        ("false", 0),
        ("true", 10_000),
    ] {
        assert_eq!(count(&path, predicate), rows, "{predicate}");
    }
}

#[test]
fn stages_leave_less_and_less() {
    let path = sample("explain-stages", &[]);
    let json = explained(&path, "id >= 4200 and id < 4300", &["--scan", "--columns", "id,amount"]);
    let stages = json["stages"].as_array().unwrap();
    let names: Vec<_> = stages.iter().map(|stage| stage["stage"].as_str().unwrap()).collect();
    assert_eq!(names, ["file", "statistics", "bloom filters", "dictionaries", "page index"]);
    let of = |member: &str| stages.iter().map(|stage| stage[member].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(of("row_groups"), [10, 1, 1, 1, 1]);
    assert_eq!(of("rows"), [10_000, 1_000, 1_000, 1_000, 100]);
    let bytes = of("bytes");
    assert!(bytes[0] > bytes[1] && bytes[3] > bytes[4] && bytes[4] > 0, "{bytes:?}");
    let last = &stages[4];
    assert_eq!((last["pages_asked"].as_u64(), last["pages_left"].as_u64()), (Some(10), Some(1)));
    assert!(last["bytes_read"].as_u64().unwrap() > 0);
    assert_eq!(stages[1]["columns"][0]["column"], "id");
    assert_eq!(json["matching"]["rows"], 100);
    assert_eq!(json["notes"].as_array().unwrap().len(), 0);
}

#[test]
fn a_row_group_that_matches_as_a_whole_is_told() {
    let path = sample("explain-all", &[]);
    let json = explained(&path, "id >= 3000 and word is not null", &[]);
    assert_eq!(json["stages"][1]["row_groups_matched"], 7);
    let text = success(&["explain", &path, "--where", "id >= 3000 and word is not null"]);
    assert!(text.contains("all rows of 7 row groups match"), "{text}");
    assert!(text.starts_with("where id >= 3000 and word is not null\n"), "{text}");
}

#[test]
fn advice_names_what_is_missing() {
    let advice = |json: &Value| {
        let all = json["advice"].as_array().unwrap().iter();
        all.map(|advice| advice.as_str().unwrap().to_owned()).collect::<Vec<_>>().join("\n")
    };
    let with = sample("explain-with", &["--bloom", "word"]);
    let without = sample("explain-without", &["--statistics", "none", "--dictionary", "off"]);
    // All seven words are in all row groups, and w31 is between them: the dictionary, or the filter, knows that it is nowhere.
    let json = explained(&with, "word = 'w31'", &[]);
    assert_eq!(json["stages"][1]["row_groups"], 10);
    assert_eq!(json["stages"][4]["row_groups"], 0);
    let json = explained(&without, "word = 'w31'", &["--scan"]);
    assert_eq!(json["stages"][4]["row_groups"], 10);
    let text = advice(&json);
    assert!(text.contains("word: 10 of 10 row groups left have no bounds"), "{text}");
    assert!(
        text.contains("word: 10 of 10 row groups left in which no row matches have no bloom filter"),
        "{text}"
    );
    assert!(text.contains("word: 10 of 10 row groups left have no page index"), "{text}");
    assert!(text.contains("of 10 row groups left 10 have no row that matches"), "{text}");
    // Amounts are spread over all row groups, ids are not.
    let text = advice(&explained(&with, "amount = 5 and id >= 0", &[]));
    assert!(
        text.contains("amount: a value is within the bounds of 10.0 of 10 row groups on average"),
        "{text}"
    );
    assert!(!text.contains("id:"), "{text}");
}

#[test]
fn errors_are_of_usage() {
    let path = sample("explain-errors", &[]);
    for (predicate, message) in [
        ("idd = 5", "no column idd; did you mean id?"),
        ("id = 'x'", "write a number, without quotes"),
        ("id =", "character 5: a literal expected, the end found"),
    ] {
        for command in ["explain", "count"] {
            let (code, lines) = failure(&[command, &path, "--where", predicate]);
            assert_eq!(code, 2, "{lines:?}");
            assert!(lines[0].contains(message), "{lines:?}");
        }
    }
}

/// A directory is one table: partitions rule out files, the stages are those of the others together.
#[test]
fn a_directory_is_explained_as_one_table() {
    let path = sample("explain-directory", &[]);
    let folder = tempfile::tempdir().unwrap();
    for year in 2022..2025 {
        let directory = folder.path().join(format!("year={year}"));
        std::fs::create_dir(&directory).unwrap();
        std::fs::copy(&path, directory.join("t.parquet")).unwrap();
    }
    let table = folder.path().to_str().unwrap();
    let predicate = "year >= 2023 and id >= 4200 and id < 4300";
    let all = explained(table, predicate, &["--scan", "--columns", "id,year"]);
    let one = explained(&path, "id >= 4200 and id < 4300", &["--scan", "--columns", "id"]);
    assert_eq!((all["files"].as_u64(), all["files_left"].as_u64()), (Some(3), Some(2)));
    assert!(one["files"].is_null());
    for (all, one) in all["stages"].as_array().unwrap().iter().zip(one["stages"].as_array().unwrap()) {
        assert_eq!(all["stage"], one["stage"]);
        for member in ["row_groups", "rows", "bytes", "pages_asked", "pages_left", "bytes_read", "reads"] {
            assert_eq!(all[member].as_u64().unwrap(), 2 * one[member].as_u64().unwrap(), "{member}");
        }
    }
    assert_eq!(all["matching"]["rows"], 200);
    let text = success(&["explain", table, "--where", predicate]);
    assert!(text.contains("3 files, 2 of them after a look at their partitions"), "{text}");
    assert_eq!(failure(&["explain", table, "--where", predicate, "--columns", "none"]).0, 2);
    // Partitions alone rule out all files, or none.
    assert_eq!(explained(table, "year = 1999", &["--scan"])["files_left"], 0);
    assert_eq!(explained(table, "year > 1999", &["--scan"])["matching"]["rows"], 30_000);
}

/// What each part rules out by itself, or why it does not.
#[test]
fn parts_say_what_helps_them() {
    let folder = Folder::new("parts_say_what_helps_them");
    let years = folder.write("years.txt", "1998\n2001\n\n");
    let condition = format!("year in @{years} and any(grapes) = 'Merlot' and name like '%No%' and price < 1");
    let json = success(&["explain", &wines(), "--where", &condition, "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let shown = |part: &serde_json::Value| {
        let stages = part["stages"].as_array().unwrap().iter();
        let stages = stages.map(|stage| {
            stage["why_all"].as_str().map_or_else(|| stage["rows_left"].to_string(), str::to_owned)
        });
        format!("{}: {}", part["part"].as_str().unwrap(), stages.collect::<Vec<_>>().join(", "))
    };
    let parts: Vec<String> = json["parts"].as_array().unwrap().iter().map(shown).collect();
    assert_eq!(
        parts,
        [
            "year in ('1998', '2001'): rules out nothing, not in the file, not in the file, rules out nothing",
            "any(grapes = 'Merlot'): rules out nothing, not in the file, rules out nothing, rules out nothing",
            "name like '%No%': cannot help, cannot help, not in the file, cannot help",
            "price < 1: 0, cannot help, not in the file, 0",
        ]
    );
    assert_eq!(success(&["count", &wines(), "--where", &format!("year in @{years}")]).trim(), "12");
    let (code, text) = failure(&["count", &wines(), "--where", "year in @no-such-file"]);
    assert_eq!(code, 2, "{text:?}");
    assert!(
        text.iter().any(|line| line.contains("character 9: ") && line.contains("no-such-file")),
        "{text:?}"
    );
}

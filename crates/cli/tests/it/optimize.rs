//! `advise` and `optimize`: what was predicted is what comes, and rows stay.

use crate::command::{Folder, everything, success, wines};
use serde_json::Value;
use std::fs;

fn json(arguments: &[&str]) -> Value {
    let (code, text) = everything(&[arguments, &["--format", "json"]].concat());
    assert_eq!(code, Some(0), "{text}");
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
}

/// A file that was written without care: several row groups, PLAIN, SNAPPY.
fn careless(folder: &Folder) -> String {
    let row = |i: u64| format!("{i},{},name {},{}\n", i % 7, i * 7919 % 1000, i * 104_729 % 65_536);
    let rows: String = (0..20_000).map(row).collect();
    let csv = folder.write("careless.csv", &format!("id,kind,name,number\n{rows}"));
    let path = folder.path("careless.parquet");
    let options = ["--compression", "snappy", "--encoding", "PLAIN", "--row-group-rows", "6000"];
    let plain = folder.path("plain.parquet");
    success(&["convert", &csv, &plain]);
    success(&[&["rewrite", &plain, &path], &options[..]].concat());
    path
}

fn size(path: &str) -> u64 {
    fs::metadata(path).unwrap().len()
}

#[test]
fn what_is_predicted_comes_and_rows_stay() {
    let folder = Folder::new("optimize");
    let (before, after) = (careless(&folder), folder.path("after.parquet"));
    for goal in [&["--for", "size"][..], &["--for", "scan"], &["--compat", "latest"]] {
        let report = json(&[&["optimize", &before, &after, "--overwrite", "--budget", "60s"], goal].concat());
        assert_eq!((&report["before"], &report["size"]), (&size(&before).into(), &size(&after).into()));
        assert!(size(&after) < size(&before), "{report}");
        let (predicted, got) = (report["predicted"].as_f64().unwrap(), size(&after) as f64);
        assert!((predicted - got).abs() < 0.1 * got, "{report}");
        // Decoding is timed, because of which the file may get larger row groups: predictions for columns cover only
        // encodings and codecs.
        let also = report["also"].as_array().unwrap();
        assert!(also.iter().all(|kind| kind == "row-groups"), "{report}");
        let is_alone = also.is_empty();
        for column in report["columns"].as_array().unwrap().iter().filter(|_| is_alone) {
            let (predicted, got) = (column["predicted"].as_f64().unwrap(), column["got"].as_f64().unwrap());
            // In columns of a few hundred bytes the headers determine the prediction's error.
            assert!((predicted - got).abs() <= (0.1 * got).max(512.0), "{column}");
        }
        assert_eq!(
            everything(&["diff", "--rows", &before, &after, "--columns", "id,kind,name,number"]).0,
            Some(0)
        );
    }
}

#[test]
fn the_command_that_is_printed_does_it() {
    let folder = Folder::new("advise-command");
    let (before, after) = (careless(&folder), folder.path("after.parquet"));
    let advice = json(&["advise", &before, "--budget", "60s"]);
    let command = advice["command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
    assert_eq!(words[..4], ["marquetry", "rewrite", &before, "optimized.parquet"]);
    success(&[&["rewrite", &before, &after], &words[4..]].concat());
    let (predicted, got) = (advice["predicted"].as_f64().unwrap(), size(&after) as f64);
    assert!((predicted - got).abs() < 0.1 * got, "{advice}, got {got}");
    let scan = json(&["advise", &before, "--budget", "60s", "--for", "scan"]);
    for column in scan["columns"].as_array().unwrap() {
        let codec = column["compression"].as_str().unwrap_or("");
        assert!(!codec.contains("ZSTD"), "{column}: slower than SNAPPY");
    }
}

/// Numbers of 20 bits in 64, not compressed, in a file that is too large for a trial: the codec that is advised leaves a narrower type little to
/// save.
#[test]
fn what_is_predicted_of_types_comes() {
    let folder = Folder::new("optimize-types");
    let number = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
    let rows: String = (0..600_000).map(|i| format!("{}\n", number(i))).collect();
    let csv = folder.write("numbers.csv", &format!("number\n{rows}"));
    let (before, after) = (folder.path("before.parquet"), folder.path("after.parquet"));
    success(&[
        "convert",
        &csv,
        &before,
        "--schema",
        "number int64",
        "--compression",
        "none",
        "--encoding",
        "PLAIN",
    ]);
    assert!(size(&before) > 4 << 20);
    let report = json(&["optimize", &before, &after, "--types", "--budget", "60s"]);
    let (predicted, got) = (report["predicted"].as_f64().unwrap(), size(&after) as f64);
    assert!((predicted - got).abs() < 0.1 * got, "{report}");
    // The command for a type writes what was measured.
    let advice = json(&["advise", &before, "--budget", "60s"]);
    for finding in advice["findings"].as_array().unwrap().iter().filter(|finding| finding["kind"] == "type") {
        let words: Vec<&str> = finding["command"].as_str().unwrap().split(' ').collect();
        success(&[&["convert", &before, &after, "--overwrite"], &words[4..]].concat());
        let (predicted, got) = (finding["bytes"]["after"].as_f64().unwrap(), size(&after) as f64);
        assert!((predicted - got).abs() < 0.1 * got, "{finding}, got {got}");
    }
}

#[test]
fn what_cannot_be_smaller_is_copied() {
    let folder = Folder::new("optimize-copy");
    let (before, once, twice) =
        (careless(&folder), folder.path("once.parquet"), folder.path("twice.parquet"));
    success(&["optimize", &before, &once, "--budget", "60s"]);
    success(&["optimize", &once, &twice, "--budget", "60s"]);
    assert!(size(&twice) <= size(&once));
    let copy = folder.path("copy.parquet");
    let (code, text) = everything(&["optimize", &wines(), &copy, "--budget", "0"]);
    assert_eq!(code, Some(0));
    assert!(text.contains("OUT is a copy"), "{text}");
    assert_eq!(fs::read(wines()).unwrap(), fs::read(&copy).unwrap());
    let (code, text) = everything(&["optimize", &wines(), &copy]);
    assert_eq!(code, Some(2));
    assert!(text.contains("--overwrite"), "{text}");
}

/// Random nulls, numbers, text and lists: for no seed may rows change, or the file grow.
#[test]
fn rows_of_random_tables_stay() {
    let folder = Folder::new("optimize-random");
    for seed in 0..12u64 {
        let mut state = seed;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (rows, distinct) = (1 + next(3_000), 1 + next(5_000));
        let mut lines = String::new();
        for i in 0..rows {
            let n = next(distinct);
            let text = if next(9) == 0 { "null".to_owned() } else { format!("\"text {}\"", next(distinct)) };
            let list: Vec<String> = (0..next(4)).map(|_| next(distinct).to_string()).collect();
            let float = next(1 << 30) as f64 / 7.0;
            let line =
                format!("{{\"i\":{i},\"n\":{n},\"t\":{text},\"f\":{float},\"l\":[{}]}}\n", list.join(","));
            lines.push_str(&line);
        }
        let json = folder.write(&format!("{seed}.jsonl"), &lines);
        let (before, after) = (folder.path(&format!("{seed}.parquet")), folder.path(&format!("{seed}.out")));
        let codec = ["uncompressed", "snappy", "gzip:6", "zstd:1"][next(4) as usize];
        let group = format!("{}", 1 + next(2_000));
        success(&["convert", &json, &before, "--compression", codec, "--row-group-rows", &group]);
        let goal = ["size", "scan"][next(2) as usize];
        let compat = ["modern", "latest"][next(2) as usize];
        success(&["optimize", &before, &after, "--no-proof", "--for", goal, "--compat", compat]);
        assert!(size(&after) <= size(&before), "seed {seed}");
        let (code, text) = everything(&["diff", "--rows", &before, &after, "--columns", "i,n,t,f,l"]);
        assert!(!text.contains("rows:"), "seed {seed}: {text}");
        assert_ne!(code, Some(2), "seed {seed}: {text}");
    }
}

//! `--metrics`: what reading and writing cost, on standard error, whatever goes to standard output.

use crate::command::{Folder, everything, success, wines};
use serde_json::Value;
use std::process::Command;

/// Standard output, and standard error as lines of JSON.
fn with_metrics(arguments: &[&str]) -> (String, Vec<Value>) {
    let output = Command::new(env!("CARGO_BIN_EXE_marquetry"))
        .args(arguments)
        .args(["--metrics", "--format", "json"])
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    let told = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (String::from_utf8(output.stdout).unwrap(), told)
}

#[test]
fn rows_stay_as_they_are() {
    let wines = wines();
    for arguments in [
        &["cat", "--where", "year >= 2015"][..],
        &["head", "-n", "3"],
        &["count", "--where", "year >= 2015 and price < 20"],
        &["count"],
    ] {
        let arguments = [arguments, &[&*wines]].concat();
        let (rows, told) = with_metrics(&arguments);
        assert_eq!(rows, success(&[&arguments[..], &["--format", "json"]].concat()), "{arguments:?}");
        let [told] = &*told else { panic!("{told:?}") };
        assert_eq!(told["file"], wines);
        let read = told["read"].as_object().unwrap();
        let is_asked = arguments.len() > 2;
        assert_eq!(
            read["rows"].as_u64().unwrap() > 0 && read["pages"].as_u64().unwrap() > 0,
            is_asked,
            "{read:?}"
        );
        assert!(read["decode_seconds"].is_f64() && read["pruned_by_statistics"]["rows"].is_u64(), "{read:?}");
    }
}

#[test]
fn what_is_written_is_told() {
    let folder = Folder::new("metrics");
    let (parquet, again) = (folder.path("a.parquet"), folder.path("b.parquet"));
    let (_, told) = with_metrics(&["convert", &wines(), &parquet]);
    let [read, written] = &*told else { panic!("{told:?}") };
    assert_eq!((&read["read"]["rows"], &written["file"]), (&200.into(), &(&*parquet).into()));
    let size = std::fs::metadata(&parquet).unwrap().len();
    let write = &written["write"];
    assert_eq!((&write["rows"], &write["bytes_written"]), (&200.into(), &size.into()), "{write}");
    assert!(write["peak_memory"].as_u64().unwrap() > 0 && write["encode_seconds"].as_f64().unwrap() > 0.0);

    let (_, told) = with_metrics(&["rewrite", &parquet, &again, "--encoding", "name=PLAIN"]);
    let [read, written] = &*told else { panic!("{told:?}") };
    assert!(
        read["read"]["pages"].as_u64().unwrap() > 0 && read["read"]["bytes_fetched"].as_u64().unwrap() > 0
    );
    let size = std::fs::metadata(&again).unwrap().len();
    assert_eq!(written["write"]["bytes_written"], size, "{written}");
    assert!(written["write"]["pages"].as_u64().unwrap() > 0, "{written}");

    // A copied row group is read and written without encoding pages; one that is cut is encoded.
    let merged = folder.path("merged.parquet");
    let (_, told) = with_metrics(&["merge", &parquet, &again, &merged]);
    let [first, second, written] = &*told else { panic!("{told:?}") };
    assert_eq!((&first["file"], &second["file"]), (&(&*parquet).into(), &(&*again).into()));
    let size = std::fs::metadata(&merged).unwrap().len();
    let write = &written["write"];
    assert_eq!(
        (&write["rows"], &write["pages"], &write["bytes_written"]),
        (&400.into(), &0.into(), &size.into())
    );
    assert!(second["read"]["bytes_fetched"].as_u64().unwrap() > size / 4, "{second}");

    let (_, told) = with_metrics(&["split", &merged, "--rows", "250", "--name", "part-{}.parquet"]);
    let [read, written @ ..] = &*told else { panic!("{told:?}") };
    assert!(read["read"]["pages"].as_u64().unwrap() > 0, "{read}");
    let rows = written.iter().map(|file| file["write"]["rows"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(rows, [250, 150]);
    for file in written {
        let size = std::fs::metadata(file["file"].as_str().unwrap()).unwrap().len();
        assert_eq!(file["write"]["bytes_written"], size, "{file}");
        assert!(file["write"]["pages"].as_u64().unwrap() > 0, "{file}");
    }

    // For other formats than Parquet, only writing is reported.
    let csv = folder.path("a.csv");
    std::fs::write(&csv, "x\n1\n2\n").unwrap();
    let (_, told) = with_metrics(&["convert", &csv, &again, "--overwrite"]);
    assert_eq!((told.len(), &told[0]["write"]["rows"]), (1, &2.into()), "{told:?}");
    let (_, text) = everything(&["convert", &csv, &again, "--overwrite", "--report", "none", "--metrics"]);
    assert!(text.contains("b.parquet: write\n") && text.contains("  row groups               1\n"), "{text}");
}

//! `recover`: the values of a broken file come back, its own bytes stay as they are, and the report says what was done.

use crate::command::{failure_text as failure, marquetry, success, wines};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// An empty directory of the test's own.
fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recover").join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory");
    path
}

/// The path of a file in a directory, as text.
fn at(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("a name in UTF-8").to_owned()
}

/// The wines without their footer.
fn broken(directory: &Path) -> String {
    let good = fs::read(wines()).expect("the example");
    let footer = u32::from_le_bytes(good[good.len() - 8..good.len() - 4].try_into().expect("four bytes"));
    let path = at(directory, "broken.parquet");
    fs::write(&path, &good[..good.len() - 8 - footer as usize]).expect("a file");
    path
}

#[track_caller]
fn rows(file: &str) -> String {
    success(&["cat", "--format", "json", file])
}

#[test]
fn with_the_schema_of_a_sibling() {
    let dir = directory("sibling");
    let (broken, out, report) = (broken(&dir), at(&dir, "out.parquet"), at(&dir, "report.json"));
    let before = fs::read(&broken).unwrap();
    let text = success(&["recover", &broken, &out, "--schema-from", &wines(), "--report", &report]);
    assert!(text.contains("total     200 rows in 2 row groups"), "{text}");
    assert_eq!(rows(&out), rows(&wines()));
    assert_eq!(fs::read(&broken).unwrap(), before);
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    assert_eq!(report["schema"], "sibling");
    assert_eq!(report["rows"], 200);
    assert_eq!(report["row_groups"][0]["confidence"], "high");
    success(&["verify", "--deep", &out]);
}

#[test]
fn with_the_schema_as_text() {
    let dir = directory("text");
    let (broken, out) = (broken(&dir), at(&dir, "out.parquet"));
    let schema = success(&["schema", &wines()]);
    success(&["recover", &broken, &out, "--schema", &schema]);
    assert_eq!(rows(&out), rows(&wines()));
    let file = at(&dir, "schema.txt");
    fs::write(&file, schema).unwrap();
    success(&["recover", &broken, &out, "--schema", &file, "--overwrite"]);
    let (code, error) =
        failure(&["recover", &broken, &at(&dir, "x.parquet"), "--schema", "message m { requird int32 a; }"]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("line 1") && error.contains("requird"), "{error}");
}

#[test]
fn without_a_schema() {
    let dir = directory("inferred");
    let (broken, out) = (broken(&dir), at(&dir, "out.parquet"));
    let json: Value =
        serde_json::from_str(&success(&["recover", &broken, &out, "--format", "json"])).expect("JSON");
    assert_eq!(json["schema"], "inferred");
    assert_eq!(json["rows"], 200);
    assert!(rows(&out).starts_with("{\"c0\":"));
}

#[test]
fn what_is_refused() {
    let dir = directory("refused");
    let (broken, out) = (broken(&dir), at(&dir, "out.parquet"));
    let (code, error) = failure(&["recover", &broken, &broken, "--overwrite"]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("is a file that is read"), "{error}");
    let (code, error) = failure(&["recover", &broken, &out, "--schema-from", &wines(), "--report", &broken]);
    assert_eq!(code, 2, "{error}");
    // The report may not have the new file's name, in any spelling.
    for report in [out.clone(), at(&dir, "./out.parquet")] {
        let (code, error) = failure(&["recover", &broken, &out, "--report", &report, "--overwrite"]);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains("is the file that is written") && !Path::new(&out).exists(), "{error}");
    }
    fs::write(&out, "old").unwrap();
    let (code, _) = failure(&["recover", &broken, &out]);
    assert_eq!(code, 2);
    assert_eq!(fs::read(&out).unwrap(), b"old");
    // Nothing that could be kept: nothing is written.
    let none = at(&dir, "none.parquet");
    fs::write(&none, &fs::read(&broken).unwrap()[..300]).unwrap();
    let (code, error) = failure(&["recover", &none, &at(&dir, "x.parquet"), "--schema-from", &wines()]);
    assert_eq!(code, 1, "{error}");
    assert!(!dir.join("x.parquet").exists());
    let encrypted = at(&dir, "encrypted.parquet");
    fs::write(&encrypted, b"PARE and so on PARE").unwrap();
    let (code, error) = failure(&["recover", &encrypted, &at(&dir, "x.parquet")]);
    assert_eq!(code, 1);
    assert!(error.contains("encrypted"), "{error}");
}

#[test]
fn what_is_lost_makes_the_exit_code() {
    let dir = directory("lost");
    let good = fs::read(wines()).unwrap();
    let meta: Value = serde_json::from_str(&success(&["meta", &wines(), "--format", "json"])).unwrap();
    let at_byte =
        |group: usize| meta["row_groups"][group]["columns"][0]["data_page_offset"].as_u64().unwrap();
    // An intact footer, and one damaged page.
    let mut spoiled = good.clone();
    spoiled[at_byte(1) as usize + 40] ^= 0x10;
    let file = at(&dir, "spoiled.parquet");
    fs::write(&file, spoiled).unwrap();
    let (out, partial) = (at(&dir, "out.parquet"), at(&dir, "partial.parquet"));
    let output = marquetry(&["recover", &file, &out, "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("spoiled.parquet: lost: 100 rows") && error.lines().count() == 1, "{error}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["rows"], report["losses"].as_array().map(Vec::len)), (&100.into(), Some(1)));
    // The output is kept despite the losses.
    assert!(rows(&wines()).starts_with(&rows(&out)) && rows(&out).lines().count() == 100);
    // A column that is null now is lost, too, if it may be null at all.
    let (code, error) = failure(&["recover", &file, &partial, "--partial"]);
    assert_eq!(code, 1);
    assert!(error.contains("lost: "), "{error}");
    // Nothing is lost of a file that is whole.
    success(&["recover", &wines(), &at(&dir, "whole.parquet")]);
}

/// A summary has no pages, intact or damaged: they are in the files next to it.
#[test]
fn summaries_have_nothing_to_recover() {
    let dir = directory("summaries");
    let (parts, out) = (dir.join("parts"), at(&dir, "out.parquet"));
    fs::create_dir_all(&parts).unwrap();
    for name in ["a.parquet", "b.parquet"] {
        fs::copy(wines(), parts.join(name)).unwrap();
    }
    success(&["summary", parts.to_str().unwrap()]);
    let summary = at(&parts, "_metadata");
    let (code, error) = failure(&["recover", &summary, &out]);
    assert_eq!((code, Path::new(&out).exists()), (1, false), "{error}");
    let says = error.contains("in a.parquet and 1 other file") && error.contains("`marquetry summary`");
    assert!(says && error.lines().count() == 1, "{error}");
    // By any other name, too.
    let renamed = at(&dir, "renamed.parquet");
    fs::copy(&summary, &renamed).unwrap();
    assert!(failure(&["recover", &renamed, &out]).1.contains("in a.parquet and 1 other file"));
    // If row groups or the end are missing, the file name tells.
    let cut = fs::read(&summary).unwrap();
    fs::write(&summary, &cut[..cut.len() / 2]).unwrap();
    for name in ["_metadata", "_common_metadata"] {
        let (code, error) = failure(&["recover", &at(&parts, name), &out]);
        assert_eq!((code, Path::new(&out).exists()), (1, false), "{error}");
        assert!(error.contains("a summary has no pages") && error.lines().count() == 1, "{error}");
    }
    // Its schema can be used for the files.
    let broken = broken(&dir);
    success(&["recover", &broken, &out, "--schema-from", &at(&parts, "_common_metadata")]);
    assert_eq!(rows(&out), rows(&wines()));
    // A file without rows is not a summary.
    let empty = at(&dir, "empty.parquet");
    fs::copy(at(&parts, "_common_metadata"), &empty).unwrap();
    let (code, error) = failure(&["recover", &empty, &at(&dir, "none.parquet")]);
    assert!(code == 1 && error.contains("lists no row group"), "{error}");
}

#[test]
fn commands_that_find_no_footer_name_it() {
    let dir = directory("named");
    let file = broken(&dir);
    for command in [&["cat"][..], &["count"], &["schema"], &["meta"], &["head"]] {
        let (code, error) = failure(&[command, &[&file]].concat());
        assert_eq!(code, 1, "{command:?}: {error}");
        let says = error.contains("not a Parquet file: it ends in") && error.contains("`marquetry recover`");
        assert!(says && error.lines().count() == 1, "{command:?}: {error}");
    }
    // Nothing can be recovered of what was never a Parquet file.
    let text = at(&dir, "text.parquet");
    fs::write(&text, "id,name\n1,one\n2,two\n").unwrap();
    assert!(!failure(&["cat", &text]).1.contains("`marquetry recover`"));
}

#[test]
fn unfinished_files_are_read_up_to_their_last_checkpoint() {
    let dir = directory("unfinished");
    let (whole, cut) = (at(&dir, "whole.parquet"), at(&dir, "cut.parquet"));
    success(&[
        "convert",
        &wines(),
        &whole,
        "--overwrite",
        "--row-group-rows",
        "50",
        "--checkpoint-every",
        "1rg",
    ]);
    let all = rows(&wines());
    // Nothing is said of a file that has its footer.
    assert_eq!(success(&["cat", "--format", "json", "--unfinished", &whole]), all);
    let bytes = fs::read(&whole).unwrap();
    fs::write(&cut, &bytes[..bytes.len() - 9]).unwrap();
    assert_eq!(failure(&["cat", &cut]).0, 1);
    let output = marquetry(&["cat", "--format", "json", "--unfinished", &cut]);
    let (read, told) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        told.contains("not finished: read up to its last checkpoint") && told.lines().count() == 1,
        "{told}"
    );
    let count = read.lines().count();
    assert!(all.starts_with(&read) && count >= 150 && count % 50 == 0, "{count} rows");
    let counted = marquetry(&["count", "--format", "json", "--unfinished", &cut]);
    let counted: Value = serde_json::from_slice(&counted.stdout).unwrap();
    assert_eq!(counted["rows"], count);
    // Without any checkpoint there is nothing to be read.
    assert_eq!(failure(&["cat", "--unfinished", &broken(&dir)]).0, 1);
    let (code, error) = failure(&["cat", "--unfinished", &cut, &whole]);
    assert!(code != 0 && error.contains("--unfinished is for one file"), "{code}: {error}");
}

#[test]
fn a_file_without_columns_has_nothing_to_recover() {
    let dir = directory("no_columns");
    // Version 1; a root `m` with 0 children; 3 rows, in one row group without chunks.
    let footer = b"\x15\x02\x19\x1c\x48\x01m\x15\x00\x00\x16\x06\x19\x1c\x19\x0c\x16\x00\x16\x06\x00\x00";
    let file = at(&dir, "none.parquet");
    let tail = (footer.len() as u32).to_le_bytes();
    fs::write(&file, [b"PAR1", &footer[..], &tail, b"PAR1"].concat()).unwrap();
    let (code, error) = failure(&["recover", &file, &at(&dir, "out.parquet")]);
    assert!(
        code == 1 && error.contains("the file has no columns: there is nothing to recover"),
        "{code}: {error}"
    );
    assert!(!dir.join("out.parquet").exists());
    let broken = broken(&dir);
    let (code, error) = failure(&["recover", &broken, &at(&dir, "out.parquet"), "--schema", "message m { }"]);
    assert!(code != 0 && !dir.join("out.parquet").exists(), "{code}: {error}");
}

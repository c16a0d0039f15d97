//! `append`, `meta set`, `meta unset` and `drop-row-group`: files changed in place, and what a crash leaves of them.

use crate::command::{Folder, failure, success, wines};
use serde_json::Value;
use std::fs;

#[track_caller]
fn json(arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--format", "json"]).collect();
    serde_json::from_str(success(&arguments).lines().next().expect("a line")).expect("JSON")
}

#[track_caller]
fn rows(file: &str) -> String {
    success(&["cat", "--format", "json", file])
}

fn copy(folder: &Folder, name: &str) -> String {
    fs::copy(wines(), folder.path(name)).expect("a copy");
    folder.path(name)
}

#[test]
fn rows_of_other_files_come_behind_its_own() {
    let folder = Folder::new("append-rows");
    let (file, other) = (copy(&folder, "f.parquet"), copy(&folder, "other.parquet"));
    let old = fs::read(&file).expect("a file");
    let report = json(&["append", &file, &other, &wines()]);
    let new = fs::read(&file).expect("a file");
    assert_eq!(new[..old.len()], old);
    assert_eq!((&report["rows"], &report["row_groups"]), (&Value::from(600), &Value::from(6)));
    assert_eq!((&report["size"], &report["grown"]), (&new.len().into(), &(new.len() - old.len()).into()));
    // Unreferenced: the old footer, and the marker after it.
    let unreferenced = report["unreferenced"].as_u64().expect("a number");
    assert!(unreferenced > 16 && unreferenced < old.len() as u64 / 4, "{report}");
    assert_eq!(rows(&file), rows(&wines()).repeat(3));
    assert_eq!(json(&["meta", &file])["key_values"], json(&["meta", &wines()])["key_values"]);
    // `rewrite` leaves behind what nothing refers to.
    let out = folder.path("out.parquet");
    success(&["rewrite", &file, &out]);
    assert_eq!(rows(&out), rows(&file));
    let again = json(&["meta", "set", &out, "a=b"]);
    let footer_of = |file: &str| {
        let bytes = fs::read(file).expect("a file");
        let tail = bytes.last_chunk::<8>().expect("a tail");
        u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]])) + 8
    };
    let left = again["unreferenced"].as_u64().expect("a number");
    assert!(left < footer_of(&out) + 16, "only the footer before: {left}");
}

#[test]
fn cut_anywhere_it_is_the_old_file_or_the_new_one() {
    let folder = Folder::new("append-cut");
    let file = copy(&folder, "f.parquet");
    let old = fs::read(&file).expect("a file");
    let old_rows = rows(&file);
    success(&["append", &file, &wines()]);
    let new = fs::read(&file).expect("a file");
    let cut = folder.path("cut.parquet");
    let step = if std::env::var_os("MARQUETRY_SLOW").is_some() { 97 } else { 7_919 };
    for len in (old.len() + 1..new.len()).step_by(step).chain([new.len() - 1]) {
        fs::write(&cut, &new[..len]).expect("a file");
        let (code, errors) = failure(&["append", &cut, &wines()]);
        assert_eq!(code, 1);
        let place = format!("byte {}", old.len());
        assert!(errors[0].contains("an earlier change") && errors[0].ends_with(&place), "{errors:?}");
        assert_eq!(fs::read(&cut).expect("a file"), new[..len], "it is not touched");
        fs::write(&cut, &new[..old.len()]).expect("a file");
        assert_eq!(rows(&cut), old_rows);
    }
}

#[test]
fn what_fails_leaves_the_file_as_it_was() {
    let folder = Folder::new("append-fails");
    let file = copy(&folder, "f.parquet");
    let old = fs::read(&file).expect("a file");
    let other = folder.path("other.parquet");
    success(&["convert", &folder.write("other.csv", "a,b\n1,2\n"), &other]);
    let (code, errors) = failure(&["append", &file, &other]);
    assert_eq!(code, 2);
    assert!(errors[0].contains("has another schema") && errors[0].contains("other.parquet"), "{errors:?}");
    let (code, errors) = failure(&["append", &file, &file]);
    assert_eq!((code, errors.len()), (2, 1));
    assert_eq!(failure(&["append", &file, &folder.path("absent.parquet")]).0, 1);
    assert_eq!(failure(&["drop-row-group", &file, "0", "2"]).0, 2);
    // A chunk that turns out to be damaged when half of the work is done.
    let broken = folder.path("broken.parquet");
    let mut bytes = old.clone();
    let at =
        json(&["meta", &file])["row_groups"][1]["columns"][0]["data_page_offset"].as_u64().expect("a number");
    bytes[at as usize] = 0xff;
    fs::write(&broken, &bytes).expect("a file");
    let _ = failure(&["append", &file, &folder.path("absent.parquet"), &broken]);
    assert_eq!(fs::read(&file).expect("a file"), old);
}

#[test]
fn keys_are_set_and_taken_out() {
    let folder = Folder::new("append-keys");
    let file = copy(&folder, "f.parquet");
    let before = json(&["meta", &file]);
    success(&["meta", "set", &file, "license=CC-BY-4.0", "empty=", "with=a=b"]);
    success(&["meta", "set", &file, "license=none"]);
    let value = |key: &str| {
        let pairs = json(&["meta", &file])["key_values"].as_array().expect("pairs").clone();
        pairs.into_iter().find(|pair| pair["key"] == key).map(|pair| pair["value"].clone())
    };
    assert_eq!(value("license"), Some("none".into()));
    assert_eq!(value("empty"), Some("".into()));
    assert_eq!(value("with"), Some("a=b".into()));
    let report = json(&["meta", "unset", &file, "license", "empty", "with", "absent"]);
    assert_eq!(report["notes"], serde_json::json!(["there is no key absent"]));
    let after = json(&["meta", &file]);
    assert_eq!((&after["key_values"], &after["row_groups"]), (&before["key_values"], &before["row_groups"]));
    assert_eq!(rows(&file), rows(&wines()));
    let bytes = fs::read(&file).expect("a file");
    for how in [&[][..], &["--copy"]] {
        let report = json(&[&["meta", "unset", &file, "absent"], how].concat());
        let notes = ["there is no key absent", "nothing is changed: the file stays as it is"];
        assert_eq!(report["notes"], serde_json::json!(notes));
        assert_eq!((&report["size"], &report["grown"]), (&bytes.len().into(), &0.into()));
        assert!(fs::read(&file).expect("a file") == bytes, "a change that changes nothing");
    }
    success(&["meta", "set", &file, "license=none", "with=a=b"]);
    let bytes = fs::read(&file).expect("a file");
    for how in [&[][..], &["--copy"]] {
        let report = json(&[&["meta", "set", &file, "with=c", "with=a=b", "license=none"], how].concat());
        assert_eq!((&report["size"], &report["grown"]), (&bytes.len().into(), &0.into()));
        let notes = report["notes"].to_string();
        assert!(notes.contains("the key license has this value"), "{notes}");
        assert!(notes.contains("nothing is changed: the file stays as it is"), "{notes}");
        assert!(fs::read(&file).expect("a file") == bytes, "values that are there");
    }
    success(&["meta", "set", &file, "license=none", "with=b"]);
    assert_eq!(value("with"), Some("b".into()));
    assert_eq!(failure(&["meta", "set", &file, "nothing"]).0, 2);
    assert_eq!(failure(&["meta", "set", &file]).0, 2);
    assert_eq!(failure(&["meta"]).0, 2);
}

#[test]
fn row_groups_are_dropped_by_the_numbers_that_they_have() {
    let folder = Folder::new("append-drop");
    let file = copy(&folder, "f.parquet");
    success(&["append", &file, &wines()]);
    let all: Vec<String> = rows(&file).lines().map(str::to_owned).collect();
    let meta = json(&["meta", &file]);
    let sizes: Vec<usize> = meta["row_groups"]
        .as_array()
        .expect("row groups")
        .iter()
        .map(|group| group["rows"].as_u64().expect("a number") as usize)
        .collect();
    let text = success(&["drop-row-group", &file, "2", "0", "2"]);
    assert!(text.contains("nothing refers to"), "{text}");
    let kept: Vec<String> = [&all[sizes[0]..sizes[0] + sizes[1]], &all[all.len() - sizes[3]..]].concat();
    assert_eq!(rows(&file).lines().collect::<Vec<_>>(), kept);
    success(&["drop-row-group", &file, "0", "1"]);
    assert_eq!(success(&["count", &file]).trim(), "0");
    success(&["append", &file, &wines()]);
    assert_eq!(rows(&file), rows(&wines()));
}

/// An append that was stopped anywhere: `recover` gives the old rows, exactly, and says that nothing is lost. `MARQUETRY_SLOW`
/// stops it at 200 places.
#[test]
fn recover_undoes_an_append_that_was_stopped() {
    let folder = Folder::new("append-stopped");
    let file = copy(&folder, "f.parquet");
    let old = fs::read(&file).expect("a file");
    success(&["append", &file, &wines(), &wines()]);
    let new = fs::read(&file).expect("a file");
    let places = if std::env::var_os("MARQUETRY_SLOW").is_some() { 200 } else { 12 };
    for i in 0..places {
        // From the first byte of the marker to all but the last byte.
        let len = old.len() + 1 + (new.len() - old.len() - 2) * i / (places - 1);
        fs::write(&file, &new[..len]).expect("a file");
        let out = folder.path("out.parquet");
        let report = json(&["recover", "--overwrite", &file, &out]);
        assert_eq!(report["losses"], Value::Array(Vec::new()), "{len} of {}: {report}", new.len());
        assert_eq!(rows(&out), rows(&wines()), "{len} of {}", new.len());
    }
    // On request, the complete part of the change is kept.
    fs::write(&file, &new[..new.len() - 1]).expect("a file");
    let out = folder.path("more.parquet");
    success(&["recover", "--keep-appended", &file, &out]);
    assert_eq!(rows(&out), rows(&wines()).repeat(3));
}

/// A file has as many names as there are links to it.
#[cfg(unix)]
#[test]
fn a_file_is_not_appended_to_itself_under_another_name() {
    let folder = Folder::new("append-itself");
    let file = copy(&folder, "f.parquet");
    fs::hard_link(&file, folder.path("hard.parquet")).expect("a link");
    std::os::unix::fs::symlink(&file, folder.path("soft.parquet")).expect("a link");
    let old = fs::read(&file).expect("a file");
    for name in ["f.parquet", "hard.parquet", "soft.parquet"] {
        let (code, lines) = failure(&["append", &file, &folder.path(name)]);
        assert_eq!(code, 2, "{lines:?}");
        assert!(lines[0].contains("cannot be appended to itself"), "{lines:?}");
        assert_eq!(fs::read(&file).expect("a file"), old);
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_marquetry"));
    let command = command.args(["append", &file, "-"]).stdin(fs::File::open(&file).expect("a file"));
    let output = command.output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be appended to itself"), "{output:?}");
    assert_eq!(fs::read(&file).expect("a file"), old);
}

/// With --copy the file is the old one until it is the new one: whoever has it open reads on, and the name leads to no other.
#[test]
fn a_copy_takes_the_place_of_the_file() {
    use std::io::Read;
    let folder = Folder::new("append-copy");
    let (file, in_place) = (copy(&folder, "f.parquet"), copy(&folder, "in-place.parquet"));
    let old = fs::read(&file).expect("a file");
    let mut reader = fs::File::open(&file).expect("a file");
    for (changed, copied) in [
        (vec!["append", &in_place, &wines()], vec!["append", &file, &wines(), "--copy"]),
        (vec!["drop-row-group", &in_place, "0"], vec!["drop-row-group", &file, "0", "--copy"]),
        (vec!["meta", "set", &in_place, "a=b"], vec!["meta", "set", &file, "a=b", "--copy"]),
        (vec!["meta", "unset", &in_place, "a"], vec!["meta", "unset", &file, "a", "--copy"]),
    ] {
        let (mut changed, copied) = (json(&changed), json(&copied));
        changed["file"] = file.clone().into();
        assert_eq!(copied, changed);
        assert_eq!(fs::read(&file).expect("a file"), fs::read(&in_place).expect("a file"));
    }
    let mut seen = Vec::new();
    reader.read_to_end(&mut seen).expect("the old file");
    assert_eq!(seen, old, "an open file is not changed");
    // What fails leaves the file, and nothing beside it.
    let before = fs::read(&file).expect("a file");
    let broken = folder.path("broken.parquet");
    let mut bytes = old.clone();
    bytes.truncate(old.len() - 1);
    fs::write(&broken, bytes).expect("a file");
    assert_eq!(failure(&["append", &file, &broken, "--copy"]).0, 1);
    assert_eq!(failure(&["drop-row-group", &file, "99", "--copy"]).0, 2);
    assert_eq!(fs::read(&file).expect("a file"), before);
    let names = fs::read_dir(folder.path(".")).expect("a directory").count();
    assert_eq!(names, 3, "f, in-place, broken");
}

/// Killed at any moment, a change with --copy leaves the old file or the new one, and readers find one of them all the while.
#[cfg(unix)]
#[test]
fn a_copy_that_is_killed_leaves_the_old_file() {
    let folder = Folder::new("append-copy-killed");
    let (file, big) = (copy(&folder, "f.parquet"), folder.path("big.parquet"));
    let many: Vec<String> = std::iter::repeat_n(wines(), 40).collect();
    let inputs: Vec<&str> = many.iter().map(String::as_str).collect();
    success(&[&["merge"], &inputs[..], &[&big]].concat());
    let old = fs::read(&file).expect("a file");
    let kills = if std::env::var_os("MARQUETRY_SLOW").is_some() { 100 } else { 8 };
    for i in 0..kills {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_marquetry"));
        let command = command.args(["append", &file, &big, "--copy"]).stdout(std::process::Stdio::null());
        let mut child = command.spawn().expect("the binary runs");
        let until = std::time::Instant::now() + std::time::Duration::from_millis(i * 3);
        let mut reads = 0;
        while std::time::Instant::now() < until || reads == 0 {
            let rows = marquetry::open(&file).expect("a whole file").metadata().num_rows();
            assert!(rows == 200 || rows == 41 * 200, "{rows}");
            reads += 1;
        }
        // It may have ended by itself.
        let _ = child.kill();
        child.wait().expect("an end");
        if fs::read(&file).expect("a file") != old {
            assert_eq!(success(&["count", &file]).trim(), (41 * 200).to_string());
            fs::write(&file, &old).expect("a file");
        }
    }
}

/// Other readers would refuse the file.
#[test]
fn meta_set_takes_no_arrow_schema_that_is_none() {
    let folder = Folder::new("append_arrow_schema");
    let file = folder.path("wines.parquet");
    success(&["convert", &wines(), &file, "--report", "none"]);
    let (code, lines) = failure(&["meta", "set", &file, "ARROW:schema=x"]);
    assert!(code == 2 && lines[0].contains("not a stored Arrow schema"), "{lines:?}");
    let meta: serde_json::Value =
        serde_json::from_str(&success(&["meta", &file, "--format", "json"])).expect("JSON");
    let pairs = meta["key_values"].as_array().expect("pairs");
    let stored = pairs.iter().find(|pair| pair["key"] == "ARROW:schema").expect("a stored schema");
    let same = format!("ARROW:schema={}", stored["value"].as_str().expect("text"));
    success(&["meta", "set", &file, &same]);
}

/// Readers such as pyarrow take metadata from the stored Arrow schema alone, where it has any.
#[test]
fn metadata_of_the_stored_arrow_schema_follow() {
    let folder = Folder::new("meta-stored");
    let (noted, file) = (folder.path("noted.parquet"), folder.path("f.parquet"));
    success(&["convert", &wines(), &noted, "--metadata", "note=old", "--report", "none"]);
    success(&["convert", &noted, &file, "--report", "none"]);
    let stored = |file: &str| {
        let pairs = json(&["meta", file, "--full"])["key_values"].clone();
        let value = pairs.as_array().expect("a list").iter().find(|pair| pair["key"] == "ARROW:schema");
        let value = value.and_then(|pair| pair["value"].as_str()).expect("a stored schema");
        marquetry::arrow::parse_stored_schema(value).expect("a schema").metadata
    };
    assert_eq!(stored(&file).get("note").map(String::as_str), Some("old"));
    success(&["meta", "set", &file, "note=new", "more=1"]);
    assert_eq!((&*stored(&file)["note"], &*stored(&file)["more"]), ("new", "1"));
    let again = json(&["meta", "set", &file, "note=new", "more=1"]);
    assert_eq!(again["grown"], 0, "{again}");
    success(&["meta", "unset", &file, "note"]);
    assert_eq!(stored(&file).get("note"), None);
    assert_eq!(rows(&file), rows(&wines()));
    // No stored Arrow schema is added where there was none.
    let plain = copy(&folder, "plain.parquet");
    success(&["meta", "set", &plain, "note=new"]);
    assert_eq!(json(&["meta", &plain])["key_values"].as_array().map(Vec::len), Some(1));
    // Given metadata overrides existing metadata.
    let other = folder.path("other.parquet");
    success(&["convert", &noted, &other, "--metadata", "note=other", "--report", "none"]);
    assert_eq!(stored(&other)["note"], "other");
}

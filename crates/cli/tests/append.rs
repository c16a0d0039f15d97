//! `append`, `meta set`, `meta unset` and `drop-row-group`: files changed in place, and what a crash leaves of them.

mod command;

use command::{Folder, failure, success, wines};
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
    // The old footer, and the marker behind it.
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
    // On request, what is whole of the change is kept.
    fs::write(&file, &new[..new.len() - 1]).expect("a file");
    let out = folder.path("more.parquet");
    success(&["recover", "--keep-appended", &file, &out]);
    assert_eq!(rows(&out), rows(&wines()).repeat(3));
}

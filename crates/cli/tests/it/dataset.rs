//! Directories, patterns and several files as one table.

use crate::command;
use crate::command::{Folder, failure, success, wines};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Writes rows as a Parquet file.
fn write(folder: &TempDir, path: &str, rows: &str) {
    let path = folder.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    command::with_input(
        &["convert", "-", text(&path), "--overwrite", "--from", "jsonl", "--report", "none"],
        rows,
    );
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn rows(arguments: &[&str]) -> Vec<Value> {
    let arguments = [arguments, &["--format", "json"]].concat();
    success(&arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// year=2023/a.parquet, year=2024/b.parquet with another column, and what is passed over.
fn warehouse() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "t/year=2023/a.parquet", "{\"id\":1,\"name\":\"oak\"}\n{\"id\":2,\"name\":\"elm\"}\n");
    write(&folder, "t/year=2024/b.parquet", "{\"id\":3,\"name\":\"ash\"}\n");
    fs::write(folder.path().join("t/_SUCCESS"), "").unwrap();
    folder
}

#[test]
fn a_directory_is_one_table() {
    let folder = warehouse();
    let table = folder.path().join("t");
    let table = text(&table);
    let expected = [
        json!({"id": 1, "name": "oak", "year": 2023}),
        json!({"id": 2, "name": "elm", "year": 2023}),
        json!({"id": 3, "name": "ash", "year": 2024}),
    ];
    assert_eq!(rows(&["cat", table]), expected);
    assert_eq!(rows(&["head", "-n", "2", table]), expected[..2]);
    assert_eq!(success(&["count", table]), "3\n");
    assert!(success(&["schema", table]).contains("year"));
    let line =
        success(&["cat", table, "--columns", "year,id", "--offset", "1", "--limit", "2", "--format", "json"]);
    assert_eq!(line, "{\"year\":2023,\"id\":2}\n{\"year\":2024,\"id\":3}\n");
    assert_eq!(rows(&["cat", table, "--no-partitions"])[2], json!({"id": 3, "name": "ash"}));
    let typed = rows(&["cat", table, "--partition-type", "year utf8", "--columns", "year", "--limit", "1"]);
    assert_eq!(typed, [json!({"year": "2023"})]);
    assert_eq!(failure(&["cat", table, "--partition-type", "year bool"]).0, 2);
}

#[test]
fn patterns_and_several_files_are_one_table_for_cat_and_convert() {
    let folder = warehouse();
    let pattern = folder.path().join("t/year=*/*.parquet");
    assert_eq!(rows(&["cat", text(&pattern)]).len(), 3);
    let (a, b) = (folder.path().join("t/year=2023/a.parquet"), folder.path().join("t/year=2024/b.parquet"));
    assert_eq!(rows(&["cat", text(&b), text(&a), "--columns", "year,id"])[0], json!({"year": 2024, "id": 3}));
    let out = folder.path().join("out.parquet");
    for inputs in [&[text(&a), text(&b)][..], &[text(&pattern)], &[text(&folder.path().join("t"))]] {
        let arguments = [&["convert"], inputs, &[text(&out), "--overwrite", "--report", "none"]].concat();
        success(&arguments);
        assert_eq!(rows(&["cat", text(&out)]), rows(&["cat", text(&pattern)]), "{inputs:?}");
    }
    let csv = success(&["convert", text(&a), text(&b), "-", "--to", "csv", "--columns", "name,year"]);
    assert_eq!(csv, "name,year\noak,2023\nelm,2023\nash,2024\n");
    let (code, lines) = failure(&["convert", text(&a), "x.csv", "-"]);
    assert_eq!(
        (code, lines[0].contains("files that are read as one table are all Parquet")),
        (2, true),
        "{lines:?}"
    );
    assert_eq!(
        failure(&["convert", text(&a), text(&b), text(&a), "--overwrite"]).0,
        2,
        "the output is an input"
    );
}

/// Names that are not UTF-8 too: one was left out by some commands, and others ended in a panic.
#[test]
fn patterns_mean_the_same_files_for_all_commands() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "a.parquet", "{\"id\":1}\n");
    let a = folder.path().join("a.parquet");
    for passed_over in [".b.parquet", "_c.parquet"] {
        fs::copy(&a, folder.path().join(passed_over)).unwrap();
    }
    #[cfg(unix)]
    let odd = {
        use std::os::unix::ffi::OsStrExt;
        std::ffi::OsStr::from_bytes(b"\xff\xfe.parquet").to_owned()
    };
    #[cfg(not(unix))]
    let odd = "odd.parquet";
    fs::copy(&a, folder.path().join(odd)).unwrap();
    let pattern = folder.path().join("*.parquet");
    let pattern = text(&pattern);
    assert_eq!(rows(&["cat", pattern]).len(), 2);
    assert_eq!(rows(&["cat", text(folder.path())]).len(), 2);
    for command in ["meta", "schema", "size"] {
        let lines = success(&[command, pattern, "--format", "json"]);
        assert_eq!(lines.lines().count(), 2, "{command}: {lines}");
    }
    let counted = success(&["count", pattern, "--format", "json"]);
    assert!(counted.ends_with("{\"file\":null,\"rows\":2}\n"), "{counted}");
    let underscored = folder.path().join("_*.parquet");
    assert_eq!(success(&["meta", text(&underscored), "--format", "json"]).lines().count(), 1);
    let (code, lines) = failure(&["count", text(&folder.path().join("*.csv"))]);
    assert_eq!((code, lines.len()), (1, 1), "{lines:?}");
    assert!(lines[0].ends_with("no file has such a name"), "{lines:?}");
}

#[test]
fn a_file_that_does_not_fit_is_named() {
    let folder = warehouse();
    write(&folder, "t/year=2025/c.parquet", "{\"id\":4,\"name\":\"fir\",\"tall\":true}\n");
    let table = folder.path().join("t");
    let (code, lines) = failure(&["cat", text(&table)]);
    assert_eq!((code, lines.len()), (2, 1), "{lines:?}");
    assert!(
        lines[0].contains("year=2025/c.parquet: argument: the column is not among the wanted fields"),
        "{lines:?}"
    );
    assert!(lines[0].ends_with("--union-by-name makes it one, in column tall"), "{lines:?}");
    let all = rows(&["cat", text(&table), "--union-by-name"]);
    assert_eq!(all[0], json!({"id": 1, "name": "oak", "tall": null, "year": 2023}));
    assert_eq!(all[3], json!({"id": 4, "name": "fir", "tall": true, "year": 2025}));
    let (code, lines) = failure(&["cat", text(&table), "--columns", "nam"]);
    assert_eq!((code, lines[0].contains("no column nam; did you mean name")), (2, true), "{lines:?}");
}

#[test]
fn summaries_stand_for_their_files() {
    let folder = warehouse();
    let table = folder.path().join("t");
    success(&["summary", text(&table)]);
    let summary = table.join("_metadata");
    assert_eq!(rows(&["cat", text(&summary)]), rows(&["cat", text(&table)]));
    assert_eq!(success(&["count", text(&summary)]), "3\n");
    let common = table.join("_common_metadata");
    assert_eq!(success(&["count", text(&common)]), "0\n");
    assert_eq!(rows(&["cat", text(&common)]), [] as [Value; 0]);
    write(&folder, "t/year=2023/a.parquet", "{\"id\":1,\"name\":\"oak\"}\n");
    let (code, lines) = failure(&["cat", text(&summary)]);
    assert_eq!(code, 1);
    assert!(
        lines[0].contains("a.parquet: corrupt: the summary has row groups that the file does not have"),
        "{lines:?}"
    );
}

#[test]
fn columns_stand_as_asked() {
    let line = success(&[
        "cat",
        &wines(),
        "--columns",
        "producer.founded,year,producer.name",
        "--limit",
        "1",
        "--format",
        "json",
    ]);
    let keys: Vec<usize> =
        ["founded", "name", "year"].iter().map(|key| line.find(&format!("\"{key}\":")).unwrap()).collect();
    assert!(keys[0] < keys[1] && keys[1] < keys[2], "{line}");
    let csv = success(&["convert", &wines(), "-", "--to", "csv", "--columns", "year,name", "--limit", "1"]);
    assert!(csv.starts_with("year,name\n"), "{csv}");
}

#[test]
fn conditions_know_partitions() {
    let folder = warehouse();
    let table = folder.path().join("t");
    let table = text(&table);
    let found = rows(&["cat", table, "--where", "year = 2023 and id > 1", "--columns", "name"]);
    assert_eq!(found, [json!({"name": "elm"})]);
    assert_eq!(success(&["count", table, "--where", "year >= 2024 or name = 'oak'"]), "2\n");
    let csv = success(&["convert", table, "-", "--to", "csv", "--where", "name = 'ash'"]);
    assert_eq!(csv, "id,name,year\n3,ash,2024\n");
}

#[test]
fn a_table_is_not_written_over_its_own_files() {
    let folder = warehouse();
    let table = folder.path().join("t");
    let (pattern, file) = (table.join("year=*/*.parquet"), table.join("year=2023/a.parquet"));
    let before = fs::read(&file).unwrap();
    for input in [text(&table), text(&pattern)] {
        let (code, errors) = failure(&["convert", input, text(&file), "--overwrite", "--limit", "1"]);
        assert_eq!(code, 2, "{errors:?}");
        assert!(errors[0].contains("is the file that is read"), "{errors:?}");
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}

/// A link that leads back to a directory above gives no file twice, and ends.
#[cfg(unix)]
#[test]
fn links_that_lead_back() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("links-that-lead-back");
    let table = folder.path("q/d");
    fs::create_dir_all(&table).expect("a directory");
    fs::copy(wines(), folder.path("q/d/ok.parquet")).expect("a copy");
    symlink("..", folder.path("q/d/loop")).expect("a link");
    symlink(".", folder.path("q/d/dot")).expect("a link");
    symlink(&table, folder.path("q/d/again")).expect("a link");
    assert_eq!(success(&["count", &table]), "200\n");
    assert_eq!(success(&["summary", &table]), "1 file, 2 row groups, 200 rows\n");
    assert_eq!(success(&["count", &folder.path("q/d/_metadata")]), "200\n");
}

/// The time does not grow with the square of the depth.
#[test]
fn directories_that_are_deep() {
    let folder = Folder::new("deep-directories");
    let deep = folder.path(&format!("t/{}", "d/".repeat(600)));
    fs::create_dir_all(&deep).expect("directories");
    fs::copy(wines(), format!("{deep}/x.parquet")).expect("a copy");
    let start = std::time::Instant::now();
    assert_eq!(success(&["count", &folder.path("t")]), "200\n");
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

//! Which files a name means, and where rows go: as the datasets of the other commands have it.

use super::{failure, stdout, text, wines};
use std::fs;
use std::path::Path;
use tempfile::{TempDir, tempdir};

/// A folder with copies of one file of 200 rows, under these names.
fn folder(names: &[&str]) -> TempDir {
    let folder = tempdir().unwrap();
    for name in names {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(wines(), path).unwrap();
    }
    folder
}

/// The number of copies that a name matches, as a quoted table name, and as a `-t` table.
fn copies(folder: &TempDir, name: &str) -> usize {
    let name = text(&folder.path().join(name));
    let count = stdout(&[&format!("select count(*) as n from '{name}'"), "--format", "csv"]);
    let table = format!("t={name}");
    assert_eq!(stdout(&["-t", &table, "select count(*) as n from t", "--format", "csv"]), count, "{name}");
    count.trim_start_matches("n\n").trim_end().parse::<usize>().unwrap() / 200
}

#[test]
fn names_of_files_are_no_keys() {
    let folder = folder(&["a/f.parquet", "a/x=1.parquet", "b/day=3.parquet", "b/e.parquet"]);
    for (name, files) in [
        ("a", 2),
        ("a/", 2),
        ("a/*.parquet", 2),
        ("a/x=*.parquet", 1),
        ("a/x=1.parquet", 1),
        ("b/d*.parquet", 1),
        ("*/*=*", 2),
    ] {
        assert_eq!(copies(&folder, name), files, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn names_with_wildcards_are_names_where_there_is_such_a_file() {
    let folder = folder(&[
        "a?b.parquet",
        "a1b.parquet",
        "a*b.parquet",
        "c[d].parquet",
        "e[f]/g.parquet",
        "e[f]/h.parquet",
    ]);
    for (name, files) in [
        ("a?b.parquet", 1),
        ("a*b.parquet", 1),
        ("a[1?*]b.parquet", 3),
        ("c[d].parquet", 1),
        ("c*", 1),
        ("e[f]", 2),
        ("e[f]/h*", 0),
        ("e[[]f]/h*", 1),
    ] {
        match files {
            0 => drop(failure(&[&format!("select * from '{}'", text(&folder.path().join(name)))])),
            files => assert_eq!(copies(&folder, name), files, "{name}"),
        }
    }
    let csv = folder.path().join("x[1].csv");
    fs::write(&csv, "i\n1\n2\n").unwrap();
    let count = format!("select count(*) as n from '{}'", text(&csv));
    assert_eq!(stdout(&[&count, "--format", "csv"]), "n\n2\n");
    let table = format!("t={}", text(&csv));
    assert_eq!(stdout(&["-t", &table, "select count(*) as n from t", "--format", "csv"]), "n\n2\n");
    // File names that a URL cannot have.
    fs::copy(wines(), folder.path().join("e[f]/\n.parquet")).unwrap();
    assert_eq!(copies(&folder, "e[f]"), 3);
    assert_eq!(copies(&folder, "e[f]/\n.parquet"), 1);
}

#[cfg(unix)]
#[test]
fn rows_go_to_the_very_name() {
    let folder = tempdir().unwrap();
    let files = |folder: &Path| {
        let names =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    let path = |name: &str| text(&folder.path().join(name));
    for name in ["a?b.parquet", "c*[d].parquet", "e?.csv", "f%23#.parquet"] {
        stdout(&[&format!("copy (select 1 as i) to '{}'", path(name))]);
        assert_eq!(
            stdout(&[&format!("select * from '{}'", path(name)), "--format", "csv"]),
            "i\n1\n",
            "{name}"
        );
    }
    for name in ["a?b-2.parquet", "[c].csv"] {
        stdout(&["select 2 as i", "-o", &path(name)]);
        assert_eq!(
            stdout(&[&format!("select * from '{}'", path(name)), "--format", "csv"]),
            "i\n2\n",
            "{name}"
        );
    }
    let expected = ["[c].csv", "a?b-2.parquet", "a?b.parquet", "c*[d].parquet", "e?.csv", "f%23#.parquet"];
    assert_eq!(files(folder.path()), expected);
    // Relative ones and folders.
    let relative = std::process::Command::new(env!("CARGO_BIN_EXE_marquetry-sql"))
        .arg("copy (select 1 as i) to 'g?.parquet'; copy (select 1 as k, 2 as i) to 'h*/' stored as parquet partitioned by (k)")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(relative.status.success(), "{}", String::from_utf8_lossy(&relative.stderr));
    assert!(folder.path().join("g?.parquet").is_file());
    assert_eq!(files(&folder.path().join("h*")), ["k=1"]);
    let (code, message) = failure(&[&format!("copy (select 1 as i) to 'file://{}'", path("i?j.parquet"))]);
    assert!(code == 2 && message.contains("write ? as %3F"), "{message}");
    assert!(!folder.path().join("i").exists());
    // It is not run to explain it.
    stdout(&[&format!("explain copy (select 1 as i) to '{}'", path("k?.parquet"))]);
    assert!(!folder.path().join("k?.parquet").exists());
}

#[test]
fn hidden_files_are_passed_over() {
    let folder = folder(&[
        "a/f.parquet",
        "a/_x.parquet",
        "a/.y.parquet",
        "a/_tmp/g.parquet",
        "a/in/h.parq",
        "b/_only.parquet",
    ]);
    for (name, files) in
        [("a", 2), ("a/*.parquet", 1), ("a/*", 2), ("a/_*.parquet", 1), ("a/_x.parquet", 1), ("b/_*", 1)]
    {
        assert_eq!(copies(&folder, name), files, "{name}");
    }
    for name in ["b", "b/*.parquet"] {
        let name = text(&folder.path().join(name));
        for arguments in [
            vec![format!("select * from '{name}'")],
            vec!["-t".into(), format!("t={name}"), "select 1".into()],
        ] {
            let (code, message) = failure(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(code == 2 && message.contains("begin with . or _ are skipped"), "{message}");
        }
    }
}

#[test]
fn patterns_may_begin_with_wildcards() {
    let folder = folder(&["fold/a.parquet", "food/b.parquet", "ev/nest/c.parquet", "ev/k=1/d.parquet"]);
    let asked = |name: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_marquetry-sql"))
            .args([&format!("select count(*) / 200 as n from '{name}'"), "--format", "csv"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for (name, files) in [
        ("fo*/*.parquet", 2),
        ("fo?d/*.parquet", 2),
        ("fol?/*.parquet", 1),
        ("ev/nes?/*.parquet", 1),
        ("*/nes?/c.parquet", 1),
        ("**/*.parquet", 4),
        ("./fo[l]d/../food/*.parquet", 1),
    ] {
        assert_eq!(asked(name), format!("n\n{files}\n"), "{name}");
    }
}

#[test]
fn types_of_files_may_differ() {
    let folder = tempdir().unwrap();
    let path = |name: &str| text(&folder.path().join(name));
    let put = |name: &str, query: &str| drop(stdout(&[&format!("copy ({query}) to '{}'", path(name))]));
    put("run=1/wide/a.parquet", "select arrow_cast(1, 'Int32') as i, 'x' as t");
    put("run=1/wide/b.parquet", "select arrow_cast(1099511627776, 'Int64') as i, 'y' as t");
    put("missing/a.parquet", "select 1 as i, 5 as u");
    put("missing/b.parquet", "select 2 as i");
    put("nested/a.parquet", "select named_struct('x', 1, 'y', 2) as s");
    put("nested/b.parquet", "select named_struct('x', 3) as s");
    put("other/a.parquet", "select 1 as i");
    put("other/b.parquet", "select 'text' as i");
    let rows = |query: &str, name: &str| {
        let table = format!("t={}", path(name));
        let by_name = stdout(&[&query.replace("TABLE", &format!("'{}'", path(name))), "--format", "csv"]);
        assert_eq!(stdout(&["-t", &table, &query.replace("TABLE", "t"), "--format", "csv"]), by_name);
        by_name
    };
    // The key above the named folder is not a column, whatever types the files have.
    assert_eq!(rows("select * from TABLE order by i", "run=1/wide"), "i,t\n1,x\n1099511627776,y\n");
    assert_eq!(rows("select max(i) as m from TABLE", "run=1/wide/*.parquet"), "m\n1099511627776\n");
    assert_eq!(rows("select * from TABLE order by i", "missing"), "i,u\n1,5\n2,\n");
    assert_eq!(rows("select i from TABLE where u is null", "missing"), "i\n2\n");
    assert_eq!(rows("select count(u) as n, min(u) as m from TABLE", "missing"), "n,m\n1,5\n");
    assert_eq!(rows("select s['x'] as x, s['y'] as y from TABLE order by 1", "nested"), "x,y\n1,2\n3,\n");
    let (code, message) = failure(&[&format!("select * from '{}'", path("other"))]);
    assert!(code == 1 && message.contains("other/b.parquet, column i"), "{message}");
}

#[test]
fn rows_are_added_to_folders_and_seen() {
    let folder = folder(&["a.parquet", "_hidden.parquet"]);
    let path = text(folder.path());
    let table = format!("t={path}");
    let count = "select count(*) as n from t";
    let add = "insert into t select * from t limit 5";
    let output = stdout(&["-t", &table, &[count, add, count, add, count].join("; "), "--format", "csv"]);
    assert_eq!(output, "n\n200\ncount\n5\nn\n205\ncount\n5\nn\n210\n");
    fs::rename(folder.path().join("a.parquet"), folder.path().join("x=1.parquet")).unwrap();
    let add = format!("insert into '{path}/' select * from '{path}/x=1.parquet'");
    assert_eq!(stdout(&[&add, "--format", "csv"]), "count\n200\n");
    assert_eq!(stdout(&["-t", &table, count, "--format", "csv"]), "n\n410\n");
    for name in ["x=1.parquet", "*.parquet"] {
        let (code, message) = failure(&[&format!("insert into '{path}/{name}' select * from '{path}'")]);
        assert!(code == 2 && message.contains("is not a folder: rows are added to a folder"), "{message}");
    }
    // Statistics answer the query, as for declared tables.
    let plan = stdout(&[&format!("explain select count(*) from '{path}'"), "--format", "csv"]);
    assert!(!plan.contains("DataSourceExec"), "{plan}");
}

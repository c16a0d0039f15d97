//! Directories that are given to commands that look at files one by one: what to give instead is told.

use crate::command::{Folder, failure, success, wines};

fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    std::fs::create_dir(folder.path("part")).unwrap();
    std::fs::copy(wines(), folder.path("a.parquet")).unwrap();
    std::fs::copy(wines(), folder.path("part/b.parquet")).unwrap();
    folder
}

#[test]
fn a_pattern_is_offered_where_there_may_be_several_files() {
    let folder = folder("a_pattern_is_offered");
    let directory = folder.path("");
    let plain = directory.trim_end_matches('/');
    let pattern = format!("{plain}/**/*.parquet");
    let out = folder.path("out.html");
    for command in [
        &["verify"][..],
        &["lint"],
        &["meta"],
        &["pages"],
        &["index"],
        &["size"],
        &["dictionary", "--column", "name"],
        &["report", "-o", &out],
        &["verify", "--format", "sarif"],
    ] {
        for given in [plain, &directory] {
            let (code, lines) = failure(&[command, &[given]].concat());
            assert_eq!((code, lines.len()), (1, 1), "{command:?}: {lines:?}");
            let expected = format!(
                "marquetry: {given}: is a directory, not a file: name files in it, or a pattern in quotes: '{pattern}'"
            );
            assert_eq!(lines[0], expected, "{command:?}");
        }
        // The pattern does what was meant, and other files are looked at besides a directory.
        success(&[command, &[&pattern]].concat());
        assert_eq!(failure(&[command, &[&*wines(), plain]].concat()).1.len(), 1, "{command:?}");
    }
    let odd = folder.path("o'[dd");
    std::fs::create_dir(&odd).unwrap();
    assert!(failure(&["verify", &odd]).1[0].ends_with("'DIR/**/*.parquet'"));
}

/// A pattern that the shell did not expand is what the shell makes of it.
#[test]
fn directories_that_a_pattern_fits_are_tables() {
    let folder = Folder::new("directories_of_a_pattern");
    for part in ["year=1", "year=2/month=3", "year=2/month=4"] {
        std::fs::create_dir_all(folder.path(part)).unwrap();
        std::fs::copy(wines(), folder.path(&format!("{part}/w.parquet"))).unwrap();
    }
    let pattern = folder.path("year=*");
    let [one, two] = ["year=1", "year=2"].map(|name| folder.path(name));
    let counted = success(&["count", &pattern]);
    assert_eq!(counted, success(&["count", &one, &two]));
    assert!(counted.trim_end().ends_with("600  total"), "{counted}");
    // Directories below other matches are not counted again.
    assert_eq!(success(&["count", &folder.path("**/")]).lines().count(), 3);
    assert_eq!(
        success(&["count", &folder.path("**")]).trim_end().lines().last(),
        Some("         600  total")
    );
    let head = success(&["head", &pattern, "-n", "1", "--columns", "year", "--format", "json"]);
    assert_eq!(head.lines().count(), 2, "{head}");
    let (code, lines) = failure(&["verify", &pattern]);
    assert!(code == 1 && lines[0].contains("only directories have such a name"), "{lines:?}");
}

#[test]
fn one_file_is_one_file() {
    let folder = folder("one_file_is_one_file");
    let (directory, out) = (folder.path("part"), folder.path("out.parquet"));
    for command in [
        &["rewrite", &directory, &out][..],
        &["recover", &directory, &out],
        &["split", &directory, "--rows", "1"],
        &["diff", &wines(), &directory],
        &["append", &directory, &wines()],
        &["optimize", &directory, &out],
        &["drop-row-group", &directory, "0"],
        &["meta", "set", &directory, "a=b"],
    ] {
        let (code, lines) = failure(command);
        assert!(code != 0 && lines.len() == 1, "{command:?}: {lines:?}");
        assert!(
            lines[0].ends_with("is a directory, not a file: name a file in it"),
            "{command:?}: {lines:?}"
        );
    }
}

/// Without the rows of what cannot be read as it was given, a file would look like what was asked for.
#[test]
fn nothing_is_merged_or_appended_where_a_part_is_missing() {
    let folder = folder("nothing_is_merged");
    let (one, other, out) =
        (folder.path("a.parquet"), folder.path("part/b.parquet"), folder.path("out.parquet"));
    let before = std::fs::read(&one).unwrap();
    for missing in [folder.path("part"), folder.path("none*.parquet")] {
        let (code, lines) = failure(&["merge", &missing, &other, &out]);
        assert!(code == 1 && lines.len() == 1 && !std::path::Path::new(&out).exists(), "{lines:?}");
        let (code, lines) = failure(&["append", &one, &missing, &other]);
        assert!(code == 1 && lines.len() == 1 && std::fs::read(&one).unwrap() == before, "{lines:?}");
    }
}

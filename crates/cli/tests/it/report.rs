//! `report`: a page that is there once it is whole, and replaces nothing unasked.

use crate::command::{Folder, everything, success, wines};
use std::fs;

#[test]
fn a_page_of_a_file() {
    let folder = Folder::new("report");
    let out = folder.path("wines.html");
    success(&["report", &wines(), "-o", &out, "--where", "price > 20", "--verify", "deep"]);
    let page = fs::read_to_string(&out).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("<h2>wines.parquet</h2>"), "names have no directories");
    assert!(page.contains("No rule of the format is broken."));
    assert!(page.contains("rows, in 2 of 2 row groups."), "{page}");
    assert_eq!(success(&["report", &wines(), "-o", "-", "--where", "price > 20", "--verify", "deep"]), page);

    let (code, text) = everything(&["report", &wines(), "-o", &out]);
    assert!(code == Some(2) && text.contains("--overwrite"), "{code:?} {text}");
    assert_eq!(fs::read_to_string(&out).unwrap(), page);
    success(&["report", &wines(), "-o", &out, "--overwrite", "--no-values", "--verify", "none"]);
    assert!(!fs::read_to_string(&out).unwrap().contains("What is wrong"));
    let (code, _) = everything(&["report", &wines(), "-o", &wines(), "--overwrite"]);
    assert_eq!(code, Some(2), "a file that is read is not replaced");
}

#[test]
fn files_that_cannot_be_read_leave_no_page() {
    let folder = Folder::new("report-bad");
    let (bad, out) = (folder.write("bad.parquet", "no such thing"), folder.path("bad.html"));
    let (code, text) = everything(&["report", &bad, "-o", &out]);
    assert!(code == Some(1) && text.contains("bad.parquet"), "{text}");
    assert!(fs::metadata(&out).is_err());
    // The readable files get a page all the same, and the exit code tells of the other.
    let (code, _) = everything(&["report", &bad, &wines(), "-o", &out]);
    assert_eq!(code, Some(1));
    assert!(fs::read_to_string(&out).unwrap().contains("wines.parquet"));
    let (code, text) =
        everything(&["report", &wines(), "-o", &folder.path("x.html"), "--where", "nothing = 1"]);
    assert!(code == Some(2) && text.contains("nothing"), "{code:?} {text}");
}

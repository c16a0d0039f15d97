//! Where the tests find the files of other projects.
//!
//! They stand beside the repository, in `../shared`, or where `MARQUETRY_CORPUS` says. Without them the tests that need
//! them say so and pass, except under `CI`, where a missing corpus is a failure.
#![allow(dead_code)] // Each test target includes this module and uses a part of it.

use bytes::Bytes;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder with `parquet-testing`, `expected` and `corpus` in it; `None` if the test is to be skipped.
pub(crate) fn root() -> Option<PathBuf> {
    let root = match std::env::var_os("MARQUETRY_CORPUS") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    if root.join("parquet-testing/data").is_dir() {
        return Some(root);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "no corpus at {}; MARQUETRY_CORPUS says where it is",
        root.display()
    );
    println!("skipped: no corpus at {}", root.display());
    None
}

/// The bytes of a file below the root.
pub(crate) fn bytes(root: &Path, path: &str) -> Bytes {
    match std::fs::read(root.join(path)) {
        Ok(bytes) => bytes.into(),
        Err(error) => panic!("{path}: {error}"),
    }
}

/// All files below a folder of the root, as paths from the root with `/` in them, in order.
pub(crate) fn files(root: &Path, folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let path = path.strip_prefix(root).unwrap();
                found.push(path.to_str().unwrap().replace(std::path::MAIN_SEPARATOR, "/"));
            }
        }
    }
    found.sort();
    found
}

/// What is expected of one file of `corpus/expected.jsonl`.
pub(crate) struct Expectation {
    /// From the root.
    pub(crate) path: String,
    /// `read`, `read-some`, `reject`, `encrypted` or `alp`.
    pub(crate) expect: String,
    /// Where readers agree on a number.
    pub(crate) rows: Option<u64>,
}

/// All of `corpus/expected.jsonl`.
pub(crate) fn expectations(root: &Path) -> Vec<Expectation> {
    let lines = std::fs::read_to_string(root.join("corpus/expected.jsonl")).unwrap();
    let text = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
    lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| Expectation {
            path: text(&line, "path"),
            expect: text(&line, "expect"),
            rows: line["rows"].as_u64(),
        })
        .collect()
}

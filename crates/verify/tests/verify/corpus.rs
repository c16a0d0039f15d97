//! What verify finds in the files of other projects, good and bad ones: each is known and explained in `corpus.txt`.

use crate::broken;
use marquetry_core::io::LocalFile;
use marquetry_verify::{Level, RULES, VerifyOptions, verify};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder with `parquet-testing` and `corpus` in it; `None` if the test is to be skipped.
fn root() -> Option<PathBuf> {
    let root = match std::env::var_os("MARQUETRY_CORPUS") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    if root.join("parquet-testing/data").is_dir() {
        return Some(root);
    }
    assert!(std::env::var_os("CI").is_none(), "no corpus at {}", root.display());
    println!("skipped: no corpus at {}", root.display());
    None
}

/// All Parquet files below a folder, in order.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() {
            files(&path, found);
        } else if name.contains(".parquet") && !name.ends_with(".json") {
            found.push(path);
        }
    }
}

/// The rules that each file breaks; files that are not named break none.
fn expected() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("corpus.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(": ").unwrap_or_else(|| panic!("{line}"))).collect()
}

#[test]
fn what_real_files_break_is_known() {
    let Some(root) = root() else { return };
    let mut found = Vec::new();
    files(&root.join("corpus"), &mut found);
    files(&root.join("parquet-testing"), &mut found);
    assert!(found.len() > 100, "{} files", found.len());
    let mut expected = expected();
    let mut wrong = Vec::new();
    for path in &found {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        // Two gigabytes of one letter take long, and tell nothing more.
        let is_large = name.ends_with("large_string_map.brotli.parquet");
        let level = if is_large { Level::Default } else { Level::Deep };
        let options = VerifyOptions::default().with_level(level);
        let report = verify(Arc::new(LocalFile::open(path).unwrap()), &options).unwrap();
        let ids: Vec<_> = broken(&report).into_iter().collect();
        let ids = ids.join(" ");
        if expected.remove(&*name).unwrap_or_default() != ids {
            wrong.push(format!("{name}: {ids}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} files:\n{}", wrong.len(), found.len(), wrong.join("\n"));
    // A smaller corpus has fewer of the files.
    expected.retain(|name, _| root.join(name).exists());
    assert!(expected.is_empty(), "named, but not looked at: {expected:?}");
}

#[test]
fn every_rule_in_the_table_is_explained() {
    let text = include_str!("corpus.txt");
    for ids in expected().values() {
        for id in ids.split(' ') {
            assert!(RULES.iter().any(|rule| rule.id == id), "no rule {id}");
            assert!(text.contains(&format!("# {id}: ")), "{id} is not explained");
        }
    }
}

//! Paths become files: directories and what is below them, patterns, and summary files.

use marquetry_base::{Error, Kind, Result};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The files that a path means. A directory means the Parquet files below it, a pattern with `*`, `?` or `[` the files it
/// fits, if no file has that very name. Sorted, each directory's parts by name.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_dir() {
        return directory(path);
    }
    if !is_pattern(path) {
        return Ok(vec![path.to_owned()]);
    }
    let text = path.to_str().ok_or_else(|| Error::argument("a pattern that is not UTF-8"))?;
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::default() };
    let paths =
        glob::glob_with(text, options).map_err(|error| Error::argument(format!("wrong pattern: {error}")))?;
    let is_literal = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let literal = path.components().take_while(is_literal).count();
    let mut found = Vec::new();
    for path in paths {
        let path = path.map_err(|error| {
            let path = error.path().to_path_buf();
            unread(&path, error.into())
        })?;
        match path.is_dir() {
            _ if is_left_behind(&path, literal, text) => {}
            // `**` gives the files in it by itself.
            true if text.contains("**") => {}
            true => found.extend(directory(&path)?),
            false => found.push(path),
        }
    }
    if found.is_empty() {
        return Err(Error::new(Kind::Io, "no file has such a name"));
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Whether a name that a wildcard stands for begins as those do that directories are read without, `_tmp` for example.
/// Who writes `_` in a pattern means it.
fn is_left_behind(path: &Path, literal: usize, pattern: &str) -> bool {
    let mut names = path.components().skip(literal).map(|part| part.as_os_str().to_string_lossy());
    !pattern.contains("/_") && names.any(|name| is_passed_over(&name))
}

/// Hidden, or what writers leave beside their files. A partition's key may begin with `_`.
fn is_passed_over(name: &str) -> bool {
    name.starts_with('.') || name.starts_with('_') && !name.contains('=')
}

/// Whether the path is meant as a pattern: files may have such characters in their names.
pub(super) fn is_pattern(path: &Path) -> bool {
    path.to_str().is_some_and(|name| name.contains(['*', '?', '['])) && !path.exists()
}

/// The Parquet files below a directory: those whose names end in `.parquet`, `.parq` or `.pq`, or all if there is none.
fn directory(path: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    walk(path, &mut Vec::new(), &mut found)?;
    let is_named = |path: &PathBuf| {
        let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
        matches!(end.as_deref(), Some("parquet" | "parq" | "pq"))
    };
    if found.iter().any(is_named) {
        found.retain(is_named);
    }
    if found.is_empty() {
        return Err(Error::new(Kind::Io, "no Parquet file is in the directory"));
    }
    found.sort();
    Ok(found)
}

/// `above` has the directories on the way, so that a link to one of them ends.
fn walk(path: &Path, above: &mut Vec<PathBuf>, found: &mut Vec<PathBuf>) -> Result<()> {
    let real = fs::canonicalize(path).map_err(|error| unread(path, error))?;
    if above.contains(&real) {
        return Ok(());
    }
    above.push(real);
    for entry in fs::read_dir(path).map_err(|error| unread(path, error))? {
        let entry = entry.map_err(|error| unread(path, error))?;
        let (name, path) = (entry.file_name(), entry.path());
        match path.is_dir() {
            _ if is_passed_over(&name.to_string_lossy()) => {}
            true => walk(&path, above, found)?,
            false => found.push(path),
        }
    }
    above.pop();
    Ok(())
}

fn unread(path: &Path, error: std::io::Error) -> Error {
    Error::caused_by(Kind::Io, "cannot be listed", error).in_file(path.display().to_string())
}

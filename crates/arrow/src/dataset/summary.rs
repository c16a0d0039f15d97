//! Summary files: `_metadata` has the row groups of many files, whose pages are in those files.
//!
//! SPEC: parquet.thrift, ColumnChunk.file_path: relative to the summary's own directory. What a summary says of pages
//! may be outdated. So only the list of files and row groups is taken from it, and each is checked against the file's
//! own footer.

use super::data_file::{DataFile, RowGroupId};
use marquetry_base::{Error, Result};
use marquetry_core::metadata::{ParquetMetaData, RowGroup};
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// A file that a summary lists, and its row groups there.
pub(super) struct Part {
    pub(super) path: PathBuf,
    pub(super) groups: Vec<RowGroupId>,
}

/// Returns whether the pages that the footer describes are in other files.
pub(super) fn is_summary(metadata: &ParquetMetaData) -> bool {
    let Some(first) = metadata.row_groups().next() else { return false };
    let Some(Ok(chunk)) = first.columns().next() else { return false };
    // QUIRK: some files name themselves. Pages are in another file only if they cannot be in this one.
    let is_here = |data_end| chunk.byte_range().is_ok_and(|range| range.start < data_end);
    chunk.file_path().is_some_and(|path| !path.is_empty()) && !chunk.data_end().is_some_and(is_here)
}

/// Returns the files of the summary at `path` in a store, or the file itself if it is not a summary.
pub(super) fn files_in_store(path: &str, metadata: &ParquetMetaData) -> Result<Vec<DataFile>> {
    if !is_summary(metadata) {
        return Ok(vec![DataFile::new(path.into(), None)]);
    }
    let folder = path.rfind('/').map_or("", |end| &path[..=end]);
    let parts = parts_at(metadata, |named| Ok(format!("{folder}{}", inside(named)?.join("/")).into()))?;
    Ok(parts.into_iter().map(|part| DataFile::new(part.path, Some(part.groups))).collect())
}

/// Returns the files that a summary lists. `at` returns the path of each.
pub(super) fn parts_at(
    metadata: &ParquetMetaData,
    at: impl Fn(&str) -> Result<PathBuf>,
) -> Result<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    for row_group in metadata.row_groups() {
        let in_group = |error: Error| error.in_row_group(row_group.index());
        let named = file_of(row_group).map_err(in_group)?;
        let path = at(&named).map_err(in_group)?;
        let group = RowGroupId::of(row_group)?;
        // Row groups of a file are adjacent.
        match parts.last_mut().filter(|part| part.path == path) {
            Some(part) => part.groups.push(group),
            None => parts.push(Part { path, groups: vec![group] }),
        }
    }
    Ok(parts)
}

/// Returns the file that has all columns of a row group.
fn file_of(row_group: RowGroup<'_>) -> Result<Cow<'_, str>> {
    let mut found: Option<Cow<'_, str>> = None;
    for chunk in row_group.columns() {
        let path = chunk?.file_path().unwrap_or_default();
        match &found {
            Some(found) if *found != path => {
                return Err(Error::unsupported(format!(
                    "the row group's columns are in several files: {found}, {path}"
                )));
            }
            _ => found = Some(path),
        }
    }
    found.ok_or_else(|| Error::corrupt("a row group without columns tells no file"))
}

/// Returns the parts of a path that a footer has. It must not lead out of the summary's directory: opening a file must
/// not make its reader open arbitrary others.
pub(super) fn inside(named: &str) -> Result<Vec<&str>> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let parts: Vec<&str> = named.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    // Backslashes and colons are plain characters on one system, and a way out of the directory on another.
    let is_strange = parts.is_empty() || named.contains(['\\', ':', '\0']);
    match !is_strange && Path::new(named).components().all(is_plain) {
        true => Ok(parts),
        false => Err(outside(named)),
    }
}

#[cold]
pub(super) fn outside(named: &str) -> Error {
    Error::corrupt(format!("the path {named:?} leads out of the summary's directory"))
}

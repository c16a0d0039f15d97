//! Summary files: `_metadata` has the row groups of many files, whose pages are in those files.
//!
//! SPEC: parquet.thrift, ColumnChunk.file_path: relative to the summary's own directory. What a summary says of pages may
//! be old. So only which files and row groups there are is taken from it, and each is held against the file's own footer.

use super::data_file::{DataFile, RowGroupId};
use marquetry_base::{Error, Result};
use marquetry_core::metadata::{ParquetMetaData, RowGroup};
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// A file that a summary names, and its row groups there.
pub(super) struct Part {
    pub(super) path: PathBuf,
    pub(super) groups: Vec<RowGroupId>,
}

/// Whether the pages that the footer tells of are in other files.
pub(super) fn is_summary(metadata: &ParquetMetaData) -> bool {
    let Some(first) = metadata.row_groups().next() else { return false };
    let Some(Ok(chunk)) = first.columns().next() else { return false };
    // QUIRK: some files name themselves. Only where the pages cannot be here are they in another file.
    let is_here = |data_end| chunk.byte_range().is_ok_and(|range| range.start < data_end);
    chunk.file_path().is_some_and(|path| !path.is_empty()) && !chunk.data_end().is_some_and(is_here)
}

/// The files of the summary at `path` in a store, or the file itself if it is none.
pub(super) fn files_in_store(path: &str, metadata: &ParquetMetaData) -> Result<Vec<DataFile>> {
    if !is_summary(metadata) {
        return Ok(vec![DataFile::new(path.into(), None)]);
    }
    let folder = path.rfind('/').map_or("", |end| &path[..=end]);
    let parts = parts_at(metadata, |named| Ok(format!("{folder}{}", inside(named)?.join("/")).into()))?;
    Ok(parts.into_iter().map(|part| DataFile::new(part.path, Some(part.groups))).collect())
}

/// The files that a summary names, each with where it is.
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
        // Row groups of a file stand together.
        match parts.last_mut().filter(|part| part.path == path) {
            Some(part) => part.groups.push(group),
            None => parts.push(Part { path, groups: vec![group] }),
        }
    }
    Ok(parts)
}

/// The file that all columns of a row group are in.
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

/// The parts of a path that a footer has. It must not lead out of the summary's directory: a file that is opened must not
/// make its reader open any other.
pub(super) fn inside(named: &str) -> Result<Vec<&str>> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let parts: Vec<&str> = named.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    // Backslashes and colons are nothing on one system and a way out on another.
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

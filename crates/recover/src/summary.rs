//! Recognizes summary files such as `_metadata`: footers whose row groups are in other files.

use marquetry_base::{Error, Result};
use marquetry_core::metadata::ParquetMetaData;
use std::collections::HashSet;

/// Returns the other file that has pages of a row group, if there is one.
pub(crate) fn other_file(metadata: &ParquetMetaData, index: usize) -> Option<String> {
    let mut chunks = metadata.row_group(index).columns();
    chunks.find_map(|chunk| chunk.ok()?.elsewhere().map(String::from))
}

/// Fails for the footer of a file without pages, all of whose row groups are in other files.
pub(crate) fn refuse_summary(metadata: &ParquetMetaData) -> Result<()> {
    let mut paths = (0..metadata.num_row_groups()).map(|index| other_file(metadata, index));
    let Some(Some(first)) = paths.next() else { return Ok(()) };
    let mut others = HashSet::new();
    for path in paths {
        let Some(path) = path else { return Ok(()) };
        others.insert(path);
    }
    others.remove(&first);
    let more = match others.len() {
        0 => String::new(),
        1 => " and 1 other file".to_owned(),
        count => format!(" and {count} other files"),
    };
    Err(Error::unsupported(format!(
        "a summary, as `_metadata` is: its row groups are in {first}{more}, and no page is here; recover what is broken of \
         these, and write the summary again (`marquetry summary`)"
    )))
}

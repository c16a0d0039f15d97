//! Bytes of a file that nothing in it refers to: checkpoints, footers from before a change in place, removed row groups.

use crate::text_table::percent;
use marquetry::file::metadata::{ColumnChunk, ParquetMetaData};
use marquetry::file::{Source, unreferenced_bytes};

/// The number of such bytes; `None` if the footer does not tell, because it hides columns, or refers to pages in other
/// files.
pub(crate) fn unreferenced(source: &dyn Source, metadata: &ParquetMetaData) -> Option<u64> {
    let is_here = |chunk: ColumnChunk<'_>| chunk.file_path().is_none_or(|path| path.is_empty());
    let mut chunks = metadata.row_groups().flat_map(|group| group.columns());
    chunks.all(|chunk| chunk.is_ok_and(is_here)).then(|| unreferenced_bytes(source, metadata))
}

/// The message about such bytes in a file of `size` bytes.
pub(crate) fn line(bytes: u64, size: u64) -> String {
    let share = percent(Some(bytes as f64 / size.max(1) as f64));
    format!("nothing refers to {bytes} bytes, {share}; rewrite leaves them behind")
}

//! Measures stretches of rows by encoding them.

use super::candidates::Choice;
use super::time_left::TimeLeft;
use crate::reencode::{ColumnSource, Reencoder};
use marquetry_base::Result;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::write::EncodedChunk;
use marquetry_format::Writer;

/// Rows of a row group that are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) row_group: usize,
    pub(super) first: u64,
    pub(super) rows: u64,
}

/// Returns the windows of a row group. With up to `most` rows it is measured as a whole, otherwise by up to four
/// stretches, which are spread evenly.
pub(super) fn windows(row_group: usize, rows: u64, most: u64) -> Vec<Window> {
    let count = rows.div_ceil(most).min(4);
    let each = most.min(rows);
    let first = |i: u64| if count < 2 { 0 } else { (rows - each) / (count - 1) * i };
    (0..count).map(|i| Window { row_group, first: first(i), rows: each }).collect()
}

/// The measurement of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measured {
    /// Number of rows that there was time for.
    pub(super) rows: u64,
    /// Number of bytes of their pages and indexes.
    pub(super) bytes: u64,
}

/// Encodes the window's rows with a choice. Encodes fewer rows if the time is over before, or if their values have more
/// than `most_bytes`.
pub(super) fn encoded_bytes(
    input: &ColumnSource,
    leaf: usize,
    window: Window,
    choice: Choice,
    (time, most_bytes): (TimeLeft, u64),
) -> Result<Measured> {
    let settings = choice.settings(input.metadata.schema().column(leaf))?;
    let mut recoder = Reencoder::new(input, &[window.row_group], leaf, false);
    recoder.skip(window.first)?;
    let is_enough = |_, bytes| bytes >= most_bytes || time.is_over();
    let (chunk, rows) = recoder.sample(window.rows, &settings, is_enough)?;
    Ok(Measured { rows, bytes: chunk.bytes.len() + index_bytes(&chunk) })
}

fn index_bytes(chunk: &EncodedChunk) -> u64 {
    let mut writer = Writer::new();
    if let Some(index) = &chunk.column_index {
        index.write(&mut writer);
    }
    if let Some(index) = &chunk.offset_index {
        index.write(&mut writer);
    }
    writer.finish().len() as u64
}

/// Returns the bytes of a column's pages and indexes in all row groups. Impossible sizes count as 0.
///
/// Fails if the footer is wrong.
pub fn column_bytes(metadata: &ParquetMetaData, leaf: usize) -> Result<u64> {
    (0..metadata.num_row_groups())
        .try_fold(0u64, |sum, group| Ok(sum.saturating_add(stored_bytes(metadata, group, leaf)?)))
}

/// Returns the bytes of a column's pages and indexes in one row group.
pub(super) fn stored_bytes(metadata: &ParquetMetaData, row_group: usize, leaf: usize) -> Result<u64> {
    let chunk = metadata.row_group(row_group).column(leaf)?;
    let index =
        |range: Option<std::ops::Range<u64>>| range.map_or(0, |range| range.end.saturating_sub(range.start));
    let pages = u64::try_from(chunk.compressed_size()).unwrap_or(0);
    Ok(pages
        .saturating_add(index(chunk.column_index_range()))
        .saturating_add(index(chunk.offset_index_range())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_row_groups_are_measured_at_both_ends() {
        let of = |rows| windows(0, rows, 100).iter().map(|it| (it.first, it.rows)).collect::<Vec<_>>();
        assert!(of(0).is_empty());
        assert_eq!(of(100), [(0, 100)]);
        assert_eq!(of(150), [(0, 100), (50, 100)]);
        assert_eq!(of(1_000), [(0, 100), (300, 100), (600, 100), (900, 100)]);
    }
}

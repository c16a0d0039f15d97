//! Finds chunks of a footer that overlap: the place of one of them is damaged.

use marquetry_core::metadata::ParquetMetaData;
use std::ops::Range;

/// Finds, for each row group, bytes that also belong to another chunk.
pub(crate) fn overlaps(metadata: &ParquetMetaData) -> Vec<Option<String>> {
    let mut out = vec![None; metadata.num_row_groups()];
    let mut chunks: Vec<(Range<u64>, usize, usize)> = Vec::new();
    for group in metadata.row_groups() {
        for (column, chunk) in group.columns().enumerate() {
            let range =
                chunk.ok().filter(|chunk| chunk.num_values() > 0).and_then(|chunk| chunk.byte_range().ok());
            chunks
                .extend(range.filter(|range| !range.is_empty()).map(|range| (range, group.index(), column)));
        }
    }
    chunks.sort_by_key(|(range, ..)| (range.start, range.end));
    let mut furthest: Option<usize> = None;
    for i in 0..chunks.len() {
        if let Some(before) = furthest.filter(|before| chunks[*before].0.end > chunks[i].0.start) {
            for (mine, other) in [(before, i), (i, before)] {
                let ((_, group, column), (_, of, with)) = (&chunks[mine], &chunks[other]);
                let [name, with] = [column, with].map(|i| metadata.schema().column(*i).dotted());
                let text =
                    || format!("bytes of {name} are also those of {with} in row group {of} of the footer");
                out[*group].get_or_insert_with(text);
            }
        }
        if furthest.is_none_or(|before| chunks[before].0.end < chunks[i].0.end) {
            furthest = Some(i);
        }
    }
    out
}

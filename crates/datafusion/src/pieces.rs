//! Maps a byte range of a file, as DataFusion cuts files, to the rows that are read for it.
//!
//! DataFusion cuts files at any byte. Each row must belong to one range, whatever the cuts: a row group belongs to the range that
//! has its middle; where a file has few row groups and an offset index, so that parts of them can be read, each of its rows
//! belongs to the range that has its share of the file.

use marquetry_core::metadata::{ParquetMetaData, RowGroup};
use std::ops::Range;

/// Rows of one row group, numbered within it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) row_group: usize,
    pub(crate) rows: Range<u64>,
}

/// A file with at least this many row groups is split between row groups only.
const MANY: usize = 8;

/// The pieces of a file of `size` bytes that belong to `range`.
pub(crate) fn pieces(
    metadata: &ParquetMetaData,
    size: u64,
    range: Option<Range<u64>>,
    may_cut: bool,
) -> Vec<Piece> {
    let all =
        metadata.row_groups().map(|group| Piece { row_group: group.index(), rows: 0..group.num_rows() });
    let Some(range) = range.filter(|range| range.start > 0 || range.end < size) else { return all.collect() };
    match may_cut && metadata.num_row_groups() < MANY && has_offset_indexes(metadata) {
        true => cut(all, rows_of(&range, size, metadata.num_rows())),
        false => all.filter(|piece| range.contains(&middle(metadata, piece.row_group, size))).collect(),
    }
}

/// The rows whose share of the file begins in `range`.
fn rows_of(range: &Range<u64>, size: u64, rows: u64) -> Range<u64> {
    let share = |byte: u64| match byte >= size {
        true => rows,
        // At most `rows`.
        false => (u128::from(byte) * u128::from(rows) / u128::from(size)) as u64,
    };
    share(range.start)..share(range.end)
}

/// The parts of pieces that lie within `wanted`, in rows of the file.
fn cut(pieces: impl Iterator<Item = Piece>, wanted: Range<u64>) -> Vec<Piece> {
    let mut first = 0u64;
    let mut out = Vec::new();
    for Piece { row_group, rows } in pieces {
        // Row counts of a footer are untrusted.
        let next = first.saturating_add(rows.end);
        let begin = wanted.start.clamp(first, next) - first;
        let end = wanted.end.clamp(first, next) - first;
        if begin < end {
            out.push(Piece { row_group, rows: begin..end });
        }
        first = next;
    }
    out
}

/// The byte in the middle of a row group, by which it belongs to a range; estimated if the footer does not say where it is.
fn middle(metadata: &ParquetMetaData, row_group: usize, size: u64) -> u64 {
    let group = metadata.row_group(row_group);
    let ranges: Option<Vec<Range<u64>>> =
        group.columns().map(|chunk| chunk.and_then(|chunk| chunk.byte_range()).ok()).collect();
    let bounds = ranges.and_then(|ranges| {
        let start = ranges.iter().map(|range| range.start).min()?;
        Some(start..ranges.iter().map(|range| range.end).max()?)
    });
    let middle = match bounds {
        Some(bounds) => bounds.start + (bounds.end - bounds.start) / 2,
        None => {
            let shares = u128::from(size) * row_group as u128 / metadata.num_row_groups() as u128;
            u64::try_from(shares).unwrap_or(0)
        }
    };
    // A row group of a damaged footer must belong to some range, too.
    middle.min(size.saturating_sub(1))
}

fn has_offset_indexes(metadata: &ParquetMetaData) -> bool {
    let has = |group: RowGroup<'_>| {
        group.columns().all(|chunk| chunk.is_ok_and(|chunk| chunk.offset_index_range().is_some()))
    };
    metadata.row_groups().all(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_belongs_to_one_range() {
        let groups = [100, 1, 0, 57];
        let all = || groups.iter().enumerate().map(|(row_group, rows)| Piece { row_group, rows: 0..*rows });
        for (size, cuts) in
            [(1000, vec![0, 1, 500, 999, 1000]), (3, vec![0, 1, 2, 3]), (10_000, vec![0, 10_000])]
        {
            let mut seen = vec![Vec::new(); groups.len()];
            for cut_at in cuts.windows(2) {
                for piece in cut(all(), rows_of(&(cut_at[0]..cut_at[1]), size, 158)) {
                    seen[piece.row_group].extend(piece.rows);
                }
            }
            for (rows, seen) in groups.iter().zip(seen) {
                assert_eq!(seen, (0..*rows).collect::<Vec<u64>>(), "{size} {cuts:?}");
            }
        }
    }
}

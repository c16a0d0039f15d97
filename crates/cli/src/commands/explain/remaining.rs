//! Counts what remains to be read after pruning.

use super::matching::Matching;
use crate::failure::Failure;
use marquetry::OpenFile;
use marquetry::arrow::ProjectionMask;
use marquetry::arrow::arrow_reader::columns_mask;
use marquetry::errors::{Error, Limits};
use marquetry::file::metadata::ColumnChunk;
use marquetry::predicate::{column_and_path, names_column};
use marquetry::prune::RowGroupMatch;
use marquetry_core::page_index::read_offset_index;
use std::ops::Range;

/// What remains of a file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RemainingRead {
    pub(super) row_groups: usize,
    /// Row groups in which every row matches.
    pub(super) matched: usize,
    pub(super) rows: u64,
    /// Stored bytes of the columns that have to be read.
    pub(super) bytes: u64,
}

/// The leaf columns of some columns and VARIANT paths, or all.
pub(super) fn leaves_of(file: &OpenFile, columns: Option<&[String]>) -> Result<Vec<usize>, Failure> {
    let metadata = file.metadata();
    let mask = match columns {
        Some(columns) => columns_mask(metadata, columns)?,
        None => ProjectionMask::all(),
    };
    Ok((0..metadata.schema().num_columns()).filter(|leaf| mask.leaf_included(*leaf)).collect())
}

/// The leaf columns of those columns that the file has, or all.
pub(super) fn there(file: &OpenFile, columns: Option<&[String]>) -> Result<Vec<usize>, Failure> {
    let schema = file.metadata().schema();
    let is_there = |name: &String| {
        let column = column_and_path(name).map_or(name.as_str(), |(column, _)| column);
        names_column(schema, name) || names_column(schema, column)
    };
    match columns {
        Some(columns) => {
            let columns: Vec<String> = columns.iter().filter(|name| is_there(name)).cloned().collect();
            leaves_of(file, Some(&columns))
        }
        None => leaves_of(file, None),
    }
}

impl RemainingRead {
    /// The whole file.
    pub(super) fn whole(matching: &Matching, wanted: &[usize]) -> RemainingRead {
        let mut left = RemainingRead::default();
        for group in matching.metadata.row_groups() {
            left.row_groups += 1;
            left.rows = left.rows.saturating_add(group.num_rows());
            for leaf in both(wanted, matching.bound.leaves()) {
                left.add(group.column(leaf).map_or(0, stored));
            }
        }
        left
    }

    /// The rows that may match.
    pub(super) fn of(
        matching: &Matching,
        wanted: &[usize],
        kept: &[RowGroupMatch],
    ) -> Result<RemainingRead, Error> {
        let mut left = RemainingRead::default();
        for (group, kept) in matching.metadata.row_groups().zip(kept) {
            let whole: Vec<_> = std::iter::once(0..group.num_rows()).collect();
            let (leaves, ranges) = match kept {
                RowGroupMatch::None => continue,
                // The predicate is not evaluated there, so its columns are not read.
                RowGroupMatch::All => (wanted.to_vec(), &whole[..]),
                RowGroupMatch::Some(ranges) => (both(wanted, matching.bound.leaves()), &ranges[..]),
            };
            left.row_groups += 1;
            left.matched += usize::from(*kept == RowGroupMatch::All);
            left.rows += ranges.iter().map(|range| range.end - range.start).sum::<u64>();
            for leaf in leaves {
                let Ok(chunk) = group.column(leaf) else { continue };
                left.add(match ranges == whole {
                    true => stored(chunk),
                    false => stored_in(matching, chunk, ranges, group.num_rows()),
                });
            }
        }
        Ok(left)
    }

    /// Adds what remains of another file.
    pub(super) fn add_all(&mut self, other: RemainingRead) {
        self.row_groups += other.row_groups;
        self.matched += other.matched;
        self.rows = self.rows.saturating_add(other.rows);
        self.add(other.bytes);
    }

    fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

fn both(a: &[usize], b: &[usize]) -> Vec<usize> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// Bytes of all pages. An invalid size counts as zero.
fn stored(chunk: ColumnChunk<'_>) -> u64 {
    u64::try_from(chunk.compressed_size()).unwrap_or(0)
}

/// Bytes of the pages with rows of the ranges, and of the dictionary; of all pages if there is no offset index.
fn stored_in(matching: &Matching, chunk: ColumnChunk<'_>, ranges: &[Range<u64>], rows: u64) -> u64 {
    let index = read_offset_index(&*matching.source, chunk, &Limits::default()).ok().flatten();
    let Some(index) = index else { return stored(chunk) };
    let starts: Vec<u64> =
        index.page_locations.iter().map(|page| u64::try_from(page.first_row_index).unwrap_or(0)).collect();
    let ends = starts.iter().skip(1).copied().chain([rows]);
    let size = |page: usize| u64::try_from(index.page_locations[page].compressed_page_size).unwrap_or(0);
    let data: u64 = (0..starts.len()).map(size).sum();
    let meets =
        |page: Range<u64>| ranges.iter().any(|range| range.start < page.end && page.start < range.end);
    let pages = starts.iter().copied().zip(ends).enumerate();
    let needed: u64 = pages.filter(|(_, (start, end))| meets(*start..*end)).map(|(page, _)| size(page)).sum();
    stored(chunk).saturating_sub(data) + needed
}

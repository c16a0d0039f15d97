//! Checks column indexes and offset indexes, alone and against the pages that they describe.

use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use crate::statistics;
use marquetry_base::ErrorLocation;
use marquetry_core::metadata::ColumnChunk;
use marquetry_core::page::{LocatedHeader, value_encoding};
use marquetry_core::page_index::{read_column_index, read_offset_index};
use marquetry_core::schema::Leaf;
use marquetry_core::statistics::{
    ObservedPage, counts_suffixes, wrong_boundary_order, wrong_byte_count, wrong_page_counts,
};
use marquetry_format::{ColumnIndex, OffsetIndex};
use std::ops::Range;

const UNREADABLE: Rule = rule(
    "index-unreadable",
    Severity::Corrupt,
    Level::Quick,
    "Column indexes and offset indexes can be read",
    "PageIndex.md; parquet.thrift, ColumnIndex, OffsetIndex",
);
const LISTS: Rule = rule(
    "column-index-lists",
    Severity::Invalid,
    Level::Quick,
    "The lists of a column index have one element for each page, its histograms one for each page and level",
    "parquet.thrift, ColumnIndex",
);
const VALID: Rule = rule(
    "column-index-form",
    Severity::Invalid,
    Level::Quick,
    "Bounds of pages with values are values of the column's type, the lower one not above the upper",
    "parquet.thrift, ColumnIndex.min_values, max_values",
);
const BOUNDARY: Rule = rule(
    "column-index-boundary-order",
    Severity::Invalid,
    Level::Quick,
    "Bounds are sorted as the boundary order says",
    "parquet.thrift, ColumnIndex.boundary_order",
);
const COUNTS: Rule = rule(
    "column-index-counts",
    Severity::Invalid,
    Level::Default,
    "Null pages, null counts, NaN counts and histograms of a column index are right",
    "parquet.thrift, ColumnIndex.null_pages, null_counts, nan_counts, definition_level_histograms",
);
const BOUNDS: Rule = rule(
    "column-index-bounds",
    Severity::Invalid,
    Level::Deep,
    "Bounds of pages bound their values",
    "parquet.thrift, ColumnIndex.min_values, max_values",
);
const OFFSETS: Rule = rule(
    "offset-index-order",
    Severity::Invalid,
    Level::Quick,
    "The places of an offset index go up inside the chunk, its rows from 0 inside the row group",
    "parquet.thrift, OffsetIndex, PageLocation",
);
const BYTE_COUNTS: Rule = rule(
    "offset-index-lists",
    Severity::Invalid,
    Level::Quick,
    "An offset index that counts the bytes of byte strings counts those of each page",
    "parquet.thrift, OffsetIndex.unencoded_byte_array_data_bytes",
);
const PLACES: Rule = rule(
    "offset-index-pages",
    Severity::Invalid,
    Level::Default,
    "Data pages are where the offset index says, with the size and the first row that it says",
    "parquet.thrift, PageLocation",
);
const PAGES: Rule = rule(
    "index-page-count",
    Severity::Invalid,
    Level::Quick,
    "Column index and offset index have as many entries as the chunk has data pages",
    "PageIndex.md; parquet.thrift, OffsetIndex.page_locations",
);
const BYTES: Rule = rule(
    "offset-index-bytes",
    Severity::Invalid,
    Level::Deep,
    "The bytes of byte strings that an offset index counts are right",
    "parquet.thrift, OffsetIndex.unencoded_byte_array_data_bytes",
);

pub(crate) const RULES: &[Rule] =
    &[UNREADABLE, LISTS, VALID, BOUNDARY, COUNTS, BOUNDS, OFFSETS, BYTE_COUNTS, PLACES, PAGES, BYTES];

/// The indexes of a chunk, compared with its pages one by one.
#[derive(Debug, Default)]
pub(crate) struct Indexes {
    column: Option<ColumnIndex>,
    offset: Option<OffsetIndex>,
    /// Whether the offset index is consistent, so that pages are compared with it.
    is_sound: bool,
    /// Number of data pages so far.
    pages: usize,
    /// Number of rows before the next page, or `None` after a page with an unknown number of rows.
    rows: Option<u64>,
}

/// Reads both indexes, and checks each alone.
pub(crate) fn read(
    file: &VerifyContext,
    column: usize,
    chunk: ColumnChunk<'_>,
    place: &ErrorLocation,
    findings: &mut Findings,
) -> Indexes {
    // Indexes outside of the file were reported with the footer.
    let is_inside = |range: Option<Range<u64>>| range.is_none_or(|range| range.end <= file.data_end);
    let mut indexes = Indexes { rows: Some(0), ..Indexes::default() };
    if is_inside(chunk.column_index_range()) {
        match read_column_index(&*file.source, chunk, &file.limits) {
            Ok(Some(index)) => {
                let place = at(place, chunk.column_index_range());
                let is_usable = check_column_index(file, &index, column, &place, findings);
                indexes.column = Some(index).filter(|_| is_usable);
            }
            Ok(None) => {}
            Err(error) => findings.add_error(&UNREADABLE, place.clone(), error),
        }
    }
    if is_inside(chunk.offset_index_range()) {
        match read_offset_index(&*file.source, chunk, &file.limits) {
            Ok(Some(index)) => {
                let place = at(place, chunk.offset_index_range());
                let rows = place.row_group.map_or(0, |i| file.metadata.row_group(i).num_rows());
                check_byte_counts(&index, &place, findings);
                indexes.is_sound = check_offset_index(&index, chunk, rows, &place, findings);
                indexes.offset = Some(index);
            }
            Ok(None) => {}
            Err(error) => findings.add_error(&UNREADABLE, place.clone(), error),
        }
    }
    if let (Some(column), Some(offset)) = (&indexes.column, &indexes.offset)
        && column.null_pages.len() != offset.page_locations.len()
    {
        findings.add(&PAGES, place.clone(), || {
            let (column, offset) = (column.null_pages.len(), offset.page_locations.len());
            format!("{column} pages in the column index, {offset} in the offset index")
        });
        // The number of data pages will show which index is right. The column index cannot be compared with single
        // pages.
        indexes.column = None;
    }
    indexes
}

fn at(place: &ErrorLocation, range: Option<Range<u64>>) -> ErrorLocation {
    let mut place = place.clone();
    place.offset = range.map(|range| range.start);
    place
}

/// Checks a column index. Returns whether its lists have valid lengths.
fn check_column_index(
    file: &VerifyContext,
    index: &ColumnIndex,
    column: usize,
    place: &ErrorLocation,
    findings: &mut Findings,
) -> bool {
    let (leaf, order) = (file.leaf(column), file.order(column));
    let pages = index.null_pages.len();
    let levels = |max: u8| pages.saturating_mul(usize::from(max) + 1);
    let lists = [
        ("min_values", Some(index.min_values.len()), pages),
        ("max_values", Some(index.max_values.len()), pages),
        ("null_counts", index.null_counts.as_ref().map(Vec::len), pages),
        ("nan_counts", index.nan_counts.as_ref().map(Vec::len), pages),
        (
            "repetition_level_histograms",
            index.repetition_level_histograms.as_ref().map(Vec::len),
            levels(leaf.max_rep()),
        ),
        (
            "definition_level_histograms",
            index.definition_level_histograms.as_ref().map(Vec::len),
            levels(leaf.max_def()),
        ),
    ];
    let mut is_usable = true;
    for (name, len, expected) in lists {
        // QUIRK: some writers leave lists empty that they do not use.
        if let Some(len) = len.filter(|len| *len != expected && (*len != 0 || name.contains("values"))) {
            is_usable = false;
            findings.add(&LISTS, place.clone(), || format!("{len} {name} of {pages} pages, not {expected}"));
        }
    }
    if !is_usable {
        return false;
    }
    let Some(order) = order else {
        // Pages of nulls have no bounds, so no order is needed.
        if index.null_pages.contains(&false) {
            statistics::no_order(file, leaf, "a column index", place, findings);
        }
        return true;
    };
    let mut is_valid = true;
    for (i, (is_null, (min, max))) in
        index.null_pages.iter().zip(index.min_values.iter().zip(&index.max_values)).enumerate()
    {
        if !is_null {
            is_valid &= statistics::check_pair(
                &VALID,
                leaf,
                order,
                (Some(min), Some(max)),
                || format!("data page {i}: "),
                place,
                findings,
            );
        }
    }
    if let Some(sorted) = wrong_boundary_order(index, order).filter(|_| is_valid) {
        findings.add(&BOUNDARY, place.clone(), || {
            format!("{} is stated, {sorted} is true", index.boundary_order)
        });
    }
    true
}

/// QUIRK: some writers leave lists empty that they do not use.
fn check_byte_counts(index: &OffsetIndex, place: &ErrorLocation, findings: &mut Findings) {
    let pages = index.page_locations.len();
    let counts = index.unencoded_byte_array_data_bytes.as_ref().map(Vec::len);
    if let Some(counts) = counts.filter(|counts| *counts != 0 && *counts != pages) {
        findings.add(&BYTE_COUNTS, place.clone(), || {
            format!("{counts} unencoded_byte_array_data_bytes of {pages} pages")
        });
    }
}

fn check_offset_index(
    index: &OffsetIndex,
    chunk: ColumnChunk<'_>,
    rows: u64,
    place: &ErrorLocation,
    findings: &mut Findings,
) -> bool {
    let Ok(range) = chunk.byte_range() else { return false };
    let (mut end, mut row) = (range.start, 0);
    for (i, location) in index.page_locations.iter().enumerate() {
        let start = u64::try_from(location.offset).unwrap_or(0);
        let size = u64::try_from(location.compressed_page_size).unwrap_or(0);
        let first_row = location.first_row_index;
        // QUIRK: total_compressed_size may forget the dictionary page's header.
        let is_inside = start >= end && start < range.end;
        let is_first = i > 0 || first_row == 0;
        let is_row = first_row >= row && u64::try_from(first_row).is_ok_and(|first| first <= rows);
        if !is_inside || size == 0 || !is_first || !is_row {
            findings.add(&OFFSETS, place.clone(), || {
                format!(
                    "data page {i}: {} bytes at byte {}, first row {first_row} of {rows}",
                    location.compressed_page_size, location.offset
                )
            });
            return false;
        }
        (end, row) = (start.saturating_add(size), first_row);
    }
    true
}

impl Indexes {
    /// Whether pages must begin with a row.
    pub(crate) fn has_offset_index(&self) -> bool {
        self.is_sound
    }

    /// Compares the next data page with both indexes.
    pub(crate) fn check_page(
        &mut self,
        file: &VerifyContext,
        start: &LocatedHeader,
        leaf: &Leaf,
        seen: &ObservedPage,
        place: &ErrorLocation,
        findings: &mut Findings,
    ) {
        let i = self.pages;
        self.pages += 1;
        let rows_before = self.rows;
        self.rows = self.rows.zip(seen.rows).and_then(|(before, rows)| before.checked_add(rows));
        if let Some(index) = self.offset.as_ref().filter(|_| self.is_sound) {
            check_location(index, i, start, rows_before, place, findings);
            check_bytes(file, index, i, start, seen, place, findings);
        }
        if let Some(index) = self.column.as_ref().filter(|index| i < index.null_pages.len()) {
            for message in wrong_page_counts(index, i, leaf, seen) {
                findings.add(&COUNTS, place.clone(), || message);
            }
            if let (Some(bounds), false) = (&seen.bounds, index.null_pages[i]) {
                let (min, max) = (Some(&index.min_values[i][..]), Some(&index.max_values[i][..]));
                statistics::check_bounds(&BOUNDS, leaf, bounds, (min, max), place, findings);
            }
        }
    }

    /// Compares the number of pages with both indexes, behind the last page.
    pub(crate) fn finish(&self, place: &ErrorLocation, findings: &mut Findings) {
        let counts = [
            ("column", self.column.as_ref().map(|index| index.null_pages.len())),
            ("offset", self.offset.as_ref().map(|index| index.page_locations.len())),
        ];
        for (name, count) in counts {
            if let Some(count) = count.filter(|count| *count != self.pages) {
                findings.add(&PAGES, place.clone(), || {
                    format!("{count} pages in the {name} index, the chunk has {} data pages", self.pages)
                });
            }
        }
    }
}

fn check_location(
    index: &OffsetIndex,
    i: usize,
    start: &LocatedHeader,
    rows_before: Option<u64>,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    let Some(location) = index.page_locations.get(i) else { return };
    let size = start.body - start.offset + u64::from(start.header.compressed_page_size.unsigned_abs());
    let first_row = rows_before.unwrap_or_else(|| u64::try_from(location.first_row_index).unwrap_or(0));
    let said = (location.offset, i64::from(location.compressed_page_size), location.first_row_index);
    let (Ok(offset), Ok(size), Ok(first)) =
        (i64::try_from(start.offset), i64::try_from(size), i64::try_from(first_row))
    else {
        return;
    };
    if said != (offset, size, first) {
        findings.add(&PLACES, place.clone(), || {
            format!(
                "{} bytes at byte {}, first row {}, in the offset index; {size} bytes at byte {offset}, first row {first}",
                said.1, said.0, said.2
            )
        });
    }
}

/// Compares the byte count of the byte strings in a page.
fn check_bytes(
    file: &VerifyContext,
    index: &OffsetIndex,
    i: usize,
    start: &LocatedHeader,
    seen: &ObservedPage,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    let said = index.unencoded_byte_array_data_bytes.as_ref().and_then(|bytes| bytes.get(i)).copied();
    let Some(message) = wrong_byte_count(said, seen) else { return };
    let encoding = value_encoding(&start.header);
    let is_quirk = counts_suffixes(file.metadata.created_by(), encoding, said, seen);
    findings.add(if is_quirk { &statistics::SUFFIXES } else { &BYTES }, place.clone(), || message);
}

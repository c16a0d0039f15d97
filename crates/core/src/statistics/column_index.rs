//! The column index: bounds and counts of each data page of a chunk.
//!
//! Spec: `ColumnIndex` in parquet.thrift, PageIndex.md.

use crate::sort_order::SortOrder;
use crate::statistics::chunk_statistics::{count, cut};
use crate::statistics::level_histogram::LevelHistogram;
use crate::statistics::min_max::MinMaxStats;
use marquetry_format::{BoundaryOrder, ColumnIndex};
use std::cmp::Ordering;

/// The statistics of one data page.
#[derive(Debug, Clone, Copy)]
pub struct PageStatistics<'a> {
    /// Bounds of the values, and the number of NaNs.
    pub bounds: &'a MinMaxStats,
    /// Number of values without nulls.
    pub values: u64,
    /// Number of nulls, as in the page's statistics.
    pub null_count: u64,
    /// Histograms of the levels. If they are missing for one page, the index has none.
    pub levels: Option<&'a LevelHistogram>,
}

/// A builder of a chunk's column index, page by page.
#[derive(Debug, Clone)]
pub struct ColumnIndexBuilder {
    order: SortOrder,
    truncate: Option<usize>,
    is_text: bool,
    /// Whether all pages so far have the bounds that an index must have.
    is_possible: bool,
    has_levels: bool,
    null_pages: Vec<bool>,
    min_values: Vec<Vec<u8>>,
    max_values: Vec<Vec<u8>>,
    null_counts: Vec<i64>,
    nan_counts: Vec<i64>,
    def: Vec<i64>,
    rep: Vec<i64>,
}

impl ColumnIndexBuilder {
    /// Creates a builder without pages. Bounds are truncated to `truncate` bytes, as UTF-8 if `is_text`.
    pub fn new(order: SortOrder, truncate: Option<usize>, is_text: bool) -> Self {
        ColumnIndexBuilder {
            order,
            truncate,
            is_text,
            is_possible: order != SortOrder::Undefined,
            has_levels: true,
            null_pages: Vec::new(),
            min_values: Vec::new(),
            max_values: Vec::new(),
            null_counts: Vec::new(),
            nan_counts: Vec::new(),
            def: Vec::new(),
            rep: Vec::new(),
        }
    }

    /// Adds the next page.
    pub fn push_page(&mut self, page: PageStatistics<'_>) {
        if !self.is_possible {
            return;
        }
        let is_null_page = page.values == 0;
        let (min, max) = match cut(page.bounds, self.truncate, self.is_text) {
            // SPEC: pages of only nulls have "byte[0]".
            _ if is_null_page => (Vec::new(), Vec::new()),
            Some(cut) => (cut.min, cut.max),
            // SPEC: "If all non-null values of a page are NaN, a column index must not be written for this column
            // chunk"; this holds under TYPE_ORDER.
            None => {
                *self = ColumnIndexBuilder::new(SortOrder::Undefined, None, false);
                return;
            }
        };
        self.null_pages.push(is_null_page);
        self.min_values.push(min);
        self.max_values.push(max);
        self.null_counts.push(count(page.null_count));
        self.nan_counts.extend(page.bounds.nan_count().map(count));
        self.has_levels &= page.levels.is_some();
        if let Some(levels) = page.levels {
            self.def.extend_from_slice(levels.written_def().unwrap_or_default());
            self.rep.extend_from_slice(levels.written_rep().unwrap_or_default());
        }
    }

    /// Returns the index of all pages. `None` if there must be none, because the values have no order or a page has
    /// values but no bounds, or if there are no pages.
    pub fn finish(self) -> Option<ColumnIndex> {
        if !self.is_possible || self.null_pages.is_empty() {
            return None;
        }
        let histograms = |counts: Vec<i64>| (self.has_levels && !counts.is_empty()).then_some(counts);
        Some(ColumnIndex {
            boundary_order: boundary_order(self.order, &self.null_pages, &self.min_values, &self.max_values),
            null_pages: self.null_pages,
            min_values: self.min_values,
            max_values: self.max_values,
            null_counts: Some(self.null_counts),
            repetition_level_histograms: histograms(self.rep),
            definition_level_histograms: histograms(self.def),
            nan_counts: self.order.is_float().then_some(self.nan_counts),
        })
    }
}

/// Returns the direction in which both lists are sorted, ignoring pages of nulls; ascending if both directions hold.
pub fn boundary_order(
    order: SortOrder,
    null_pages: &[bool],
    min_values: &[Vec<u8>],
    max_values: &[Vec<u8>],
) -> BoundaryOrder {
    let bounds = || {
        let pages = null_pages.iter().zip(min_values.iter().zip(max_values));
        pages.filter(|(is_null, _)| !**is_null).map(|(_, bounds)| bounds)
    };
    let is_sorted = |wrong: Ordering| {
        bounds().zip(bounds().skip(1)).all(|(page, next)| {
            [(page.0, next.0), (page.1, next.1)]
                .iter()
                .all(|(a, b)| order.compare(a, b).is_some_and(|ordering| ordering != wrong))
        })
    };
    match (is_sorted(Ordering::Greater), is_sorted(Ordering::Less)) {
        (true, _) => BoundaryOrder::ASCENDING,
        (false, true) => BoundaryOrder::DESCENDING,
        (false, false) => BoundaryOrder::UNORDERED,
    }
}

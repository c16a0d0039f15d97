//! Prunes by the page index: bounds, null counts and rows of each data page.

use super::extent::{Bounds, Extent, Nulls};
use super::nested::{Elements, LevelCounts};
use super::plan::{Asked, Verdict};
use super::ranges::{intersection, push};
use super::report::PruneReport;
use super::{RowGroupMatch, Run, Stage, column_pair};
use crate::metadata::ColumnChunk;
use crate::page_index::{read_column_index, read_offset_index};
use crate::predicate::{ColumnComparison, Condition, NestedTest};
use crate::schema::Leaf;
use crate::sort_order::SortOrder;
use marquetry_base::{Error, Result};
use marquetry_format::{ColumnIndex, OffsetIndex};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

impl Run<'_> {
    /// Returns the rows that remain after testing the open conditions.
    pub(super) fn ask_pages(&mut self, report: &mut PruneReport) -> Result<RowGroupMatch> {
        let rows = self.group.num_rows();
        let mut columns: BTreeMap<usize, Option<Pages>> = BTreeMap::new();
        let mut rows_of: BTreeMap<usize, Vec<Range<u64>>> = BTreeMap::new();
        for i in self.plan.open() {
            let asked = self.plan.conditions[i];
            let of_asked = match asked {
                Asked::One(condition) => vec![condition.column],
                Asked::Two(compared) => vec![compared.left.column, compared.right.column],
                Asked::Nested(test) => test.columns(),
            };
            for &column in &of_asked {
                if let Entry::Vacant(entry) = columns.entry(column) {
                    let found = self.chunk(column).and_then(|chunk| self.pages(chunk));
                    let found = self.unless_damaged(found, Stage::PageIndex, column, report)?;
                    entry.insert(found.flatten());
                }
            }
            let pages = |column: usize| columns.get(&column).and_then(Option::as_ref);
            let found = match asked {
                Asked::One(condition) => {
                    let column = condition.column;
                    pages(column).map(|it| it.ask(condition, self.order(column), self.leaf(column)))
                }
                Asked::Two(compared) => {
                    let sides = pages(compared.left.column).zip(pages(compared.right.column));
                    sides.map(|(left, right)| self.ask_pages_of_two(compared, left, right))
                }
                Asked::Nested(test) => self.ask_pages_of_nested(test, &pages),
            };
            let Some((verdict, ranges)) = found else { continue };
            self.plan.learn(i, verdict);
            if ranges.iter().map(|range| range.end - range.start).sum::<u64>() < rows {
                of_asked.iter().for_each(|&column| {
                    report.stage(Stage::PageIndex).helped(column, self.group.index());
                });
            }
            rows_of.insert(i, ranges);
        }
        let ranges = self.plan.rows(rows, &|i| rows_of.get(&i).cloned());
        let kept = match self.plan.verdict() {
            Verdict { all: true, .. } => RowGroupMatch::All,
            _ if ranges.is_empty() => RowGroupMatch::None,
            _ => RowGroupMatch::Some(ranges),
        };
        for pages in columns.values().flatten() {
            let left = match &kept {
                RowGroupMatch::None => 0,
                RowGroupMatch::All => pages.rows.len(),
                RowGroupMatch::Some(ranges) => pages.rows.iter().filter(|page| meets(page, ranges)).count(),
            };
            report.stage(Stage::PageIndex).counted(pages.rows.len(), left);
        }
        Ok(kept)
    }

    /// Returns the verdict and the remaining rows of a comparison of two columns: compares pages of both that have a
    /// row in common.
    fn ask_pages_of_two(
        &self,
        compared: &ColumnComparison,
        left: &Pages,
        right: &Pages,
    ) -> (Verdict, Vec<Range<u64>>) {
        let (a, b) = (compared.left.column, compared.right.column);
        let mut all = Verdict { may: false, all: true };
        let mut ranges = Vec::new();
        let (mut i, mut j) = (0, 0);
        while let (Some(of_left), Some(of_right)) = (left.rows.get(i), right.rows.get(j)) {
            let rows = of_left.start.max(of_right.start)..of_left.end.min(of_right.end);
            if !rows.is_empty() {
                let of_left = left.extent(i, self.order(a), self.leaf(a));
                let of_right = right.extent(j, self.order(b), self.leaf(b));
                let found = column_pair::verdict(compared, &of_left, &of_right);
                all = Verdict { may: all.may || found.may, all: all.all && found.all };
                if found.may {
                    push(&mut ranges, rows);
                }
            }
            if of_left.end <= of_right.end { i += 1 } else { j += 1 }
        }
        (all, ranges)
    }

    fn leaf(&self, column: usize) -> &Leaf {
        self.metadata.schema().column(column)
    }

    /// Returns the verdict on a list and the remaining rows, which no page of its columns rules out.
    fn ask_pages_of_nested<'p>(
        &self,
        test: &NestedTest,
        pages: &dyn Fn(usize) -> Option<&'p Pages>,
    ) -> Option<(Verdict, Vec<Range<u64>>)> {
        let rows = self.group.num_rows();
        let mut out: Option<(Verdict, Vec<Range<u64>>)> = None;
        for column in test.columns() {
            let Some(pages) = pages(column) else { continue };
            let mut all = Verdict { may: false, all: true };
            let mut ranges = Vec::new();
            for (page, rows) in pages.rows.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
                let found = self.page_verdict(test, column, pages, page);
                all = Verdict { may: all.may || found.may, all: all.all && found.all };
                if found.may {
                    push(&mut ranges, rows.clone());
                }
            }
            out = Some(match out {
                None => (all, ranges),
                Some((before, others)) => {
                    let ranges = intersection(&others, &ranges);
                    (Verdict { may: !ranges.is_empty(), all: before.all || all.all }, ranges)
                }
            });
        }
        out.filter(|_| rows > 0)
    }

    /// Returns the verdict on a list by one page of `column`.
    fn page_verdict(&self, test: &NestedTest, column: usize, pages: &Pages, page: usize) -> Verdict {
        let index = &pages.bounds;
        let of_elements = Elements {
            levels: LevelCounts::of(&test.levels, pages.histogram(page, self.leaf(column)), None),
            is_all_null: index.null_pages[page],
            nans: index.nan_counts.as_ref().and_then(|counts| u64::try_from(counts[page]).ok()),
            bounds: pages.extent(page, self.order(column), self.leaf(column)).bounds,
        };
        of_elements.verdict_of_column(test, column)
    }

    /// Reads the page indexes of a chunk; `None` if it lacks one of the two.
    fn pages(&self, chunk: ColumnChunk<'_>) -> Result<Option<Pages>> {
        let limits = &self.options.limits;
        if chunk.column_index_range().is_none() || chunk.offset_index_range().is_none() {
            return Ok(None);
        }
        let Some(bounds) = read_column_index(&self.source, chunk, limits)? else { return Ok(None) };
        let Some(places) = read_offset_index(&self.source, chunk, limits)? else { return Ok(None) };
        Pages::new(bounds, &places, self.group.num_rows(), chunk.leaf()).map(Some)
    }
}

/// Whether a page has rows in the ranges, which are sorted.
fn meets(page: &Range<u64>, ranges: &[Range<u64>]) -> bool {
    let next = ranges.partition_point(|range| range.end <= page.start);
    ranges.get(next).is_some_and(|range| range.start < page.end)
}

/// The data pages of a chunk.
pub(super) struct Pages {
    bounds: ColumnIndex,
    /// INVARIANT: one range for each page of the index, from 0 to the last row without gaps.
    rows: Vec<Range<u64>>,
}

impl Pages {
    /// Combines the two indexes. Fails if they do not match each other, or the row group.
    pub(super) fn new(bounds: ColumnIndex, places: &OffsetIndex, rows: u64, leaf: &Leaf) -> Result<Self> {
        let n = places.page_locations.len();
        let ranges = Pages::rows_of(places, rows)?;
        let lists = [
            ("null_pages", Some(bounds.null_pages.len())),
            ("min_values", Some(bounds.min_values.len())),
            ("max_values", Some(bounds.max_values.len())),
            ("null_counts", bounds.null_counts.as_ref().map(Vec::len)),
            ("nan_counts", bounds.nan_counts.as_ref().map(Vec::len)),
        ];
        let wrong = lists.iter().find(|(_, len)| len.is_some_and(|len| len != n));
        if let Some((name, Some(len))) = wrong {
            return Err(Error::corrupt(format!("column index: {len} {name} for {n} pages")));
        }
        // A histogram of another length is ignored: some writers leave it empty.
        let levels = usize::from(leaf.max_def()) + 1;
        let is_right = |list: &Vec<i64>| list.len() == n * levels;
        let histograms = bounds.definition_level_histograms.filter(is_right);
        Ok(Pages { bounds: ColumnIndex { definition_level_histograms: histograms, ..bounds }, rows: ranges })
    }

    /// Returns the rows of each page. Fails if they are not those of the row group, in order.
    pub(super) fn rows_of(places: &OffsetIndex, rows: u64) -> Result<Vec<Range<u64>>> {
        let starts = places.page_locations.iter().map(|page| u64::try_from(page.first_row_index));
        let starts: Vec<u64> = starts
            .collect::<Result<_, _>>()
            .map_err(|_| Error::corrupt("offset index: a page begins at a negative row"))?;
        let ends = starts.iter().skip(1).copied().chain([rows]);
        let ranges: Vec<Range<u64>> =
            starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect();
        if starts.first() != Some(&0) || ranges.iter().any(|range| range.start > range.end) {
            return Err(Error::corrupt(format!(
                "offset index: the pages do not begin at rows 0 to {rows} in order"
            )));
        }
        Ok(ranges)
    }

    /// The number of pages.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of rows of page `page`, and what is known of its entries, whose number in a list only a
    /// histogram shows.
    pub(super) fn known(&self, page: usize, order: Option<SortOrder>, leaf: &Leaf) -> (u64, Extent<'_>) {
        let rows = self.rows[page].end - self.rows[page].start;
        let extent = self.extent(page, order, leaf);
        if leaf.max_rep() == 0 {
            return (rows, extent);
        }
        let counts =
            self.histogram(page, leaf).unwrap_or_default().iter().map(|&count| u64::try_from(count).ok());
        let counts: Option<Vec<u64>> = counts.collect();
        let nulls = match counts.as_deref() {
            Some([absent @ .., _]) => Nulls::exactly(absent.iter().fold(0, |sum, n| sum.saturating_add(*n))),
            _ => Nulls::up_to(u64::MAX),
        };
        (rows, Extent { nulls, ..extent })
    }

    /// Returns how often each definition level occurs in a page.
    fn histogram(&self, page: usize, leaf: &Leaf) -> Option<&[i64]> {
        let levels = usize::from(leaf.max_def()) + 1;
        let histograms = self.bounds.definition_level_histograms.as_deref()?;
        Some(&histograms[page * levels..][..levels])
    }

    /// Returns the verdict on a condition for all rows, and the rows for which it may be true.
    fn ask(
        &self,
        condition: &Condition,
        order: Option<SortOrder>,
        leaf: &Leaf,
    ) -> (Verdict, Vec<Range<u64>>) {
        let mut all = Verdict { may: false, all: true };
        let mut ranges = Vec::new();
        for (page, rows) in self.rows.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let found = self.extent(page, order, leaf).verdict(condition);
            all = Verdict { may: all.may || found.may, all: all.all && found.all };
            if found.may {
                push(&mut ranges, rows.clone());
            }
        }
        (all, ranges)
    }

    fn extent(&self, page: usize, order: Option<SortOrder>, leaf: &Leaf) -> Extent<'_> {
        let index = &self.bounds;
        let rows = self.rows[page].end - self.rows[page].start;
        let count = |list: &Option<Vec<i64>>| list.as_ref().map(|counts| counts[page]);
        let nulls = Nulls::of(leaf, rows, count(&index.null_counts), self.histogram(page, leaf));
        // A page of only nulls has no bounds, whatever is stored in their place.
        let is_null = index.null_pages[page];
        let nulls = match is_null && nulls.may_be_all(rows) {
            true => Nulls::all(rows),
            false => nulls,
        };
        let bounds = match order.filter(|_| !is_null) {
            Some(order) => {
                Bounds::of(leaf, order, Some(&index.min_values[page]), Some(&index.max_values[page]))
            }
            None => Bounds::default(),
        };
        let nans = count(&index.nan_counts).and_then(|nans| u64::try_from(nans).ok());
        Extent { rows, nulls, nans, bounds }
    }
}

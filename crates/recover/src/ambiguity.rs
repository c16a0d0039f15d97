//! Decides whether pages can be read in one way only, where nothing behind them shows that the row group ended.
//!
//! ```text
//! pages     p p p p p p      as many rows in each
//! columns   a b c d e f      a row group,
//!           a a b b c c      or half of one, whose other columns were cut off
//! ```
//!
//! If `b` is of another type than `a`, the second page tells: there is one way only. Pages of nulls alone have no type.
//!
//! If all are of one type, the sizes of pages tell: writers cut a chunk into pages of as many values, of which only the
//! last one has fewer.
//!
//! ```text
//! values    9 5 9 5 9 5 9 5
//! columns   a a b b c c d d      each chunk is cut evenly,
//!           a a a a b b b b      and so it is not
//! ```

use crate::found_page::PageEvidence;
use crate::group_layout::{GroupLayout, PageCuts, PageSplit, is_like};
use crate::page_set::PageSet;
use std::collections::HashSet;
use std::ops::Range;

/// Whether a layout is the only way in which row groups, whole or cut off, can begin there.
pub(crate) fn is_unambiguous(pages: &mut PageSet<'_>, layout: &GroupLayout) -> bool {
    let split = pages.split(layout);
    let chunks = layout.chunks.iter().enumerate();
    let columns: Vec<usize> = chunks.flat_map(|(column, chunk)| chunk.clone().map(move |_| column)).collect();
    let Some(Range { start, end }) = layout.chunks.first().cloned() else { return false };
    let mut search = LayoutSearch {
        pages,
        columns: &columns,
        start,
        split,
        dead_ends: HashSet::new(),
        steps: MAX_STEPS,
        row_groups: MAX_ROW_GROUPS,
    };
    let others = (1..=columns.len()).filter(|&first| first != end - start);
    for first in others {
        if search.could_begin(start, first) {
            return false;
        }
    }
    search.steps > 0 && !search.pages.budget.is_exhausted()
}

/// Whether the chunks of a layout could as well belong to the columns some places further on.
pub(crate) fn could_be_others(pages: &mut PageSet<'_>, layout: &GroupLayout) -> bool {
    let schema = pages.schema.clone();
    let (columns, n) = (schema.columns(), layout.chunks.len());
    (1..n).any(|by| {
        layout.chunks.iter().enumerate().all(|(i, chunk)| {
            let (mine, other) = (&columns[i], &columns[(i + by) % n]);
            is_like(mine, other, pages.are_exact(chunk))
                || chunk.clone().all(|page| pages.is_blank(page, mine, other))
        })
    })
}

/// Whether the rows of a layout are certain even if pages before it are lost. At least one chunk then has a beginning
/// and an end that cannot be inside a longer chunk.
pub(crate) fn has_certain_rows(pages: &mut PageSet<'_>, layout: &GroupLayout) -> bool {
    let n = layout.chunks.len();
    n == 1 || (0..n).any(|i| begins_certainly(pages, layout, i) && ends_certainly(pages, layout, i))
}

fn begins_certainly(pages: &mut PageSet<'_>, layout: &GroupLayout, column: usize) -> bool {
    let start = layout.chunks[column].start;
    pages.pages[start].is_dictionary() || column > 0 && !could_continue(pages, column - 1, column, start - 1)
}

fn ends_certainly(pages: &mut PageSet<'_>, layout: &GroupLayout, column: usize) -> bool {
    let end = layout.chunks[column].end;
    if !pages.follows(end) {
        return false;
    }
    let is_next = pages.pages[end - 1].end == pages.pages[end].offset;
    pages.pages[end].is_dictionary()
        || !is_next
        || column + 1 < layout.chunks.len() && !could_continue(pages, column + 1, column, end)
}

/// Whether a page that was read as one of column `read_as` could belong to column `other`.
fn could_continue(pages: &mut PageSet<'_>, read_as: usize, other: usize, page: usize) -> bool {
    let schema = pages.schema.clone();
    let (mine, other) = (schema.column(read_as), schema.column(other));
    let is_exact = pages.are_exact(&(page..page + 1));
    pages.pages[page].evidence == PageEvidence::Damaged
        || is_like(mine, other, is_exact)
        || pages.is_blank(page, mine, other)
}

/// A search for another way to read the pages of a layout.
struct LayoutSearch<'a, 'p> {
    pages: &'a mut PageSet<'p>,
    /// The column that each page was read as, and the first of these pages.
    columns: &'a [usize],
    start: usize,
    /// The regularity of the layout. Another layout must be as regular.
    split: PageSplit,
    /// Pages from which no layout goes on.
    dead_ends: HashSet<usize>,
    /// Pages that may still be examined, and row groups that may still follow each other.
    steps: usize,
    row_groups: usize,
}

impl LayoutSearch<'_, '_> {
    /// Returns the index of the page behind the last one.
    fn end(&self) -> usize {
        self.start + self.columns.len()
    }

    /// Whether row groups whose first column has `first` pages could begin with page `at`, and go on to the last page.
    fn could_begin(&mut self, at: usize, first: usize) -> bool {
        let schema = self.pages.schema.clone();
        let (mut column, mut start, mut rows, mut expected) = (0, at, 0, None);
        let mut cuts = PageCuts::default();
        for page in at..self.end() {
            if self.steps == 0 || self.pages.budget.is_cancelled() {
                return true;
            }
            self.steps -= 1;
            let found = &self.pages.pages[page];
            let has_no_rows = found.values() == 0 && !found.is_dictionary();
            if expected == Some(rows) && !has_no_rows {
                if cuts.split(true) < self.split {
                    return false;
                }
                (column, start, rows, cuts) = (column + 1, page, 0, PageCuts::default());
            }
            if column == schema.num_columns() {
                return self.could_go_on(page);
            }
            cuts.add(&self.pages.pages[page]);
            if !self.could_be_of(page, column)
                || self.pages.add(column, start, page, &mut rows).is_none()
                || cuts.split(false) < self.split
            {
                return false;
            }
            if page + 1 - at == first {
                expected = Some(rows);
            }
            if expected.is_some_and(|expected| rows > expected || expected == 0) {
                return false;
            }
        }
        true
    }

    /// Whether a page could belong to another column than the one that it was read as.
    fn could_be_of(&mut self, page: usize, column: usize) -> bool {
        let read_as = self.columns[page - self.start];
        // The contents of a damaged page prove nothing.
        if column == read_as || self.pages.pages[page].evidence == PageEvidence::Damaged {
            return true;
        }
        let schema = self.pages.schema.clone();
        let (mine, other) = (schema.column(column), schema.column(read_as));
        let is_exact = self.pages.are_exact(&(page..page + 1));
        is_like(mine, other, is_exact) || self.pages.is_blank(page, other, mine)
    }

    /// Whether another row group could begin with page `at`.
    fn could_go_on(&mut self, at: usize) -> bool {
        if self.dead_ends.contains(&at) {
            return false;
        }
        if self.row_groups == 0 {
            return true;
        }
        let pages = self.end() - at;
        self.row_groups -= 1;
        let goes_on = (1..=pages).any(|first| self.could_begin(at, first));
        self.row_groups += 1;
        if !goes_on {
            self.dead_ends.insert(at);
        }
        goes_on
    }
}

/// Maximum number of pages that are examined. Beyond it, nothing is certain.
const MAX_STEPS: usize = 1 << 20;
/// Maximum number of consecutive row groups that are tried. Beyond it, nothing is certain either.
const MAX_ROW_GROUPS: usize = 256;

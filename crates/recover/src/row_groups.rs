//! Joins found pages to chunks, and chunks to row groups, for a known schema.
//!
//! All chunks of a row group have as many rows, in the order of the columns, one directly behind the other:
//!
//! ```text
//! pages   D d d d | D d | d d d d | D d d d | ...      D dictionary, d data
//! rows      5 5 2 |  12 | 4 4 4 0 |   6 6 0 | ...      12 in each
//! ```
//!
//! Where a chunk without a dictionary follows another, only rows show where one ends. If several ends are possible, the
//! one is taken at which most chunks end as writers end them. If all columns could be each other, as in a table of numbers
//! of one width, this proves nothing, and the layout must be the only one: see [`ambiguity`](super::ambiguity).
//!
//! Behind damage the column of the next page is unknown. A row group is taken there only if its columns cannot be
//! mistaken for each other.

use crate::ambiguity::{could_be_others, has_certain_rows, is_unambiguous};
use crate::filler;
use crate::group_layout::{GroupLayout, MAX_TRIED_LAYOUTS, OrphanPages, PageSplit, RebuiltGroup, is_like};
use crate::page_set::PageSet;
use crate::table_layout::PageGroup;
use crate::truncated::{begins_group, truncated_group};
use marquetry_base::Result;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

/// Builds all row groups of a set of pages.
pub(crate) struct RowGroupBuilder<'a> {
    pages: PageSet<'a>,
    /// Whether the complete columns of a row group that is cut off are wanted, too.
    partial: bool,
    /// Number of rows, and pages of each chunk, of the row groups so far.
    patterns: HashSet<(u64, Vec<usize>)>,
    found: Vec<RebuiltGroup>,
    orphans: Vec<OrphanPages>,
}

impl<'a> RowGroupBuilder<'a> {
    pub(crate) fn new(pages: PageSet<'a>, partial: bool) -> Self {
        let (patterns, found, orphans) = (HashSet::new(), Vec::new(), Vec::new());
        RowGroupBuilder { pages, partial, patterns, found, orphans }
    }

    /// Returns all row groups, and the pages in none.
    ///
    /// `is_anchored`: the first page begins a row group. `known`: the row groups that the pages begin with, found along
    /// with the schema. Returns `None` if their values do not fit it.
    pub(crate) fn run(
        mut self,
        known: &[PageGroup],
        is_anchored: bool,
    ) -> Result<Option<(Vec<RebuiltGroup>, Vec<OrphanPages>)>> {
        if self.pages.schema.num_columns() == 0 {
            return Ok(Some((self.found, self.orphans)));
        }
        for PageGroup { rows, chunks } in known {
            let layout = GroupLayout { chunks: chunks.clone(), rows: *rows, natural: 0 };
            let Some(group) = self.rebuild(&layout, true)? else { return Ok(None) };
            self.found.push(group);
        }
        let (mut at, mut is_anchored) = (known.last().map_or(0, PageGroup::end), is_anchored);
        if !known.is_empty() {
            is_anchored = self.pages.is_next_known(at);
        }
        while at < self.pages.pages.len() {
            if !is_anchored && self.pages.columns_look_alike() {
                self.orphan(at..self.pages.pages.len(), COLUMNS_ALIKE);
                break;
            }
            if let Some((group, end)) = self.group_at(at, is_anchored)? {
                self.found.push(group);
                at = end;
                is_anchored = self.pages.is_next_known(at);
                continue;
            }
            let truncated = match is_anchored && self.partial {
                true => truncated_group(&mut self.pages, at)?,
                false => None,
            };
            is_anchored = false;
            if let Some((group, end)) = truncated {
                self.found.push(group);
                at = end;
                continue;
            }
            self.orphan(at..at + 1, if self.pages.budget.is_exhausted() { GIVEN_UP } else { NO_ROW_GROUP });
            at += 1;
        }
        Ok(Some((self.found, self.orphans)))
    }

    /// Adds pages that belong to no row group. They join the pages before them if they follow these and have the same
    /// reason.
    fn orphan(&mut self, pages: Range<usize>, why: &'static str) {
        let all = &self.pages.pages[pages];
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return };
        match self.orphans.last_mut() {
            Some(before) if all.len() == 1 && before.bytes.end == first.offset && before.why == why => {
                before.bytes.end = last.end;
                before.pages += 1;
            }
            _ => self.orphans.push(OrphanPages { bytes: first.offset..last.end, pages: all.len(), why }),
        }
    }

    /// Returns the row group that begins with a page, and the page behind it.
    fn group_at(&mut self, at: usize, is_anchored: bool) -> Result<Option<(RebuiltGroup, usize)>> {
        let mut layouts = self.layouts(at);
        let all_alike = self.pages.all_alike();
        layouts.sort_by_cached_key(|layout| {
            Reverse((all_alike.then(|| self.pages.split(layout)), layout.natural, layout.rows))
        });
        let is_chosen = layouts.len() > 1;
        let even = layouts.iter().filter(|layout| self.pages.split(layout) > PageSplit::Irregular).count();
        for layout in layouts.into_iter().take(MAX_TRIED_LAYOUTS) {
            let end = layout.chunks.last().map_or(at, |chunk| chunk.end);
            let (alike, blank) = self.doubts(&layout);
            // An end that looks natural may be inside a longer chunk, if the next pages could be of any column.
            let is_certain = !alike && !blank && !all_alike;
            let pattern = (layout.rows, layout.chunks.iter().map(Range::len).collect::<Vec<_>>());
            // A layout must not win against a likelier one only because something follows it.
            let may_be_closed =
                !blank && (!all_alike || even == 1 && self.pages.split(&layout) > PageSplit::Irregular);
            let is_likely = is_anchored
                && (!all_alike && self.patterns.contains(&pattern)
                    || may_be_closed && self.is_closed(end)
                    || is_unambiguous(&mut self.pages, &layout));
            if !is_certain && !is_likely {
                return Ok(None);
            }
            if !is_anchored
                && (could_be_others(&mut self.pages, &layout) || !has_certain_rows(&mut self.pages, &layout))
            {
                return Ok(None);
            }
            let Some(mut found) = self.rebuild(&layout, is_anchored)? else { continue };
            self.patterns.insert(pattern);
            found.is_chosen = is_chosen || !is_certain;
            return Ok(Some((found, end)));
        }
        Ok(None)
    }

    /// Whether a chunk could go on in what was read as the next column's chunk: because the columns are alike, and
    /// because there are only nulls.
    fn doubts(&mut self, layout: &GroupLayout) -> (bool, bool) {
        let schema = self.pages.schema.clone();
        let (mut alike, mut blank) = (false, false);
        let pairs = schema.columns().iter().zip(schema.columns().iter().skip(1));
        for ((a, b), chunk) in pairs.zip(&layout.chunks) {
            if !self.pages.ends_naturally(chunk) {
                alike |= is_like(a, b, self.pages.are_exact(chunk));
                blank |= self.pages.is_blank(chunk.end, b, a);
            }
        }
        (alike, blank)
    }

    /// Whether the bytes behind a row group show that it ended there: another row group, an index, or the beginning of
    /// a footer. The end of a file shows nothing: the file may be cut off just there.
    fn is_closed(&mut self, end: usize) -> bool {
        let Some(last) = end.checked_sub(1).and_then(|last| self.pages.pages.get(last)) else {
            return false;
        };
        if self.pages.follows(end) {
            return !self.layouts(end).is_empty() || begins_group(&mut self.pages, end);
        }
        filler::known(self.pages.window, last.end).is_some()
            || filler::begins_footer(self.pages.window, last.end)
    }

    /// Reads the chunks of a layout. Returns `None` if undamaged pages do not fit the layout.
    fn rebuild(&mut self, layout: &GroupLayout, is_anchored: bool) -> Result<Option<RebuiltGroup>> {
        let cost: u64 = self.pages.pages_of(layout).iter().map(|page| page.uncompressed() / 8).sum();
        if !self.pages.budget.spend(cost) {
            return Ok(None);
        }
        let columns = layout.chunks.len();
        let mut chunks = Vec::new();
        for chunk in self.pages.described(layout, 0..columns, is_anchored) {
            match chunk {
                Ok(chunk) => chunks.push(chunk),
                Err(error) if error.stops_reading() => return Err(error),
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(self.pages.rebuilt(layout, chunks, is_anchored)))
    }

    /// Returns all layouts of complete row groups that begin with a page.
    fn layouts(&mut self, at: usize) -> Vec<GroupLayout> {
        let mut out = Vec::new();
        let (mut rows, mut end) = (0u64, at);
        while let Some(next) = self.pages.add(0, at, end, &mut rows) {
            end = next;
            let pages = self.pages.pages;
            let is_boundary = pages.get(end).is_none_or(|page| page.values() > 0 || page.is_dictionary());
            if pages[end - 1].is_dictionary() || rows == 0 || !is_boundary || self.pages.is_of_other(end, 0) {
                continue;
            }
            out.extend(self.layout(at..end, rows));
            if !self.pages.budget.spend(64) {
                break;
            }
        }
        out
    }

    /// Returns the layout whose first chunk has these pages.
    fn layout(&mut self, first: Range<usize>, rows: u64) -> Option<GroupLayout> {
        let mut natural = usize::from(self.pages.ends_naturally(&first));
        let mut chunks = vec![first];
        for column in 1..self.pages.schema.num_columns() {
            let chunk = self.pages.chunk(column, chunks.last()?.end, rows)?;
            natural += usize::from(self.pages.ends_naturally(&chunk));
            chunks.push(chunk);
        }
        Some(GroupLayout { chunks, rows, natural })
    }
}

const NO_ROW_GROUP: &str = "pages that make up no whole row group";
const COLUMNS_ALIKE: &str = "pages behind damage: columns are too much alike to tell which one is which";
const GIVEN_UP: &str = "so much looks like pages that the search was given up";

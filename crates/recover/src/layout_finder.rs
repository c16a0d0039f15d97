//! Finds all layouts of pages when nothing is known about the columns.
//!
//! A layout cuts pages into chunks and chunks into row groups, so that
//!
//! - all chunks of a row group have as many rows,
//! - all row groups have as many chunks, and the chunks of a column have values and levels of one kind,
//! - only the last row group is cut off, and only if nothing behind it shows that it is whole.
//!
//! ```text
//! pages     i i f i i f i       integers and floats, of 10 rows each
//! layouts   i i f|i i f|i ...   3 columns: two row groups of 10 rows, and the beginning of one
//!           i i f i i f|i ...   6 columns: one row group of 10 rows, and the beginning of one
//!           i i f i i f i ...   7 columns or more: the beginning of a row group
//! ```

use crate::boundaries::{Boundaries, Boundary};
use crate::chunk_kinds::ChunkKinds;
use crate::filler::FooterHead;
use crate::found_page::FoundPage;
use crate::search_budget::SearchBudget;
use crate::table_layout::{PageGroup, TableLayout};
use crate::window::Window;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// The possible ends of a chunk that begins with a certain page.
#[derive(Debug)]
struct ChunkEnds {
    /// The number of rows of the chunk and the page behind it, ascending.
    ends: Vec<(u64, usize)>,
    /// Whether the chunk may go on behind the last page.
    runs_out: bool,
}

/// The end of a chunk with a given number of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ChunkEnd {
    Before(usize),
    /// The chunk is cut off.
    CutOff,
    Nowhere,
}

/// Searches for layouts of the pages from the first one to the first damage.
pub(crate) struct LayoutFinder<'a> {
    pages: &'a [FoundPage],
    boundaries: Boundaries,
    pub(crate) kinds: ChunkKinds<'a>,
    ends: HashMap<usize, Rc<ChunkEnds>>,
    /// Whether an undamaged page fits no type, so that columns are unknown.
    is_any_unknown: bool,
    steps: usize,
}

impl<'a> LayoutFinder<'a> {
    /// Creates a finder for the pages up to the first damage. The first page begins a row group.
    pub(crate) fn new(window: &'a mut Window, pages: &'a [FoundPage], budget: &'a mut SearchBudget) -> Self {
        let (boundaries, pages) = Boundaries::find(window, pages);
        let kinds = ChunkKinds::new(window, pages, budget);
        let ends = HashMap::new();
        LayoutFinder { pages, boundaries, kinds, ends, is_any_unknown: false, steps: MAX_STEPS }
    }

    /// Returns the facts about the schema in the first bytes of the footer, if they are there.
    pub(crate) fn footer(&self) -> Option<FooterHead> {
        self.boundaries.footer
    }

    /// Returns the pages up to the first damage.
    pub(crate) fn pages(&self) -> &'a [FoundPage] {
        self.pages
    }

    /// Returns all layouts. `Err` is the reason why they cannot be found.
    pub(crate) fn layouts(&mut self) -> Result<Vec<TableLayout>, &'static str> {
        let mut out: Vec<TableLayout> = self.single_column().into_iter().collect();
        for &(rows, end) in &*self.ends_of(0).clone().ends.clone() {
            let mut chunks = Vec::from([Range { start: 0, end }]);
            while self.steps > 0 && out.len() < MAX_LAYOUTS {
                let start = chunks[chunks.len() - 1].end;
                if chunks.len() > 1 && (start == self.pages.len() || self.fits_column(start, 0)) {
                    let first = PageGroup { rows, chunks: chunks.clone() };
                    out.extend(self.layouts_after(first));
                }
                if start < self.pages.len() && self.boundaries.before(start) == Boundary::RowGroup {
                    break;
                }
                match self.chunk_end(start, rows) {
                    ChunkEnd::Before(end) => chunks.push(start..end),
                    ChunkEnd::CutOff if !self.boundaries.is_closed => {
                        let (columns, chunks) = (chunks.len(), std::mem::take(&mut chunks));
                        let groups = vec![PageGroup { rows, chunks }];
                        out.push(TableLayout { columns, groups, cut_off: None, is_open: true });
                        break;
                    }
                    _ => break,
                }
            }
        }
        if !self.boundaries.is_closed && self.ends_of(0).runs_out {
            out.push(TableLayout { columns: 1, groups: Vec::new(), cut_off: None, is_open: true });
        }
        if self.steps == 0 || out.len() >= MAX_LAYOUTS || self.kinds.budget.is_exhausted() {
            return Err(TOO_MANY);
        }
        out.retain(|layout| self.boundaries.allow(layout, self.pages.len()));
        if self.is_any_unknown { Err(UNKNOWN_TYPE) } else { Ok(out) }
    }

    /// Reads all pages as one column; where its row groups end does not matter.
    fn single_column(&mut self) -> Option<TableLayout> {
        let (mut groups, mut start) = (Vec::new(), 0);
        while start < self.pages.len() {
            let ends = self.ends_of(start);
            let Some((rows, end)) = ends.ends.last().copied() else {
                // Only a dictionary page is left.
                return (ends.runs_out && start > 0).then_some(TableLayout {
                    columns: 1,
                    groups,
                    cut_off: None,
                    is_open: false,
                });
            };
            if !self.fits_column(start, 0) {
                return None;
            }
            groups.push(PageGroup { rows, chunks: std::iter::once(start..end).collect() });
            start = end;
        }
        Some(TableLayout { columns: 1, groups, cut_off: None, is_open: false })
    }

    /// Returns the layouts whose first row group is this one.
    fn layouts_after(&mut self, first: PageGroup) -> Vec<TableLayout> {
        let columns = first.chunks.len();
        let starts: Vec<usize> = first.chunks.iter().map(|chunk| chunk.start).collect();
        let mut out = Vec::new();
        // Pages from which no layout goes on.
        let mut dead = HashSet::new();
        let mut groups = vec![first];
        let mut choices = vec![self.choices(&groups)];
        let last = self.last_group(&starts, &groups);
        let mut found_below = vec![last.is_some()];
        out.extend(last.map(|cut_off| TableLayout {
            columns,
            groups: groups.clone(),
            cut_off,
            is_open: false,
        }));
        // Depth first: for each of `groups`, the numbers of rows of the next row group that are still to be tried.
        while let Some(rest) = choices.last_mut() {
            if out.len() >= MAX_CONTINUATIONS || self.steps == 0 {
                break;
            }
            let start = groups.last().map_or(0, PageGroup::end);
            let next = rest.pop().filter(|_| !dead.contains(&start));
            let Some(rows) = next else {
                choices.pop();
                groups.pop();
                let found = found_below.pop().unwrap_or(false);
                match found_below.last_mut() {
                    Some(above) => *above |= found,
                    None => break,
                }
                if !found {
                    dead.insert(start);
                }
                continue;
            };
            let Some(group) = self.group(&starts, start, rows) else { continue };
            groups.push(group);
            let last = self.last_group(&starts, &groups);
            found_below.push(last.is_some());
            out.extend(last.map(|cut_off| TableLayout {
                columns,
                groups: groups.clone(),
                cut_off,
                is_open: false,
            }));
            choices.push(self.choices(&groups));
        }
        out
    }

    /// Returns the numbers of rows that the next row group may have, the likeliest last: that of the one before it.
    fn choices(&mut self, groups: &[PageGroup]) -> Vec<u64> {
        let Some(last) = groups.last().filter(|last| last.end() < self.pages.len()) else {
            return Vec::new();
        };
        let mut out: Vec<u64> = self.ends_of(last.end()).ends.iter().map(|(rows, _)| *rows).rev().collect();
        if let Some(at) = out.iter().position(|rows| *rows == last.rows) {
            out[at..].rotate_left(1);
        }
        out
    }

    /// Returns what follows if `groups` are all complete row groups: nothing, or one that is cut off. `None` means
    /// something else.
    fn last_group(&mut self, starts: &[usize], groups: &[PageGroup]) -> Option<Option<PageGroup>> {
        let last = groups.last()?;
        if last.end() == self.pages.len() {
            return Some(None);
        }
        if self.boundaries.is_closed || !self.fits_column(last.end(), starts[0]) {
            return None;
        }
        let ends = self.ends_of(last.end());
        let others = ends.ends.iter().map(|(rows, _)| *rows).filter(|rows| *rows != last.rows);
        let rows = std::iter::once(last.rows).chain(others);
        let cut_off = rows.into_iter().find_map(|rows| self.cut_off_group(starts, last.end(), rows));
        cut_off.map(Some).or(ends.runs_out.then_some(None))
    }

    /// Returns the row group of `rows` rows that begins with page `at`, if the end of the pages cuts it off.
    fn cut_off_group(&mut self, starts: &[usize], mut at: usize, rows: u64) -> Option<PageGroup> {
        let mut chunks = Vec::new();
        for (column, first) in starts.iter().enumerate() {
            if at == self.pages.len() {
                break;
            }
            if column > 0 && self.boundaries.before(at) == Boundary::RowGroup || !self.fits_column(at, *first)
            {
                return None;
            }
            match self.chunk_end(at, rows) {
                ChunkEnd::Before(end) => chunks.push(at..end),
                ChunkEnd::CutOff => return Some(PageGroup { rows, chunks }),
                ChunkEnd::Nowhere => return None,
            }
            at = chunks.last()?.end;
        }
        (chunks.len() < starts.len()).then_some(PageGroup { rows, chunks })
    }

    /// Returns the row group of `rows` rows that begins with page `at`. `starts` are the first pages of the first row
    /// group's chunks.
    fn group(&mut self, starts: &[usize], mut at: usize, rows: u64) -> Option<PageGroup> {
        let mut chunks = Vec::new();
        for (column, first) in starts.iter().enumerate() {
            let goes_on =
                at < self.pages.len() && (column == 0 || self.boundaries.before(at) != Boundary::RowGroup);
            if !goes_on || !self.fits_column(at, *first) {
                return None;
            }
            let ChunkEnd::Before(end) = self.chunk_end(at, rows) else { return None };
            chunks.push(at..end);
            at = end;
        }
        Some(PageGroup { rows, chunks })
    }

    /// Whether the chunk that begins with a page may be of the same column as the one that begins with `first`.
    fn fits_column(&mut self, start: usize, first: usize) -> bool {
        self.step();
        self.kinds.are_alike(start, first)
    }

    /// Counts a step. No steps are left once the search is cancelled.
    fn step(&mut self) {
        self.steps = if self.kinds.budget.is_cancelled() { 0 } else { self.steps.saturating_sub(1) };
    }

    fn chunk_end(&mut self, start: usize, rows: u64) -> ChunkEnd {
        self.step();
        if start == self.pages.len() {
            return ChunkEnd::CutOff;
        }
        let ends = self.ends_of(start);
        match ends.ends.binary_search_by_key(&rows, |(rows, _)| *rows) {
            Ok(at) => ChunkEnd::Before(ends.ends[at].1),
            Err(_) if ends.runs_out && ends.ends.last().is_none_or(|(last, _)| *last < rows) => {
                ChunkEnd::CutOff
            }
            Err(_) => ChunkEnd::Nowhere,
        }
    }

    fn ends_of(&mut self, start: usize) -> Rc<ChunkEnds> {
        if let Some(known) = self.ends.get(&start) {
            return known.clone();
        }
        let found = Rc::new(self.find_ends(start));
        self.ends.insert(start, found.clone());
        found
    }

    fn find_ends(&mut self, start: usize) -> ChunkEnds {
        let (mut found, mut rows) = (ChunkEnds { ends: Vec::new(), runs_out: false }, 0u64);
        let Some(first) = self.pages.get(start) else { return ChunkEnds { runs_out: true, ..found } };
        let dictionary = first.is_dictionary().then_some(start);
        if first.is_keys() {
            return found;
        }
        // A dictionary may be all that is left of a chunk.
        let is_cut_off = dictionary.is_some() && start + 1 == self.pages.len();
        let is_known =
            is_cut_off || self.kinds.begins_damaged(start) || !self.kinds.kind(start).guesses.is_empty();
        if !is_known {
            self.is_any_unknown = true;
            return found;
        }
        let mut at = start;
        loop {
            let page = self.pages.get(at);
            self.step();
            let goes_on = at == start
                || page.is_some_and(|page| {
                    self.boundaries.before(at) == Boundary::Unknown
                        && !page.is_dictionary()
                        && (!page.is_keys() || dictionary.is_some())
                        && self.kinds.fits_chunk(at, start)
                });
            let has_rows = at > start + usize::from(dictionary.is_some()) && rows > 0;
            let can_begin =
                page.is_none_or(|page| !page.is_keys() && (page.values() > 0 || page.is_dictionary()));
            if has_rows && (can_begin || !goes_on) {
                found.ends.push((rows, at));
            }
            if page.is_none() {
                found.runs_out = true;
                return found;
            }
            if !goes_on || self.steps == 0 {
                return found;
            }
            let Some(sum) = self.kinds.rows_of(at, start).and_then(|more| rows.checked_add(more)) else {
                return found;
            };
            rows = sum;
            at += 1;
        }
    }
}

/// Maximum number of chunks and pages that are examined.
const MAX_STEPS: usize = 1 << 22;
/// Maximum number of layouts that are compared.
const MAX_LAYOUTS: usize = 4096;
/// Maximum number of layouts with the same first row group.
const MAX_CONTINUATIONS: usize = 4;
pub(crate) const TOO_MANY: &str = "pages that can be cut into columns in very many ways";
const UNKNOWN_TYPE: &str = "pages whose values are of no known type";

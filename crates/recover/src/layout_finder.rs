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

use crate::filler::{self, Filler, FooterHead};
use crate::found_page::{FoundPage, PageEvidence};
use crate::infer_type::{ChunkKind, Guess, infer_chunk_kind};
use crate::open_page::{count_rows, fitting_codecs, likeliest_codec};
use crate::search_budget::SearchBudget;
use crate::table_layout::{PageGroup, TableLayout};
use crate::validate_chunk::extent_of_values;
use crate::window::Window;
use marquetry_codec::{Codec, Decompressor};
use marquetry_core::schema::Leaf;
use marquetry_format::ThriftString;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// The possible ends of a chunk that begins with a certain page.
#[derive(Debug)]
struct ChunkEnds {
    /// Rows of the chunk and the page behind it, ascending.
    ends: Vec<(u64, usize)>,
    /// Whether the chunk may continue behind the last page.
    runs_out: bool,
}

/// The end of a chunk with a given number of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ChunkEnd {
    Before(usize),
    /// It is cut off.
    CutOff,
    Nowhere,
}

/// What must end before a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Boundary {
    Unknown,
    Chunk,
    RowGroup,
}

/// Searches for layouts of the pages from the first one to the first damage.
pub(crate) struct LayoutFinder<'a> {
    window: &'a mut Window,
    pages: &'a [FoundPage],
    budget: &'a mut SearchBudget,
    /// The boundary before each page.
    boundaries: Vec<Boundary>,
    /// The likeliest codec of all chunks.
    codec: Option<Codec>,
    /// Whether something behind the last page shows that a row group ends with it.
    is_closed: bool,
    /// The columns that metadata of chunks name, by the page behind the chunk.
    paths: HashMap<usize, Vec<ThriftString>>,
    /// What the footer tells of the schema, if its beginning is there.
    pub(crate) footer: Option<FooterHead>,
    /// By data page and dictionary page.
    kinds: HashMap<(usize, Option<usize>), Rc<ChunkKind>>,
    rows: HashMap<(usize, u8, u8), Option<u64>>,
    ends: HashMap<usize, Rc<ChunkEnds>>,
    /// Whether an undamaged page fits no type, so that columns are unknown.
    is_any_unknown: bool,
    steps: usize,
}

impl<'a> LayoutFinder<'a> {
    /// A finder for the pages up to the first damage. The first page begins a row group.
    pub(crate) fn new(window: &'a mut Window, pages: &'a [FoundPage], budget: &'a mut SearchBudget) -> Self {
        let (mut boundaries, mut paths) = (vec![Boundary::RowGroup], HashMap::new());
        for (before, page) in pages.iter().zip(pages.iter().skip(1)) {
            let gap = before.end..page.offset;
            let (filler, end) = filler::fillers(window, gap.clone());
            if end != gap.end {
                break;
            }
            // Most pages follow each other.
            if let Some(path) = filler.and_then(|_| filler::chunk_path(window, gap)) {
                paths.insert(boundaries.len(), path);
            }
            boundaries.push(match filler {
                Some(filler) if filler.ends_row_group() => Boundary::RowGroup,
                Some(_) => Boundary::Chunk,
                None => Boundary::Unknown,
            });
        }
        let pages = &pages[..boundaries.len().min(pages.len())];
        let behind = pages.last().map_or(0, |page| page.end);
        let (filler, end) = filler::fillers(window, behind..window.source.len());
        if let Some(path) = filler::chunk_path(window, behind..end) {
            paths.insert(pages.len(), path);
        }
        let is_closed = filler.is_some_and(Filler::ends_row_group) || filler::begins_footer(window, end);
        let footer = filler::footer_head(window, end);
        let codec = likeliest_codec(window, pages);
        let (kinds, rows, ends) = (HashMap::new(), HashMap::new(), HashMap::new());
        LayoutFinder {
            window,
            pages,
            budget,
            boundaries,
            codec,
            is_closed,
            paths,
            footer,
            kinds,
            rows,
            ends,
            is_any_unknown: false,
            steps: MAX_STEPS,
        }
    }

    /// The pages that follow each other.
    pub(crate) fn pages(&self) -> &'a [FoundPage] {
        self.pages
    }

    /// All layouts; `Err` is the reason why they cannot be found.
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
                if start < self.pages.len() && self.boundaries[start] == Boundary::RowGroup {
                    break;
                }
                match self.chunk_end(start, rows) {
                    ChunkEnd::Before(end) => chunks.push(start..end),
                    ChunkEnd::CutOff if !self.is_closed => {
                        let (columns, chunks) = (chunks.len(), std::mem::take(&mut chunks));
                        let groups = vec![PageGroup { rows, chunks }];
                        out.push(TableLayout { columns, groups, cut_off: None, is_open: true });
                        break;
                    }
                    _ => break,
                }
            }
        }
        if !self.is_closed && self.ends_of(0).runs_out {
            out.push(TableLayout { columns: 1, groups: Vec::new(), cut_off: None, is_open: true });
        }
        if self.steps == 0 || out.len() >= MAX_LAYOUTS || self.budget.is_exhausted() {
            return Err(TOO_MANY);
        }
        out.retain(|layout| self.is_as_said(layout));
        if self.is_any_unknown { Err(UNKNOWN_TYPE) } else { Ok(out) }
    }

    /// Whether a layout has the columns that the file names: those of the schema whose beginning is there, and those of chunks whose
    /// metadata stands behind them.
    fn is_as_said(&self, layout: &TableLayout) -> bool {
        if let Some(FooterHead { elements, fields }) = self.footer
            && !layout.is_open
        {
            // Each column is an element, and in a field of the root. If all elements are fields, none is in a group.
            let fewest = fields.unwrap_or(1);
            let most = if fields == Some(elements - 1) { fewest } else { elements - 1 };
            if !(fewest..=most).contains(&layout.columns) {
                return false;
            }
        }
        if self.paths.is_empty() {
            return true;
        }
        let (mut columns, mut names) = (HashMap::new(), HashMap::new());
        let groups = layout.groups.iter().chain(&layout.cut_off);
        groups.flat_map(|group| group.chunks.iter().enumerate()).all(|(column, chunk)| {
            // A writer that puts metadata behind chunks does so behind each of them.
            let Some(path) = self.paths.get(&chunk.end) else { return chunk.end == self.pages.len() };
            *columns.entry(path).or_insert(column) == column && *names.entry(column).or_insert(path) == path
        })
    }

    /// The least and the greatest value of a chunk of `rows` rows; `None` if they cannot be known.
    pub(crate) fn extent(&mut self, chunk: &Range<usize>, leaf: &Leaf, rows: u64) -> Option<[Vec<u8>; 2]> {
        let pages = &self.pages[chunk.clone()];
        let cost: u64 = pages.iter().map(|page| page.uncompressed() / 4).sum();
        if !self.budget.spend(cost) {
            return None;
        }
        extent_of_values(self.window, pages, leaf, rows, self.codec).ok()?
    }

    /// All pages as those of one column; where its row groups end does not matter.
    fn single_column(&mut self) -> Option<TableLayout> {
        let (mut groups, mut start) = (Vec::new(), 0);
        while start < self.pages.len() {
            let ends = self.ends_of(start);
            let Some((rows, end)) = ends.ends.last().copied() else {
                // Nothing but a dictionary.
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

    /// The layouts whose first row group is this one.
    fn layouts_after(&mut self, first: PageGroup) -> Vec<TableLayout> {
        let columns = first.chunks.len();
        let starts: Vec<usize> = first.chunks.iter().map(|chunk| chunk.start).collect();
        let mut out = Vec::new();
        // Pages from which on there is no layout.
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
        // Depth first: a row group for each of `groups`, with the numbers of rows of the next one still to be tried.
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

    /// The numbers of rows that the next row group may have, the likeliest last: as many as the one before it.
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

    /// What is behind row groups if they are all that are whole: nothing, or one that is cut off. `None`: something else.
    fn last_group(&mut self, starts: &[usize], groups: &[PageGroup]) -> Option<Option<PageGroup>> {
        let last = groups.last()?;
        if last.end() == self.pages.len() {
            return Some(None);
        }
        if self.is_closed || !self.fits_column(last.end(), starts[0]) {
            return None;
        }
        let ends = self.ends_of(last.end());
        let others = ends.ends.iter().map(|(rows, _)| *rows).filter(|rows| *rows != last.rows);
        let rows = std::iter::once(last.rows).chain(others);
        let cut_off = rows.into_iter().find_map(|rows| self.cut_off_group(starts, last.end(), rows));
        cut_off.map(Some).or(ends.runs_out.then_some(None))
    }

    /// The row group of `rows` rows that begins with page `at`, if the end of the pages cuts it off.
    fn cut_off_group(&mut self, starts: &[usize], mut at: usize, rows: u64) -> Option<PageGroup> {
        let mut chunks = Vec::new();
        for (column, first) in starts.iter().enumerate() {
            if at == self.pages.len() {
                break;
            }
            if column > 0 && self.boundaries[at] == Boundary::RowGroup || !self.fits_column(at, *first) {
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

    /// The row group of `rows` rows that begins with page `at`. `starts` are the first pages of the first row group's chunks.
    fn group(&mut self, starts: &[usize], mut at: usize, rows: u64) -> Option<PageGroup> {
        let mut chunks = Vec::new();
        for (column, first) in starts.iter().enumerate() {
            let goes_on = at < self.pages.len() && (column == 0 || self.boundaries[at] != Boundary::RowGroup);
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
        are_alike(&self.kind(start).guesses, &self.kind(first).guesses)
    }

    /// Whether chunks that begin with these pages have values and levels of one kind.
    pub(crate) fn is_like(&mut self, a: usize, b: usize) -> bool {
        are_alike(&self.kind(a).guesses, &self.kind(b).guesses)
    }

    /// Counts what is looked at. There are no steps left once the search is cancelled.
    fn step(&mut self) {
        self.steps = if self.budget.is_cancelled() { 0 } else { self.steps.saturating_sub(1) };
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
        // A dictionary may be all that is there of a chunk.
        let is_cut_off = dictionary.is_some() && start + 1 == self.pages.len();
        let is_known = is_cut_off || self.begins_damaged(start) || !self.kind(start).guesses.is_empty();
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
                    self.boundaries[at] == Boundary::Unknown
                        && !page.is_dictionary()
                        && (!page.is_keys() || dictionary.is_some())
                        && self.fits_chunk(at, start)
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
            let Some(sum) = self.rows_of(at, start).and_then(|more| rows.checked_add(more)) else {
                return found;
            };
            rows = sum;
            at += 1;
        }
    }

    /// Whether what would tell the kind of a chunk is damaged: its dictionary, or its first data page.
    fn begins_damaged(&self, start: usize) -> bool {
        let is_damaged =
            |at: usize| self.pages.get(at).is_some_and(|page| page.evidence == PageEvidence::Damaged);
        is_damaged(start) || self.pages[start].is_dictionary() && is_damaged(start + 1)
    }

    /// Whether a page may be of the chunk that begins with `start`.
    fn fits_chunk(&mut self, at: usize, start: usize) -> bool {
        let page = &self.pages[at];
        if page.is_keys() || page.evidence == PageEvidence::Damaged {
            return true;
        }
        are_alike(&self.kind_by(at, None).guesses, &self.kind(start).guesses)
    }

    /// How many rows begin in a page of the chunk that begins with `start`.
    fn rows_of(&mut self, at: usize, start: usize) -> Option<u64> {
        let page = &self.pages[at];
        if page.is_dictionary() {
            return Some(0);
        }
        if let Some(v2) = &page.header.data_page_header_v2 {
            return u64::try_from(v2.num_rows).ok();
        }
        let kind = self.kind(start);
        if kind.guesses.first().is_none_or(|guess| guess.max_rep == 0) {
            return Some(page.values());
        }
        kind.guesses
            .iter()
            .filter(|guess| guess.max_rep > 0)
            .find_map(|guess| self.count_rows(at, guess.levels()))
    }

    fn count_rows(&mut self, at: usize, levels: (u8, u8)) -> Option<u64> {
        if let Some(known) = self.rows.get(&(at, levels.0, levels.1)) {
            return *known;
        }
        let page = &self.pages[at];
        let mut count = || {
            if page.evidence == PageEvidence::Damaged
                || !self.budget.spend(page.uncompressed() + page.values() / 64)
            {
                return None;
            }
            let mut decompressor = Decompressor::new();
            let codecs = fitting_codecs(self.window, page, self.codec, &mut decompressor).ok()?;
            codecs
                .into_iter()
                .find_map(|codec| count_rows(self.window, page, codec, levels, &mut decompressor).ok())
        };
        let counted = count();
        self.rows.insert((at, levels.0, levels.1), counted);
        counted
    }

    /// What the chunk that begins with a page may have. A chunk with a damaged page at its beginning may have anything.
    pub(crate) fn kind(&mut self, start: usize) -> Rc<ChunkKind> {
        match self.pages.get(start) {
            Some(page) if page.is_dictionary() => self.kind_by(start + 1, Some(start)),
            _ => self.kind_by(start, None),
        }
    }

    /// What a data page may have.
    fn kind_by(&mut self, at: usize, dictionary: Option<usize>) -> Rc<ChunkKind> {
        if let Some(known) = self.kinds.get(&(at, dictionary)) {
            return known.clone();
        }
        let data =
            self.pages.get(at).filter(|page| !page.is_dictionary() && page.evidence != PageEvidence::Damaged);
        let dictionary_page = dictionary.map(|at| &self.pages[at]);
        let data = data.filter(|_| dictionary_page.is_none_or(|page| page.evidence != PageEvidence::Damaged));
        let found = Rc::new(match data {
            Some(data) => infer_chunk_kind(self.window, dictionary_page, data, self.codec, self.budget),
            None => ChunkKind::default(),
        });
        self.kinds.insert((at, dictionary), found.clone());
        found
    }
}

/// Whether pages may be of one column by what each of them may have; where nothing is known of one, they may.
fn are_alike(a: &[Guess], b: &[Guess]) -> bool {
    let fit = |a: &Guess, b: &Guess| {
        (a.max_rep > 0) == (b.max_rep > 0)
            && (a.max_def > 0) == (b.max_def > 0)
            && (a.is_blank || b.is_blank || a.physical.shape() == b.physical.shape())
    };
    a.is_empty() || b.is_empty() || a.iter().any(|a| b.iter().any(|b| fit(a, b)))
}

/// Chunks and pages that are looked at.
const MAX_STEPS: usize = 1 << 22;
/// Layouts that are compared.
const MAX_LAYOUTS: usize = 4096;
/// Layouts with the same first row group.
const MAX_CONTINUATIONS: usize = 4;
pub(crate) const TOO_MANY: &str = "pages that can be cut into columns in very many ways";
const UNKNOWN_TYPE: &str = "pages whose values are of no known type";

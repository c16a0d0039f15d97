//! Found pages in file order, read as pages of the columns of a schema.

use crate::filler;
use crate::found_page::{FoundPage, PageEvidence};
use crate::group_layout::{GroupLayout, PageCuts, PageSplit, RebuiltGroup, is_like};
use crate::open_page::{count_rows, fitting_codecs, has_values, likeliest_codec};
use crate::parallel::Workers;
use crate::search_budget::SearchBudget;
use crate::validate_chunk::describe;
use crate::window::Window;
use marquetry_base::Result;
use marquetry_codec::{Codec, Decompressor};
use marquetry_core::schema::{Leaf, Schema};
use marquetry_format::{ColumnMetaData, Encoding, ThriftString};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Pages in the order of the file, with what is needed to read them.
pub(crate) struct PageSet<'a> {
    pub(crate) window: &'a mut Window,
    pub(crate) pages: &'a Arc<[FoundPage]>,
    pub(crate) schema: &'a Arc<Schema>,
    created_by: Option<Arc<str>>,
    /// The threads that validate chunks.
    workers: Workers,
    pub(crate) budget: &'a mut SearchBudget,
    decompressor: Decompressor,
    /// The likeliest codec.
    codec: Option<Codec>,
    /// For each page, the first page behind it with another number of values.
    even_until: Vec<usize>,
    /// Column paths in the metadata behind chunks, by the page behind the chunk.
    paths: HashMap<usize, Vec<ThriftString>>,
    /// Numbers of rows of pages, by page and maximum levels.
    rows: HashMap<(usize, u8, u8), Option<u64>>,
    /// Whether the values of every page fit only one type.
    all_exact: bool,
}

impl<'a> PageSet<'a> {
    pub(crate) fn new(
        window: &'a mut Window,
        pages: &'a Arc<[FoundPage]>,
        schema: &'a Arc<Schema>,
        created_by: Option<Arc<str>>,
        workers: Workers,
        budget: &'a mut SearchBudget,
    ) -> Self {
        let (decompressor, rows) = (Decompressor::new(), HashMap::new());
        let codec = likeliest_codec(window, pages);
        let paths = chunk_paths(window, pages);
        let (all_exact, even_until) = (pages.iter().all(is_exact), even_until(pages));
        PageSet {
            window,
            pages,
            schema,
            created_by,
            workers,
            budget,
            decompressor,
            codec,
            even_until,
            paths,
            rows,
            all_exact,
        }
    }

    /// Whether each column could be mistaken for the one some places further on.
    pub(crate) fn columns_look_alike(&self) -> bool {
        let columns = self.schema.columns();
        let n = columns.len();
        (1..n).any(|by| (0..n).all(|i| is_like(&columns[i], &columns[(i + by) % n], self.all_exact)))
    }

    /// Whether there are several columns, all of which could be mistaken for the first one.
    pub(crate) fn all_alike(&self) -> bool {
        let columns = self.schema.columns();
        columns.len() > 1 && columns.iter().skip(1).all(|leaf| is_like(&columns[0], leaf, self.all_exact))
    }

    /// Whether a page begins where the one before it ends.
    fn is_next(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.pages.get(at));
        before.zip(self.pages.get(at)).is_some_and(|(before, page)| before.end == page.offset)
    }

    /// Whether there is a page `at`, and no page is lost before it.
    pub(crate) fn follows(&mut self, at: usize) -> bool {
        at < self.pages.len() && (self.is_next(at) || self.is_next_known(at))
    }

    /// Whether only fillers are between a page and the one before it.
    pub(crate) fn is_next_known(&mut self, at: usize) -> bool {
        let pages = at.checked_sub(1).and_then(|before| self.pages.get(before)).zip(self.pages.get(at));
        pages.is_none_or(|(before, page)| filler::is_known(self.window, before.end..page.offset))
    }

    /// Validates the chunks of these columns. Stops after the first outer error: a chunk that does not fit the layout.
    /// An inner error is a damaged page.
    pub(crate) fn described(
        &self,
        layout: &GroupLayout,
        columns: Range<usize>,
        is_anchored: bool,
    ) -> Vec<Result<Result<ColumnMetaData>>> {
        let stored = self.pages_of(layout).iter().map(|page| page.end - page.offset).sum();
        let (all, schema, source) = (self.pages.clone(), self.schema.clone(), self.window.origin());
        let (codec, created_by) = (self.codec, self.created_by.clone());
        let (chunks, rows, first) = (layout.chunks[columns.clone()].to_vec(), layout.rows, columns.start);
        self.workers.ordered_map(stored, columns.len(), move |i| {
            let (leaf, pages) = (schema.column(first + i), &all[chunks[i].clone()]);
            let chunk = describe(&mut source.window(), pages, leaf, rows, codec, created_by.as_deref());
            let is_damaged = pages.iter().any(|page| page.evidence == PageEvidence::Damaged);
            match chunk.map_err(|error| error.in_column(leaf.dotted().clone())) {
                Err(error) if error.stops_reading() => Err(error),
                // Without an anchor, a damaged page is not evidence.
                Err(error) if !(is_damaged && is_anchored) => Err(error),
                chunk => Ok(chunk),
            }
        })
    }

    /// Returns all pages of a layout.
    pub(crate) fn pages_of(&self, layout: &GroupLayout) -> &'a [FoundPage] {
        match (layout.chunks.first(), layout.chunks.last()) {
            (Some(first), Some(last)) => &self.pages[first.start..last.end],
            _ => &[],
        }
    }

    /// Creates a row group from chunks that were read.
    pub(crate) fn rebuilt(
        &self,
        layout: &GroupLayout,
        chunks: Vec<Result<ColumnMetaData>>,
        is_anchored: bool,
    ) -> RebuiltGroup {
        let pages = self.pages_of(layout);
        RebuiltGroup {
            rows: layout.rows,
            chunks,
            bytes: pages.first().map_or(0, |page| page.offset)..pages.last().map_or(0, |page| page.end),
            is_proven: pages.iter().all(|page| page.evidence == PageEvidence::Proven),
            is_chosen: false,
            is_anchored,
            pages: pages.len(),
        }
    }

    /// Returns how regularly the chunks of a layout are cut into pages; the least regular one counts. Pages of lists
    /// may have any number of entries.
    pub(crate) fn split(&self, layout: &GroupLayout) -> PageSplit {
        let chunks = layout.chunks.iter().zip(self.schema.columns());
        let splits = chunks.map(|(chunk, leaf)| match leaf.max_rep() {
            0 => self.split_of(chunk).split(true),
            _ => PageSplit::Irregular,
        });
        splits.min().unwrap_or(PageSplit::Irregular)
    }

    /// Returns the cuts of a chunk into pages in constant time: a chunk of many pages may end at each of them, and each
    /// of these ends is rated.
    fn split_of(&self, chunk: &Range<usize>) -> PageCuts {
        let first = chunk.start + usize::from(self.pages[chunk.start].is_dictionary());
        match &self.pages[first..chunk.end] {
            [] => PageCuts::default(),
            [page, .., last] => {
                PageCuts::several(page.values(), last.values(), self.even_until[first] + 1 < chunk.end)
            }
            [page] => PageCuts::single(page.values()),
        }
    }

    /// Returns the pages of a chunk of `wanted` rows of a column.
    pub(crate) fn chunk(&mut self, column: usize, start: usize, wanted: u64) -> Option<Range<usize>> {
        let (mut rows, mut end) = (0u64, start);
        if !self.follows(start) {
            return None;
        }
        while rows < wanted {
            end = self.add(column, start, end, &mut rows)?;
        }
        // Pages without rows belong to the chunk before them.
        while self.pages.get(end).is_some_and(|page| page.values() == 0 && !page.is_dictionary())
            && self.is_next(end)
        {
            end += 1;
        }
        (rows == wanted && !self.is_of_other(end, column)).then_some(start..end)
    }

    /// Whether metadata before the page `end` shows that the chunk before it belongs to another column.
    pub(crate) fn is_of_other(&self, end: usize, column: usize) -> bool {
        let Some(path) = self.paths.get(&end) else { return false };
        let columns = self.schema.columns();
        // A schema from the caller may name columns differently.
        let named = columns.iter().position(|leaf| leaf.path_in_schema() == *path);
        named.is_some_and(|named| named != column)
    }

    /// Adds the page `end` to the chunk that begins with `start`, and its rows to `rows`. Returns the next page, or
    /// `None` if the page cannot belong to the chunk.
    pub(crate) fn add(&mut self, column: usize, start: usize, end: usize, rows: &mut u64) -> Option<usize> {
        let (is_first, all) = (end == start, self.pages);
        let page = all.get(end)?;
        if !self.budget.spend(16) || !is_first && (page.is_dictionary() || !self.is_next(end)) {
            return None;
        }
        if page.is_keys() && !all[start].is_dictionary() {
            return None;
        }
        let leaf = self.schema.column(column);
        let levels = (leaf.max_rep(), leaf.max_def());
        *rows = rows.checked_add(self.rows_of(end, levels)?)?;
        Some(end + 1)
    }

    /// Returns the number of rows that begin in a page of a column with these maximum levels.
    fn rows_of(&mut self, at: usize, levels: (u8, u8)) -> Option<u64> {
        let page = &self.pages[at];
        if page.is_dictionary() {
            return Some(0);
        }
        if let Some(v2) = &page.header.data_page_header_v2 {
            return u64::try_from(v2.num_rows).ok();
        }
        if levels.0 == 0 {
            return Some(page.values());
        }
        if page.evidence == PageEvidence::Damaged {
            return None;
        }
        if let Some(known) = self.rows.get(&(at, levels.0, levels.1)) {
            return *known;
        }
        let counted = self.count_rows(page, levels);
        self.rows.insert((at, levels.0, levels.1), counted);
        counted
    }

    fn count_rows(&mut self, page: &FoundPage, levels: (u8, u8)) -> Option<u64> {
        if !self.budget.spend(page.uncompressed() / 8 + page.values() / 64) {
            return None;
        }
        let codecs = fitting_codecs(self.window, page, self.codec, &mut self.decompressor).ok()?;
        let mut count = |codec| count_rows(self.window, page, codec, levels, &mut self.decompressor).ok();
        codecs.into_iter().find_map(&mut count)
    }

    /// Whether a chunk ends where writers end chunks: before a dictionary page, a gap or another kind of page, or with
    /// a page of fewer entries than the one before it.
    pub(crate) fn ends_naturally(&mut self, chunk: &Range<usize>) -> bool {
        let all = self.pages;
        let (Some(last), Some(next)) =
            (chunk.end.checked_sub(1).and_then(|last| all.get(last)), all.get(chunk.end))
        else {
            return true;
        };
        let data = chunk.len() - usize::from(all[chunk.start].is_dictionary());
        next.is_dictionary()
            || !self.is_next(chunk.end)
            || next.header.type_ != last.header.type_
            || next.encoding() != last.encoding()
            || data > 1 && last.values() < all[chunk.end - 2].values()
            || data == 1 && next.values() != last.values()
    }

    /// Whether the values of these pages fit only one type.
    pub(crate) fn are_exact(&self, pages: &Range<usize>) -> bool {
        self.pages[pages.clone()].iter().all(is_exact)
    }

    /// Whether a data page, read as one of column `mine`, has only nulls, so that it could belong to `other`.
    pub(crate) fn is_blank(&mut self, at: usize, mine: &Leaf, other: &Leaf) -> bool {
        let page = &self.pages[at];
        let levels_fit =
            mine.max_def() > 0 && other.max_def() > 0 && (mine.max_rep() > 0) == (other.max_rep() > 0);
        if !levels_fit || page.is_dictionary() {
            return false;
        }
        if let Some(v2) = &page.header.data_page_header_v2 {
            return v2.num_nulls == v2.num_values;
        }
        // A level takes at most one byte.
        let has_more = page.uncompressed() > 2 * page.values() + LEVEL_OVERHEAD;
        if has_more
            || page.evidence == PageEvidence::Damaged
            || !self.budget.spend(page.uncompressed() / 8 + 16)
        {
            return false;
        }
        let levels = (mine.max_rep(), mine.max_def());
        let codecs =
            fitting_codecs(self.window, page, self.codec, &mut self.decompressor).unwrap_or_default();
        let mut has_values =
            |codec| has_values(self.window, page, codec, levels, &mut self.decompressor).ok();
        codecs.into_iter().find_map(&mut has_values) == Some(false)
    }
}

/// Returns the column paths in the metadata behind chunks, by the page behind the chunk.
fn chunk_paths(window: &mut Window, pages: &[FoundPage]) -> HashMap<usize, Vec<ThriftString>> {
    let ends = pages.iter().skip(1).map(|page| page.offset).chain([window.source.len()]);
    let gaps: Vec<_> = pages.iter().map(|page| page.end).zip(ends).enumerate().collect();
    // Most pages follow each other without a gap.
    let gaps = gaps.into_iter().filter(|(_, (start, end))| start < end);
    gaps.filter_map(|(i, (start, end))| Some((i + 1, filler::chunk_path(window, start..end)?))).collect()
}

/// Returns, for each page, the first page behind it with another number of values.
fn even_until(pages: &[FoundPage]) -> Vec<usize> {
    let mut until: Vec<usize> = (1..=pages.len()).collect();
    for at in (1..pages.len()).rev() {
        if pages[at - 1].values() == pages[at].values() {
            until[at - 1] = until[at];
        }
    }
    until
}

/// Whether the values of a page fit only one type.
fn is_exact(page: &FoundPage) -> bool {
    page.encoding() == Encoding::PLAIN || page.is_keys() || page.is_dictionary()
}

/// Maximum bytes of the lengths of levels, and of the headers of their runs.
const LEVEL_OVERHEAD: u64 = 64;

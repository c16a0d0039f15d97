//! Pages into chunks, and chunks into row groups, for a schema that is known.
//!
//! All chunks of a row group have as many rows, in the order of the columns, one directly behind the other:
//!
//! ```text
//! pages   D d d d | D d | d d d d | D d d d | ...      D dictionary, d data
//! rows      5 5 2 |  12 | 4 4 4 0 |   6 6 0 | ...      12 in each
//! ```
//!
//! Where a chunk without a dictionary follows another, only the rows tell where one ends. Several ends may be possible:
//! the one is taken at which most chunks end as writers end them. After damage nothing says which column the next page is
//! of. Then a row group is taken only if the columns cannot be mistaken for each other.

use super::gap;
use super::open::{fitting_codecs, rows};
use super::part::Window;
use super::scan::{Page, State, Work};
use super::whole::describe;
use crate::page::Trust;
use crate::schema::{Leaf, Schema};
use marquetry_base::{Error, Result};
use marquetry_codec::{Codec, Decompressor};
use marquetry_format::ColumnMetaData;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// A row group that was put together.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) rows: u64,
    /// Of each column; `Err` tells why it is not there.
    pub(super) chunks: Vec<Result<ColumnMetaData>>,
    pub(super) bytes: Range<u64>,
    /// Whether all pages have a checksum.
    pub(super) is_proven: bool,
    /// Whether the ends of chunks were chosen among several.
    pub(super) is_chosen: bool,
    /// Whether what is before it is known, too.
    pub(super) is_anchored: bool,
    /// How many pages.
    pub(super) pages: usize,
}

/// Pages that are in no row group, and why.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) bytes: Range<u64>,
    pub(super) pages: usize,
    pub(super) why: &'static str,
}

pub(super) struct Grouper<'a> {
    pub(super) window: &'a mut Window,
    pub(super) pages: &'a [Page],
    pub(super) schema: &'a Arc<Schema>,
    pub(super) trust: Trust,
    pub(super) partial: bool,
    pub(super) work: &'a mut Work,
    decompressor: Decompressor,
    codec: Option<Codec>,
    /// Rows of pages in lists, by page and levels.
    rows: HashMap<(usize, u8, u8), Option<u64>>,
    /// Rows, and pages of each chunk, of the row groups so far.
    patterns: HashSet<(u64, Vec<usize>)>,
}

/// Where chunks may be: the pages of each, and the rows of all.
struct Shape {
    chunks: Vec<Range<usize>>,
    rows: u64,
    /// How many of the chunks end as writers end them.
    natural: usize,
}

impl<'a> Grouper<'a> {
    pub(super) fn new(
        window: &'a mut Window,
        pages: &'a [Page],
        schema: &'a Arc<Schema>,
        trust: Trust,
        partial: bool,
        work: &'a mut Work,
    ) -> Self {
        let (decompressor, rows) = (Decompressor::new(), HashMap::new());
        Grouper {
            window,
            pages,
            schema,
            trust,
            partial,
            work,
            decompressor,
            codec: None,
            rows,
            patterns: HashSet::new(),
        }
    }

    /// All row groups. `is_anchored`: the first page is the first of a row group.
    pub(super) fn run(&mut self, is_anchored: bool) -> Result<(Vec<Found>, Vec<Left>)> {
        let (mut found, mut left): (Vec<Found>, Vec<Left>) = (Vec::new(), Vec::new());
        if self.schema.num_columns() == 0 {
            return Ok((found, left));
        }
        let (mut at, mut is_anchored) = (0, is_anchored);
        while at < self.pages.len() {
            if !is_anchored && self.columns_look_alike() {
                self.leave(at..self.pages.len(), ALIKE, &mut left);
                break;
            }
            if let Some((group, end)) = self.group_at(at, is_anchored)? {
                found.push(group);
                at = end;
                is_anchored = self.is_next_known(at);
                continue;
            }
            if is_anchored && let Some((group, end)) = self.last_group(at)? {
                found.push(group);
                at = end;
                is_anchored = false;
                continue;
            }
            is_anchored = false;
            let why = if self.work.is_spent() { SPENT } else { NO_GROUP };
            self.leave(at..at + 1, why, &mut left);
            at += 1;
        }
        Ok((found, left))
    }

    fn leave(&self, pages: Range<usize>, why: &'static str, left: &mut Vec<Left>) {
        let [first, .., last] = &self.pages[pages.clone()] else {
            let page = &self.pages[pages.start];
            match left.last_mut() {
                Some(last) if last.bytes.end == page.offset && last.why == why => {
                    last.bytes.end = page.end;
                    last.pages += 1;
                }
                _ => left.push(Left { bytes: page.offset..page.end, pages: 1, why }),
            }
            return;
        };
        left.push(Left { bytes: first.offset..last.end, pages: pages.len(), why });
    }

    /// Whether the columns could be those that follow, some columns on, without anybody noticing.
    fn columns_look_alike(&self) -> bool {
        let columns = self.schema.columns();
        let n = columns.len();
        (1..n).any(|by| (0..n).all(|i| is_like(&columns[i], &columns[(i + by) % n])))
    }

    /// Whether a page is directly behind the one before it.
    fn is_next(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.pages.get(at));
        before.zip(self.pages.get(at)).is_some_and(|(before, page)| before.end == page.offset)
    }

    /// Whether there is a page, and nothing that could have been pages between it and the one before it.
    fn follows(&mut self, at: usize) -> bool {
        at < self.pages.len() && (self.is_next(at) || self.is_next_known(at))
    }

    /// Whether nothing is lost between a page and the one before it.
    fn is_next_known(&mut self, at: usize) -> bool {
        let pages = at.checked_sub(1).and_then(|before| self.pages.get(before)).zip(self.pages.get(at));
        pages.is_none_or(|(before, page)| gap::is_known(self.window, before.end..page.offset))
    }

    /// The row group that begins with a page, and the page behind it.
    fn group_at(&mut self, at: usize, is_anchored: bool) -> Result<Option<(Found, usize)>> {
        let mut shapes = self.shapes(at)?;
        shapes.sort_by_key(|shape| std::cmp::Reverse((shape.natural, shape.rows)));
        let is_chosen = shapes.len() > 1;
        for shape in shapes.into_iter().take(MOST_TRIED) {
            let end = shape.chunks.last().map_or(at, |chunk| chunk.end);
            let is_certain = self.is_certain(&shape);
            let pattern = (shape.rows, shape.chunks.iter().map(Range::len).collect::<Vec<_>>());
            // What is likelier must not give way to what only looks better closed.
            let is_likely = is_anchored && (self.patterns.contains(&pattern) || self.is_closed(end)?);
            if !is_certain && !is_likely {
                return Ok(None);
            }
            let Some(mut found) = self.found(&shape, is_anchored)? else { continue };
            self.patterns.insert(pattern);
            found.is_chosen = is_chosen || !is_certain;
            return Ok(Some((found, end)));
        }
        Ok(None)
    }

    /// Whether no chunk could have been longer, its end being taken for the next column's chunk.
    fn is_certain(&mut self, shape: &Shape) -> bool {
        let schema = self.schema.clone();
        let pairs = schema.columns().iter().zip(schema.columns().iter().skip(1));
        let alike: Vec<bool> = pairs.map(|(a, b)| is_like(a, b)).collect();
        alike.iter().zip(&shape.chunks).all(|(is_alike, chunk)| !is_alike || self.ends_naturally(chunk))
    }

    /// Whether what is behind a row group shows that it ended there: another row group, or an index. The end of a
    /// file without a footer shows nothing: it may be cut off just there.
    fn is_closed(&mut self, end: usize) -> Result<bool> {
        let Some(last) = end.checked_sub(1).and_then(|last| self.pages.get(last)) else {
            return Ok(false);
        };
        if self.follows(end) {
            return Ok(!self.shapes(end)?.is_empty());
        }
        Ok(gap::known(self.window, last.end).is_some())
    }

    /// Reads what a shape says; `None` if pages that are not damaged are not what it says.
    fn found(&mut self, shape: &Shape, is_anchored: bool) -> Result<Option<Found>> {
        let schema = self.schema.clone();
        let all = self.pages;
        let mut chunks = Vec::new();
        for (leaf, range) in schema.columns().iter().zip(&shape.chunks) {
            let pages = &all[range.clone()];
            let cost: u64 = pages.iter().map(|page| page.uncompressed() / 8).sum();
            if !self.work.spend(cost) {
                return Ok(None);
            }
            let chunk = describe(self.window, pages, leaf, shape.rows, self.codec, self.trust);
            let is_damaged = pages.iter().any(|page| page.state == State::Damaged);
            match &chunk {
                Ok(meta) => self.codec = Codec::from_code(meta.codec.0),
                // Without an anchor a page that is damaged speaks for nothing.
                Err(_) if is_damaged && is_anchored => {}
                Err(error) if error.kind() == marquetry_base::Kind::Io => return Err(io(error)),
                Err(_) => return Ok(None),
            }
            chunks.push(chunk.map_err(|error| error.in_column(leaf.dotted().clone())));
        }
        Ok(Some(self.finish(shape, chunks, is_anchored)))
    }

    fn finish(&self, shape: &Shape, chunks: Vec<Result<ColumnMetaData>>, is_anchored: bool) -> Found {
        let pages = match (shape.chunks.first(), shape.chunks.last()) {
            (Some(first), Some(last)) => &self.pages[first.start..last.end],
            _ => &[],
        };
        Found {
            rows: shape.rows,
            chunks,
            bytes: pages.first().map_or(0, |page| page.offset)..pages.last().map_or(0, |page| page.end),
            is_proven: pages.iter().all(|page| page.state == State::Proven),
            is_chosen: false,
            is_anchored,
            pages: pages.len(),
        }
    }

    /// All ways in which whole row groups can begin with a page.
    fn shapes(&mut self, at: usize) -> Result<Vec<Shape>> {
        let mut out = Vec::new();
        let (mut rows, mut end) = (0u64, at);
        while let Some(next) = self.add(0, at, end, &mut rows) {
            end = next;
            let is_boundary =
                self.pages.get(end).is_none_or(|page| page.values() > 0 || page.is_dictionary());
            if self.pages[end - 1].is_dictionary() || rows == 0 || !is_boundary {
                continue;
            }
            if let Some(shape) = self.shape(at..end, rows) {
                out.push(shape);
            }
            if !self.work.spend(64) {
                break;
            }
        }
        Ok(out)
    }

    /// The shape whose first chunk has these pages.
    fn shape(&mut self, first: Range<usize>, rows: u64) -> Option<Shape> {
        let mut natural = usize::from(self.ends_naturally(&first));
        let mut chunks = vec![first];
        for column in 1..self.schema.num_columns() {
            let chunk = self.chunk(column, chunks.last()?.end, rows)?;
            natural += usize::from(self.ends_naturally(&chunk));
            chunks.push(chunk);
        }
        Some(Shape { chunks, rows, natural })
    }

    /// The pages of a column's chunk of so many rows.
    fn chunk(&mut self, column: usize, start: usize, wanted: u64) -> Option<Range<usize>> {
        let (mut rows, mut end) = (0u64, start);
        if !self.follows(start) {
            return None;
        }
        while rows < wanted {
            end = self.add(column, start, end, &mut rows)?;
        }
        // Pages of no rows stay with those before them.
        while self.pages.get(end).is_some_and(|page| page.values() == 0 && !page.is_dictionary())
            && self.is_next(end)
        {
            end += 1;
        }
        (rows == wanted).then_some(start..end)
    }

    /// Adds the page at `end` to a chunk; the page behind it, or `None` if it cannot be of the chunk.
    fn add(&mut self, column: usize, start: usize, end: usize, rows: &mut u64) -> Option<usize> {
        let (is_first, all) = (end == start, self.pages);
        let page = all.get(end)?;
        if !self.work.spend(16) || !is_first && (page.is_dictionary() || !self.is_next(end)) {
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

    /// How many rows begin in a page of a column with these levels.
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
        if page.state == State::Damaged {
            return None;
        }
        if let Some(known) = self.rows.get(&(at, levels.0, levels.1)) {
            return *known;
        }
        let counted = self.count_rows(page, levels);
        self.rows.insert((at, levels.0, levels.1), counted);
        counted
    }

    fn count_rows(&mut self, page: &Page, levels: (u8, u8)) -> Option<u64> {
        if !self.work.spend(page.uncompressed() / 8 + page.values() / 64) {
            return None;
        }
        let codecs = fitting_codecs(self.window, page, self.codec, &mut self.decompressor).ok()?;
        let mut count = |codec| rows(self.window, page, codec, levels, &mut self.decompressor).ok();
        codecs.into_iter().find_map(&mut count)
    }

    /// Whether a chunk ends where writers end them: before a dictionary, a gap, or other kind of page, or with a page that
    /// has less than the one before it.
    fn ends_naturally(&mut self, chunk: &Range<usize>) -> bool {
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

    /// The columns of a row group that the file ends in, or that damage ends: those that are whole.
    fn last_group(&mut self, at: usize) -> Result<Option<(Found, usize)>> {
        if !self.partial {
            return Ok(None);
        }
        let mut best: Option<Shape> = None;
        let (mut rows, mut end) = (0u64, at);
        while let Some(next) = self.add(0, at, end, &mut rows) {
            end = next;
            if self.pages[end - 1].is_dictionary() || rows == 0 {
                continue;
            }
            let first = at..end;
            let mut shape =
                Shape { natural: usize::from(self.ends_naturally(&first)), chunks: vec![first], rows };
            while let Some(chunk) = (shape.chunks.len() < self.schema.num_columns())
                .then(|| self.chunk(shape.chunks.len(), shape.chunks[shape.chunks.len() - 1].end, rows))
                .flatten()
            {
                shape.natural += usize::from(self.ends_naturally(&chunk));
                shape.chunks.push(chunk);
            }
            let worth = |shape: &Shape| (shape.chunks.len(), shape.natural);
            if best.as_ref().is_none_or(|best| worth(best) < worth(&shape)) {
                best = Some(shape);
            }
        }
        // One chunk alone does not tell whether it is whole: two of as many rows do.
        let Some(mut shape) = best.filter(|shape| shape.chunks.len() > 1) else { return Ok(None) };
        let schema = self.schema.clone();
        let mut chunks = Vec::new();
        for (leaf, range) in schema.columns().iter().zip(&shape.chunks) {
            let pages = &self.pages[range.clone()];
            match describe(self.window, pages, leaf, shape.rows, self.codec, self.trust) {
                Ok(meta) => chunks.push(Ok(meta)),
                Err(_) => break,
            }
        }
        shape.chunks.truncate(chunks.len());
        if chunks.len() < 2 {
            return Ok(None);
        }
        let end = shape.chunks.last().map_or(at, |chunk| chunk.end);
        for leaf in &schema.columns()[chunks.len()..] {
            chunks.push(Err(Error::truncated("its pages are not there").in_column(leaf.dotted().clone())));
        }
        Ok(Some((self.finish(&shape, chunks, true), end)))
    }
}

/// Whether pages of one column can be read as if they were of the other.
fn is_like(a: &Leaf, b: &Leaf) -> bool {
    let levels = a.max_def() == b.max_def() && a.max_rep() == b.max_rep();
    levels && a.physical().shape() == b.physical().shape()
}

/// A failed read as an error of its own.
fn io(error: &Error) -> Error {
    Error::new(error.kind(), error.message().to_owned())
}

const NO_GROUP: &str = "pages that make up no whole row group";
const ALIKE: &str = "pages behind damage: columns are too much alike to tell which one is which";
const SPENT: &str = "so much looks like pages that the search was given up";
/// Shapes whose pages are decoded.
const MOST_TRIED: usize = 8;

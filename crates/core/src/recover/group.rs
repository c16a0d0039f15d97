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
//! the one is taken at which most chunks end as writers end them. If all columns could be each other, as those of a table
//! of numbers of one width, even this proves nothing, and it has to be the only way: see [`only`](super::only). After
//! damage nothing says which column the next page is of. Then a row group is taken only if the columns cannot be mistaken
//! for each other.

use super::RecoverOptions;
use super::gap;
use super::only::Cut;
use super::open::{fitting_codecs, rows};
use super::part::Window;
use super::scan::{Page, State, Work};
use super::side_by_side::{side_by_side, threads_for};
use super::whole::describe;
use crate::schema::{Leaf, Schema};
use marquetry_base::{ErrorKind, Result};
use marquetry_codec::{Codec, Decompressor};
use marquetry_encoding::PhysicalType;
use marquetry_format::{ColumnMetaData, Encoding};
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
    created_by: Option<String>,
    pub(super) options: &'a RecoverOptions,
    pub(super) work: &'a mut Work,
    pub(super) decompressor: Decompressor,
    pub(super) codec: Option<Codec>,
    /// Rows of pages in lists, by page and levels.
    rows: HashMap<(usize, u8, u8), Option<u64>>,
    /// Rows, and pages of each chunk, of the row groups so far.
    patterns: HashSet<(u64, Vec<usize>)>,
}

/// Where chunks may be: the pages of each, and the rows of all.
pub(super) struct Shape {
    pub(super) chunks: Vec<Range<usize>>,
    pub(super) rows: u64,
    /// How many of the chunks end as writers end them.
    pub(super) natural: usize,
}

impl<'a> Grouper<'a> {
    pub(super) fn new(
        window: &'a mut Window,
        pages: &'a [Page],
        schema: &'a Arc<Schema>,
        created_by: Option<String>,
        options: &'a RecoverOptions,
        work: &'a mut Work,
    ) -> Self {
        let (decompressor, rows) = (Decompressor::new(), HashMap::new());
        Grouper {
            window,
            pages,
            schema,
            created_by,
            options,
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
            let why = if self.work.is_exhausted() { SPENT } else { NO_GROUP };
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
    pub(super) fn columns_look_alike(&self) -> bool {
        let columns = self.schema.columns();
        let n = columns.len();
        let is_exact = self.are_exact(&(0..self.pages.len()));
        (1..n).any(|by| (0..n).all(|i| is_like(&columns[i], &columns[(i + by) % n], is_exact)))
    }

    /// Whether there are several columns, and any could be any other.
    pub(super) fn all_alike(&self) -> bool {
        let is_exact = self.are_exact(&(0..self.pages.len()));
        let columns = self.schema.columns();
        columns.len() > 1 && columns.iter().skip(1).all(|leaf| is_like(&columns[0], leaf, is_exact))
    }

    /// Whether a page is directly behind the one before it.
    fn is_next(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.pages.get(at));
        before.zip(self.pages.get(at)).is_some_and(|(before, page)| before.end == page.offset)
    }

    /// Whether there is a page, and nothing that could have been pages between it and the one before it.
    pub(super) fn follows(&mut self, at: usize) -> bool {
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
        let all_alike = self.all_alike();
        shapes.sort_by_key(|shape| {
            std::cmp::Reverse((all_alike.then(|| self.cut(shape)), shape.natural, shape.rows))
        });
        let is_chosen = shapes.len() > 1;
        let even = shapes.iter().filter(|shape| self.cut(shape) > Cut::Anyhow).count();
        for shape in shapes.into_iter().take(MOST_TRIED) {
            let end = shape.chunks.last().map_or(at, |chunk| chunk.end);
            let (alike, blank) = self.doubts(&shape);
            // An end that looks natural may be one inside a longer chunk, if what follows could be of any column.
            let is_certain = !alike && !blank && !all_alike;
            let pattern = (shape.rows, shape.chunks.iter().map(Range::len).collect::<Vec<_>>());
            // What is likelier must not give way to what only looks better closed.
            let may_be_closed = !blank && (!all_alike || even == 1 && self.cut(&shape) > Cut::Anyhow);
            let is_likely = is_anchored
                && (!all_alike && self.patterns.contains(&pattern)
                    || may_be_closed && self.is_closed(end)?
                    || self.is_only_way(&shape));
            if !is_certain && !is_likely || !is_anchored && self.could_be_others(&shape) {
                return Ok(None);
            }
            let Some(mut found) = self.found(&shape, is_anchored)? else { continue };
            self.patterns.insert(pattern);
            found.is_chosen = is_chosen || !is_certain;
            return Ok(Some((found, end)));
        }
        Ok(None)
    }

    /// Whether a chunk could have been longer, its end being taken for the next column's chunk: because the columns are
    /// alike, or because there are nothing but nulls.
    fn doubts(&mut self, shape: &Shape) -> (bool, bool) {
        let schema = self.schema.clone();
        let (mut alike, mut blank) = (false, false);
        let pairs = schema.columns().iter().zip(schema.columns().iter().skip(1));
        for ((a, b), chunk) in pairs.zip(&shape.chunks) {
            if !self.ends_naturally(chunk) {
                alike |= is_like(a, b, self.are_exact(chunk));
                blank |= self.is_blank(chunk.end, b, a);
            }
        }
        (alike, blank)
    }

    /// Whether what is behind a row group shows that it ended there: another row group, or an index. The end of a
    /// file without a footer shows nothing: it may be cut off just there.
    fn is_closed(&mut self, end: usize) -> Result<bool> {
        let Some(last) = end.checked_sub(1).and_then(|last| self.pages.get(last)) else {
            return Ok(false);
        };
        if self.follows(end) {
            return Ok(!self.shapes(end)?.is_empty() || self.begins(end));
        }
        Ok(gap::known(self.window, last.end).is_some())
    }

    /// Reads what a shape says; `None` if pages that are not damaged are not what it says.
    fn found(&mut self, shape: &Shape, is_anchored: bool) -> Result<Option<Found>> {
        let cost: u64 = self.pages_of(shape).iter().map(|page| page.uncompressed() / 8).sum();
        if !self.work.spend(cost) {
            return Ok(None);
        }
        let columns = shape.chunks.len();
        let mut chunks = Vec::new();
        // The first chunk tells the codec of the others.
        let first = if self.codec.is_none() { columns.min(1) } else { 0 };
        for part in [0..first, first..columns] {
            for chunk in self.described(shape, part, is_anchored) {
                match chunk {
                    Ok(Ok(meta)) => {
                        self.codec = Codec::from_code(meta.codec.0);
                        chunks.push(Ok(meta));
                    }
                    Ok(Err(error)) => chunks.push(Err(error)),
                    Err(error) if error.kind() == ErrorKind::Io => return Err(error),
                    Err(_) => return Ok(None),
                }
            }
        }
        Ok(Some(self.finish(shape, chunks, is_anchored)))
    }

    /// The chunks of these columns, up to the first that is not what the shape says; those that are damaged in between.
    pub(super) fn described(
        &self,
        shape: &Shape,
        columns: Range<usize>,
        is_anchored: bool,
    ) -> Vec<Result<Result<ColumnMetaData>>> {
        let stored = self.pages_of(shape).iter().map(|page| page.end - page.offset).sum();
        side_by_side(columns.len(), threads_for(stored, self.options.threads), |i| {
            let leaf = self.schema.column(columns.start + i);
            let pages = &self.pages[shape.chunks[columns.start + i].clone()];
            let mut window = self.window.another();
            let chunk =
                describe(&mut window, pages, leaf, shape.rows, self.codec, self.created_by.as_deref());
            let is_damaged = pages.iter().any(|page| page.state == State::Damaged);
            match chunk.map_err(|error| error.in_column(leaf.dotted().clone())) {
                Err(error) if error.kind() == ErrorKind::Io => Err(error),
                // Without an anchor a page that is damaged speaks for nothing.
                Err(error) if !(is_damaged && is_anchored) => Err(error),
                chunk => Ok(chunk),
            }
        })
    }

    /// All pages of a shape.
    pub(super) fn pages_of(&self, shape: &Shape) -> &'a [Page] {
        match (shape.chunks.first(), shape.chunks.last()) {
            (Some(first), Some(last)) => &self.pages[first.start..last.end],
            _ => &[],
        }
    }

    pub(super) fn finish(
        &self,
        shape: &Shape,
        chunks: Vec<Result<ColumnMetaData>>,
        is_anchored: bool,
    ) -> Found {
        let pages = self.pages_of(shape);
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
    pub(super) fn chunk(&mut self, column: usize, start: usize, wanted: u64) -> Option<Range<usize>> {
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
    pub(super) fn add(&mut self, column: usize, start: usize, end: usize, rows: &mut u64) -> Option<usize> {
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
    pub(super) fn ends_naturally(&mut self, chunk: &Range<usize>) -> bool {
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

    /// Whether the values of these pages fit one type only.
    pub(super) fn are_exact(&self, pages: &Range<usize>) -> bool {
        let pages = &self.pages[pages.clone()];
        pages.iter().all(|page| page.encoding() == Encoding::PLAIN || page.is_keys() || page.is_dictionary())
    }
}

/// Whether pages of one column can be read as if they were of the other. PLAIN ones, which are `exact`, fill their page
/// with values of one width only; delta encodings are the same for both integers, and for byte strings of any length.
pub(super) fn is_like(a: &Leaf, b: &Leaf, exact: bool) -> bool {
    let levels = a.max_def() == b.max_def() && a.max_rep() == b.max_rep();
    let kind = |leaf: &Leaf| match leaf.physical() {
        PhysicalType::Int32 | PhysicalType::Int64 => 0,
        PhysicalType::Float | PhysicalType::Double => 1,
        PhysicalType::ByteArray | PhysicalType::FixedLenByteArray(_) => 2,
        _ => 3,
    };
    let (shape_a, shape_b) = (a.physical().shape(), b.physical().shape());
    levels && (shape_a == shape_b || !exact && kind(a) < 3 && kind(a) == kind(b))
}

const NO_GROUP: &str = "pages that make up no whole row group";
const ALIKE: &str = "pages behind damage: columns are too much alike to tell which one is which";
const SPENT: &str = "so much looks like pages that the search was given up";
/// Shapes whose pages are decoded.
pub(super) const MOST_TRIED: usize = 8;

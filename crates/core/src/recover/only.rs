//! Whether pages behind which nothing stands make up a row group, or may be the beginning of a longer one.
//!
//! ```text
//! pages     p p p p p p      as many rows in each
//! columns   a b c d e f      a row group,
//!           a a b b c c      or half of one, whose other columns were cut off
//! ```
//!
//! If `b` is of another type than `a`, the second page tells: there is one way only. Pages of nulls alone have no type.
//!
//! If they are all of one type, what tells is that writers cut a chunk into pages of as many values, of which only the last
//! has fewer:
//!
//! ```text
//! values    9 5 9 5 9 5 9 5
//! columns   a a b b c c d d      each chunk is cut evenly,
//!           a a a a b b b b      and so it is not
//! ```

use super::group::{Grouper, Shape, is_like};
use super::open::{fitting_codecs, has_values};
use super::scan::{Page, State};
use crate::schema::Leaf;
use std::collections::HashSet;
use std::ops::Range;

/// How chunks are cut into pages: the more regular, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cut {
    Anyhow,
    /// All pages but the last of a chunk have as many values.
    Alike,
    /// And the last one has no more.
    LastShorter,
}

/// Whether pages could be read in another way than as a shape says.
struct Ways<'a> {
    /// The columns that the pages were read as, and the first of them.
    columns: &'a [usize],
    at: usize,
    /// How the shape is cut: so must be any other.
    cut: Cut,
    /// Pages from which it was found that there is no way.
    none: HashSet<usize>,
    /// Pages that may still be looked at, and row groups that may still follow each other.
    steps: usize,
    row_groups: usize,
}

impl Grouper<'_> {
    /// Whether a shape is the only way in which row groups can begin there, whether they are whole or were cut off.
    pub(super) fn is_only_way(&mut self, shape: &Shape) -> bool {
        let cut = self.cut(shape);
        let chunks = shape.chunks.iter().enumerate();
        let columns: Vec<usize> =
            chunks.flat_map(|(column, chunk)| chunk.clone().map(move |_| column)).collect();
        let Some(Range { start, end }) = shape.chunks.first().cloned() else { return false };
        let mut ways = Ways {
            columns: &columns,
            at: start,
            cut,
            none: HashSet::new(),
            steps: MOST_STEPS,
            row_groups: MOST_ROW_GROUPS,
        };
        let others = (1..=columns.len()).filter(|&first| first != end - start);
        for first in others {
            if self.could_begin(start, first, &mut ways) {
                return false;
            }
        }
        ways.steps > 0 && !self.work.is_exhausted()
    }

    /// How the chunks of a shape are cut: as the least regular of them.
    pub(super) fn cut(&self, shape: &Shape) -> Cut {
        shape.chunks.iter().map(|chunk| self.cut_of(chunk, true)).min().unwrap_or(Cut::Anyhow)
    }

    /// How a chunk is cut, or, if it is not `whole`, its beginning.
    fn cut_of(&self, chunk: &Range<usize>, whole: bool) -> Cut {
        let pages = self.pages[chunk.clone()].iter().filter(|page| !page.is_dictionary());
        let values: Vec<u64> = pages.map(Page::values).collect();
        match values.split_last() {
            Some((_, before)) if before.windows(2).any(|pair| pair[0] != pair[1]) => Cut::Anyhow,
            Some((last, [first, ..])) if whole && last > first => Cut::Alike,
            _ => Cut::LastShorter,
        }
    }

    /// Whether row groups could begin with a page, of which `first` pages are the first column's: to the end of the pages.
    fn could_begin(&mut self, at: usize, first: usize, ways: &mut Ways<'_>) -> bool {
        let schema = self.schema.clone();
        let (mut column, mut start, mut rows, mut wanted) = (0, at, 0, None);
        for page in at..ways.at + ways.columns.len() {
            if ways.steps == 0 {
                return true;
            }
            ways.steps -= 1;
            let is_of_no_rows = self.pages[page].values() == 0 && !self.pages[page].is_dictionary();
            if wanted == Some(rows) && !is_of_no_rows {
                if self.cut_of(&(start..page), true) < ways.cut {
                    return false;
                }
                (column, start, rows) = (column + 1, page, 0);
            }
            if column == schema.num_columns() {
                return self.could_go_on(page, ways);
            }
            let read_as = ways.columns[page - ways.at];
            let (mine, other) = (schema.column(column), schema.column(read_as));
            let is_exact = self.are_exact(&(page..page + 1));
            // What is in a damaged page says nothing.
            let is_known = self.pages[page].state != State::Damaged;
            if column != read_as
                && is_known
                && !is_like(mine, other, is_exact)
                && !self.is_blank(page, other, mine)
            {
                return false;
            }
            if self.add(column, start, page, &mut rows).is_none()
                || self.cut_of(&(start..page + 1), false) < ways.cut
            {
                return false;
            }
            if page + 1 - at == first {
                wanted = Some(rows);
            }
            if wanted.is_some_and(|wanted| rows > wanted || wanted == 0) {
                return false;
            }
        }
        true
    }

    /// Whether a next row group could begin with a page.
    fn could_go_on(&mut self, at: usize, ways: &mut Ways<'_>) -> bool {
        if ways.none.contains(&at) {
            return false;
        }
        if ways.row_groups == 0 {
            return true;
        }
        let pages = ways.at + ways.columns.len() - at;
        ways.row_groups -= 1;
        let goes_on = (1..=pages).any(|first| self.could_begin(at, first, ways));
        ways.row_groups += 1;
        if !goes_on {
            ways.none.insert(at);
        }
        goes_on
    }

    /// Whether the chunks of a shape could be those of the columns some further on, without anybody noticing.
    pub(super) fn could_be_others(&mut self, shape: &Shape) -> bool {
        let schema = self.schema.clone();
        let (columns, n) = (schema.columns(), shape.chunks.len());
        (1..n).any(|by| {
            shape.chunks.iter().enumerate().all(|(i, chunk)| {
                let (mine, other) = (&columns[i], &columns[(i + by) % n]);
                is_like(mine, other, self.are_exact(chunk))
                    || chunk.clone().all(|page| self.is_blank(page, mine, other))
            })
        })
    }

    /// Whether a data page that was read as of one column has nothing but nulls, so that it could be of the other.
    pub(super) fn is_blank(&mut self, at: usize, mine: &Leaf, other: &Leaf) -> bool {
        let page = &self.pages[at];
        let levels_fit =
            mine.max_def() > 0 && other.max_def() > 0 && (mine.max_rep() > 0) == (other.max_rep() > 0);
        if !levels_fit || page.is_dictionary() {
            return false;
        }
        if let Some(v2) = &page.header.data_page_header_v2 {
            return v2.num_nulls == v2.num_values;
        }
        // Levels have a byte each at most.
        let has_more = page.uncompressed() > 2 * page.values() + LEVELS_BYTES;
        if has_more || page.state == State::Damaged || !self.work.spend(page.uncompressed() / 8 + 16) {
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

/// The lengths of levels, and the headers of their runs.
const LEVELS_BYTES: u64 = 64;
/// Pages that are looked at. More than that, and nothing is certain.
const MOST_STEPS: usize = 1 << 20;
/// Row groups that are looked for behind each other. More than that, and nothing is certain either.
const MOST_ROW_GROUPS: usize = 256;

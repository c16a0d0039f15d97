//! Whether pages behind which nothing stands make up a row group, or may be the beginning of a longer one.
//!
//! ```text
//! pages     p p p p p p      as many rows in each
//! columns   a b c d e f      a row group,
//!           a a b b c c      or half of one, whose other columns were cut off
//! ```
//!
//! If `b` is of another type than `a`, the second page tells: there is one way only. Pages of nulls alone have no type.

use super::group::{Grouper, Shape, is_like};
use super::open::{fitting_codecs, has_values};
use super::scan::State;
use crate::schema::Leaf;
use std::ops::Range;

impl Grouper<'_> {
    /// Whether a shape whose pages could all be read is the only way in which a row group can begin there, whether it is
    /// whole or was cut off.
    pub(super) fn is_only_way(&mut self, shape: &Shape) -> bool {
        let pages = self.pages_of(shape);
        if pages.iter().any(|page| page.state == State::Damaged) {
            return false;
        }
        let chunks = shape.chunks.iter().enumerate();
        let columns: Vec<usize> =
            chunks.flat_map(|(column, chunk)| chunk.clone().map(move |_| column)).collect();
        let Some(Range { start, end }) = shape.chunks.first().cloned() else { return false };
        let mut steps = MOST_STEPS;
        let ways = (1..=columns.len()).filter(|&first| first != end - start);
        for first in ways {
            if self.could_begin(start, &columns, first, &mut steps) {
                return false;
            }
        }
        steps > 0 && !self.work.is_spent()
    }

    /// Whether a row group could begin with these pages, of which `first` are the first column's. `columns` are those
    /// that each page was read as.
    fn could_begin(&mut self, at: usize, columns: &[usize], first: usize, steps: &mut usize) -> bool {
        let schema = self.schema.clone();
        let (mut column, mut start, mut rows, mut wanted) = (0, at, 0, None);
        for (page, &read_as) in (at..).zip(columns) {
            if *steps == 0 {
                return true;
            }
            *steps -= 1;
            let is_of_no_rows = self.pages[page].values() == 0 && !self.pages[page].is_dictionary();
            if wanted == Some(rows) && !is_of_no_rows {
                (column, start, rows) = (column + 1, page, 0);
            }
            // Of the next row group nothing is known but its first column.
            let is_over = column == schema.num_columns();
            let (mine, other) = (schema.column(if is_over { 0 } else { column }), schema.column(read_as));
            let is_exact = self.are_exact(&(page..page + 1));
            if column != read_as && !is_like(mine, other, is_exact) && !self.is_blank(page, other, mine) {
                return false;
            }
            if is_over {
                return true;
            }
            if self.add(column, start, page, &mut rows).is_none() {
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

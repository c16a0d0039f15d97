//! A row group of which only the first columns are there: the file ends in it, or damage ends it.

use super::group::{Found, Grouper, MOST_TRIED, Shape, is_like};
use crate::schema::Leaf;
use marquetry_base::{Error, Result};
use marquetry_format::ColumnMetaData;

impl Grouper<'_> {
    /// The columns that are whole of the row group that begins with a page, and the page behind them.
    pub(super) fn last_group(&mut self, at: usize) -> Result<Option<(Found, usize)>> {
        if !self.options.partial {
            return Ok(None);
        }
        let Some((shape, metas, is_chosen)) = self.beginning(at) else { return Ok(None) };
        let end = shape.chunks.last().map_or(at, |chunk| chunk.end);
        let lost =
            |leaf: &Leaf| Err(Error::truncated("its pages are not there").in_column(leaf.dotted().clone()));
        let lost = self.schema.columns()[metas.len()..].iter().map(lost);
        let chunks = metas.into_iter().map(Ok).chain(lost).collect();
        Ok(Some((Found { is_chosen, ..self.finish(&shape, chunks, true) }, end)))
    }

    /// Whether a row group that is not whole begins with a page: its first columns are there, and of different kinds.
    pub(super) fn begins(&mut self, at: usize) -> bool {
        let Some((shape, ..)) = self.beginning(at) else { return false };
        let first = self.schema.column(0);
        (1..shape.chunks.len()).any(|i| !is_like(first, self.schema.column(i), false))
    }

    /// As many columns of a row group as follow each other from a page on, if there is no other way: two at least, as one
    /// chunk alone does not tell whether it is whole. And whether they were chosen among several.
    fn beginning(&mut self, at: usize) -> Option<(Shape, Vec<ColumnMetaData>, bool)> {
        let mut shapes = self.beginnings(at);
        let is_chosen = shapes.len() > 1;
        let all_alike = self.all_alike();
        shapes.sort_by_key(|shape| {
            std::cmp::Reverse((all_alike.then(|| self.cut(shape)), shape.chunks.len(), shape.natural))
        });
        let mut tried = 0;
        for mut shape in shapes {
            if tried == MOST_TRIED || !self.is_only_way(&shape) {
                continue;
            }
            tried += 1;
            let cost: u64 = self.pages_of(&shape).iter().map(|page| page.uncompressed() / 8).sum();
            if !self.work.spend(cost) {
                return None;
            }
            let described = self.described(&shape, 0..shape.chunks.len(), false);
            let metas: Vec<_> = described.into_iter().map_while(Result::ok).map_while(Result::ok).collect();
            if metas.len() == shape.chunks.len() {
                return Some((shape, metas, is_chosen));
            }
            shape.chunks.truncate(metas.len());
            if metas.len() > 1 && self.is_only_way(&shape) {
                return Some((shape, metas, is_chosen));
            }
        }
        None
    }

    /// All ways in which two columns or more can begin with a page.
    fn beginnings(&mut self, at: usize) -> Vec<Shape> {
        let mut shapes = Vec::new();
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
            if shape.chunks.len() > 1 {
                shapes.push(shape);
            }
        }
        shapes
    }
}

//! A selection in parts, for who reads it front to back.

use super::runs::next;
use super::{RowMask, Segment};
use marquetry_encoding::Bitmap;

/// Neighbouring rows of a selection; the first and the last of them are selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The number of the first row.
    pub start: u64,
    /// How many rows.
    pub rows: usize,
    /// Which of them are selected; `None` if all are.
    pub keep: Option<Bitmap>,
}

/// How far the blocks of a [`RowMask`] were taken, see [`RowMask::next_block`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The segment, the number of its first row, and the next row.
    segment: usize,
    first: u64,
    row: u64,
}

impl RowMask {
    /// The next up to `rows` rows, from a selected row to a selected row; stretches without selected rows are passed over.
    ///
    /// ```
    /// use marquetry_core::row_mask::{Cursor, RowMask};
    /// let selection = RowMask::from_ranges(&[5..7, 8..9, 90..99], 100);
    /// let mut cursor = Cursor::default();
    /// let block = selection.next_block(&mut cursor, 10).unwrap();
    /// assert_eq!((block.start, block.rows), (5, 4));
    /// assert!(!block.keep.unwrap().get(2));
    /// assert_eq!(selection.next_block(&mut cursor, 10).unwrap().keep, None);
    /// ```
    ///
    /// # Panics
    /// If `rows` is 0.
    pub fn next_block(&self, cursor: &mut Cursor, rows: usize) -> Option<Block> {
        assert!(rows > 0, "blocks of no rows");
        cursor.find(self).then(|| cursor.take(self, rows))
    }
}

impl Cursor {
    /// Moves to the next selected row; whether there is one.
    fn find(&mut self, selection: &RowMask) -> bool {
        while let Some(segment) = selection.segments.get(self.segment) {
            let end = self.first + segment.len();
            if self.row < end {
                let found = match segment {
                    Segment::Run(wanted, _) => wanted.then_some(self.row),
                    Segment::Mixed(bits) => {
                        let at = (self.row - self.first) as usize;
                        next(bits, at..bits.len(), 0).map(|at| self.first + at as u64)
                    }
                };
                if let Some(row) = found {
                    self.row = row;
                    return true;
                }
                self.row = end;
            }
            (self.segment, self.first) = (self.segment + 1, end);
        }
        false
    }

    /// The block from the row on that was found.
    fn take(&mut self, selection: &RowMask, size: usize) -> Block {
        let start = self.row;
        let (mut segment, mut first) = (self.segment, self.first);
        let mut keep = Bitmap::new();
        // Up to the last selected row.
        let mut rows = 0;
        while let Some(part) = selection.segments.get(segment)
            && keep.len() < size
        {
            let at = start + keep.len() as u64 - first;
            let n = (part.len() - at).min((size - keep.len()) as u64) as usize;
            match part {
                Segment::Run(wanted, _) => {
                    keep.push_run(*wanted, n);
                    rows = if *wanted { keep.len() } else { rows };
                }
                Segment::Mixed(bits) => {
                    let part = at as usize..at as usize + n;
                    keep.push_packed(bits.as_bytes(), part.start, n);
                    let last = part.clone().rev().find(|&i| bits.get(i));
                    rows = last.map_or(rows, |last| keep.len() - (part.end - 1 - last));
                }
            }
            if at + n as u64 == part.len() {
                (segment, first) = (segment + 1, first + part.len());
            }
        }
        self.row = start + rows as u64;
        if keep.count_ones(0..rows) == rows {
            return Block { start, rows, keep: None };
        }
        let mut kept = Bitmap::new();
        kept.push_packed(keep.as_bytes(), 0, rows);
        Block { start, rows, keep: Some(kept) }
    }
}

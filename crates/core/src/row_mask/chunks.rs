//! Iterates over a row mask front to back, in chunks of limited size.

use super::bit_runs::next;
use super::mask::{RowMask, Segment};
use marquetry_encoding::Bitmap;

/// Neighbouring rows of a mask, of which the first and the last are selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskChunk {
    /// The number of the first row.
    pub start: u64,
    /// Number of rows.
    pub rows: usize,
    /// Which of the rows are selected; `None` if all are.
    pub keep: Option<Bitmap>,
}

/// The position of [`RowMask::next_chunk`] in a mask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MaskCursor {
    /// Index of the segment, the number of its first row, and the next row.
    segment: usize,
    first: u64,
    row: u64,
}

impl RowMask {
    /// Returns the next chunk of at most `rows` rows, which begins and ends with a selected row. Skips unselected rows
    /// before it.
    ///
    /// ```
    /// use marquetry_core::row_mask::{MaskCursor, RowMask};
    /// let mask = RowMask::from_ranges(&[5..7, 8..9, 90..99], 100);
    /// let mut cursor = MaskCursor::default();
    /// let block = mask.next_chunk(&mut cursor, 10).unwrap();
    /// assert_eq!((block.start, block.rows), (5, 4));
    /// assert!(!block.keep.unwrap().get(2));
    /// assert_eq!(mask.next_chunk(&mut cursor, 10).unwrap().keep, None);
    /// ```
    ///
    /// # Panics
    /// If `rows` is 0.
    pub fn next_chunk(&self, cursor: &mut MaskCursor, rows: usize) -> Option<MaskChunk> {
        assert!(rows > 0, "a chunk has at least one row");
        cursor.find(self).then(|| cursor.take(self, rows))
    }
}

impl MaskCursor {
    /// Moves to the next selected row. Returns whether there is one.
    fn find(&mut self, mask: &RowMask) -> bool {
        while let Some(segment) = mask.segments.get(self.segment) {
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

    /// Returns the chunk that begins at the current row, which must be selected.
    fn take(&mut self, mask: &RowMask, size: usize) -> MaskChunk {
        let start = self.row;
        let (mut segment, mut first) = (self.segment, self.first);
        let mut keep = Bitmap::new();
        // Number of rows up to the last selected one.
        let mut rows = 0;
        while let Some(part) = mask.segments.get(segment)
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
            return MaskChunk { start, rows, keep: None };
        }
        let mut kept = Bitmap::new();
        kept.push_packed(keep.as_bytes(), 0, rows);
        MaskChunk { start, rows, keep: Some(kept) }
    }
}

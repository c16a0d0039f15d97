//! Which rows are wanted: bitmaps, and runs where whole stretches are alike.
//!
//! ```text
//! RowMask   the rows of a row group:   [ 60,000 unwanted ][ 0110..1 ][ 20,000 wanted ]
//! Block       a part of it, as bits:     rows 60,000 .. 68,192, 0110..1
//! runs        of bits or of a selection: 60,001..60,003, ..
//! ```
//!
//! How many rows there are is only what metadata claims, so stretches of one kind take no memory, however long. Bitmap are
//! there for rows that were looked at.

mod blocks;
mod runs;

pub use blocks::{Block, Cursor};
pub(crate) use runs::next as next_one;
pub use runs::{count_runs, runs};

use marquetry_encoding::{Bitmap, compact_bits};
use std::fmt::{self, Debug, Formatter};
use std::ops::Range;

/// A choice of the rows of a row group, or of any other sequence of rows.
///
/// ```
/// use marquetry_core::row_mask::RowMask;
/// let selection = RowMask::from_ranges(&[2..4, 6..9], 10);
/// assert_eq!((selection.rows(), selection.selected()), (10, 5));
/// let third = RowMask::from_ranges(&[2..3], 5);
/// assert_eq!(selection.refine(&third).runs().collect::<Vec<_>>(), [6..7]);
/// ```
#[derive(Clone, Default)]
pub struct RowMask {
    segments: Vec<Segment>,
    rows: u64,
    selected: u64,
}

/// Neighbours. INVARIANT: never of no rows; two runs that follow each other differ.
#[derive(Debug, Clone)]
enum Segment {
    Run(bool, u64),
    Mixed(Bitmap),
}

impl Segment {
    fn len(&self) -> u64 {
        match self {
            Segment::Run(_, rows) => *rows,
            Segment::Mixed(bits) => bits.len() as u64,
        }
    }

    /// 64 rows from row `at` on as bits; what is past the end has no meaning.
    fn word(&self, at: u64) -> u64 {
        match self {
            Segment::Run(wanted, _) => u64::from(*wanted).wrapping_neg(),
            // INVARIANT: `at` is inside, and there are no more bits than memory has.
            Segment::Mixed(bits) => bits.word(at as usize),
        }
    }
}

impl RowMask {
    /// Of no rows at all; for appending.
    pub fn new() -> Self {
        RowMask::default()
    }

    /// All of so many rows.
    pub fn all(rows: u64) -> Self {
        let mut out = RowMask::new();
        out.push_run(true, rows);
        out
    }

    /// The rows in `ranges`, sorted, of so many rows. Of ranges that overlap or are not sorted, what stands before an
    /// earlier one's end is left out; and so is what is past the last row.
    pub fn from_ranges(ranges: &[Range<u64>], rows: u64) -> Self {
        let mut out = RowMask::new();
        for range in ranges {
            let range = range.start.clamp(out.rows, rows)..range.end.clamp(out.rows, rows);
            out.push_run(false, range.start.saturating_sub(out.rows));
            out.push_run(true, range.end.saturating_sub(range.start));
        }
        out.push_run(false, rows.saturating_sub(out.rows));
        out
    }

    /// How many rows there are, selected or not.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many rows are selected.
    pub fn selected(&self) -> u64 {
        self.selected
    }

    /// Appends `rows` rows, all of which are selected or none.
    pub fn push_run(&mut self, selected: bool, rows: u64) {
        // Rows are numbered by 64 bits: what cannot be numbered cannot be there.
        let rows = rows.min(u64::MAX - self.rows);
        if rows == 0 {
            return;
        }
        self.rows += rows;
        self.selected += if selected { rows } else { 0 };
        match self.segments.last_mut() {
            Some(Segment::Run(before, len)) if *before == selected => *len += rows,
            _ => self.segments.push(Segment::Run(selected, rows)),
        }
    }

    /// Appends a row for each bit.
    pub fn push_bits(&mut self, bits: Bitmap) {
        let (rows, ones) = (bits.len(), bits.count_ones(0..bits.len()));
        if ones == 0 || ones == rows {
            return self.push_run(ones > 0, rows as u64);
        }
        self.rows += rows as u64;
        self.selected += ones as u64;
        self.segments.push(Segment::Mixed(bits));
    }

    /// The selected rows, as runs of neighbours, in order.
    pub fn runs(&self) -> impl Iterator<Item = Range<u64>> {
        let mut at = 0;
        let pieces = self.segments.iter().flat_map(move |segment| {
            let first = at;
            at += segment.len();
            let (whole, bits) = match segment {
                Segment::Run(wanted, rows) => (wanted.then_some(first..first + rows), None),
                Segment::Mixed(bits) => (None, Some(bits)),
            };
            let parts = bits.into_iter().flat_map(|bits| runs(bits, 0..bits.len()));
            whole.into_iter().chain(parts.map(move |run| first + run.start as u64..first + run.end as u64))
        });
        runs::joined(pieces)
    }

    /// The rows in `range`, as far as there are so many.
    #[must_use]
    pub fn slice(&self, range: Range<u64>) -> RowMask {
        let mut out = RowMask::new();
        let mut first = 0;
        for segment in &self.segments {
            let end = first + segment.len();
            let part = range.start.clamp(first, end) - first..range.end.clamp(first, end) - first;
            if part.start < part.end {
                out.push_part(segment, part);
            }
            first = end;
        }
        out
    }

    /// Appends the rows of `other`.
    pub fn append(&mut self, other: &RowMask) {
        other.segments.iter().for_each(|segment| self.push_part(segment, 0..segment.len()));
    }

    fn push_part(&mut self, segment: &Segment, part: Range<u64>) {
        match segment {
            Segment::Run(wanted, _) => self.push_run(*wanted, part.end - part.start),
            Segment::Mixed(bits) => {
                let mut out = Bitmap::new();
                out.push_packed(bits.as_bytes(), part.start as usize, (part.end - part.start) as usize);
                self.push_bits(out);
            }
        }
    }

    /// The rows that both select. Where one is longer, its last rows are as they are in it.
    #[must_use]
    pub fn and(&self, other: &RowMask) -> RowMask {
        self.combined(other, |a, b| a & b)
    }

    /// The rows that either selects. Where one is longer, its last rows are as they are in it.
    #[must_use]
    pub fn or(&self, other: &RowMask) -> RowMask {
        self.combined(other, |a, b| a | b)
    }

    fn combined(&self, other: &RowMask, op: impl Fn(u64, u64) -> u64) -> RowMask {
        let mut out = RowMask::new();
        let (mut a, mut b) = (Walk::new(self), Walk::new(other));
        while let (Some((ours, at)), Some((theirs, from))) = (a.part(), b.part()) {
            let rows = (ours.len() - at).min(theirs.len() - from);
            match (ours, theirs) {
                (Segment::Run(x, _), Segment::Run(y, _)) => {
                    out.push_run(op(u64::from(*x), u64::from(*y)) & 1 == 1, rows);
                }
                _ => {
                    let mut bits = Bitmap::new();
                    bits.reserve(rows as usize);
                    for done in (0..rows).step_by(64) {
                        let word = op(ours.word(at + done), theirs.word(from + done));
                        bits.push_packed(&word.to_le_bytes(), 0, (rows - done).min(64) as usize);
                    }
                    out.push_bits(bits);
                }
            }
            a.pass(rows);
            b.pass(rows);
        }
        let end = out.rows;
        let longer = if self.rows > other.rows { self } else { other };
        out.append(&longer.slice(end..u64::MAX));
        out
    }

    /// Of the selected rows those that `of_selected` selects, which has a row for each of them. Rows that it lacks are not
    /// selected.
    #[must_use]
    pub fn refine(&self, of_selected: &RowMask) -> RowMask {
        let mut out = RowMask::new();
        let mut taken = 0;
        for segment in &self.segments {
            let count = match segment {
                Segment::Run(wanted, rows) => u64::from(*wanted) * rows,
                Segment::Mixed(bits) => bits.count_ones(0..bits.len()) as u64,
            };
            let part = of_selected.slice(taken..taken + count);
            taken += count;
            let end = out.rows + segment.len();
            match segment {
                Segment::Run(..) => out.append(&part),
                Segment::Mixed(bits) => out.push_bits(refined(bits, &part)),
            }
            out.push_run(false, end - out.rows);
        }
        out
    }

    /// Without the first `n` selected rows.
    #[must_use]
    pub fn offset(&self, n: u64) -> RowMask {
        let n = n.min(self.selected);
        let mut of_selected = RowMask::new();
        of_selected.push_run(false, n);
        of_selected.push_run(true, self.selected - n);
        self.refine(&of_selected)
    }

    /// With no more than the first `n` selected rows.
    #[must_use]
    pub fn limit(&self, n: u64) -> RowMask {
        self.refine(&RowMask::all(n.min(self.selected)))
    }
}

/// `bits`, of whose ones those stay that `part` selects.
fn refined(bits: &Bitmap, part: &RowMask) -> Bitmap {
    let mut out = Bitmap::new();
    let mut kept =
        part.segments.iter().flat_map(|segment| (0..segment.len()).map(|i| segment.word(i) & 1 == 1));
    for i in 0..bits.len() {
        out.push(bits.get(i) && kept.next().unwrap_or(false));
    }
    out
}

/// Keeps of `bits`' ones those whose bit in `of_ones` is 1: `of_ones` has a bit for each one.
///
/// # Panics
/// If it has not.
pub fn refine_bits(bits: &Bitmap, of_ones: &Bitmap) -> Bitmap {
    let mut out = Bitmap::new();
    out.reserve(bits.len());
    let mut next = 0;
    for first in (0..bits.len()).step_by(64) {
        let n = (bits.len() - first).min(64);
        let (mut ones, mut word) = (bits.word(first), 0u64);
        if n < 64 {
            ones &= (1 << n) - 1;
        }
        let mut keep = of_ones.word(next);
        next += ones.count_ones() as usize;
        while ones != 0 && keep != 0 {
            word |= (keep & 1) << ones.trailing_zeros();
            keep >>= 1;
            ones &= ones - 1;
        }
        out.push_packed(&word.to_le_bytes(), 0, n);
    }
    assert_eq!(next, of_ones.len(), "a bit for each one");
    out
}

/// A position in a selection.
struct Walk<'a> {
    segments: &'a [Segment],
    /// Rows of the first segment that were passed.
    at: u64,
}

impl<'a> Walk<'a> {
    fn new(selection: &'a RowMask) -> Self {
        Walk { segments: &selection.segments, at: 0 }
    }

    /// The segment, and how many of its rows were passed.
    fn part(&self) -> Option<(&'a Segment, u64)> {
        self.segments.first().map(|segment| (segment, self.at))
    }

    /// Passes rows of the segment.
    fn pass(&mut self, rows: u64) {
        self.at += rows;
        if self.segments.first().is_some_and(|segment| segment.len() == self.at) {
            (self.segments, self.at) = (&self.segments[1..], 0);
        }
    }
}

impl PartialEq for RowMask {
    /// The same rows, however they are kept.
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows && self.selected == other.selected && self.runs().eq(other.runs())
    }
}

impl Eq for RowMask {}

impl Debug for RowMask {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} rows: ", self.selected, self.rows)?;
        f.debug_list().entries(self.runs().take(20)).finish()
    }
}

/// The bits of `range` whose bit in `keep` is 1, which has a bit for each of the range.
pub(crate) fn compacted(bits: &Bitmap, range: Range<usize>, keep: &Bitmap) -> Bitmap {
    let mut out = Bitmap::new();
    compact_bits(bits.as_bytes(), range.start, keep.as_bytes(), 0, range.len(), &mut out);
    out
}

#[cfg(test)]
mod tests;

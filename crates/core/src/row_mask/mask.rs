//! `RowMask`: a selection of rows, stored as runs and bitmaps.

use super::bit_runs::{joined, runs};
use marquetry_encoding::{Bitmap, filter_bits};
use std::fmt::{self, Debug, Formatter};
use std::ops::Range;

/// A selection of rows of a row group, or of any other sequence of rows.
///
/// ```
/// use marquetry_core::row_mask::RowMask;
/// let mask = RowMask::from_ranges(&[2..4, 6..9], 10);
/// assert_eq!((mask.rows(), mask.selected()), (10, 5));
/// let third = RowMask::from_ranges(&[2..3], 5);
/// assert_eq!(mask.and_then(&third).runs().collect::<Vec<_>>(), [6..7]);
/// ```
#[derive(Clone, Default)]
pub struct RowMask {
    pub(super) segments: Vec<Segment>,
    rows: u64,
    selected: u64,
}

/// Neighbouring rows. INVARIANT: a segment is never empty, and two runs in a row differ.
#[derive(Debug, Clone)]
pub(super) enum Segment {
    Run(bool, u64),
    Mixed(Bitmap),
}

impl Segment {
    pub(super) fn len(&self) -> u64 {
        match self {
            Segment::Run(_, rows) => *rows,
            Segment::Mixed(bits) => bits.len() as u64,
        }
    }

    /// Returns 64 rows from row `at` on as bits. Bits past the end have no meaning.
    fn word(&self, at: u64) -> u64 {
        match self {
            Segment::Run(wanted, _) => u64::from(*wanted).wrapping_neg(),
            // INVARIANT: `at` is inside, and there are no more bits than fit into memory.
            Segment::Mixed(bits) => bits.word(at as usize),
        }
    }
}

impl RowMask {
    /// Creates a mask of no rows, for appending.
    pub fn new() -> Self {
        RowMask::default()
    }

    /// Selects all of `rows` rows.
    pub fn all(rows: u64) -> Self {
        let mut out = RowMask::new();
        out.push_run(true, rows);
        out
    }

    /// Selects the rows in `ranges`, which should be sorted, out of `rows` rows. A part of a range that lies before the end
    /// of an earlier range, or past the last row, is ignored.
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

    /// Returns the number of rows, selected or not.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of selected rows.
    pub fn selected(&self) -> u64 {
        self.selected
    }

    /// Appends `rows` rows that are all selected, or all not.
    pub fn push_run(&mut self, selected: bool, rows: u64) {
        // Row numbers have 64 bits, so there cannot be more rows.
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

    /// Iterates over the runs of selected rows, in order.
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
        joined(pieces)
    }

    /// Returns the rows in `range`, as far as the mask has them.
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

    /// Returns the rows that both masks select. The last rows of a longer mask are as they are in it.
    #[must_use]
    pub fn and(&self, other: &RowMask) -> RowMask {
        self.combined(other, |a, b| a & b)
    }

    /// Returns the rows that either mask selects. The last rows of a longer mask are as they are in it.
    #[must_use]
    pub fn or(&self, other: &RowMask) -> RowMask {
        self.combined(other, |a, b| a | b)
    }

    fn combined(&self, other: &RowMask, op: impl Fn(u64, u64) -> u64) -> RowMask {
        let mut out = RowMask::new();
        let (mut a, mut b) = (SegmentCursor::new(self), SegmentCursor::new(other));
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
            a.advance(rows);
            b.advance(rows);
        }
        let end = out.rows;
        let longer = if self.rows > other.rows { self } else { other };
        out.append(&longer.slice(end..u64::MAX));
        out
    }

    /// Selects among the selected rows: `of_selected` has a row for each of them. Rows that it lacks are not selected.
    #[must_use]
    pub fn and_then(&self, of_selected: &RowMask) -> RowMask {
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

    /// Deselects the first `n` selected rows.
    #[must_use]
    pub fn offset(&self, n: u64) -> RowMask {
        if n == 0 {
            return self.clone();
        }
        let n = n.min(self.selected);
        let mut of_selected = RowMask::new();
        of_selected.push_run(false, n);
        of_selected.push_run(true, self.selected - n);
        self.and_then(&of_selected)
    }

    /// Keeps only the first `n` selected rows.
    #[must_use]
    pub fn limit(&self, n: u64) -> RowMask {
        if n >= self.selected {
            return self.clone();
        }
        self.and_then(&RowMask::all(n.min(self.selected)))
    }
}

/// Returns `bits` with only those ones that `part` selects. `part` has a row for each one; if it lacks the last ones,
/// these are not selected.
fn refined(bits: &Bitmap, part: &RowMask) -> Bitmap {
    let ones = bits.count_ones(0..bits.len());
    if part.selected == ones as u64 {
        return bits.clone();
    }
    let mut of_ones = Bitmap::new();
    of_ones.reserve(ones);
    for segment in &part.segments {
        match segment {
            // INVARIANT: there are no more rows than `bits` has.
            Segment::Run(wanted, rows) => of_ones.push_run(*wanted, *rows as usize),
            Segment::Mixed(some) => of_ones.push_packed(some.as_bytes(), 0, some.len()),
        }
    }
    of_ones.push_run(false, ones - of_ones.len());
    and_then_bits(bits, &of_ones)
}

/// Returns `bits` with only those ones whose bit in `of_ones` is 1. `of_ones` must have a bit for each one in `bits`.
///
/// # Panics
/// If `of_ones` has fewer or more bits.
pub fn and_then_bits(bits: &Bitmap, of_ones: &Bitmap) -> Bitmap {
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

/// A position in a mask.
struct SegmentCursor<'a> {
    segments: &'a [Segment],
    /// Number of rows of the first segment before the position.
    at: u64,
}

impl<'a> SegmentCursor<'a> {
    fn new(mask: &'a RowMask) -> Self {
        SegmentCursor { segments: &mask.segments, at: 0 }
    }

    /// Returns the segment, and how many of its rows are before the position.
    fn part(&self) -> Option<(&'a Segment, u64)> {
        self.segments.first().map(|segment| (segment, self.at))
    }

    /// Moves forward by `rows` rows of the segment.
    fn advance(&mut self, rows: u64) {
        self.at += rows;
        if self.segments.first().is_some_and(|segment| segment.len() == self.at) {
            (self.segments, self.at) = (&self.segments[1..], 0);
        }
    }
}

impl PartialEq for RowMask {
    /// Whether both masks select the same rows, whatever their segments are.
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

/// Returns the bits of `range` whose bit in `keep` is 1. `keep` has a bit for each bit of the range.
pub(crate) fn compacted(bits: &Bitmap, range: Range<usize>, keep: &Bitmap) -> Bitmap {
    let mut out = Bitmap::new();
    filter_bits(bits.as_bytes(), range.start, keep.as_bytes(), 0, range.len(), &mut out);
    out
}

//! Finds runs of ones in bitmaps.

use marquetry_encoding::Bitmap;
use std::ops::Range;

/// Iterates over the runs of ones in `range`, in order.
///
/// ```
/// use marquetry_core::row_mask::runs;
/// let bits = [false, true, true, false, true].into_iter().collect();
/// assert_eq!(runs(&bits, 0..5).collect::<Vec<_>>(), [1..3, 4..5]);
/// ```
pub fn runs(bits: &Bitmap, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let (mut at, end) = (range.start, range.end.min(bits.len()));
    std::iter::from_fn(move || {
        let start = next(bits, at..end, 0)?;
        at = next(bits, start..end, u64::MAX).unwrap_or(end);
        Some(start..at)
    })
}

/// Counts the runs of ones in `range`.
pub fn count_runs(bits: &Bitmap, range: Range<usize>) -> usize {
    let (mut before, mut count) = (0, 0);
    for first in range.clone().step_by(64) {
        let n = (range.end - first).min(64);
        let word = bits.word(first) & (u64::MAX >> (64 - n));
        count += (word & !(word << 1 | before)).count_ones() as usize;
        before = word >> 63;
    }
    count
}

/// Returns the first bit in `range` that is 1, or 0 if `flip` is all ones.
pub(crate) fn next(bits: &Bitmap, range: Range<usize>, flip: u64) -> Option<usize> {
    let mut at = range.start;
    while at < range.end {
        let word = bits.word(at) ^ flip;
        if word != 0 {
            let found = at + word.trailing_zeros() as usize;
            return (found < range.end).then_some(found);
        }
        at += 64;
    }
    None
}

/// Merges adjacent ranges of a sorted sequence.
pub(super) fn joined(ranges: impl Iterator<Item = Range<u64>>) -> impl Iterator<Item = Range<u64>> {
    let mut ranges = ranges.peekable();
    std::iter::from_fn(move || {
        let mut run = ranges.next()?;
        while let Some(next) = ranges.next_if(|next| next.start == run.end) {
            run.end = next.end;
        }
        Some(run)
    })
}

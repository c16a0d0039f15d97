//! Selects the slots of an array whose values are stored: those that are not null, and not below a null.

use arrow_buffer::NullBuffer;
use marquetry_core::nesting::SlotRanges;
use marquetry_encoding::{Bitmap, filter_bits, filter_u32, filter_u64};
use std::ops::Range;

/// The slots without those that are null.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NonNullSlots<'a> {
    slots: &'a SlotRanges,
    valid: Option<&'a Bitmap>,
    len: usize,
}

/// Returns which of `slots` are not null; `None` if all are.
pub(crate) fn validity(nulls: Option<&NullBuffer>, slots: &SlotRanges) -> Option<Bitmap> {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0)?;
    let mut bits = Bitmap::new();
    bits.reserve(slots.len());
    for range in slots.ranges() {
        bits.push_packed(nulls.validity(), nulls.offset() + range.start, range.len());
    }
    (bits.count_ones(0..bits.len()) < bits.len()).then_some(bits)
}

impl<'a> NonNullSlots<'a> {
    /// Selects the slots whose bit is 1, or all of them.
    pub(crate) fn new(slots: &'a SlotRanges, valid: Option<&'a Bitmap>) -> Self {
        let len = valid.map_or(slots.len(), |bits| bits.count_ones(0..bits.len()));
        NonNullSlots { slots, valid, len }
    }

    /// Returns how many slots are picked.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Appends the picked values of `from` to `out`.
    pub(super) fn copy_w32(&self, from: &[u32], out: &mut Vec<u32>) {
        self.each_range(|range, bits| match bits {
            None => out.extend_from_slice(&from[range]),
            Some((bits, first)) => filter_u32(&from[range], bits.as_bytes(), first, out),
        });
    }

    /// Appends the picked values of `from` to `out`.
    pub(super) fn copy_w64(&self, from: &[u64], out: &mut Vec<u64>) {
        self.each_range(|range, bits| match bits {
            None => out.extend_from_slice(&from[range]),
            Some((bits, first)) => filter_u64(&from[range], bits.as_bytes(), first, out),
        });
    }

    /// Appends the picked bits of `from`, the first of which is bit `offset`.
    pub(super) fn copy_bits(&self, from: &[u8], offset: usize, out: &mut Bitmap) {
        self.each_range(|range, bits| match bits {
            None => out.push_packed(from, offset + range.start, range.len()),
            Some((bits, first)) => {
                filter_bits(from, offset + range.start, bits.as_bytes(), first, range.len(), out);
            }
        });
    }

    /// Appends the results of `map` for the picked values of `from` to `out`.
    pub(crate) fn map<T: Copy + Default, U>(&self, from: &[T], out: &mut Vec<U>, map: impl Fn(T) -> U) {
        out.reserve(self.len);
        self.chunks(from, |chunk| out.extend(chunk.iter().map(|&value| map(value))));
    }

    /// Appends the `N` bytes that `bytes` returns for each picked value of `from` to `out`.
    pub(super) fn map_bytes<const N: usize, T: Copy + Default>(
        &self,
        from: &[T],
        out: &mut Vec<u8>,
        mut bytes: impl FnMut(T) -> [u8; N],
    ) {
        let start = out.len();
        out.resize(start + self.len * N, 0);
        let (mut rest, _) = out[start..].as_chunks_mut::<N>();
        self.chunks(from, |chunk| {
            let (to, behind) = std::mem::take(&mut rest).split_at_mut(chunk.len());
            fill(to, chunk, &mut bytes);
            rest = behind;
        });
    }

    /// Returns the number, among the picked values of `from`, of the first for which `is` is true.
    pub(super) fn find<T: Copy + Default>(&self, from: &[T], is: impl Fn(T) -> bool) -> Option<usize> {
        let (mut found, mut before) = (None, 0);
        self.chunks(from, |chunk| {
            // PERF: no early end, so that the loop over a chunk is vectorised.
            if found.is_none() && chunk.iter().fold(false, |any, &value| any | is(value)) {
                found = chunk.iter().position(|&value| is(value)).map(|i| before + i);
            }
            before += chunk.len();
        });
        found
    }

    /// Passes the picked values of `from` to `piece`, in pieces.
    pub(super) fn chunks<T: Copy + Default>(&self, from: &[T], mut piece: impl FnMut(&[T])) {
        self.each_chunk(from, &mut piece);
    }

    /// Does what [`chunks`](Self::chunks) does. Compiled once for each value type, not for each of the many closures; a
    /// call per piece costs little.
    fn each_chunk<T: Copy + Default>(&self, from: &[T], piece: &mut dyn FnMut(&[T])) {
        self.each_range(|range, bits| {
            let Some((bits, first)) = bits else {
                return piece(&from[range]);
            };
            for (i, values) in from[range].chunks(64).enumerate() {
                let word = bits.word(first + i * 64);
                if word & low_bits(values.len()) == low_bits(values.len()) {
                    piece(values);
                    continue;
                }
                // PERF: no branch: each value is written, and overwritten by the next one if it is not picked.
                let (mut kept, mut n) = ([T::default(); 64], 0);
                for (bit, &value) in values.iter().enumerate() {
                    kept[n & 63] = value;
                    n += (word >> bit & 1) as usize;
                }
                piece(&kept[..n]);
            }
        });
    }

    /// Passes the picked slots to `run`, as runs of adjacent slots.
    pub(super) fn runs(&self, mut run: impl FnMut(Range<usize>)) {
        self.each_range(|range, bits| {
            let Some((bits, first)) = bits else {
                return run(range);
            };
            let (len, mut at) = (range.len(), 0);
            while at < len {
                let word = bits.word(first + at);
                let zeros = (word.trailing_zeros() as usize).min(len - at);
                // The shift fills with zeros, so a run that reaches the end of a word is split in two.
                let ones = if zeros == 64 { 0 } else { (word >> zeros).trailing_ones() as usize };
                let ones = ones.min(len - at - zeros);
                if ones > 0 {
                    run(range.start + at + zeros..range.start + at + zeros + ones);
                }
                at += zeros + ones;
            }
        });
    }

    /// Passes each range of slots to `each`, with the bits of all slots and the number of the range's first one.
    fn each_range(&self, mut each: impl FnMut(Range<usize>, Option<(&Bitmap, usize)>)) {
        let mut first = 0;
        for range in self.slots.ranges() {
            each(range.clone(), self.valid.map(|bits| (bits, first)));
            first += range.len();
        }
    }
}

/// PERF: as arguments of a function, these are known not to overlap, unlike what a closure captures.
fn fill<const N: usize, T: Copy>(to: &mut [[u8; N]], from: &[T], bytes: &mut impl FnMut(T) -> [u8; N]) {
    for (to, &value) in to.iter_mut().zip(from) {
        *to = bytes(value);
    }
}

/// Returns a mask of the lowest `n` bits, `n <= 64`.
fn low_bits(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_picks_the_same() {
        let from: Vec<u32> = (0..500).collect();
        for density in [0, 1, 5, 9, 10] {
            let mut slots = SlotRanges::default();
            [3..4, 10..11, 20..150, 100..101, 200..264, 300..490]
                .into_iter()
                .for_each(|range| slots.push(range));
            let valid: Bitmap = (0..slots.len()).map(|i| (i * 7 + i / 10) % 10 < density).collect();
            for valid in [None, Some(&valid)] {
                let picks = NonNullSlots::new(&slots, valid);
                let all = slots.ranges().iter().cloned().flatten().enumerate();
                let kept = all.filter(|(i, _)| valid.is_none_or(|valid| valid.get(*i)));
                let expected: Vec<u32> = kept.map(|(_, slot)| slot as u32).collect();
                assert_eq!(picks.len(), expected.len());
                let mut found = Vec::new();
                picks.copy_w32(&from, &mut found);
                assert_eq!(found, expected);
                let mut found = Vec::new();
                picks.map(&from, &mut found, |value| value);
                assert_eq!(found, expected);
                let odd: Bitmap = from.iter().map(|value| value % 3 == 1).collect();
                let mut found = Bitmap::new();
                picks.copy_bits(&odd.as_bytes()[1..], 0, &mut found);
                assert_eq!(found, expected.iter().map(|value| (value + 8) % 3 == 1).collect());
                let mut found = Vec::new();
                picks.runs(|run| found.extend(run.map(|slot| slot as u32)));
                assert_eq!(found, expected);
                assert_eq!(picks.find(&from, |v| v >= 300), expected.iter().position(|&v| v >= 300));
            }
        }
    }
}

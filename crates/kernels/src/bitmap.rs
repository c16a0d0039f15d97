//! A growable bitmap, least significant bit first: the layout of Arrow's validity and boolean buffers, and of PLAIN booleans.
//!
//! Packed bits are appended by a copy, runs by a fill.

mod appender;
mod words;

use crate::signatures::Kernels;
use crate::uninit::append;
use std::mem::MaybeUninit;
use std::ops::Range;
use words::{byte_at, low_mask};

pub use appender::{BitAppender, BitRun};
pub(crate) use words::{low_mask64, word_at};

/// A growable bitmap in the order of Arrow and Parquet: bit `i` is bit `i % 8` of byte `i / 8`.
///
/// INVARIANT: `bytes.len() == len.div_ceil(8)` and the unused bits of the last byte are 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bitmap {
    bytes: Vec<u8>,
    len: usize,
}

impl Bitmap {
    /// Creates an empty bitmap.
    pub fn new() -> Self {
        Bitmap::default()
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns bit `i`.
    ///
    /// # Panics
    /// If there is no bit `i`.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of {}", self.len);
        self.bytes[i / 8] >> (i % 8) & 1 != 0
    }

    /// The bytes that hold the bits.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes that hold the bits, owned.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Removes all bits and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.len = 0;
    }

    /// Reserves memory for `n` more bits.
    pub fn reserve(&mut self, n: usize) {
        self.bytes.reserve(n / 8 + 9);
    }

    /// Appends one bit.
    #[inline]
    pub fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.bytes.push(0);
        }
        let last = self.bytes.len() - 1;
        self.bytes[last] |= u8::from(bit) << (self.len % 8);
        self.len += 1;
    }

    /// Appends `n` copies of the same bit.
    pub fn push_run(&mut self, bit: bool, n: usize) {
        let fill = if bit { 0xff } else { 0 };
        let end = self.len + n;
        if let (Some(last), used @ 1..) = (self.bytes.last_mut(), self.len % 8) {
            *last |= fill << used;
        }
        self.bytes.resize(end.div_ceil(8), fill);
        self.len = end;
        self.clear_tail();
    }

    /// Appends the `n` bits that begin at bit `first` of `source`.
    ///
    /// # Panics
    /// If `source` has fewer bits.
    pub fn push_packed(&mut self, source: &[u8], first: usize, n: usize) {
        assert!(source.len() * 8 >= first + n, "{n} bits from bit {first} of {} bytes", source.len());
        if n == 0 {
            return;
        }
        let (mut first, mut n) = (first, n);
        let head = (8 - self.len % 8) % 8;
        if head > 0 {
            // Fills the last byte first, so that the following bits start at a byte boundary of the target.
            let take = head.min(n);
            let bits = byte_at(source, first) & low_mask(take);
            let last = self.bytes.len() - 1;
            self.bytes[last] |= bits << (self.len % 8);
            self.len += take;
            first += take;
            n -= take;
        }
        if n == 0 {
            return;
        }
        let source = &source[first / 8..(first + n).div_ceil(8)];
        let shift = first % 8;
        let bytes = n.div_ceil(8);
        if shift == 0 {
            self.bytes.extend_from_slice(&source[..bytes]);
        } else {
            let whole = source.windows(2).take(bytes).map(|pair| pair[0] >> shift | pair[1] << (8 - shift));
            self.bytes.extend(whole);
            if source.len() == bytes {
                self.bytes.push(source[bytes - 1] >> shift);
            }
        }
        self.len += n;
        self.clear_tail();
    }

    /// Creates an appender for a few bits at a time.
    pub fn appender(&mut self) -> BitAppender<'_> {
        BitAppender::new(&mut self.bytes, &mut self.len)
    }

    /// Inverts all bits.
    pub fn invert(&mut self) {
        self.bytes.iter_mut().for_each(|byte| *byte = !*byte);
        self.clear_tail();
    }

    /// Clears the bits that are 0 in `other`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn and(&mut self, other: &Bitmap) {
        assert_eq!(self.len, other.len, "bits and bits");
        self.bytes.iter_mut().zip(&other.bytes).for_each(|(ours, theirs)| *ours &= theirs);
    }

    /// Sets the bits that are 1 in `other`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn or(&mut self, other: &Bitmap) {
        assert_eq!(self.len, other.len, "bits or bits");
        self.bytes.iter_mut().zip(&other.bytes).for_each(|(ours, theirs)| *ours |= theirs);
    }

    /// Returns 64 bits from bit `first` on. Bits past the end are 0.
    #[inline]
    pub fn word(&self, first: usize) -> u64 {
        word_at(&self.bytes, first)
    }

    fn clear_tail(&mut self) {
        if let (Some(last), used @ 1..) = (self.bytes.last_mut(), self.len % 8) {
            *last &= low_mask(used);
        }
    }
}

impl FromIterator<bool> for Bitmap {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut out = Bitmap::new();
        bits.into_iter().for_each(|bit| out.push(bit));
        out
    }
}

impl Kernels {
    /// `Bitmap::push_ge` at this level.
    pub fn push_ge(&self, bits: &mut Bitmap, levels: &[u8], threshold: u8) {
        let head = (8 - bits.len % 8) % 8;
        let (head, rest) = levels.split_at(head.min(levels.len()));
        head.iter().for_each(|&level| bits.push(level >= threshold));
        let (groups, tail) = rest.as_chunks::<8>();
        let levels = groups.as_flattened();
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(&mut bits.bytes, groups.len(), |out| (self.levels_ge)(levels, threshold, out)) };
        bits.len += levels.len();
        tail.iter().for_each(|&level| bits.push(level >= threshold));
    }

    /// `Bitmap::count_ones` at this level.
    pub fn count_ones(&self, bits: &Bitmap, range: Range<usize>) -> usize {
        assert!(range.end <= bits.len, "bits {range:?} of {}", bits.len);
        // SAFETY: this CPU has the level of this table.
        unsafe { (self.count_ones)(&bits.bytes, range.start, range.len()) }
    }
}

pub(crate) fn levels_ge_scalar(levels: &[u8], threshold: u8, out: &mut [MaybeUninit<u8>]) {
    let (groups, _) = levels.as_chunks::<8>();
    assert_eq!(groups.len(), out.len());
    for (group, byte) in groups.iter().zip(out) {
        let bits = group.iter().enumerate();
        byte.write(bits.fold(0u8, |byte, (i, &level)| byte | u8::from(level >= threshold) << i));
    }
}

#[inline(always)]
pub(crate) fn count_ones_scalar(bytes: &[u8], first: usize, n: usize) -> usize {
    if n == 0 {
        return 0;
    }
    let bytes = &bytes[first / 8..(first + n).div_ceil(8)];
    let (words, tail) = bytes.as_chunks::<8>();
    let ones: u32 = words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum();
    let tail: u32 = tail.iter().map(|byte| byte.count_ones()).sum();
    // Bits of the first and the last byte that are outside the range.
    let before = bytes[0] & low_mask(first % 8);
    let after = bytes[bytes.len() - 1] as u32 >> ((first + n - 1) % 8 + 1);
    (ones + tail - before.count_ones() - after.count_ones()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(i: usize) -> bool {
        (i * i + i / 3) % 5 < 2
    }

    #[test]
    fn packed_bits_append_at_every_alignment() {
        let source: Bitmap = (0..300).map(sample).collect();
        for before in 0..10 {
            for first in 0..18 {
                for n in [0, 1, 2, 7, 8, 9, 63, 64, 65, 128, 200] {
                    let mut bits: Bitmap = (0..before).map(|i| i % 2 == 0).collect();
                    bits.push_packed(source.as_bytes(), first, n);
                    let expected: Bitmap =
                        (0..before).map(|i| i % 2 == 0).chain((first..first + n).map(sample)).collect();
                    assert_eq!(bits, expected, "{before} before, {n} from {first}");
                }
            }
        }
    }

    #[test]
    fn runs_at_every_alignment() {
        for before in 0..130 {
            for bits in [0, 1, 8, 63, 64, 65, 127, 128, 129, 200, 256] {
                let mut out = Bitmap::new();
                let mut appender = out.appender();
                (0..before).for_each(|i| appender.push(sample(i).into(), 1));
                // Two runs that fill the announced number of bits, then an empty one.
                let run = BitRun { bits, word: u64::MAX, after: if bits > 64 { u64::MAX } else { 0 } };
                let packed = BitRun { bits: 13, word: 0xffff_ffff_ffff_f555, after: 0 };
                let mut all = [run, packed, BitRun { bits: 0, ..run }].into_iter();
                appender.push_bit_runs(bits + 13, || all.next());
                drop(appender);
                let values = (0..before).map(sample).chain((0..bits).map(|_| true));
                let expected: Bitmap = values.chain((0..13).map(|i| 0x1555 >> i & 1 == 1)).collect();
                assert_eq!(out, expected, "{bits} after {before}");
            }
        }
    }

    #[test]
    fn a_few_bits_at_a_time() {
        let source: Bitmap = (0..3000).map(sample).collect();
        for before in 0..10 {
            let mut bits: Bitmap = (0..before).map(sample).collect();
            let mut appender = bits.appender();
            let (mut at, mut step) = (before, 0);
            while at < 2500 {
                let n = step * step % 65;
                appender.push(source.word(at) & low_mask64(n), n as u32);
                at += n;
                if step % 11 == 3 {
                    appender.push_packed(source.as_bytes(), at, step % 100);
                    at += step % 100;
                }
                step += 1;
            }
            drop(appender);
            assert_eq!(bits, (0..at).map(sample).collect());
            bits.appender().push_run(true, 70);
            assert_eq!((bits.len(), Kernels::current().count_ones(&bits, at..at + 70)), (at + 70, 70));
        }
    }

    #[test]
    fn no_bits_can_be_taken_from_the_end() {
        let mut bits: Bitmap = (0..3).map(sample).collect();
        bits.push_packed(&[0xff], 8, 0);
        bits.push_packed(&[], 0, 0);
        assert_eq!(bits, (0..3).map(sample).collect());
    }

    #[test]
    fn runs_append_at_every_alignment() {
        for before in 0..10 {
            for n in [0, 1, 6, 7, 8, 9, 64, 100] {
                for bit in [false, true] {
                    let mut bits: Bitmap = (0..before).map(sample).collect();
                    bits.push_run(bit, n);
                    let expected: Bitmap = (0..before).map(sample).chain((0..n).map(|_| bit)).collect();
                    assert_eq!(bits, expected);
                }
            }
        }
    }

    #[test]
    fn levels_become_bits() {
        let levels: Vec<u8> = (0..100).map(|i| (i * 7 % 5) as u8).collect();
        for before in 0..9 {
            let mut bits: Bitmap = (0..before).map(sample).collect();
            Kernels::current().push_ge(&mut bits, &levels, 3);
            let expected: Bitmap =
                (0..before).map(sample).chain(levels.iter().map(|&level| level >= 3)).collect();
            assert_eq!(bits, expected);
        }
    }

    #[test]
    fn bits_are_combined_and_inverted() {
        for n in [0, 1, 7, 8, 9, 200] {
            let (a, b): (Bitmap, Bitmap) =
                ((0..n).map(sample).collect(), (0..n).map(|i| i % 3 == 0).collect());
            let (mut both, mut any, mut none) = (a.clone(), a.clone(), a.clone());
            both.and(&b);
            any.or(&b);
            none.invert();
            assert_eq!(both, (0..n).map(|i| sample(i) && i % 3 == 0).collect());
            assert_eq!(any, (0..n).map(|i| sample(i) || i % 3 == 0).collect());
            assert_eq!(none, (0..n).map(|i| !sample(i)).collect());
        }
    }

    #[test]
    fn ones_are_counted_in_any_range() {
        let bits: Bitmap = (0..200).map(sample).collect();
        for start in [0, 1, 63, 64, 65] {
            for end in [start, 66, 130, 200] {
                if start <= end {
                    assert_eq!(
                        Kernels::current().count_ones(&bits, start..end),
                        (start..end).filter(|&i| sample(i)).count()
                    );
                }
            }
        }
    }
}

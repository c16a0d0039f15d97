//! A growing bitmap, least significant bit first, as Arrow's validity and boolean buffers and Parquet's PLAIN
//! booleans have it: appending packed bits is a copy, appending a run is a fill.

use crate::table::{Kernels, append};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Bitmap in the order of Arrow and Parquet: bit `i` is bit `i % 8` of byte `i / 8`.
///
/// INVARIANT: `bytes.len() == len.div_ceil(8)` and the unused bits of the last byte are 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bitmap {
    bytes: Vec<u8>,
    len: usize,
}

impl Bitmap {
    /// No bits.
    pub fn new() -> Self {
        Bitmap::default()
    }

    /// How many bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bit `i`.
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

    /// Forgets all bits, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.len = 0;
    }

    /// Makes room for `n` more bits.
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

    /// Appends `n` times the same bit.
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
            // Fill the last byte, so that what follows is aligned on our side.
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

    /// To append a few bits at a time.
    pub fn appender(&mut self) -> Appender<'_> {
        let mut appender = Appender { bits: self, word: 0, fill: 0 };
        appender.resume();
        appender
    }

    /// Appends one bit for each byte: whether it is at least `threshold`. Levels become validity this way.
    pub fn push_at_least(&mut self, levels: &[u8], threshold: u8) {
        Kernels::current().push_at_least(self, levels, threshold);
    }

    /// Turns each 1 into a 0 and each 0 into a 1.
    pub fn invert(&mut self) {
        self.bytes.iter_mut().for_each(|byte| *byte = !*byte);
        self.clear_tail();
    }

    /// Keeps the ones that `other` has too.
    ///
    /// # Panics
    /// If there are not as many bits.
    pub fn and(&mut self, other: &Bitmap) {
        assert_eq!(self.len, other.len, "bits and bits");
        self.bytes.iter_mut().zip(&other.bytes).for_each(|(ours, theirs)| *ours &= theirs);
    }

    /// Adds the ones of `other`.
    ///
    /// # Panics
    /// If there are not as many bits.
    pub fn or(&mut self, other: &Bitmap) {
        assert_eq!(self.len, other.len, "bits or bits");
        self.bytes.iter_mut().zip(&other.bytes).for_each(|(ours, theirs)| *ours |= theirs);
    }

    /// How many bits of `range` are 1.
    ///
    /// # Panics
    /// If the range is not inside.
    pub fn count_ones(&self, range: Range<usize>) -> usize {
        Kernels::current().count_ones(self, range)
    }

    /// 64 bits from bit `first` on; bits past the end are 0.
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

/// Appends bits to [`Bitmap`] through a word in a register, which is what many short runs need. They are all there when it is
/// dropped.
#[derive(Debug)]
pub struct Appender<'a> {
    bits: &'a mut Bitmap,
    /// The lowest `fill` bits, fewer than 64, are not yet in `bits`, whose last byte is full.
    word: u64,
    fill: u32,
}

/// Neighbouring bits: at most 64, or a pattern that every word has, at most 256.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    /// How many.
    pub bits: usize,
    /// The first 64; those that are not in the stretch may be any.
    pub word: u64,
    /// The pattern for the others, or 0 if there are none.
    pub after: u64,
}

/// Bytes that are written for a stretch: of the words that it may reach into.
const WRITTEN: usize = 5 * 8;

impl Appender<'_> {
    /// Appends the lowest `n <= 64` bits of `word`, whose other bits are 0.
    #[inline(always)]
    pub fn push(&mut self, word: u64, n: u32) {
        debug_assert!(n <= 64 && word & !low_mask64(n as usize) == 0);
        self.word |= word << self.fill;
        let fill = self.fill + n;
        if fill >= 64 {
            self.bits.bytes.extend_from_slice(&self.word.to_le_bytes());
            self.bits.len += 64;
            // What of `word` did not fit; by two shifts, because one by 64 is not defined.
            self.word = word >> 1 >> (63 - self.fill);
        }
        self.fill = fill % 64;
    }

    /// Appends the stretches that `next` gives, until there is none; together at most `most` bits.
    ///
    /// PERF: five words are written for each, however many it fills, so that there is no branch on its length, which nobody
    /// could foresee.
    ///
    /// # Panics
    /// If there are more than `most` bits, or a stretch is longer than it may be.
    #[inline(always)]
    pub fn push_stretches(&mut self, most: usize, mut next: impl FnMut() -> Option<Stretch>) {
        let start = self.bits.bytes.len();
        // The words that may become full, and what is written behind them.
        let words = (self.fill as usize + most) / 64;
        self.bits.bytes.resize(start + 8 * words + WRITTEN, 0);
        let out = &mut self.bits.bytes[start..];
        let (mut at, mut word, mut fill) = (0, self.word, self.fill as usize);
        while let Some(Stretch { bits, word: first, after }) = next() {
            let end = fill + bits;
            let second = first >> 1 >> (63 - fill) | after;
            let first = word | first << fill;
            let words = [first, second, after, after, after];
            let room = out[at..].first_chunk_mut::<WRITTEN>().expect("no more bits than were announced");
            for (room, word) in room.as_chunks_mut::<8>().0.iter_mut().zip(words) {
                *room = word.to_le_bytes();
            }
            let full = end / 64;
            word = if full == 0 { first } else { second };
            word = if full > 1 { after } else { word } & low_mask64(end % 64);
            (at, fill) = (at + 8 * full, end % 64);
        }
        self.bits.bytes.truncate(start + at);
        self.bits.len += 8 * at;
        (self.word, self.fill) = (word, fill as u32);
    }

    /// Appends `n` times the same bit.
    pub fn push_run(&mut self, bit: bool, n: usize) {
        let word = if bit { u64::MAX } else { 0 };
        let head = n.min(64 - self.fill as usize);
        self.push(word & low_mask64(head), head as u32);
        let (words, tail) = ((n - head) / 64, (n - head) % 64);
        if words > 0 {
            // INVARIANT: the head has filled the word.
            let end = self.bits.bytes.len() + 8 * words;
            self.bits.bytes.resize(end, word as u8);
            self.bits.len += 64 * words;
        }
        self.push(word & low_mask64(tail), tail as u32);
    }

    /// Appends the `n` bits that begin at bit `first` of `source`.
    ///
    /// # Panics
    /// If `source` has fewer bits.
    pub fn push_packed(&mut self, source: &[u8], first: usize, n: usize) {
        assert!(source.len() * 8 >= first + n, "{n} bits from bit {first} of {} bytes", source.len());
        for done in (0..n).step_by(64) {
            let take = (n - done).min(64);
            self.push(word_at(source, first + done) & low_mask64(take), take as u32);
        }
    }

    fn flush(&mut self) {
        let bytes = (self.fill as usize).div_ceil(8);
        self.bits.bytes.extend_from_slice(&self.word.to_le_bytes()[..bytes]);
        self.bits.len += self.fill as usize;
        (self.word, self.fill) = (0, 0);
    }

    fn resume(&mut self) {
        if let used @ 1.. = self.bits.len % 8 {
            self.word = self.bits.bytes.pop().map_or(0, u64::from);
            self.fill = used as u32;
            self.bits.len -= used;
        }
    }
}

impl Drop for Appender<'_> {
    fn drop(&mut self) {
        self.flush();
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
    /// [`Bitmap::push_at_least`] at this level.
    pub fn push_at_least(&self, bits: &mut Bitmap, levels: &[u8], threshold: u8) {
        let head = (8 - bits.len % 8) % 8;
        let (head, rest) = levels.split_at(head.min(levels.len()));
        head.iter().for_each(|&level| bits.push(level >= threshold));
        let (groups, tail) = rest.as_chunks::<8>();
        let levels = groups.as_flattened();
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(&mut bits.bytes, groups.len(), |out| (self.at_least)(levels, threshold, out)) };
        bits.len += levels.len();
        tail.iter().for_each(|&level| bits.push(level >= threshold));
    }

    /// [`Bitmap::count_ones`] at this level.
    pub fn count_ones(&self, bits: &Bitmap, range: Range<usize>) -> usize {
        assert!(range.end <= bits.len, "bits {range:?} of {}", bits.len);
        // SAFETY: this CPU has the level of this table.
        unsafe { (self.count_ones)(&bits.bytes, range.start, range.len()) }
    }
}

pub(crate) fn at_least_scalar(levels: &[u8], threshold: u8, out: &mut [MaybeUninit<u8>]) {
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
    // What of the first and the last byte does not belong to the range.
    let before = bytes[0] & low_mask(first % 8);
    let after = bytes[bytes.len() - 1] as u32 >> ((first + n - 1) % 8 + 1);
    (ones + tail - before.count_ones() - after.count_ones()) as usize
}

/// 64 bits of `bytes` from bit `first` on; bits past the end are 0.
#[inline]
pub(crate) fn word_at(bytes: &[u8], first: usize) -> u64 {
    let (byte, shift) = (first / 8, first % 8);
    if let Some(nine) = bytes.get(byte..byte + 9) {
        let low = u64::from_le_bytes(nine[..8].try_into().expect("8 of 9 bytes"));
        // `<< 1 << (63 - shift)` because a shift by 64 is not defined when `shift` is 0.
        return low >> shift | u64::from(nine[8]) << 1 << (63 - shift);
    }
    let mut padded = [0u8; 16];
    let rest = bytes.get(byte..).unwrap_or_default();
    padded[..rest.len()].copy_from_slice(rest);
    (u128::from_le_bytes(padded) >> shift) as u64
}

fn byte_at(bytes: &[u8], first: usize) -> u8 {
    let (byte, shift) = (first / 8, first % 8);
    let next = bytes.get(byte + 1).copied().unwrap_or(0);
    ((u16::from(bytes[byte]) | u16::from(next) << 8) >> shift) as u8
}

/// The lowest `n` bits, `n <= 8`.
fn low_mask(n: usize) -> u8 {
    if n >= 8 { 0xff } else { (1 << n) - 1 }
}

/// The lowest `n` bits, `n <= 64`.
#[inline]
pub(crate) fn low_mask64(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
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
    fn stretches_at_every_alignment() {
        for before in 0..130 {
            for bits in [0, 1, 8, 63, 64, 65, 127, 128, 129, 200, 256] {
                let mut out = Bitmap::new();
                let mut appender = out.appender();
                (0..before).for_each(|i| appender.push(sample(i).into(), 1));
                // Two that fill what was announced, of which the second is packed, and an empty one behind them.
                let run = Stretch { bits, word: u64::MAX, after: if bits > 64 { u64::MAX } else { 0 } };
                let packed = Stretch { bits: 13, word: 0xffff_ffff_ffff_f555, after: 0 };
                let mut all = [run, packed, Stretch { bits: 0, ..run }].into_iter();
                appender.push_stretches(bits + 13, || all.next());
                drop(appender);
                let values = (0..before).map(sample).chain((0..bits).map(|_| true));
                let expected: Bitmap = values.chain((0..13).map(|i| 0x1555 >> i & 1 == 1)).collect();
                assert_eq!(out, expected, "{bits} behind {before}");
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
            assert_eq!((bits.len(), bits.count_ones(at..at + 70)), (at + 70, 70));
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
            bits.push_at_least(&levels, 3);
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
                    assert_eq!(bits.count_ones(start..end), (start..end).filter(|&i| sample(i)).count());
                }
            }
        }
    }
}

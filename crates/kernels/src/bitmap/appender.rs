//! Appends a few bits at a time to a bitmap.

use super::words::{low_mask64, word_at};

/// Appends bits to a bitmap through a word in a register, which is fast for many short runs. The bitmap is complete
/// once the appender is dropped.
#[derive(Debug)]
pub struct BitAppender<'a> {
    /// The whole bytes of the bitmap.
    bytes: &'a mut Vec<u8>,
    /// The length of the bitmap, which is set on drop.
    len: &'a mut usize,
    /// The lowest `fill` bits, fewer than 64, are not in `bytes` yet.
    word: u64,
    fill: u32,
}

/// Consecutive bits: at most 64 bits of any kind, or at most 256 of a pattern that repeats after 64.
#[derive(Debug, Clone, Copy)]
pub struct BitRun {
    /// The number of bits.
    pub bits: usize,
    /// The first 64 bits. Bits beyond the end of the run are ignored.
    pub word: u64,
    /// The pattern of the following words, or 0 if the run has at most 64 bits.
    pub after: u64,
}

/// Number of bytes written for a run: the five words that a run of 256 bits can touch.
const BYTES_PER_RUN: usize = 5 * 8;

impl<'a> BitAppender<'a> {
    /// Continues a bitmap of `len` bits in `bytes`, whose unused bits are 0.
    pub(super) fn new(bytes: &'a mut Vec<u8>, len: &'a mut usize) -> Self {
        let fill = *len % 8;
        let word = if fill > 0 { bytes.pop().map_or(0, u64::from) } else { 0 };
        BitAppender { bytes, len, word, fill: fill as u32 }
    }
}

impl BitAppender<'_> {
    /// Appends the lowest `n <= 64` bits of `word`, whose other bits are 0.
    #[inline(always)]
    pub fn push(&mut self, word: u64, n: u32) {
        debug_assert!(n <= 64 && word & !low_mask64(n as usize) == 0);
        self.word |= word << self.fill;
        let fill = self.fill + n;
        if fill >= 64 {
            self.bytes.extend_from_slice(&self.word.to_le_bytes());
            // The bits of `word` that did not fit. Two shifts, because a shift by 64 is not defined.
            self.word = word >> 1 >> (63 - self.fill);
        }
        self.fill = fill % 64;
    }

    /// Appends the runs that `next` returns until it returns `None`, at most `max_bits` bits in total.
    ///
    /// PERF: writes five words for each run, whatever its length, so that there is no branch on the length, which the
    /// CPU could not predict.
    ///
    /// # Panics
    /// If there are more than `max_bits` bits, or a run is longer than [`BitRun`] allows.
    #[inline(always)]
    pub fn push_bit_runs(&mut self, max_bits: usize, mut next: impl FnMut() -> Option<BitRun>) {
        let start = self.bytes.len();
        // The words that may become full, and the excess that is written after them.
        let words = (self.fill as usize + max_bits) / 64;
        self.bytes.resize(start + 8 * words + BYTES_PER_RUN, 0);
        let out = &mut self.bytes[start..];
        let (mut at, mut word, mut fill) = (0, self.word, self.fill as usize);
        while let Some(BitRun { bits, word: first, after }) = next() {
            let end = fill + bits;
            let second = first >> 1 >> (63 - fill) | after;
            let first = word | first << fill;
            let words = [first, second, after, after, after];
            let room =
                out[at..].first_chunk_mut::<BYTES_PER_RUN>().expect("no more bits than were announced");
            for (room, word) in room.as_chunks_mut::<8>().0.iter_mut().zip(words) {
                *room = word.to_le_bytes();
            }
            let full = end / 64;
            word = if full == 0 { first } else { second };
            word = if full > 1 { after } else { word } & low_mask64(end % 64);
            (at, fill) = (at + 8 * full, end % 64);
        }
        self.bytes.truncate(start + at);
        (self.word, self.fill) = (word, fill as u32);
    }

    /// Appends `n` copies of the same bit.
    pub fn push_run(&mut self, bit: bool, n: usize) {
        let word = if bit { u64::MAX } else { 0 };
        let head = n.min(64 - self.fill as usize);
        self.push(word & low_mask64(head), head as u32);
        let (words, tail) = ((n - head) / 64, (n - head) % 64);
        if words > 0 {
            // INVARIANT: the head has filled the word.
            let end = self.bytes.len() + 8 * words;
            self.bytes.resize(end, word as u8);
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
}

impl Drop for BitAppender<'_> {
    fn drop(&mut self) {
        *self.len = 8 * self.bytes.len() + self.fill as usize;
        let bytes = (self.fill as usize).div_ceil(8);
        self.bytes.extend_from_slice(&self.word.to_le_bytes()[..bytes]);
    }
}

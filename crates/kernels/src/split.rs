//! Byte streams: BYTE_STREAM_SPLIT stores first the first bytes of all values, then the second bytes, and so on.

use crate::table::{Kernels, append};
use crate::words::{Word, bytes_of};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Appends `n` values of `width` bytes, beginning with value `first`, joined from `width` streams of `stride` bytes.
///
/// # Panics
/// If `streams` is shorter than `width * stride` or `first + n > stride`.
pub fn join(streams: &[u8], width: usize, stride: usize, first: usize, n: usize, out: &mut Vec<u8>) {
    Kernels::current().join(streams, width, stride, first, n, out);
}

/// Appends the streams of `values`, which are `width` bytes each: the mirror of [`join`].
///
/// # Panics
/// If `values` is not a whole number of values.
pub fn split(values: &[u8], width: usize, out: &mut Vec<u8>) {
    if width == 0 || values.is_empty() {
        return;
    }
    assert!(values.len().is_multiple_of(width), "{} bytes are no values of {width}", values.len());
    let n = values.len() / width;
    let start = out.len();
    out.resize(start + values.len(), 0);
    let out = &mut out[start..];
    // Squares of eight bytes of eight values, then what is left to the right and below.
    let (across, down) = (width / SIDE * SIDE, n / SIDE * SIDE);
    for column in (0..across).step_by(SIDE) {
        for row in (0..down).step_by(SIDE) {
            let square = std::array::from_fn(|i| word(&values[(row + i) * width + column..]));
            for (i, bytes) in transposed(square).into_iter().enumerate() {
                out[(column + i) * n + row..][..SIDE].copy_from_slice(&bytes.to_le_bytes());
            }
        }
    }
    for (byte, stream) in out.chunks_exact_mut(n).enumerate() {
        let done = if byte < across { down } else { 0 };
        let bytes = values[done * width..].iter().skip(byte).step_by(width);
        stream[done..].iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    }
}

/// [`join`] for values of 4 bytes, as little-endian words.
///
/// # Panics
/// As [`join`].
pub fn join_u32(streams: &[u8], stride: usize, first: usize, n: usize, out: &mut Vec<u32>) {
    Kernels::current().join_u32(streams, stride, first, n, out);
}

/// [`join`] for values of 8 bytes, as little-endian words.
///
/// # Panics
/// As [`join`].
pub fn join_u64(streams: &[u8], stride: usize, first: usize, n: usize, out: &mut Vec<u64>) {
    Kernels::current().join_u64(streams, stride, first, n, out);
}

impl Kernels {
    /// [`join`] at this level.
    ///
    /// PERF: eight streams at a time become words, which are written where they belong; the last eight may be some that were
    /// written already.
    pub fn join(
        &self,
        streams: &[u8],
        width: usize,
        stride: usize,
        first: usize,
        n: usize,
        out: &mut Vec<u8>,
    ) {
        assert!(
            first + n <= stride && width * stride <= streams.len(),
            "{n} values from {first} of {stride}"
        );
        match width {
            0 => {}
            2 => join_const::<2>(streams, stride, first, n, out),
            1..4 => join_bytes(streams, width, stride, first, n, out),
            4..8 => join_words::<4, u32>(width, n, out, |byte, block, words| {
                self.join_u32(&streams[byte * stride..], stride, first + block.start, block.len(), words);
            }),
            8.. => join_words::<8, u64>(width, n, out, |byte, block, words| {
                self.join_u64(&streams[byte * stride..], stride, first + block.start, block.len(), words);
            }),
        }
    }

    /// [`join_u32`] at this level.
    pub fn join_u32(&self, streams: &[u8], stride: usize, first: usize, n: usize, out: &mut Vec<u32>) {
        let streams = streams_of(streams, stride, first, n);
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(out, n, |spare| (self.join_u32)(streams, spare)) };
    }

    /// [`join_u64`] at this level.
    pub fn join_u64(&self, streams: &[u8], stride: usize, first: usize, n: usize, out: &mut Vec<u64>) {
        let streams = streams_of(streams, stride, first, n);
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(out, n, |spare| (self.join_u64)(streams, spare)) };
    }
}

pub(crate) fn join_u32_scalar(streams: [&[u8]; 4], out: &mut [MaybeUninit<u32>]) {
    let streams = streams.map(|stream| &stream[..out.len()]);
    for (i, value) in out.iter_mut().enumerate() {
        value.write(u32::from_le_bytes(streams.map(|stream| stream[i])));
    }
}

pub(crate) fn join_u64_scalar(streams: [&[u8]; 8], out: &mut [MaybeUninit<u64>]) {
    let streams = streams.map(|stream| &stream[..out.len()]);
    for (i, value) in out.iter_mut().enumerate() {
        value.write(u64::from_le_bytes(streams.map(|stream| stream[i])));
    }
}

/// Appends the streams of 4-byte words: the mirror of [`join_u32`].
pub fn split_u32(values: &[u32], out: &mut Vec<u8>) {
    Kernels::current().split_u32(values, out);
}

/// Appends the streams of 8-byte words: the mirror of [`join_u64`].
pub fn split_u64(values: &[u64], out: &mut Vec<u8>) {
    Kernels::current().split_u64(values, out);
}

impl Kernels {
    /// [`split_u32`] at this level.
    pub fn split_u32(&self, values: &[u32], out: &mut Vec<u8>) {
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(out, values.len() * 4, |spare| (self.split_u32)(values, parts_of(spare))) };
    }

    /// [`split_u64`] at this level.
    pub fn split_u64(&self, values: &[u64], out: &mut Vec<u8>) {
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(out, values.len() * 8, |spare| (self.split_u64)(values, parts_of(spare))) };
    }
}

pub(crate) fn split_u32_scalar(values: &[u32], streams: [&mut [MaybeUninit<u8>]; 4]) {
    for (byte, stream) in streams.into_iter().enumerate() {
        assert_eq!(values.len(), stream.len());
        for (value, to) in values.iter().zip(stream) {
            to.write((value >> (8 * byte)) as u8);
        }
    }
}

#[inline(always)]
pub(crate) fn split_u64_scalar(values: &[u64], streams: [&mut [MaybeUninit<u8>]; 8]) {
    let (squares, rest) = values.as_chunks::<SIDE>();
    let streams = streams.map(|stream| &mut stream[..values.len()]);
    let mut parts = streams.map(|stream| stream.as_chunks_mut::<SIDE>());
    for (row, square) in squares.iter().enumerate() {
        for ((stream, _), bytes) in parts.iter_mut().zip(transposed(*square)) {
            stream[row].write_copy_of_slice(&bytes.to_le_bytes());
        }
    }
    for (byte, (_, stream)) in parts.into_iter().enumerate() {
        for (value, to) in rest.iter().zip(stream) {
            to.write((value >> (8 * byte)) as u8);
        }
    }
}

/// As many equal parts as a value has bytes.
fn parts_of<const W: usize>(out: &mut [MaybeUninit<u8>]) -> [&mut [MaybeUninit<u8>]; W] {
    let n = out.len() / W;
    let mut left = out;
    std::array::from_fn(|_| left.split_off_mut(..n).expect("a part of the whole"))
}

/// Bytes of a word, and values in a square.
const SIDE: usize = 8;

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(*bytes.first_chunk().expect("eight bytes"))
}

/// The first bytes of all words, the second bytes of all, and so on.
#[inline(always)]
fn transposed(mut words: [u64; SIDE]) -> [u64; SIDE] {
    // Blocks of 1, 2 and 4 bytes change places across the diagonal.
    for (distance, mask) in [(1, 0x00ff_00ff_00ff_00ff), (2, 0x0000_ffff_0000_ffff), (4, 0xffff_ffff)] {
        for low in (0..SIDE).filter(|i| i & distance == 0) {
            let high = low + distance;
            let change = (words[low] >> (8 * distance) ^ words[high]) & mask;
            words[high] ^= change;
            words[low] ^= change << (8 * distance);
        }
    }
    words
}

/// `n` bytes of each of `W` streams, from byte `first` of each.
fn streams_of<const W: usize>(streams: &[u8], stride: usize, first: usize, n: usize) -> [&[u8]; W] {
    assert!(first + n <= stride && W * stride <= streams.len(), "{n} values from {first} of {stride}");
    std::array::from_fn(|byte| &streams[byte * stride + first..][..n])
}

/// PERF: a constant width lets the compiler unroll over the streams and interleave with vector shuffles.
fn join_const<const W: usize>(streams: &[u8], stride: usize, first: usize, n: usize, out: &mut Vec<u8>) {
    let sources: [&[u8]; W] = streams_of(streams, stride, first, n);
    let start = out.len();
    out.resize(start + n * W, 0);
    for (i, value) in out[start..].as_chunks_mut::<W>().0.iter_mut().enumerate() {
        *value = std::array::from_fn(|byte| sources[byte][i]);
    }
}

/// Appends `n` values of `width >= W` bytes; `join` appends for a block of values the words that their bytes from one on are.
fn join_words<const W: usize, T: Word<W>>(
    width: usize,
    n: usize,
    out: &mut Vec<u8>,
    join: impl Fn(usize, Range<usize>, &mut Vec<T>),
) {
    let start = out.len();
    out.resize(start + n * width, 0);
    let mut words = Vec::with_capacity(n.min(BLOCK));
    for (i, values) in out[start..].chunks_mut(BLOCK * width).enumerate() {
        let block = i * BLOCK..i * BLOCK + values.len() / width;
        for byte in (0..width).step_by(W).map(|byte| byte.min(width - W)) {
            words.clear();
            join(byte, block.clone(), &mut words);
            for (value, word) in values.chunks_exact_mut(width).zip(bytes_of(&words)) {
                value[byte..byte + W].copy_from_slice(word);
            }
        }
    }
}

/// Values that are joined together: the words of eight of their bytes take 2 KiB.
const BLOCK: usize = 256;

fn join_bytes(streams: &[u8], width: usize, stride: usize, first: usize, n: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + n * width, 0);
    for byte in 0..width {
        let stream = &streams[byte * stride + first..][..n];
        for (value, &from) in out[start..].chunks_exact_mut(width).zip(stream) {
            value[byte] = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_joins_what_was_split() {
        for width in 1..=20 {
            let values: Vec<u8> = (0..width * 37).map(|i| (i * 31 % 251) as u8).collect();
            let mut streams = Vec::new();
            split(&values, width, &mut streams);
            assert_eq!(streams[1], values[width]);
            for (first, n) in [(0, 37), (0, 0), (5, 1), (5, 20), (36, 1)] {
                let mut out = vec![];
                join(&streams, width, 37, first, n, &mut out);
                assert_eq!(out, values[first * width..(first + n) * width]);
            }
        }
    }
    #[test]
    fn words_join_what_was_split() {
        let values: Vec<u64> = (0..37).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let halves: Vec<u32> = values.iter().map(|&value| (value >> 32) as u32).collect();
        let (mut streams, mut half_streams) = (vec![], vec![]);
        split_u64(&values, &mut streams);
        split_u32(&halves, &mut half_streams);
        assert_eq!(streams[0], values[0] as u8);
        assert_eq!(streams[37], (values[0] >> 8) as u8);
        for (first, n) in [(0, 37), (0, 0), (5, 1), (5, 20), (36, 1)] {
            let (mut out, mut half_out) = (vec![7], vec![7]);
            join_u64(&streams, 37, first, n, &mut out);
            join_u32(&half_streams, 37, first, n, &mut half_out);
            assert_eq!(out[1..], values[first..first + n]);
            assert_eq!(half_out[1..], halves[first..first + n]);
        }
    }
}

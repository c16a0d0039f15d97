//! BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes of all values, and so on.

use crate::le_words::{Word, bytes_of};
use crate::signatures::Kernels;
use crate::uninit::append;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Appends the streams of `values`, of `width` bytes each: the inverse of `merge_streams`.
///
/// # Panics
/// If `values` is not a whole number of values.
pub fn split_streams(values: &[u8], width: usize, out: &mut Vec<u8>) {
    if width == 0 || values.is_empty() {
        return;
    }
    assert!(values.len().is_multiple_of(width), "{} bytes are not values of {width}", values.len());
    let n = values.len() / width;
    let start = out.len();
    out.resize(start + values.len(), 0);
    let out = &mut out[start..];
    // Transposes squares of eight bytes of eight values first, then the rest to the right and below.
    let (across, down) = (width / SQUARE_SIDE * SQUARE_SIDE, n / SQUARE_SIDE * SQUARE_SIDE);
    for column in (0..across).step_by(SQUARE_SIDE) {
        for row in (0..down).step_by(SQUARE_SIDE) {
            let square = std::array::from_fn(|i| word(&values[(row + i) * width + column..]));
            for (i, bytes) in transposed(square).into_iter().enumerate() {
                out[(column + i) * n + row..][..SQUARE_SIDE].copy_from_slice(&bytes.to_le_bytes());
            }
        }
    }
    for (byte, stream) in out.chunks_exact_mut(n).enumerate() {
        let done = if byte < across { down } else { 0 };
        let bytes = values[done * width..].iter().skip(byte).step_by(width);
        stream[done..].iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    }
}

impl Kernels {
    /// `merge_streams` at this level.
    ///
    /// PERF: merges eight streams at a time to words, which are written to their places in the values. The last eight
    /// may overlap the previous ones.
    pub fn merge_streams(
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
            2 => merge_const::<2>(streams, stride, first, n, out),
            1..4 => merge_bytes(streams, width, stride, first, n, out),
            4..8 => merge_words::<4, u32>(width, n, out, |byte, block, words| {
                self.merge_streams_u32(
                    &streams[byte * stride..],
                    stride,
                    first + block.start,
                    block.len(),
                    words,
                );
            }),
            8.. => merge_words::<8, u64>(width, n, out, |byte, block, words| {
                self.merge_streams_u64(
                    &streams[byte * stride..],
                    stride,
                    first + block.start,
                    block.len(),
                    words,
                );
            }),
        }
    }

    /// `merge_streams_u32` at this level.
    pub fn merge_streams_u32(
        &self,
        streams: &[u8],
        stride: usize,
        first: usize,
        n: usize,
        out: &mut Vec<u32>,
    ) {
        let streams = streams_of(streams, stride, first, n);
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(out, n, |spare| (self.merge_streams_u32)(streams, spare)) };
    }

    /// `merge_streams_u64` at this level.
    pub fn merge_streams_u64(
        &self,
        streams: &[u8],
        stride: usize,
        first: usize,
        n: usize,
        out: &mut Vec<u64>,
    ) {
        let streams = streams_of(streams, stride, first, n);
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(out, n, |spare| (self.merge_streams_u64)(streams, spare)) };
    }
}

pub(crate) fn merge_streams_u32_scalar(streams: [&[u8]; 4], out: &mut [MaybeUninit<u32>]) {
    let streams = streams.map(|stream| &stream[..out.len()]);
    for (i, value) in out.iter_mut().enumerate() {
        value.write(u32::from_le_bytes(streams.map(|stream| stream[i])));
    }
}

pub(crate) fn merge_streams_u64_scalar(streams: [&[u8]; 8], out: &mut [MaybeUninit<u64>]) {
    let streams = streams.map(|stream| &stream[..out.len()]);
    for (i, value) in out.iter_mut().enumerate() {
        value.write(u64::from_le_bytes(streams.map(|stream| stream[i])));
    }
}

impl Kernels {
    /// `split_streams_u32` at this level.
    pub fn split_streams_u32(&self, values: &[u32], out: &mut Vec<u8>) {
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(out, values.len() * 4, |spare| (self.split_streams_u32)(values, parts_of(spare))) };
    }

    /// `split_streams_u64` at this level.
    pub fn split_streams_u64(&self, values: &[u64], out: &mut Vec<u8>) {
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(out, values.len() * 8, |spare| (self.split_streams_u64)(values, parts_of(spare))) };
    }
}

pub(crate) fn split_streams_u32_scalar(values: &[u32], streams: [&mut [MaybeUninit<u8>]; 4]) {
    for (byte, stream) in streams.into_iter().enumerate() {
        assert_eq!(values.len(), stream.len());
        for (value, to) in values.iter().zip(stream) {
            to.write((value >> (8 * byte)) as u8);
        }
    }
}

#[inline(always)]
pub(crate) fn split_streams_u64_scalar(values: &[u64], streams: [&mut [MaybeUninit<u8>]; 8]) {
    let (squares, rest) = values.as_chunks::<SQUARE_SIDE>();
    let streams = streams.map(|stream| &mut stream[..values.len()]);
    let mut parts = streams.map(|stream| stream.as_chunks_mut::<SQUARE_SIDE>());
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

/// Cuts `out` into `W` equal parts, one for each byte of a value.
fn parts_of<const W: usize>(out: &mut [MaybeUninit<u8>]) -> [&mut [MaybeUninit<u8>]; W] {
    let n = out.len() / W;
    let mut left = out;
    std::array::from_fn(|_| left.split_off_mut(..n).expect("a part of the whole"))
}

/// Number of bytes in a word, and of words in a square.
const SQUARE_SIDE: usize = 8;

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(*bytes.first_chunk().expect("eight bytes"))
}

/// Transposes the bytes of eight words: the first bytes of all words, then the second bytes, and so on.
#[inline(always)]
fn transposed(mut words: [u64; SQUARE_SIDE]) -> [u64; SQUARE_SIDE] {
    // Exchanges blocks of 1, 2 and 4 bytes across the diagonal.
    for (distance, mask) in [(1, 0x00ff_00ff_00ff_00ff), (2, 0x0000_ffff_0000_ffff), (4, 0xffff_ffff)] {
        for low in (0..SQUARE_SIDE).filter(|i| i & distance == 0) {
            let high = low + distance;
            let change = (words[low] >> (8 * distance) ^ words[high]) & mask;
            words[high] ^= change;
            words[low] ^= change << (8 * distance);
        }
    }
    words
}

/// Returns `n` bytes of each of `W` streams, from byte `first` of each on.
fn streams_of<const W: usize>(streams: &[u8], stride: usize, first: usize, n: usize) -> [&[u8]; W] {
    assert!(first + n <= stride && W * stride <= streams.len(), "{n} values from {first} of {stride}");
    std::array::from_fn(|byte| &streams[byte * stride + first..][..n])
}

/// Merges streams of values of `W` bytes. PERF: with a constant width, the compiler unrolls the loop over the streams
/// and interleaves them with vector shuffles.
fn merge_const<const W: usize>(streams: &[u8], stride: usize, first: usize, n: usize, out: &mut Vec<u8>) {
    let sources: [&[u8]; W] = streams_of(streams, stride, first, n);
    let start = out.len();
    out.resize(start + n * W, 0);
    for (i, value) in out[start..].as_chunks_mut::<W>().0.iter_mut().enumerate() {
        *value = std::array::from_fn(|byte| sources[byte][i]);
    }
}

/// Appends `n` values of `width >= W` bytes. `merge` appends, for a block of values, the words at a given byte of each value.
fn merge_words<const W: usize, T: Word<W>>(
    width: usize,
    n: usize,
    out: &mut Vec<u8>,
    merge: impl Fn(usize, Range<usize>, &mut Vec<T>),
) {
    let start = out.len();
    out.resize(start + n * width, 0);
    let mut words = Vec::with_capacity(n.min(VALUES_PER_BLOCK));
    for (i, values) in out[start..].chunks_mut(VALUES_PER_BLOCK * width).enumerate() {
        let block = i * VALUES_PER_BLOCK..i * VALUES_PER_BLOCK + values.len() / width;
        for byte in (0..width).step_by(W).map(|byte| byte.min(width - W)) {
            words.clear();
            merge(byte, block.clone(), &mut words);
            for (value, word) in values.chunks_exact_mut(width).zip(bytes_of(&words)) {
                value[byte..byte + W].copy_from_slice(word);
            }
        }
    }
}

/// Number of values that are merged at once: eight bytes of each take 2 KiB.
const VALUES_PER_BLOCK: usize = 256;

fn merge_bytes(streams: &[u8], width: usize, stride: usize, first: usize, n: usize, out: &mut Vec<u8>) {
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
    fn every_width_merges_what_was_split() {
        for width in 1..=20 {
            let values: Vec<u8> = (0..width * 37).map(|i| (i * 31 % 251) as u8).collect();
            let mut streams = Vec::new();
            split_streams(&values, width, &mut streams);
            assert_eq!(streams[1], values[width]);
            for (first, n) in [(0, 37), (0, 0), (5, 1), (5, 20), (36, 1)] {
                let mut out = vec![];
                Kernels::current().merge_streams(&streams, width, 37, first, n, &mut out);
                assert_eq!(out, values[first * width..(first + n) * width]);
            }
        }
    }
    #[test]
    fn words_merge_what_was_split() {
        let values: Vec<u64> = (0..37).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let halves: Vec<u32> = values.iter().map(|&value| (value >> 32) as u32).collect();
        let (mut streams, mut half_streams) = (vec![], vec![]);
        Kernels::current().split_streams_u64(&values, &mut streams);
        Kernels::current().split_streams_u32(&halves, &mut half_streams);
        assert_eq!(streams[0], values[0] as u8);
        assert_eq!(streams[37], (values[0] >> 8) as u8);
        for (first, n) in [(0, 37), (0, 0), (5, 1), (5, 20), (36, 1)] {
            let (mut out, mut half_out) = (vec![7], vec![7]);
            Kernels::current().merge_streams_u64(&streams, 37, first, n, &mut out);
            Kernels::current().merge_streams_u32(&half_streams, 37, first, n, &mut half_out);
            assert_eq!(out[1..], values[first..first + n]);
            assert_eq!(half_out[1..], halves[first..first + n]);
        }
    }
}

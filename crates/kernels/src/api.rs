//! The inner loops as free functions, at the best level of this CPU.

use crate::bitmap::Bitmap;
use crate::le_words::bytes_of;
use crate::signatures::{AlpExactness, Kernels, ViewSummary};
use crate::string_offsets::Entries;
use std::ops::Range;

impl Bitmap {
    /// Appends one bit for each byte: whether it is at least `threshold`. Turns definition levels into validity bits.
    pub fn push_ge(&mut self, levels: &[u8], threshold: u8) {
        Kernels::current().push_ge(self, levels, threshold);
    }

    /// Counts the ones in `range`.
    ///
    /// # Panics
    /// If the range is not inside.
    pub fn count_ones(&self, range: Range<usize>) -> usize {
        Kernels::current().count_ones(self, range)
    }
}

/// Unpacks `n` values of `width <= 8` bits to bytes and appends them, beginning with value `first` of `source`.
///
/// # Panics
/// If `width > 8` or `source` ends before the last value.
pub fn unpack_u8(source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<u8>) {
    Kernels::current().unpack_u8(source, width, first, n, out);
}

/// Unpacks `n` values of `width <= 32` bits to 32-bit integers and appends them, beginning with value `first` of `source`.
///
/// # Panics
/// If `width > 32` or `source` ends before the last value.
pub fn unpack_u32(source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<u32>) {
    Kernels::current().unpack_u32(source, width, first, n, out);
}

/// Unpacks `n` values of `width <= 64` bits to 64-bit integers and appends them, beginning with value `first` of `source`.
///
/// # Panics
/// If `width > 64` or `source` ends before the last value.
pub fn unpack_u64(source: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<u64>) {
    Kernels::current().unpack_u64(source, width, first, n, out);
}

/// Packs the lowest `width <= 8` bits of each value, least significant bit first, and appends the bytes. The unused
/// bits of the last byte are 0.
///
/// # Panics
/// If `width > 8`.
pub fn pack_u8(values: &[u8], width: u32, out: &mut Vec<u8>) {
    Kernels::current().pack_u8(values, width, out);
}

/// Unpacks the deltas `range` of `source`, of `width <= 32` bits each, and appends the values that result from them.
/// Each value is the sum of `before`, of all deltas of the range up to it, and of `least` once for each of these
/// deltas. Additions wrap around. Returns the last value, or `before` if there are none.
///
/// # Panics
/// If `width > 32` or `source` ends before the last delta.
pub fn unpack_deltas_u32(
    source: &[u8],
    width: u32,
    range: Range<usize>,
    before: u32,
    least: u32,
    out: &mut Vec<u32>,
) -> u32 {
    Kernels::current().unpack_deltas_u32(source, width, range, before, least, out)
}

/// [`unpack_deltas_u32`] for up to 64 bits.
///
/// # Panics
/// If `width > 64` or `source` ends before the last delta.
pub fn unpack_deltas_u64(
    source: &[u8],
    width: u32,
    range: Range<usize>,
    before: u64,
    least: u64,
    out: &mut Vec<u64>,
) -> u64 {
    Kernels::current().unpack_deltas_u64(source, width, range, before, least, out)
}

/// Turns deltas into values, in place. Each value is the sum of `before`, of all deltas up to it, and of `least` once for each
/// of these deltas. Additions wrap around. Returns the last value, or `before` if there are none.
pub fn prefix_sum_u32(values: &mut [u32], before: u32, least: u32) -> u32 {
    Kernels::current().prefix_sum_u32(values, before, least)
}

/// [`prefix_sum_u32`] for 64 bits.
pub fn prefix_sum_u64(values: &mut [u64], before: u64, least: u64) -> u64 {
    Kernels::current().prefix_sum_u64(values, before, least)
}

/// Decodes ALP: unpacks `n` integers of `width <= 32` bits, and appends the bits of the floats that they stand for:
/// `(integer + least) * powers[0] * powers[1]`. The sum wraps around and is signed.
///
/// # Panics
/// If `width > 32` or `source` ends before the last integer.
pub fn alp_decode_f32(source: &[u8], width: u32, n: usize, least: u32, powers: [f32; 2], out: &mut Vec<u32>) {
    Kernels::current().alp_decode_f32(source, width, n, least, powers, out);
}

/// [`alp_decode_f32`] for up to 64 bits.
///
/// # Panics
/// If `width > 64` or `source` ends before the last integer.
pub fn alp_decode_f64(source: &[u8], width: u32, n: usize, least: u64, powers: [f64; 2], out: &mut Vec<u64>) {
    Kernels::current().alp_decode_f64(source, width, n, least, powers, out);
}

/// Encodes ALP: rounds `value * to[0] * to[1]` to `integers`. Sets `exact` to all ones where `integer * back[0] *
/// back[1]` has the same bits as the value, and to 0 elsewhere.
///
/// # Panics
/// If the slices differ in length.
pub fn alp_encode_f32(
    values: &[u32],
    to: [f32; 2],
    back: [f32; 2],
    integers: &mut [u32],
    exact: &mut [u32],
) -> AlpExactness {
    Kernels::current().alp_encode_f32(values, to, back, integers, exact)
}

/// [`alp_encode_f32`] for 64 bits. Integers from 2^51 on are not checked and count as large.
///
/// # Panics
/// If the slices differ in length.
pub fn alp_encode_f64(
    values: &[u64],
    to: [f64; 2],
    back: [f64; 2],
    integers: &mut [u64],
    exact: &mut [u64],
) -> AlpExactness {
    Kernels::current().alp_encode_f64(values, to, back, integers, exact)
}

/// Appends one value for each of the `n` validity bits from bit `first` on: the next dense value for a 1, 0 for a 0.
///
/// # Panics
/// If there are fewer than `n` bits from `first` on, or if the number of dense values is not the number of ones among them.
pub fn expand_u32(dense: &[u32], validity: &Bitmap, first: usize, n: usize, out: &mut Vec<u32>) {
    Kernels::current().expand_u32(bytes_of(dense), validity, first, n, out);
}

/// [`expand_u32`] for 64 bits.
///
/// # Panics
/// As [`expand_u32`].
pub fn expand_u64(dense: &[u64], validity: &Bitmap, first: usize, n: usize, out: &mut Vec<u64>) {
    Kernels::current().expand_u64(bytes_of(dense), validity, first, n, out);
}

/// [`expand_u32`] for 128 bits: views.
///
/// # Panics
/// As [`expand_u32`].
pub fn expand_u128(dense: &[u128], validity: &Bitmap, first: usize, n: usize, out: &mut Vec<u128>) {
    Kernels::current().expand_u128(bytes_of(dense), validity, first, n, out);
}

/// Appends the end of the string in each of `n` slots. For a 1 of `validity` this is the next of `ends`; for a 0, whose
/// string is empty, it is the previous end again. `ends[0]` is the start of the first string.
///
/// # Panics
/// If there are fewer than `n` bits from `first` on, or if the number of strings is not the number of ones among them.
pub fn expand_ends(ends: &[u32], validity: &Bitmap, first: usize, n: usize, out: &mut Vec<u32>) {
    Kernels::current().expand_ends(ends, validity, first, n, out);
}

/// [`expand_u32`] for values of `width` bytes each.
///
/// # Panics
/// As [`expand_u32`].
pub fn expand_fixed(
    dense: &[u8],
    width: usize,
    validity: &Bitmap,
    first: usize,
    n: usize,
    out: &mut Vec<u8>,
) {
    Kernels::current().expand_fixed(dense, width, validity, first, n, out);
}

/// [`expand_u32`] for booleans.
///
/// # Panics
/// As [`expand_u32`].
pub fn expand_bits(dense: &Bitmap, validity: &Bitmap, first: usize, n: usize, out: &mut Bitmap) {
    Kernels::current().expand_bits(dense, validity, first, n, out);
}

/// Appends the values whose bit is 1. Value `i` has bit `first + i` of `keep`.
///
/// # Panics
/// If `keep` has too few bits.
pub fn filter_u32(values: &[u32], keep: &[u8], first: usize, out: &mut Vec<u32>) {
    Kernels::current().filter_u32(values, keep, first, out);
}

/// [`filter_u32`] for bytes, such as levels.
pub fn filter_u8(values: &[u8], keep: &[u8], first: usize, out: &mut Vec<u8>) {
    Kernels::current().filter_u8(values, keep, first, out);
}

/// [`filter_u32`] for 64-bit words.
pub fn filter_u64(values: &[u64], keep: &[u8], first: usize, out: &mut Vec<u64>) {
    Kernels::current().filter_u64(values, keep, first, out);
}

/// [`filter_u32`] for views, and other values of 16 bytes.
pub fn filter_u128(values: &[u128], keep: &[u8], first: usize, out: &mut Vec<u128>) {
    Kernels::current().filter_u128(values, keep, first, out);
}

/// [`filter_u32`] for the `n` bits of `values` from bit `at` on. The first of them has bit `first` of `keep`.
///
/// # Panics
/// If `values` or `keep` has too few bits.
pub fn filter_bits(values: &[u8], at: usize, keep: &[u8], first: usize, n: usize, out: &mut Bitmap) {
    Kernels::current().filter_bits(values, at, keep, first, n, out);
}

/// Appends, for each one of `begins`, the number of ones of `elements` before it. Without `elements`, all of its bits
/// count as ones. With one bit for each entry of a list column, the results are its offsets except the last one.
///
/// # Panics
/// If the two bitmaps differ in length.
pub fn list_offsets(begins: &Bitmap, elements: Option<&Bitmap>, out: &mut Vec<i32>) {
    Kernels::current().list_offsets(begins, elements, out);
}

/// The maximum of `values`, 0 if there are none. Used to check a block of indices at once.
pub fn max_u32(values: &[u32]) -> u32 {
    Kernels::current().max_u32(values)
}

/// Appends `dictionary[index]` for each index. If an index is outside of the dictionary, appends nothing and returns the largest
/// index as the error.
pub fn gather<T: Copy>(dictionary: &[T], indices: &[u32], out: &mut Vec<T>) -> Result<(), u32> {
    Kernels::current().gather(dictionary, indices, out)
}

/// [`gather`] for 32-bit words, faster for dictionaries of at most 32 values.
pub fn gather_u32(dictionary: &[u32], indices: &[u32], out: &mut Vec<u32>) -> Result<(), u32> {
    Kernels::current().gather_u32(dictionary, indices, out)
}

/// Appends the values of whole short runs of the RLE / bit-packing hybrid, at most `most`. Returns the position of the first run
/// that it leaves. It leaves a run that is long (over 64 equal values, or over 4 groups of packed ones), that has no values, is
/// damaged, or does not end within `padded[..len]`. The first run is at `position`; values have `width` bits.
///
/// # Panics
/// If the width is not 1 to 16, or `len` is larger than `padded`.
pub fn unpack_short_runs(
    padded: &[u8],
    len: usize,
    position: usize,
    width: u32,
    most: usize,
    out: &mut Vec<u32>,
) -> usize {
    Kernels::current().unpack_short_runs(padded, len, position, width, most, out)
}

/// [`unpack_short_runs`] for values of at most 8 bits, as bytes.
///
/// # Panics
/// If the width is not 1 to 8, or `len` is larger than `padded`.
pub fn unpack_short_runs_u8(
    padded: &[u8],
    len: usize,
    position: usize,
    width: u32,
    most: usize,
    out: &mut Vec<u8>,
) -> usize {
    Kernels::current().unpack_short_runs_u8(padded, len, position, width, most, out)
}

/// [`gather`] for views. Adds `base` to the buffer number of those that are not inline.
pub fn gather_views(dictionary: &[u128], indices: &[u32], base: u32, out: &mut Vec<u128>) -> Result<(), u32> {
    Kernels::current().gather_views(dictionary, indices, base, out)
}

/// The total length of the strings at `indices`, in bytes. If an index is outside of `entries`, the error is the largest index.
pub fn bytes_of_entries(entries: &Entries, indices: &[u32]) -> Result<u64, u32> {
    Kernels::current().bytes_of_entries(entries, indices)
}

/// Merges byte streams to values and appends `n` values of `width` bytes, beginning with value `first`. There are
/// `width` streams of `stride` bytes each.
///
/// # Panics
/// If `streams` is shorter than `width * stride` or `first + n > stride`.
pub fn merge_streams(streams: &[u8], width: usize, stride: usize, first: usize, n: usize, out: &mut Vec<u8>) {
    Kernels::current().merge_streams(streams, width, stride, first, n, out);
}

/// [`merge_streams`] for values of 4 bytes, as little-endian words.
///
/// # Panics
/// As [`merge_streams`].
pub fn merge_streams_u32(streams: &[u8], stride: usize, first: usize, n: usize, out: &mut Vec<u32>) {
    Kernels::current().merge_streams_u32(streams, stride, first, n, out);
}

/// [`merge_streams`] for values of 8 bytes, as little-endian words.
///
/// # Panics
/// As [`merge_streams`].
pub fn merge_streams_u64(streams: &[u8], stride: usize, first: usize, n: usize, out: &mut Vec<u64>) {
    Kernels::current().merge_streams_u64(streams, stride, first, n, out);
}

/// Appends the streams of 4-byte words: the inverse of [`merge_streams_u32`].
pub fn split_streams_u32(values: &[u32], out: &mut Vec<u8>) {
    Kernels::current().split_streams_u32(values, out);
}

/// Appends the streams of 8-byte words: the inverse of [`merge_streams_u64`].
pub fn split_streams_u64(values: &[u64], out: &mut Vec<u8>) {
    Kernels::current().split_streams_u64(values, out);
}

/// Summarizes many views: where their long strings are, and the bits of the short ones.
pub fn summarize_views(views: &[u128]) -> ViewSummary {
    Kernels::current().summarize_views(views)
}

/// The least and the greatest 32-bit signed integer; `None` if there are no values.
pub fn min_max_i32(words: &[u32]) -> Option<(i32, i32)> {
    Kernels::current().min_max_i32(words)
}

/// The least and the greatest 64-bit signed integer; `None` if there are no values.
pub fn min_max_i64(words: &[u64]) -> Option<(i64, i64)> {
    Kernels::current().min_max_i64(words)
}

/// The least and the greatest 32-bit unsigned integer; `None` if there are no values.
pub fn min_max_u32(words: &[u32]) -> Option<(u32, u32)> {
    Kernels::current().min_max_u32(words)
}

/// The least and the greatest 64-bit unsigned integer; `None` if there are no values.
pub fn min_max_u64(words: &[u64]) -> Option<(u64, u64)> {
    Kernels::current().min_max_u64(words)
}

/// The least and the greatest binary32, and the number of NaNs. NaNs are neither the least nor the greatest; the range
/// is `None` if there are only NaNs or no values. -0.0 is less than 0.0.
pub fn min_max_f32(words: &[u32]) -> (Option<(f32, f32)>, usize) {
    Kernels::current().min_max_f32(words)
}

/// [`min_max_f32`] for binary64.
pub fn min_max_f64(words: &[u64]) -> (Option<(f64, f64)>, usize) {
    Kernels::current().min_max_f64(words)
}

//! The loops that find minimum and maximum, one for each sort order.
//!
//! PERF: if values are words, no branch depends on a value, so that the compiler vectorizes the loops.

use marquetry_encoding::StringViews;
use std::cmp::Ordering;

/// The extremes of some floats, as keys in total order.
pub(super) struct FloatExtremes<K> {
    /// Number of values.
    pub(super) values: usize,
    /// Number of NaNs among them.
    pub(super) nans: usize,
    /// The least value that is not NaN.
    pub(super) min: K,
    /// The greatest value that is not NaN.
    pub(super) max: K,
    /// The least NaN.
    pub(super) nan_min: K,
    /// The greatest NaN.
    pub(super) nan_max: K,
}

/// Returns the least and the greatest of some integers. `ends` are the greatest and the least value of their type.
pub(super) fn of_integers<T: Copy + Ord>(values: impl Iterator<Item = T>, ends: (T, T)) -> Option<(T, T)> {
    let (mut min, mut max) = ends;
    let mut any = false;
    for value in values {
        any = true;
        min = min.min(value);
        max = max.max(value);
    }
    any.then_some((min, max))
}

/// Returns the extremes of a slice of floats.
pub(super) fn of_float_slice<W: Copy, K: Copy + Ord>(
    words: &[W],
    key: impl Fn(W) -> K,
    is_nan: impl Fn(K) -> bool,
    ends: (K, K),
) -> FloatExtremes<K> {
    let mut found = FloatExtremes::none(ends);
    for block in words.chunks(BLOCK) {
        let keys = || block.iter().map(|word| key(*word));
        // PERF: NaNs are at the ends of total order, so this one check shows whether there are any.
        match of_integers(keys(), ends) {
            Some((least, greatest)) if !is_nan(least) && !is_nan(greatest) => {
                found.values += block.len();
                found.min = found.min.min(least);
                found.max = found.max.max(greatest);
            }
            _ => found.add(keys(), &is_nan, ends),
        }
    }
    found
}

/// Returns the extremes of floats, given their keys.
pub(super) fn of_floats<K: Copy + Ord>(
    keys: impl Iterator<Item = K>,
    is_nan: impl Fn(K) -> bool,
    ends: (K, K),
) -> FloatExtremes<K> {
    let mut found = FloatExtremes::none(ends);
    found.add(keys, &is_nan, ends);
    found
}

impl<K: Copy + Ord> FloatExtremes<K> {
    fn none((top, bottom): (K, K)) -> Self {
        FloatExtremes { values: 0, nans: 0, min: top, max: bottom, nan_min: top, nan_max: bottom }
    }

    fn add(&mut self, keys: impl Iterator<Item = K>, is_nan: &impl Fn(K) -> bool, (top, bottom): (K, K)) {
        for key in keys {
            let nan = is_nan(key);
            self.values += 1;
            self.nans += usize::from(nan);
            self.min = self.min.min(if nan { top } else { key });
            self.max = self.max.max(if nan { bottom } else { key });
            self.nan_min = self.nan_min.min(if nan { key } else { top });
            self.nan_max = self.nan_max.max(if nan { key } else { bottom });
        }
    }
}

/// Returns the indices of the least and the greatest value by `compare`.
pub(super) fn by(
    mut at: impl Iterator<Item = usize>,
    compare: impl Fn(usize, usize) -> Ordering,
) -> Option<(usize, usize)> {
    let first = at.next()?;
    let (mut min, mut max) = (first, first);
    for i in at {
        if compare(i, min).is_lt() {
            min = i;
        } else if compare(i, max).is_gt() {
            max = i;
        }
    }
    Some((min, max))
}

/// Returns the indices of the least and the greatest of the values at `at`, each of which is `width` of `bytes`. They
/// compare by their bytes, the first of which has `sign` flipped.
pub(super) fn of_fixed(
    bytes: &[u8],
    width: usize,
    sign: u8,
    at: impl Iterator<Item = usize>,
) -> Option<(usize, usize)> {
    let flip = u64::from(sign) << 56;
    match width {
        0 => by(at, |_, _| Ordering::Equal),
        1..=8 => by_key(at, |i| head(bytes, i * width, width) ^ flip, |_, _| Ordering::Equal),
        9..=16 => {
            // The two words overlap; if the first ones are equal, so is the overlap of the second ones.
            let key = |i: usize| {
                let (high, low) = (head(bytes, i * width, 8), head(bytes, (i + 1) * width - 8, 8));
                u128::from(high ^ flip) << 64 | u128::from(low)
            };
            by_key(at, key, |_, _| Ordering::Equal)
        }
        _ => {
            let value = |i: usize| &bytes[i * width..][..width];
            by_key(at, |i| head(bytes, i * width, 8) ^ flip, |a, b| value(a).cmp(value(b)))
        }
    }
}

/// Returns the indices of the least and the greatest byte string.
pub(super) fn of_views(views: &StringViews, mut at: impl Iterator<Item = usize>) -> Option<(usize, usize)> {
    let words = views.views();
    // The view has the first four bytes of each string, padded with zeros.
    let prefix = |i: usize| ((words[i] >> 32) as u32).swap_bytes();
    let first = at.next()?;
    let (mut min, mut max) = ((first, views.get(first)), (first, views.get(first)));
    let mut seam = Seam::between(min.1, max.1);
    for i in at {
        // PERF: most strings are between the bounds by the bytes in their view, and their other bytes are not even
        // loaded.
        if prefix(i) > prefix(min.0) && prefix(i) < prefix(max.0) {
            continue;
        }
        let value = views.get(i);
        match seam.key_of(value) {
            Some(key) if key > seam.min && key < seam.max => {}
            Some(key) if key < seam.min => (min, seam.min) = ((i, value), key),
            Some(key) if key > seam.max => (max, seam.max) = ((i, value), key),
            _ => {
                if value < min.1 {
                    min = (i, value);
                } else if value > max.1 {
                    max = (i, value);
                } else {
                    continue;
                }
                seam = Seam::between(min.1, max.1);
            }
        }
    }
    Some((min.0, max.0))
}

/// The position at which two bounds begin to differ. PERF: strings between the bounds share their common prefix, so
/// that the next eight bytes decide for most strings.
///
/// INVARIANT: a new bound whose key is past the old one's differs from the other bound at the same position.
struct Seam<'a> {
    /// The common prefix.
    shared: &'a [u8],
    /// The next eight bytes of the lower bound.
    min: u64,
    /// The next eight bytes of the upper bound.
    max: u64,
}

impl<'a> Seam<'a> {
    fn between(min: &'a [u8], max: &[u8]) -> Self {
        let shared = min.iter().zip(max).take_while(|(a, b)| a == b).count();
        Seam { shared: &min[..shared], min: key_at(min, shared), max: key_at(max, shared) }
    }

    /// Returns the bytes of `value` to compare with those of the bounds; `None` if it does not have the common prefix.
    /// Equal keys do not decide, because there may be more bytes.
    #[inline]
    fn key_of(&self, value: &[u8]) -> Option<u64> {
        let start = value.get(..self.shared.len())?;
        is_same(start, self.shared).then(|| key_at(value, self.shared.len()))
    }
}

/// Whether two strings of the same length are equal. PERF: a call that finds out the number of bytes takes longer than
/// the comparison.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    match a.len() {
        0 => true,
        16.. => is_same_by::<16>(a, b),
        8.. => is_same_by::<8>(a, b),
        _ => a == b,
    }
}

/// Compares by blocks, the last of which may overlap the one before.
#[inline(always)]
fn is_same_by<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    let mut blocks = a.as_chunks::<N>().0.iter().zip(b.as_chunks::<N>().0);
    a.last_chunk::<N>() == b.last_chunk::<N>() && blocks.all(|(a, b)| a == b)
}

/// Returns up to eight bytes from `from` on as a big-endian word, padded with zeros.
#[inline]
fn key_at(bytes: &[u8], from: usize) -> u64 {
    let rest = bytes.len() - from;
    match bytes.last_chunk::<8>() {
        // PERF: shifting is faster than copying a few bytes.
        Some(last) if rest < 8 => u64::from_be_bytes(*last).checked_shl(64 - 8 * rest as u32).unwrap_or(0),
        _ => head(bytes, from, rest.min(8)),
    }
}

/// Like [`by`], for values with a key that decides; if keys are equal, `tie` does.
fn by_key<K: Copy + Ord>(
    mut at: impl Iterator<Item = usize>,
    key: impl Fn(usize) -> K,
    tie: impl Fn(usize, usize) -> Ordering,
) -> Option<(usize, usize)> {
    let first = at.next()?;
    let (mut min, mut max) = ((key(first), first), (key(first), first));
    for i in at {
        let key = key(i);
        // PERF: new bounds are rare; conditional moves would make all values depend on each other.
        if key < min.0 || key == min.0 && tie(i, min.1).is_lt() {
            std::hint::cold_path();
            min = (key, i);
        }
        if key > max.0 || key == max.0 && tie(i, max.1).is_gt() {
            std::hint::cold_path();
            max = (key, i);
        }
    }
    Some((min.1, max.1))
}

/// Returns the first `len` bytes, at most 8, from `from` on as a big-endian word, padded with zeros.
#[inline]
fn head(bytes: &[u8], from: usize, len: usize) -> u64 {
    match bytes[from..].first_chunk::<8>() {
        // The bytes after the value belong to another one.
        Some(word) => u64::from_be_bytes(*word) & KEEP[len],
        None => {
            let mut word = [0; 8];
            word[..len].copy_from_slice(&bytes[from..][..len]);
            u64::from_be_bytes(word)
        }
    }
}

/// Number of floats that are checked for NaNs at a time.
const BLOCK: usize = 1024;
/// Masks of the first bytes of a big-endian word, by their number.
const KEEP: [u64; 9] = [
    0,
    0xff << 56,
    0xffff << 48,
    0xff_ffff << 40,
    0xffff_ffff << 32,
    0xff_ffff_ffff << 24,
    0xffff_ffff_ffff << 16,
    0xff_ffff_ffff_ffff << 8,
    u64::MAX,
];

//! The loops that find minimum and maximum, one for each sort order.
//!
//! PERF: no branch depends on a value where values are words, so that the compiler makes vectors of the loops.

use marquetry_encoding::StringViews;
use std::cmp::Ordering;

/// What is found among floats, as keys in total order.
pub(super) struct FloatExtremes<K> {
    /// How many values.
    pub(super) values: usize,
    /// How many of them are NaN.
    pub(super) nans: usize,
    /// The least that is not NaN.
    pub(super) min: K,
    /// The greatest that is not NaN.
    pub(super) max: K,
    /// The least NaN.
    pub(super) nan_min: K,
    /// The greatest NaN.
    pub(super) nan_max: K,
}

/// The least and the greatest of some integers; `ends` are the greatest and the least that there can be.
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

/// The same for floats one after the other.
pub(super) fn of_float_slice<W: Copy, K: Copy + Ord>(
    words: &[W],
    key: impl Fn(W) -> K,
    is_nan: impl Fn(K) -> bool,
    ends: (K, K),
) -> FloatExtremes<K> {
    let mut found = FloatExtremes::none(ends);
    for block in words.chunks(BLOCK) {
        let keys = || block.iter().map(|word| key(*word));
        // PERF: NaNs are at the ends of total order, so that this one look tells whether there are any.
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

/// The same for keys of floats.
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

/// Which of some values are the least and the greatest as `compare` has it.
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

/// Which of the values at `at`, each `width` of `bytes`, are the least and the greatest by their bytes, of which the
/// first is taken with `sign` flipped.
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
            // The two words overlap; where the first are equal, the overlap of the second is as well.
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

/// Which byte strings are the least and the greatest.
pub(super) fn of_views(views: &StringViews, mut at: impl Iterator<Item = usize>) -> Option<(usize, usize)> {
    let words = views.views();
    // The view has the first four bytes of each string, and zeros where there are fewer.
    let prefix = |i: usize| ((words[i] >> 32) as u32).swap_bytes();
    let first = at.next()?;
    let (mut min, mut max) = ((first, views.get(first)), (first, views.get(first)));
    let mut seam = Seam::between(min.1, max.1);
    for i in at {
        // PERF: most strings are between the bounds by what is in the view, and their bytes are not even loaded.
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

/// Where two bounds begin to differ. PERF: strings between them begin as both do, so that eight bytes decide on most.
///
/// INVARIANT: a new bound whose key is past the old one's differs from the other bound at the same place.
struct Seam<'a> {
    /// What is the same.
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

    /// The bytes of `value` to compare with those of the bounds; `None` if it does not begin as they do. Keys that are
    /// equal do not tell: there may be more bytes.
    #[inline]
    fn key_of(&self, value: &[u8]) -> Option<u64> {
        let start = value.get(..self.shared.len())?;
        is_same(start, self.shared).then(|| key_at(value, self.shared.len()))
    }
}

/// Whether two strings of one length are the same. PERF: a call that finds out how many bytes there are takes longer than the
/// comparison.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    match a.len() {
        0 => true,
        16.. => is_same_by::<16>(a, b),
        8.. => is_same_by::<8>(a, b),
        _ => a == b,
    }
}

/// The same by blocks, the last of which may have bytes of the one before it.
#[inline(always)]
fn is_same_by<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    let mut blocks = a.as_chunks::<N>().0.iter().zip(b.as_chunks::<N>().0);
    a.last_chunk::<N>() == b.last_chunk::<N>() && blocks.all(|(a, b)| a == b)
}

/// Up to eight bytes from `from` on as a big-endian word, zeros behind the end.
#[inline]
fn key_at(bytes: &[u8], from: usize) -> u64 {
    let rest = bytes.len() - from;
    match bytes.last_chunk::<8>() {
        // PERF: shifting is faster than copying a few bytes.
        Some(last) if rest < 8 => u64::from_be_bytes(*last).checked_shl(64 - 8 * rest as u32).unwrap_or(0),
        _ => head(bytes, from, rest.min(8)),
    }
}

/// As [`by`], for values with a key that decides, unless it is equal: then `tie` does.
fn by_key<K: Copy + Ord>(
    mut at: impl Iterator<Item = usize>,
    key: impl Fn(usize) -> K,
    tie: impl Fn(usize, usize) -> Ordering,
) -> Option<(usize, usize)> {
    let first = at.next()?;
    let (mut min, mut max) = ((key(first), first), (key(first), first));
    for i in at {
        let key = key(i);
        // PERF: new bounds are rare; conditional moves would make a chain of all values.
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

/// The first `len` bytes, at most 8, from `from` on as a big-endian word, zeros behind them.
#[inline]
fn head(bytes: &[u8], from: usize, len: usize) -> u64 {
    match bytes[from..].first_chunk::<8>() {
        // The bytes behind the value are another's.
        Some(word) => u64::from_be_bytes(*word) & KEEP[len],
        None => {
            let mut word = [0; 8];
            word[..len].copy_from_slice(&bytes[from..][..len]);
            u64::from_be_bytes(word)
        }
    }
}

/// Floats are looked at for NaNs so many at a time.
const BLOCK: usize = 1024;
/// Masks of the first so many bytes of a big-endian word.
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

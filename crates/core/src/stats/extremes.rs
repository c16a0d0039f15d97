//! The loops that find the least and the greatest of many values, one for each way of comparing.
//!
//! PERF: no branch depends on a value where values are words, so that the compiler makes vectors of the loops.

use marquetry_encoding::Views;
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
    /// The least of all.
    pub(super) least: K,
    /// The greatest of all.
    pub(super) greatest: K,
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

/// The same for keys of floats.
pub(super) fn of_floats<K: Copy + Ord>(
    keys: impl Iterator<Item = K>,
    is_nan: impl Fn(K) -> bool,
    ends: (K, K),
) -> FloatExtremes<K> {
    let (top, bottom) = ends;
    let mut found = FloatExtremes { values: 0, nans: 0, min: top, max: bottom, least: top, greatest: bottom };
    for key in keys {
        let nan = is_nan(key);
        found.values += 1;
        found.nans += usize::from(nan);
        found.min = found.min.min(if nan { top } else { key });
        found.max = found.max.max(if nan { bottom } else { key });
        found.least = found.least.min(key);
        found.greatest = found.greatest.max(key);
    }
    found
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
pub(super) fn of_views(views: &Views, at: impl Iterator<Item = usize>) -> Option<(usize, usize)> {
    // The view has the first four bytes of each string, and zeros where there are fewer.
    let words = views.views();
    let prefix = |i: usize| ((words[i] >> 32) as u32).swap_bytes();
    by_key(at, prefix, |a, b| {
        let (a, b) = (views.get(a), views.get(b));
        // PERF: comparing slices calls a function.
        head(a, 0, a.len().min(8)).cmp(&head(b, 0, b.len().min(8))).then_with(|| a.cmp(b))
    })
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
        if key < min.0 || key == min.0 && tie(i, min.1).is_lt() {
            min = (key, i);
        }
        if key > max.0 || key == max.0 && tie(i, max.1).is_gt() {
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

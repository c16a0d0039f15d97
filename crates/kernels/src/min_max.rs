//! Minimum and maximum of many values, for statistics.
//!
//! The values are given as the words that store them, and are read as the type in the name of the function.

use crate::signatures::Kernels;

impl Kernels {
    /// `min_max_i32` at this level.
    pub fn min_max_i32(&self, words: &[u32]) -> Option<(i32, i32)> {
        // SAFETY: this CPU has the level of this table.
        (!words.is_empty()).then(|| unsafe { (self.min_max_i32)(words) })
    }

    /// `min_max_i64` at this level.
    pub fn min_max_i64(&self, words: &[u64]) -> Option<(i64, i64)> {
        // SAFETY: this CPU has the level of this table.
        (!words.is_empty()).then(|| unsafe { (self.min_max_i64)(words) })
    }

    /// `min_max_u32` at this level.
    pub fn min_max_u32(&self, words: &[u32]) -> Option<(u32, u32)> {
        // SAFETY: this CPU has the level of this table.
        (!words.is_empty()).then(|| unsafe { (self.min_max_u32)(words) })
    }

    /// `min_max_u64` at this level.
    pub fn min_max_u64(&self, words: &[u64]) -> Option<(u64, u64)> {
        // SAFETY: this CPU has the level of this table.
        (!words.is_empty()).then(|| unsafe { (self.min_max_u64)(words) })
    }

    /// `min_max_f32` at this level.
    pub fn min_max_f32(&self, words: &[u32]) -> (Option<(f32, f32)>, usize) {
        // SAFETY: this CPU has the level of this table.
        let (min, max, nans) = unsafe { (self.min_max_f32)(words) };
        let float = |key: i32| f32::from_bits(ordered_32(key as u32) as u32);
        ((nans < words.len()).then(|| (float(min), float(max))), nans)
    }

    /// `min_max_f64` at this level.
    pub fn min_max_f64(&self, words: &[u64]) -> (Option<(f64, f64)>, usize) {
        // SAFETY: this CPU has the level of this table.
        let (min, max, nans) = unsafe { (self.min_max_f64)(words) };
        let float = |key: i64| f64::from_bits(ordered_64(key as u64) as u64);
        ((nans < words.len()).then(|| (float(min), float(max))), nans)
    }
}

#[inline(always)]
pub(crate) fn min_max_i32_scalar(words: &[u32]) -> (i32, i32) {
    let none = (i32::MAX, i32::MIN);
    words.iter().fold(none, |(min, max), &word| (min.min(word as i32), max.max(word as i32)))
}

#[inline(always)]
pub(crate) fn min_max_i64_scalar(words: &[u64]) -> (i64, i64) {
    let none = (i64::MAX, i64::MIN);
    words.iter().fold(none, |(min, max), &word| (min.min(word as i64), max.max(word as i64)))
}

#[inline(always)]
pub(crate) fn min_max_u32_scalar(words: &[u32]) -> (u32, u32) {
    words.iter().fold((u32::MAX, 0), |(min, max), &word| (min.min(word), max.max(word)))
}

#[inline(always)]
pub(crate) fn min_max_u64_scalar(words: &[u64]) -> (u64, u64) {
    words.iter().fold((u64::MAX, 0), |(min, max), &word| (min.min(word), max.max(word)))
}

/// The minimum and the maximum as [`ordered_32`] integers, and the number of NaNs.
///
/// PERF: as integers, because the compiler cannot split a reduction over floats into lanes.
#[inline(always)]
pub(crate) fn min_max_f32_scalar(words: &[u32]) -> (i32, i32, usize) {
    let (mut min, mut max, mut all_nans) = (i32::MAX, i32::MIN, 0);
    // In chunks, so that NaNs can be counted in lanes of 32 bits.
    for words in words.chunks(1 << 16) {
        let mut nans = 0u32;
        for &word in words {
            let (key, is_nan) = (ordered_32(word), word & (u32::MAX >> 1) > INFINITY_32);
            min = min.min(if is_nan { i32::MAX } else { key });
            max = max.max(if is_nan { i32::MIN } else { key });
            nans += u32::from(is_nan);
        }
        all_nans += nans as usize;
    }
    (min, max, all_nans)
}

/// [`min_max_f32_scalar`] for binary64.
#[inline(always)]
pub(crate) fn min_max_f64_scalar(words: &[u64]) -> (i64, i64, usize) {
    let (mut min, mut max, mut nans) = (i64::MAX, i64::MIN, 0u64);
    for &word in words {
        let (key, is_nan) = (ordered_64(word), word & (u64::MAX >> 1) > INFINITY_64);
        min = min.min(if is_nan { i64::MAX } else { key });
        max = max.max(if is_nan { i64::MIN } else { key });
        nans += u64::from(is_nan);
    }
    (min, max, nans as usize)
}

/// Converts the bits of a float to an integer of the same order, and back.
#[inline(always)]
fn ordered_32(bits: u32) -> i32 {
    (bits ^ ((bits as i32 >> 31) as u32 >> 1)) as i32
}

#[inline(always)]
fn ordered_64(bits: u64) -> i64 {
    (bits ^ ((bits as i64 >> 63) as u64 >> 1)) as i64
}

const INFINITY_32: u32 = f32::INFINITY.to_bits();
const INFINITY_64: u64 = f64::INFINITY.to_bits();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_signed_or_not() {
        let kernels = Kernels::current();
        let words = [5, u32::MAX, 7];
        assert_eq!(kernels.min_max_i32(&words), Some((-1, 7)));
        assert_eq!(kernels.min_max_u32(&words), Some((5, u32::MAX)));
        assert_eq!(kernels.min_max_i64(&[5, u64::MAX]), Some((-1, 5)));
        assert_eq!(kernels.min_max_u64(&[5, u64::MAX]), Some((5, u64::MAX)));
        assert_eq!(kernels.min_max_i32(&[]), None);
    }

    #[test]
    fn nans_are_counted_and_zeros_have_a_sign() {
        let kernels = Kernels::current();
        let floats = [0.0, f32::NAN, -0.0, -f32::NAN];
        let (range, nans) = kernels.min_max_f32(&floats.map(f32::to_bits));
        let (min, max) = range.unwrap();
        assert_eq!((min.to_bits(), max.to_bits(), nans), ((-0.0f32).to_bits(), 0, 2));
        let floats = [1.5, f64::NEG_INFINITY, -2.5, f64::MAX];
        assert_eq!(kernels.min_max_f64(&floats.map(f64::to_bits)), (Some((f64::NEG_INFINITY, f64::MAX)), 0));
        assert_eq!(kernels.min_max_f64(&[f64::NAN.to_bits()]), (None, 1));
        assert_eq!(kernels.min_max_f32(&[]), (None, 0));
    }
}

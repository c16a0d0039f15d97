//! The numbers of all types in four forms, so that little code serves many types.

use crate::word_hash::spread;
use arrow_buffer::i256;
use std::cmp::Ordering;

/// A number in a column. Integers of up to 64 bits, dates and times are `i64`, floats `f64`, larger integers and
/// decimals `i128` or `i256`, decimals without their scale.
pub(crate) trait Number: Copy + Send + Sync + PartialOrd + 'static {
    /// The type of sums, exact if such a type exists.
    type Sum: Sum;

    /// Compares two numbers. NaN comes last, and both zeros are equal.
    fn order(self, other: Self) -> Ordering {
        self.partial_cmp(&other).unwrap_or(Ordering::Equal)
    }
    fn to_f64(self) -> f64;
    /// Returns the difference, rounded once.
    fn minus(self, other: Self) -> f64;
    /// Returns the difference times a power of two. A float need not hold the difference itself.
    fn scaled_minus(self, other: Self, scale: f64) -> f64 {
        self.minus(other) * scale
    }
    fn is_nan(self) -> bool {
        false
    }
    fn hash(self) -> u64;
    fn add(sum: &mut Self::Sum, number: Self, times: u64);
    fn to_le_bytes(self) -> [u8; 32];
}

/// Sorts numbers with their counts by the numbers. It is one shared function, because each sort takes as long to
/// compile as this file.
pub(super) fn sort_by_number<T: Number>(entries: &mut [(T, u64)]) {
    entries.sort_unstable_by(|(a, _), (b, _)| a.order(*b));
}

/// A sum of numbers.
pub(crate) trait Sum: Default + Copy + Send {
    fn merge(&mut self, other: Self);
    /// Returns the mean of `count` numbers with this sum, which itself need not fit a float.
    fn mean(self, count: u64) -> f64;
}

impl Sum for i128 {
    fn merge(&mut self, other: Self) {
        *self = self.wrapping_add(other);
    }

    fn mean(self, count: u64) -> f64 {
        self as f64 / count as f64
    }
}

impl Sum for i256 {
    fn merge(&mut self, other: Self) {
        *self = self.wrapping_add(other);
    }

    fn mean(self, count: u64) -> f64 {
        wide_to_f64(self) / count as f64
    }
}

impl Sum for FloatSum {
    fn merge(&mut self, other: Self) {
        self.small.merge(other.small);
        self.large.merge(other.large);
    }

    fn mean(self, count: u64) -> f64 {
        match self.large.total() == 0.0 {
            true => self.small.mean(count),
            false => {
                let mut all = self.large;
                // Small sums lose nothing here that matters beside the remaining large ones.
                all.add(self.small.sum / SCALE);
                all.add(self.small.lost / SCALE);
                all.mean(count) * SCALE
            }
        }
    }
}

/// Extends a number in little-endian order to 32 bytes.
fn widened<const N: usize>(bytes: [u8; N]) -> [u8; 32] {
    let mut wide = [0; 32];
    wide[..N].copy_from_slice(&bytes);
    wide
}

impl Number for i64 {
    type Sum = i128;

    fn to_f64(self) -> f64 {
        self as f64
    }

    fn minus(self, other: Self) -> f64 {
        match self.checked_sub(other) {
            Some(difference) => difference as f64,
            None => (i128::from(self) - i128::from(other)) as f64,
        }
    }

    fn hash(self) -> u64 {
        spread(self as u64)
    }

    fn add(sum: &mut i128, number: Self, times: u64) {
        *sum = sum.wrapping_add(i128::from(number) * i128::from(times));
    }

    fn to_le_bytes(self) -> [u8; 32] {
        widened(i64::to_le_bytes(self))
    }
}

impl Number for i128 {
    type Sum = i256;

    fn to_f64(self) -> f64 {
        self as f64
    }

    fn minus(self, other: Self) -> f64 {
        match self.checked_sub(other) {
            Some(difference) => difference as f64,
            None => wide_to_f64(i256::from_i128(self) - i256::from_i128(other)),
        }
    }

    fn hash(self) -> u64 {
        spread(self as u64 ^ spread((self >> 64) as u64))
    }

    fn add(sum: &mut i256, number: Self, times: u64) {
        let times = i256::from_i128(i128::from(times));
        *sum = sum.wrapping_add(i256::from_i128(number).wrapping_mul(times));
    }

    fn to_le_bytes(self) -> [u8; 32] {
        widened(i128::to_le_bytes(self))
    }
}

impl Number for i256 {
    type Sum = FloatSum;

    fn to_f64(self) -> f64 {
        wide_to_f64(self)
    }

    fn minus(self, other: Self) -> f64 {
        match self.checked_sub(other) {
            Some(difference) => wide_to_f64(difference),
            None => wide_to_f64(self) - wide_to_f64(other),
        }
    }

    fn hash(self) -> u64 {
        let (low, high) = self.to_parts();
        Number::hash((low as i128) ^ i128::from(Number::hash(high)).rotate_left(32))
    }

    fn add(sum: &mut FloatSum, number: Self, times: u64) {
        sum.add(wide_to_f64(number), times);
    }

    fn to_le_bytes(self) -> [u8; 32] {
        i256::to_le_bytes(self)
    }
}

impl Number for f64 {
    type Sum = FloatSum;

    fn order(self, other: Self) -> Ordering {
        self.partial_cmp(&other).unwrap_or_else(|| f64::is_nan(self).cmp(&f64::is_nan(other)))
    }

    fn to_f64(self) -> f64 {
        self
    }

    fn minus(self, other: Self) -> f64 {
        self - other
    }

    fn scaled_minus(self, other: Self, scale: f64) -> f64 {
        match scale < 1.0 {
            true => self * scale - other * scale,
            // A small difference may be between large numbers.
            false => (self - other) * scale,
        }
    }

    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }

    fn hash(self) -> u64 {
        // Both zeros are the same number.
        spread((self + 0.0).to_bits())
    }

    fn add(sum: &mut FloatSum, number: Self, times: u64) {
        sum.add(number, times);
    }

    fn to_le_bytes(self) -> [u8; 32] {
        widened(f64::to_le_bytes(self))
    }
}

/// A sum of floats, which may exceed any float: large numbers are scaled down and added separately.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct FloatSum {
    small: CompensatedSum,
    /// The sum of large numbers, in units of [`SCALE`].
    large: CompensatedSum,
}

impl FloatSum {
    fn add(&mut self, number: f64, times: u64) {
        match number.abs() < LARGE {
            true => self.small.add_times(number, times),
            false => self.large.add_times(number / SCALE, times),
        }
    }
}

/// 2^959: the sum of 2^64 smaller numbers still fits a float.
const LARGE: f64 = f64::from_bits((1023 + 959) << 52);
/// 2^64: a power of two, so that nothing is rounded.
const SCALE: f64 = (1u128 << 64) as f64;

/// A sum that keeps the rounding error of each step (Neumaier).
#[derive(Debug, Default, Clone, Copy)]
struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    fn add_times(&mut self, number: f64, times: u64) {
        if times == 1 {
            return self.add(number);
        }
        let times = times as f64;
        let product = number * times;
        self.add(product);
        if product.is_finite() {
            self.add(number.mul_add(times, -product));
        }
    }

    fn add(&mut self, number: f64) {
        let sum = self.sum + number;
        // The rounding error on the way to infinity is not a number.
        if sum.is_finite() {
            self.lost += match self.sum.abs() >= number.abs() {
                true => (self.sum - sum) + number,
                false => (number - sum) + self.sum,
            };
        }
        self.sum = sum;
    }

    fn merge(&mut self, other: Self) {
        self.add(other.sum);
        self.add(other.lost);
    }

    fn total(self) -> f64 {
        self.sum + self.lost
    }

    /// Returns the mean, rounded about once: the remainder of the division is divided, too.
    fn mean(self, count: u64) -> f64 {
        let count = count as f64;
        let mean = self.sum / count;
        match mean.is_finite() {
            true => mean + ((-mean).mul_add(count, self.sum) + self.lost) / count,
            false => mean,
        }
    }
}

fn wide_to_f64(number: i256) -> f64 {
    let (low, high) = number.to_parts();
    match number.to_i128() {
        Some(number) => number as f64,
        None => (high as f64).mul_add(2f64.powi(128), low as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of numbers, the same from parts as from all.
    #[track_caller]
    fn mean_is(numbers: &[f64], mean: f64) {
        let of = |numbers: &[f64]| {
            let mut sum = FloatSum::default();
            numbers.iter().for_each(|number| f64::add(&mut sum, *number, 1));
            sum
        };
        for at in 0..=numbers.len() {
            let mut sum = of(&numbers[..at]);
            sum.merge(of(&numbers[at..]));
            assert_eq!(sum.mean(numbers.len() as u64), mean, "{numbers:?} in two parts, at {at}");
        }
    }

    #[test]
    fn sums_keep_what_floats_lose() {
        mean_is(&[1e100, 3.0, -1e100], 1.0);
        mean_is(&[1.7e308, 3.0, -1.7e308], 1.0);
        mean_is(&[0.1; 10], 0.1);
    }

    #[test]
    fn sums_may_be_greater_than_floats() {
        mean_is(&[f64::MAX; 3], f64::MAX);
        mean_is(&[f64::MIN; 5], f64::MIN);
        mean_is(&[1.5e308, 1.5e308, -1e308, -1e308], 2.5e307);
        let mut sum = FloatSum::default();
        f64::add(&mut sum, 1.7e308, 1 << 40);
        f64::add(&mut sum, -1.7e308, 1 << 39);
        assert_eq!(sum.mean(3 << 39), 1.7e308 / 3.0);
        // What dictionaries count is the same as what is there one by one.
        let mut sum = FloatSum::default();
        f64::add(&mut sum, 0.1, 3);
        f64::add(&mut sum, 0.3, 1);
        mean_is(&[0.1, 0.1, 0.1, 0.3], sum.mean(4));
    }

    #[test]
    fn infinities_make_means_infinite() {
        mean_is(&[1.0, f64::INFINITY, 2.0, 1e308], f64::INFINITY);
        mean_is(&[f64::NEG_INFINITY, f64::NEG_INFINITY], f64::NEG_INFINITY);
        let mut sum = FloatSum::default();
        [f64::INFINITY, f64::NEG_INFINITY].iter().for_each(|number| f64::add(&mut sum, *number, 1));
        assert!(sum.mean(2).is_nan());
    }

    #[test]
    fn wide_integers_become_floats() {
        for number in [0i128, 1, -1, i128::MAX, i128::MIN, 12_345_678_901_234_567_890_123] {
            assert_eq!(wide_to_f64(i256::from_i128(number)), number as f64);
        }
        let wide = i256::from_i128(10).wrapping_pow(60);
        assert!((wide_to_f64(wide) / 1e60 - 1.0).abs() < 1e-15);
        assert!((wide_to_f64(-wide) / -1e60 - 1.0).abs() < 1e-15);
    }
}

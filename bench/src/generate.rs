//! Deterministic values: the same seed gives the same arrays on every machine.

use std::sync::Arc;

use arrow60_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, Int64Array, ListArray,
    StringArray, make_array,
};
use arrow60_buffer::{NullBuffer, OffsetBuffer};
use arrow60_schema::{DataType, Field};

use crate::Result;

/// SplitMix64: a counter run through a mixing function. Small, fast, and good enough to defeat branch predictors.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..bound`: the high half of a product, not the slower remainder.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `0.0..1.0`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number in `0..bound`, the k-th about as often as 1 / (k + 1): each power of two has as much of the whole.
    pub(crate) fn zipf(&mut self, bound: usize) -> usize {
        let power = self.unit() * (bound as f64 + 1.0).log2();
        ((power.exp2() - 1.0) as usize).min(bound - 1)
    }
}

/// `rows` values, each from its own call.
fn i64s(rows: usize, value: impl FnMut() -> i64) -> ArrayRef {
    let values: Vec<i64> = std::iter::repeat_with(value).take(rows).collect();
    Arc::new(Int64Array::from(values))
}

pub(crate) fn i64_random(rng: &mut Rng, rows: usize) -> ArrayRef {
    i64s(rows, || rng.next().cast_signed())
}

pub(crate) fn i64_random20(rng: &mut Rng, rows: usize) -> ArrayRef {
    i64s(rows, || rng.below(1 << 20).cast_signed())
}

/// Microseconds since the epoch, one to two milliseconds apart.
pub(crate) fn i64_timestamps(rng: &mut Rng, rows: usize) -> ArrayRef {
    let mut now = 1_700_000_000_000_000;
    i64s(rows, || {
        now += 1_000 + rng.below(1_000).cast_signed();
        now
    })
}

/// Any of 1,000 values, far apart from each other.
pub(crate) fn i64_of_1000(rng: &mut Rng, rows: usize) -> ArrayRef {
    i64s(rows, || rng.below(1_000).cast_signed() * 1_000_003)
}

/// The same 1,000 values in runs of 100 to 1,099.
pub(crate) fn i64_runs(rng: &mut Rng, rows: usize) -> ArrayRef {
    let (mut value, mut left) = (0, 0);
    i64s(rows, || {
        if left == 0 {
            (value, left) = (rng.below(1_000).cast_signed() * 1_000_003, 100 + rng.below(1_000));
        }
        left -= 1;
        value
    })
}

pub(crate) fn i32_random(rng: &mut Rng, rows: usize) -> ArrayRef {
    let values: Vec<i32> = std::iter::repeat_with(|| rng.next() as i32).take(rows).collect();
    Arc::new(Int32Array::from(values))
}

pub(crate) fn i32_random20(rng: &mut Rng, rows: usize) -> ArrayRef {
    let values: Vec<i32> = std::iter::repeat_with(|| rng.below(1 << 20) as i32).take(rows).collect();
    Arc::new(Int32Array::from(values))
}

/// Evenly spread over 0 to 1,000,000.
pub(crate) fn f64_random(rng: &mut Rng, rows: usize) -> ArrayRef {
    let scale = 1e6 / (1u64 << 53) as f64;
    let values: Vec<f64> = std::iter::repeat_with(|| (rng.next() >> 11) as f64 * scale).take(rows).collect();
    Arc::new(Float64Array::from(values))
}

/// Up to 99,999.99: what ALP is made for.
pub(crate) fn f64_prices(rng: &mut Rng, rows: usize) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values((0..rows).map(|_| rng.below(10_000_000) as f64 / 100.0)))
}

/// Up to 999.99: as many digits as a float has.
pub(crate) fn f32_prices(rng: &mut Rng, rows: usize) -> ArrayRef {
    Arc::new(Float32Array::from_iter_values((0..rows).map(|_| rng.below(100_000) as f32 / 100.0)))
}

pub(crate) fn bool_random(rng: &mut Rng, rows: usize) -> ArrayRef {
    let values: Vec<bool> = std::iter::repeat_with(|| rng.next() & 1 == 1).take(rows).collect();
    Arc::new(BooleanArray::from(values))
}

/// Runs of 1 to 199 equal bits.
pub(crate) fn bool_runs(rng: &mut Rng, rows: usize) -> ArrayRef {
    let (mut value, mut left) = (false, 0);
    let values: Vec<bool> = std::iter::repeat_with(|| {
        if left == 0 {
            (value, left) = (!value, 1 + rng.below(199));
        }
        left -= 1;
        value
    })
    .take(rows)
    .collect();
    Arc::new(BooleanArray::from(values))
}

/// Letters and digits, 8 to 24 bytes: some fit a view, most do not.
pub(crate) fn strings_random(rng: &mut Rng, rows: usize) -> ArrayRef {
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    let value = |_| -> String {
        let length = 8 + rng.below(17) as usize;
        std::iter::repeat_with(|| char::from(LETTERS[(rng.next() >> 58) as usize])).take(length).collect()
    };
    Arc::new(StringArray::from_iter_values((0..rows).map(value)))
}

/// Sorted addresses of 36 bytes: neighbours share all but the tail.
pub(crate) fn urls(rng: &mut Rng, rows: usize) -> ArrayRef {
    let mut item = 0;
    let value = |_| {
        item += 1 + rng.below(9);
        format!("https://example.com/items/{item:010}")
    };
    Arc::new(StringArray::from_iter_values((0..rows).map(value)))
}

/// Any of 15 words of 3 to 17 bytes.
pub(crate) fn strings_of_15(rng: &mut Rng, rows: usize) -> ArrayRef {
    const WORDS: [&str; 15] = [
        "AIR",
        "FOB",
        "MAIL",
        "RAIL",
        "SHIP",
        "TRUCK",
        "REG AIR",
        "NONE",
        "COLLECT COD",
        "TAKE BACK RETURN",
        "DELIVER IN PERSON",
        "5-LOW",
        "1-URGENT",
        "4-NOT SPECIFIED",
        "3-MEDIUM",
    ];
    Arc::new(StringArray::from_iter_values((0..rows).map(|_| WORDS[rng.below(15) as usize])))
}

/// Lists of 0 to 9 random numbers; the numbers themselves are never null.
pub(crate) fn lists_of_i64(rng: &mut Rng, rows: usize) -> ArrayRef {
    let offsets = OffsetBuffer::<i32>::from_lengths((0..rows).map(|_| rng.below(10) as usize));
    let values = i64_random(rng, offsets[rows] as usize);
    let item = Arc::new(Field::new("element", DataType::Int64, false));
    Arc::new(ListArray::new(item, offsets, values, None))
}

/// The same array with about `percent` rows in a hundred null, at random places.
pub(crate) fn with_nulls(rng: &mut Rng, array: &ArrayRef, percent: u64) -> Result<ArrayRef> {
    if percent == 0 {
        return Ok(Arc::clone(array));
    }
    let valid: NullBuffer = std::iter::repeat_with(|| rng.below(100) >= percent).take(array.len()).collect();
    Ok(make_array(array.to_data().into_builder().nulls(Some(valid)).build()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_values() {
        assert_eq!(&urls(&mut Rng::new(7), 100), &urls(&mut Rng::new(7), 100));
        assert_ne!(&i64_random(&mut Rng::new(7), 9), &i64_random(&mut Rng::new(8), 9));
    }
}

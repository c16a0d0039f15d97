//! Deterministic values: the same seed gives the same arrays on every machine.

use std::sync::Arc;

use arrow60_array::types::{Float16Type, Int32Type};
use arrow60_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Decimal128Array, Decimal256Array, DictionaryArray,
    FixedSizeBinaryArray, FixedSizeListArray, Float16Array, Float32Array, Float64Array, Int32Array,
    Int64Array, IntervalDayTimeArray, LargeStringArray, ListArray, MapArray, StringArray, StringViewArray,
    StructArray, UInt8Array, make_array,
};
use arrow60_buffer::{Buffer, IntervalDayTime, NullBuffer, OffsetBuffer, i256};
use arrow60_schema::{DataType, Field};

use crate::error::Result;

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

/// Any of 1,000,000 values: in a row group of as many rows each comes up once or twice.
pub(crate) fn i64_of_1000000(rng: &mut Rng, rows: usize) -> ArrayRef {
    i64s(rows, || rng.below(1_000_000).cast_signed() * 1_000_003)
}

/// All of 8 bits, which are stored as 32.
pub(crate) fn u8_random(rng: &mut Rng, rows: usize) -> ArrayRef {
    Arc::new(UInt8Array::from_iter_values((0..rows).map(|_| rng.next() as u8)))
}

/// Up to a thousand days, and milliseconds of a day: 12 bytes in the file.
pub(crate) fn intervals(rng: &mut Rng, rows: usize) -> ArrayRef {
    let value = |_| IntervalDayTime::new(rng.below(1_000) as i32, rng.below(86_400_000) as i32);
    Arc::new(IntervalDayTimeArray::from_iter_values((0..rows).map(value)))
}

/// Up to 9,999,999.99, in a type of 15 digits: INT64.
pub(crate) fn decimals_of_15(rng: &mut Rng, rows: usize) -> ArrayRef {
    decimals(rows, 15, || i128::from(rng.below(1_000_000_000)))
}

/// Positive and negative, of few digits and of many, as 16 bytes.
pub(crate) fn decimals_of_38(rng: &mut Rng, rows: usize) -> ArrayRef {
    decimals(rows, 38, || {
        ((i128::from(rng.next().cast_signed()) << 64) | i128::from(rng.next())) >> (2 + rng.below(100))
    })
}

/// Up to 99,999.99, in a type of 20 digits: 9 bytes, most of them 0.
pub(crate) fn decimals_of_20(rng: &mut Rng, rows: usize) -> ArrayRef {
    decimals(rows, 20, || i128::from(rng.below(10_000_000)))
}

/// Any of 1,000 values in 38 digits, as 16 bytes.
pub(crate) fn decimals_of_1000(rng: &mut Rng, rows: usize) -> ArrayRef {
    decimals(rows, 38, || i128::from(rng.below(1_000)) * 1_000_000_000_000_000_003)
}

/// With two digits after the point.
fn decimals(rows: usize, precision: u8, value: impl FnMut() -> i128) -> ArrayRef {
    let values: Vec<i128> = std::iter::repeat_with(value).take(rows).collect();
    let values = Decimal128Array::from(values).with_precision_and_scale(precision, 2);
    Arc::new(values.expect("a precision of 1 to 38"))
}

/// Of up to 76 digits, as 32 bytes.
pub(crate) fn decimals_of_76(rng: &mut Rng, rows: usize) -> ArrayRef {
    let value = |_| i256::from_parts(rng.next().into(), (rng.next() >> 8).into());
    let values = Decimal256Array::from_iter_values((0..rows).map(value)).with_precision_and_scale(76, 2);
    Arc::new(values.expect("a precision of 1 to 76"))
}

/// Evenly spread over 0 to 1,000.
pub(crate) fn f16_random(rng: &mut Rng, rows: usize) -> ArrayRef {
    type F16 = <Float16Type as ArrowPrimitiveType>::Native;
    Arc::new(Float16Array::from_iter_values((0..rows).map(|_| F16::from_f64(rng.unit() * 1e3))))
}

/// Evenly spread over 0 to 1,000,000.
pub(crate) fn f32_random(rng: &mut Rng, rows: usize) -> ArrayRef {
    Arc::new(Float32Array::from_iter_values((0..rows).map(|_| (rng.unit() * 1e6) as f32)))
}

/// Any of 1,000 values.
pub(crate) fn f32_of_1000(rng: &mut Rng, rows: usize) -> ArrayRef {
    Arc::new(Float32Array::from_iter_values((0..rows).map(|_| rng.below(1_000) as f32 * 1.003)))
}

/// 16 random bytes, as a UUID has.
pub(crate) fn uuids(rng: &mut Rng, rows: usize) -> ArrayRef {
    let bytes: Vec<u8> =
        (0..rows).flat_map(|_| [rng.next(), rng.next()]).flat_map(u64::to_le_bytes).collect();
    Arc::new(FixedSizeBinaryArray::new(16, Buffer::from(bytes), None))
}

/// Any of 1,000 UUIDs.
pub(crate) fn uuids_of_1000(rng: &mut Rng, rows: usize) -> ArrayRef {
    let all: Vec<[u8; 16]> =
        (0..1_000).map(|_| ((u128::from(rng.next()) << 64) | u128::from(rng.next())).to_le_bytes()).collect();
    let bytes: Vec<u8> = (0..rows).flat_map(|_| all[rng.below(1_000) as usize]).collect();
    Arc::new(FixedSizeBinaryArray::new(16, Buffer::from(bytes), None))
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

/// Cyrillic letters, 4 to 12 of them, of two bytes each: what is not ASCII has to be looked at letter by letter.
pub(crate) fn strings_cyrillic(rng: &mut Rng, rows: usize) -> ArrayRef {
    let value = |_| -> String {
        let length = 4 + rng.below(9) as usize;
        std::iter::repeat_with(|| char::from_u32(0x430 + (rng.next() >> 59) as u32).unwrap_or_default())
            .take(length)
            .collect()
    };
    Arc::new(StringArray::from_iter_values((0..rows).map(value)))
}

/// 64 to 191 letters, as a comment has.
pub(crate) fn strings_medium(rng: &mut Rng, rows: usize) -> ArrayRef {
    letters(rng, rows, 64, 128)
}

/// 512 to 1,535 letters: each string begins far from the one before it.
pub(crate) fn strings_long(rng: &mut Rng, rows: usize) -> ArrayRef {
    letters(rng, rows, 512, 1_024)
}

/// The same as strings_long, as views.
pub(crate) fn views_long(rng: &mut Rng, rows: usize) -> ArrayRef {
    let strings = strings_long(rng, rows);
    Arc::new(StringViewArray::from_iter(text(&strings)))
}

/// `least` letters or up to `more` more, of 16, eight at a time.
fn letters(rng: &mut Rng, rows: usize, least: u64, more: u64) -> ArrayRef {
    let value = |_| -> String {
        let length = (least + rng.below(more)) as usize;
        let bytes = std::iter::repeat_with(|| rng.next().to_le_bytes()).flatten();
        bytes.map(|byte| char::from(b'a' + (byte & 15))).take(length).collect()
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

/// The same as urls, with offsets of 64 bits.
pub(crate) fn large_urls(rng: &mut Rng, rows: usize) -> ArrayRef {
    Arc::new(LargeStringArray::from_iter(text(&urls(rng, rows))))
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

/// The same as strings_of_15, as the keys of a dictionary.
pub(crate) fn keys_of_15(rng: &mut Rng, rows: usize) -> ArrayRef {
    Arc::new(DictionaryArray::<Int32Type>::from_iter(text(&strings_of_15(rng, rows))))
}

/// Any of 100,000 words of 11 bytes: a dictionary that no inner cache holds.
pub(crate) fn strings_of_100000(rng: &mut Rng, rows: usize) -> ArrayRef {
    let value = |_| format!("user-{:06}", rng.below(100_000) * 7);
    Arc::new(StringArray::from_iter_values((0..rows).map(value)))
}

/// The strings, one by one.
fn text(strings: &ArrayRef) -> impl Iterator<Item = Option<&str>> {
    strings.as_any().downcast_ref::<StringArray>().expect("strings").iter()
}

/// Lists of 0 to 9 random numbers; the numbers themselves are never null.
pub(crate) fn lists_of_i64(rng: &mut Rng, rows: usize) -> ArrayRef {
    lists(rng, rows, 10, i64_random)
}

/// Lists of 0 to 9 of 1,000 numbers, of which one in ten is null.
pub(crate) fn lists_of_nullable(rng: &mut Rng, rows: usize) -> ArrayRef {
    lists(rng, rows, 10, |rng, rows| {
        let values = i64_of_1000(rng, rows);
        with_nulls(rng, &values, 10).expect("a bit for each value")
    })
}

/// Lists of 0 to 3 lists of 0 to 9 random numbers.
pub(crate) fn lists_of_lists(rng: &mut Rng, rows: usize) -> ArrayRef {
    lists(rng, rows, 4, lists_of_i64)
}

/// Lists of fewer than `bound` values; the field has nulls if the values have.
fn lists(rng: &mut Rng, rows: usize, bound: u64, make: fn(&mut Rng, usize) -> ArrayRef) -> ArrayRef {
    let offsets = OffsetBuffer::<i32>::from_lengths((0..rows).map(|_| rng.below(bound) as usize));
    let values = make(rng, offsets[rows] as usize);
    let item = Arc::new(Field::new("element", values.data_type().clone(), values.null_count() > 0));
    Arc::new(ListArray::new(item, offsets, values, None))
}

/// Eight floats, always.
pub(crate) fn vectors(rng: &mut Rng, rows: usize) -> ArrayRef {
    let item = Arc::new(Field::new("element", DataType::Float32, false));
    Arc::new(FixedSizeListArray::new(item, 8, f32_random(rng, 8 * rows), None))
}

/// A number and a string, each of which is null in one row of ten.
pub(crate) fn structs(rng: &mut Rng, rows: usize) -> ArrayRef {
    let fields = [("number", i64_random(rng, rows)), ("string", strings_random(rng, rows))];
    let fields = fields.map(|(name, array)| {
        let array = with_nulls(rng, &array, 10).expect("a bit for each value");
        (Arc::new(Field::new(name, array.data_type().clone(), true)), array)
    });
    Arc::new(StructArray::from(fields.to_vec()))
}

/// Maps of 0 to 4 strings to numbers.
pub(crate) fn maps(rng: &mut Rng, rows: usize) -> ArrayRef {
    let offsets = OffsetBuffer::<i32>::from_lengths((0..rows).map(|_| rng.below(5) as usize));
    let entries = offsets[rows] as usize;
    let fields = [("key", strings_random(rng, entries)), ("value", i64_random(rng, entries))];
    let fields =
        fields.map(|(name, array)| (Arc::new(Field::new(name, array.data_type().clone(), false)), array));
    let entries = StructArray::from(fields.to_vec());
    let field = Arc::new(Field::new("key_value", entries.data_type().clone(), false));
    Arc::new(MapArray::new(field, offsets, entries, None, false))
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

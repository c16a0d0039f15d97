//! Rows in many small pages and some row groups, about sorted, so that a filter can leave out most of them.

use arrow_array::*;
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use arrow_select::take::take;
use std::sync::Arc;

use crate::types::mixed;

const ROWS: usize = 12_000;
pub(crate) const ROW_GROUP_ROWS: usize = 3_000;
pub(crate) const PAGE_ROWS: usize = 150;

/// Returns a value that grows with the row, by 1 in each 8 rows, with some disorder.
fn near(row: usize) -> i64 {
    (row / 8) as i64 + (mixed(row) % 16) as i64 - 8
}

/// Returns the batch that filters are tried on. The column `row` tells rows apart.
pub(crate) fn batch() -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    let mut push = |name: &str, array: ArrayRef| columns.push((name.to_owned(), array));
    let micros = |zone: Option<&str>| DataType::Timestamp(TimeUnit::Microsecond, zone.map(Into::into));
    for (name, scale, data_type) in [
        ("i64", 1_000_000_007, DataType::Int64),
        ("i32", -1_000, DataType::Int32),
        ("i16", 3, DataType::Int16),
        ("u32", 100_000, DataType::UInt32),
        ("u64", 1 << 40, DataType::UInt64),
        ("date", 1, DataType::Date32),
        ("ts_us", 77_000_001, micros(None)),
        ("ts_us_utc", -77_000_001, micros(Some("UTC"))),
        ("ts_ns", 77_000_001, DataType::Timestamp(TimeUnit::Nanosecond, None)),
        ("time_us", 1_000, DataType::Time64(TimeUnit::Microsecond)),
        ("dec_9_2", 10, DataType::Decimal128(9, 2)),
        ("dec_18_4", 10, DataType::Decimal128(18, 4)),
        ("dec_38_10", -10_000, DataType::Decimal128(38, 10)),
    ] {
        let signed = !matches!(data_type, DataType::UInt32 | DataType::UInt64 | DataType::Time64(_));
        // The largest numbers have their first bit set, which is a sign in a signed comparison.
        let scaled = |row: usize| match (signed, &data_type) {
            (true, _) => near(row) * scale,
            (false, DataType::UInt64) => (near(row) + 8) * scale * 4_000,
            (false, DataType::UInt32) => (near(row) + 8) * scale * 28,
            (false, _) => (near(row) + 8) * scale,
        };
        let plain = Int64Array::from_iter_values((0..ROWS).map(scaled));
        push(
            name,
            match &data_type {
                // 64 bits again, so that the largest are negative in between.
                DataType::UInt64 => {
                    Arc::new(UInt64Array::from_iter_values(plain.values().iter().map(|value| *value as u64)))
                }
                DataType::Date32 => cast(&cast(&plain, &DataType::Int32)?, &data_type)?,
                _ => cast(&plain, &data_type)?,
            },
        );
    }
    push("bool", Arc::new((0..ROWS).map(|row| Some(row < 6_000)).collect::<BooleanArray>()));
    let floats = |row: usize| near(row) as f64 / 4.0 - 100.0;
    push("f64", Arc::new(Float64Array::from_iter_values((0..ROWS).map(floats))));
    push("f32", Arc::new(Float32Array::from_iter_values((0..ROWS).map(|row| floats(row) as f32))));
    let halves = Float32Array::from_iter_values((0..ROWS).map(|row| floats(row) as f32));
    push("f16", cast(&halves, &DataType::Float16)?);
    // NaN in some rows, in all rows of some pages, and in all rows of a row group.
    let is_nan = |row: usize| row % 50 == 7 || (1_000..1_700).contains(&row) || (6_000..9_000).contains(&row);
    let nans = |row: usize| if is_nan(row) { f64::NAN } else { floats(row) };
    push("f64_nan", Arc::new(Float64Array::from_iter_values((0..ROWS).map(nans))));
    push("f32_nan", Arc::new(Float32Array::from_iter_values((0..ROWS).map(|row| nans(row) as f32))));
    // Pages of one zero, of the other, and of both.
    let zeros = |row: usize| match row / 500 % 4 {
        0 => 0.0,
        1 => -0.0,
        2 if row.is_multiple_of(2) => 0.0,
        2 => -0.0,
        _ => floats(row),
    };
    push("f64_zero", Arc::new(Float64Array::from_iter_values((0..ROWS).map(zeros))));
    let short = |row: usize| format!("k{:06}", near(row) + 8);
    push("utf8", Arc::new(StringArray::from_iter_values((0..ROWS).map(short))));
    push("utf8_view", Arc::new(StringViewArray::from_iter_values((0..ROWS).map(short))));
    push(
        "dict",
        cast(
            &StringArray::from_iter_values((0..ROWS).map(|row| format!("{:03}", row / 100))),
            &DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        )?,
    );
    // Bounds are truncated: all values have the same first 60 bytes, and then a character of 4 bytes, a tree, at the
    // cut.
    let long = |row: usize| format!("{}🌳ä{:06}{}", "p".repeat(60), near(row) + 8, "s".repeat(20));
    push("utf8_long", Arc::new(StringArray::from_iter_values((0..ROWS).map(long))));
    // An upper bound that cannot be rounded up after it is truncated.
    let last = |row: usize| if row % 40 == 3 { "\u{10ffff}".repeat(30) } else { short(row) };
    push("utf8_last", Arc::new(StringArray::from_iter_values((0..ROWS).map(last))));
    let bytes = |row: usize| match row % 40 {
        3 => vec![0xff; 100],
        _ => [&[0x80 + (row / 1_000) as u8][..], &mixed(row).to_be_bytes()].concat(),
    };
    push("binary", Arc::new(BinaryArray::from_iter_values((0..ROWS).map(bytes))));
    let uuid =
        |row: usize| [near(row).wrapping_mul(1 << 52).to_be_bytes(), mixed(row).to_be_bytes()].concat();
    push("fixed_16", Arc::new(FixedSizeBinaryArray::try_from_iter((0..ROWS).map(uuid))?));
    let random = |row: usize| (mixed(row) % 100_000) as i64;
    push("random_i64", Arc::new(Int64Array::from_iter_values((0..ROWS).map(random))));
    push(
        "random_utf8",
        Arc::new(StringArray::from_iter_values((0..ROWS).map(|row| format!("r{}", random(row))))),
    );
    push("only_null", Arc::new(Int64Array::new_null(ROWS)));
    with_nulls(columns)
}

/// Adds nulls to some rows, to all rows of some pages, and to all but one row of the last row group. `row` has none.
fn with_nulls(columns: Vec<(String, ArrayRef)>) -> Result<RecordBatch, ArrowError> {
    let is_null = |row: usize| row % 23 == 5 || (3_100..3_800).contains(&row) || row > 9_400;
    let indices: UInt32Array = (0..ROWS).map(|row| (!is_null(row)).then_some(row as u32)).collect();
    let mut fields = vec![Field::new("row", DataType::Int64, false)];
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(Int64Array::from_iter_values(0..ROWS as i64))];
    for (name, array) in columns {
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(take(&array, &indices, None)?);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

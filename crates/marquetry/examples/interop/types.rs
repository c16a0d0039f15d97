//! A column for each Arrow type, with values by formula: the corners of the type first, then some of all sizes.

use arrow_array::types::{IntervalDayTime, IntervalMonthDayNano};
use arrow_array::*;
use arrow_buffer::i256;
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, IntervalUnit, TimeUnit};
use std::collections::HashMap;
use std::sync::Arc;

/// A column of a type.
pub(crate) struct Column {
    pub(crate) name: String,
    /// The distinct values that rows consist of.
    pub(crate) values: ArrayRef,
    /// The type to which the values are cast for the writer.
    pub(crate) stored: DataType,
    /// The type to which they are cast for the libraries that check them, which know fewer types.
    pub(crate) truth: DataType,
    /// The extension type, if it has one.
    pub(crate) metadata: HashMap<String, String>,
}

/// Number of distinct values.
pub(crate) const DISTINCT: usize = 181;

/// Returns a well mixed number for each `i`.
pub(crate) fn mixed(i: usize) -> u64 {
    let mut z = (i as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns all columns, in the order in which a file has them.
pub(crate) fn columns() -> Result<Vec<Column>, ArrowError> {
    let mut columns = Vec::new();
    numbers(&mut columns);
    decimals(&mut columns)?;
    strings(&mut columns)?;
    times(&mut columns);
    encoded(&mut columns);
    Ok(columns)
}

fn push(columns: &mut Vec<Column>, name: &str, values: impl Array + 'static) {
    let data_type = values.data_type().clone();
    columns.push(Column {
        name: name.to_owned(),
        values: Arc::new(values),
        stored: data_type.clone(),
        truth: data_type,
        metadata: HashMap::new(),
    });
}

/// Returns `corners`, then numbers of up to `bits` bits, of either sign if `signed`.
fn integers(corners: &[i128], bits: u32, signed: bool) -> impl Iterator<Item = i128> + '_ {
    (0..DISTINCT).map(move |i| match corners.get(i) {
        Some(corner) => *corner,
        None => {
            let wide = (u128::from(mixed(i)) << 64 | u128::from(mixed(i + 1000))) >> 1;
            let used = 1 + i as u32 % (bits - u32::from(signed));
            let size = (wide >> (127 - used)) as i128;
            if signed && i % 3 == 0 { -size } else { size }
        }
    })
}

fn numbers(columns: &mut Vec<Column>) {
    let bools: BooleanArray = (0..DISTINCT).map(|i| Some(mixed(i / 3) & 1 == 1)).collect();
    push(columns, "bool", bools);
    macro_rules! integer {
        ($name:literal, $array:ty, $native:ty, $signed:literal) => {
            let corners = [<$native>::MIN as i128, <$native>::MAX as i128, 0, 1, <$native>::MAX as i128 - 1];
            let values = integers(&corners, <$native>::BITS, $signed).map(|value| value as $native);
            push(columns, $name, <$array>::from_iter_values(values));
        };
    }
    integer!("i8", Int8Array, i8, true);
    integer!("i16", Int16Array, i16, true);
    integer!("i32", Int32Array, i32, true);
    integer!("i64", Int64Array, i64, true);
    integer!("u8", UInt8Array, u8, false);
    integer!("u16", UInt16Array, u16, false);
    integer!("u32", UInt32Array, u32, false);
    integer!("u64", UInt64Array, u64, false);
    let f64s: Vec<f64> = floats(&[f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::MIN, f64::EPSILON]).collect();
    let corners = [f32::MIN_POSITIVE.into(), 1e-45, f32::MAX.into(), f32::MIN.into()];
    push(columns, "f32", Float32Array::from_iter_values(floats(&corners).map(|value| value as f32)));
    push(columns, "f64", Float64Array::from(f64s));
    // 65504 is the largest, 2^-24 the smallest.
    let f32s: Float32Array =
        floats(&[65504.0, -65504.0, 5.960_464_5e-8]).map(|value| Some(value as f32)).collect();
    if let Ok(halves) = cast(&f32s, &DataType::Float16) {
        push(columns, "f16", halves);
    }
    push(columns, "null", NullArray::new(DISTINCT));
}

/// Returns the corner cases of all floats and `more`, then numbers with two digits behind the point, then any.
fn floats(more: &[f64]) -> impl Iterator<Item = f64> + '_ {
    let corners = [f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.0, -1.0];
    (0..DISTINCT).map(move |i| match corners.iter().chain(more).nth(i) {
        Some(corner) => *corner,
        None if i % 4 == 0 => (mixed(i) as i64 as f64) / 1e15,
        None => ((mixed(i) % 2_000_000) as f64 - 1_000_000.0) / 100.0,
    })
}

fn decimals(columns: &mut Vec<Column>) -> Result<(), ArrowError> {
    let of = |precision: u32| {
        let most = 10i128.pow(precision) - 1;
        let corners = [most, -most, 0, 1, -1];
        integers(&corners, 127, true).map(move |value| value % (most + 1)).collect::<Vec<_>>()
    };
    let narrow = |precision| of(precision).into_iter().map(|value| value as i32);
    let wide = |precision| of(precision).into_iter().map(|value| value as i64);
    push(columns, "dec32_9_2", Decimal32Array::from_iter_values(narrow(9)).with_precision_and_scale(9, 2)?);
    push(columns, "dec64_18_4", Decimal64Array::from_iter_values(wide(18)).with_precision_and_scale(18, 4)?);
    for (precision, scale) in [(7, 3), (15, 0), (22, 22), (38, 10)] {
        let values = Decimal128Array::from_iter_values(of(precision))
            .with_precision_and_scale(precision as u8, scale)?;
        push(columns, &format!("dec128_{precision}_{scale}"), values);
    }
    let wide = of(38).into_iter().map(i256::from_i128);
    let huge = wide.map(|value| value.wrapping_mul(i256::from_i128(10i128.pow(36)))).collect::<Vec<_>>();
    let small = of(18).into_iter().map(i256::from_i128).collect::<Vec<_>>();
    push(columns, "dec256_76_8", Decimal256Array::from(huge).with_precision_and_scale(76, 8)?);
    push(columns, "dec256_18_5", Decimal256Array::from(small).with_precision_and_scale(18, 5)?);
    for column in columns.iter_mut() {
        // Decimals of 32 and 64 bits have the same values in 128 bits, which more libraries know.
        if let DataType::Decimal32(p, s) | DataType::Decimal64(p, s) = column.stored {
            column.truth = DataType::Decimal128(p, s);
        }
    }
    Ok(())
}

/// Returns text of any length, with common prefixes and characters beyond ASCII.
pub(crate) fn text(i: usize) -> String {
    match i {
        0 => String::new(),
        1 => "a".to_owned(),
        2 => "grün, 木, 🌳".to_owned(),
        3 => "x".repeat(300),
        4 => "nul \0 in it".to_owned(),
        5 => "twelve bytes".to_owned(),
        6 => "13 bytes long".to_owned(),
        _ if i.is_multiple_of(3) => format!("https://example.org/{}/{:x}", i / 12, mixed(i)),
        _ if i % 3 == 1 => format!("{:x}", mixed(i))[..1 + i % 12].to_owned(),
        _ => format!("ÄÖÜ{i}"),
    }
}

fn bytes(i: usize) -> Vec<u8> {
    match i {
        0 => Vec::new(),
        1 => vec![0xff; 70],
        2 => vec![0],
        _ => (0..mixed(i) % 40).map(|at| mixed(i * 100 + at as usize) as u8).collect(),
    }
}

fn fixed(width: usize) -> Result<FixedSizeBinaryArray, ArrowError> {
    let value = |i: usize| (0..width).map(|at| mixed(i * 100 + at / 2) as u8).collect::<Vec<_>>();
    FixedSizeBinaryArray::try_from_iter((0..DISTINCT).map(value))
}

fn strings(columns: &mut Vec<Column>) -> Result<(), ArrowError> {
    push(columns, "utf8", StringArray::from_iter_values((0..DISTINCT).map(text)));
    push(columns, "large_utf8", LargeStringArray::from_iter_values((0..DISTINCT).map(text)));
    push(columns, "utf8_view", StringViewArray::from_iter_values((0..DISTINCT).map(text)));
    push(columns, "binary", BinaryArray::from_iter_values((0..DISTINCT).map(bytes)));
    push(columns, "large_binary", LargeBinaryArray::from_iter_values((0..DISTINCT).map(bytes)));
    push(columns, "binary_view", BinaryViewArray::from_iter_values((0..DISTINCT).map(bytes)));
    for width in [1, 5, 16] {
        push(columns, &format!("fixed_{width}"), fixed(width)?);
    }
    push(columns, "uuid", fixed(16)?);
    extension(columns, "arrow.uuid", "");
    let documents = (0..DISTINCT).map(|i| format!("{{\"i\": {i}, \"h\": [{}]}}", mixed(i)));
    push(columns, "json", StringArray::from_iter_values(documents));
    extension(columns, "arrow.json", "");
    Ok(())
}

/// Makes the last column one of an extension type.
fn extension(columns: &mut [Column], name: &str, parameters: &str) {
    if let Some(column) = columns.last_mut() {
        column.metadata.insert("ARROW:extension:name".to_owned(), name.to_owned());
        column.metadata.insert("ARROW:extension:metadata".to_owned(), parameters.to_owned());
    }
}

fn times(columns: &mut Vec<Column>) {
    const DAY: i64 = 86_400;
    // From 1700 to 2240: the range of 64-bit nanoseconds.
    let seconds = |i: usize| match i {
        0 => 0,
        1 => -1,
        2 => -270 * 365 * DAY,
        3 => 270 * 365 * DAY,
        _ => (mixed(i) % (500 * 365 * DAY as u64)) as i64 - 250 * 365 * DAY,
    };
    let instants = |per_second: i64| {
        (0..DISTINCT)
            .map(move |i| seconds(i) * per_second + mixed(i + 7) as i64 % per_second)
            .collect::<Vec<_>>()
    };
    let of_day = |per_second: i64| {
        let value = move |i: usize| match i {
            0 => 0,
            1 => DAY * per_second - 1,
            _ => (mixed(i) % (DAY * per_second) as u64) as i64,
        };
        (0..DISTINCT).map(value).collect::<Vec<_>>()
    };
    let days: Vec<i32> = (0..DISTINCT).map(|i| seconds(i).div_euclid(DAY) as i32).collect();
    let of_day_32 = |per_second| of_day(per_second).into_iter().map(|value| value as i32).collect::<Vec<_>>();
    push(columns, "date32", Date32Array::from(days.clone()));
    let millis: Vec<i64> = days.iter().map(|day| i64::from(*day) * DAY * 1000).collect();
    push(columns, "date64", Date64Array::from(millis));
    push(columns, "time_s", Time32SecondArray::from(of_day_32(1)));
    push(columns, "time_ms", Time32MillisecondArray::from(of_day_32(1000)));
    push(columns, "time_us", Time64MicrosecondArray::from(of_day(1_000_000)));
    push(columns, "time_ns", Time64NanosecondArray::from(of_day(1_000_000_000)));
    push(columns, "ts_s", TimestampSecondArray::from(instants(1)));
    push(columns, "ts_ms", TimestampMillisecondArray::from(instants(1000)));
    push(columns, "ts_us", TimestampMicrosecondArray::from(instants(1_000_000)));
    push(columns, "ts_ns", TimestampNanosecondArray::from(instants(1_000_000_000)));
    push(columns, "ts_ms_utc", TimestampMillisecondArray::from(instants(1000)).with_timezone("UTC"));
    push(columns, "ts_us_utc", TimestampMicrosecondArray::from(instants(1_000_000)).with_timezone("UTC"));
    push(columns, "ts_ns_utc", TimestampNanosecondArray::from(instants(1_000_000_000)).with_timezone("UTC"));
    push(
        columns,
        "ts_us_zone",
        TimestampMicrosecondArray::from(instants(1_000_000)).with_timezone("Europe/Berlin"),
    );
    push(columns, "duration_s", DurationSecondArray::from(instants(1)));
    push(columns, "duration_ms", DurationMillisecondArray::from(instants(1000)));
    push(columns, "duration_us", DurationMicrosecondArray::from(instants(1_000_000)));
    push(columns, "duration_ns", DurationNanosecondArray::from(instants(1_000_000_000)));
    intervals(columns);
}

/// Adds intervals. Those of Parquet have months, days and milliseconds without a sign.
fn intervals(columns: &mut Vec<Column>) {
    let small = |i: usize, most: u64| (mixed(i) % most) as i32;
    let of_three = |i| IntervalMonthDayNano {
        months: small(i, 1000),
        days: small(i + 1, 1000),
        nanoseconds: i64::from(small(i + 2, 86_400_000)) * 1_000_000,
    };
    let of_two = |i| IntervalDayTime { days: small(i, 1000), milliseconds: small(i + 1, 86_400_000) };
    push(columns, "interval_mdn", IntervalMonthDayNanoArray::from_iter_values((0..DISTINCT).map(of_three)));
    push(columns, "interval_dt", IntervalDayTimeArray::from_iter_values((0..DISTINCT).map(of_two)));
    push(
        columns,
        "interval_ym",
        IntervalYearMonthArray::from_iter_values((0..DISTINCT).map(|i| small(i, 1000))),
    );
    for column in columns.iter_mut().filter(|column| column.name.starts_with("interval")) {
        column.truth = DataType::Interval(IntervalUnit::MonthDayNano);
    }
}

/// Adds dictionaries and run-end encoded values.
fn encoded(columns: &mut Vec<Column>) {
    let dictionary = |key, value| DataType::Dictionary(Box::new(key), Box::new(value));
    let runs = |ends, values| {
        let ends = Field::new("run_ends", ends, false);
        DataType::RunEndEncoded(Arc::new(ends), Arc::new(Field::new("values", values, true)))
    };
    let of = |wanted: &str, columns: &[Column]| {
        columns.iter().find(|column| column.name == wanted).map(|c| c.values.clone())
    };
    let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
    for (name, from, stored) in [
        ("dict_i8_utf8", "utf8", dictionary(DataType::UInt8, DataType::Utf8)),
        ("dict_i32_large_utf8", "large_utf8", dictionary(DataType::Int32, DataType::LargeUtf8)),
        ("dict_i32_binary", "binary", dictionary(DataType::Int32, DataType::Binary)),
        ("dict_i16_i64", "i64", dictionary(DataType::Int16, DataType::Int64)),
        ("dict_i32_ts", "ts_us", dictionary(DataType::Int32, micros)),
        ("runs_utf8", "utf8", runs(DataType::Int32, DataType::Utf8)),
        ("runs_i64", "i64", runs(DataType::Int16, DataType::Int64)),
    ] {
        let Some(values) = of(from, columns) else { continue };
        columns.push(Column {
            name: name.to_owned(),
            truth: values.data_type().clone(),
            values,
            stored,
            metadata: HashMap::new(),
        });
    }
}

//! Values as text, one string for each cell: the same for every Arrow type that may hold the same values.
//!
//! | values | text |
//! |---|---|
//! | null | `null` |
//! | integers | decimal digits |
//! | floats | the shortest text that is the value again as a double; `NaN`, `inf`, `-inf` |
//! | decimals | as many digits after the point as the scale says |
//! | text and other bytes | in quotes with escapes if UTF-8, else `x"00ff"` |
//! | dates, times, timestamps, durations | `date:` days; `time:`, `ts:`, `dur:` nanoseconds |
//! | lists, structs, maps | `[a,b]`, `{a,b}`, `[{k,v}]` |
//!
//! Names are not in it, nor widths, time zones and layouts.
#![allow(dead_code)] // Each test target includes this module and uses a part of it.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch};
use arrow_schema::{ArrowError, DataType, IntervalUnit, TimeUnit};

/// The cells of all batches, column by column.
pub(crate) fn columns<E>(
    batches: impl IntoIterator<Item = Result<RecordBatch, E>>,
) -> Result<Vec<Vec<String>>, E> {
    let mut columns: Vec<Vec<String>> = Vec::new();
    for batch in batches {
        let batch = batch?;
        columns.resize_with(batch.num_columns(), Vec::new);
        for (cells, array) in columns.iter_mut().zip(batch.columns()) {
            cells.extend(of(array));
        }
    }
    Ok(columns)
}

/// The batches of an Arrow IPC file.
pub(crate) fn arrow_file(bytes: bytes::Bytes) -> Result<Vec<RecordBatch>, ArrowError> {
    arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(bytes), None)?.collect()
}

/// The cells of one array.
pub(crate) fn of(array: &ArrayRef) -> Vec<String> {
    match array.data_type() {
        DataType::Null => vec!["null".to_owned(); array.len()],
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            of(&arrow_select::take::take(dictionary.values(), dictionary.keys(), None).unwrap())
        }
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => runs::<Int16Type>(array),
            DataType::Int32 => runs::<Int32Type>(array),
            _ => runs::<Int64Type>(array),
        },
        DataType::Boolean => each(array, |i| array.as_boolean().value(i).to_string()),
        DataType::Struct(_) => {
            let fields: Vec<_> = array.as_struct().columns().iter().map(of).collect();
            each(array, |i| {
                let cells: Vec<_> = fields.iter().map(|cells| cells[i].as_str()).collect();
                format!("{{{}}}", cells.join(","))
            })
        }
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::FixedSizeList(_, _)
        | DataType::Map(_, _) => list(array),
        DataType::Binary => each(array, |i| bytes(array.as_binary::<i32>().value(i))),
        DataType::LargeBinary => each(array, |i| bytes(array.as_binary::<i64>().value(i))),
        DataType::BinaryView => each(array, |i| bytes(array.as_binary_view().value(i))),
        DataType::FixedSizeBinary(_) => each(array, |i| bytes(array.as_fixed_size_binary().value(i))),
        DataType::Utf8 => each(array, |i| bytes(array.as_string::<i32>().value(i).as_bytes())),
        DataType::LargeUtf8 => each(array, |i| bytes(array.as_string::<i64>().value(i).as_bytes())),
        DataType::Utf8View => each(array, |i| bytes(array.as_string_view().value(i).as_bytes())),
        _ => number(array),
    }
}

fn runs<R: RunEndIndexType>(array: &ArrayRef) -> Vec<String> {
    let runs = array.as_run::<R>();
    let cells = of(runs.values());
    (0..array.len()).map(|i| cells[runs.get_physical_index(i)].clone()).collect()
}

/// One text for each value that is not null.
fn each(array: &ArrayRef, text: impl Fn(usize) -> String) -> Vec<String> {
    let cell = |i| match array.is_null(i) {
        true => "null".to_owned(),
        false => text(i),
    };
    (0..array.len()).map(cell).collect()
}

fn list(array: &ArrayRef) -> Vec<String> {
    let element = |i: usize| match array.data_type() {
        DataType::List(_) => array.as_list::<i32>().value(i),
        DataType::LargeList(_) => array.as_list::<i64>().value(i),
        DataType::ListView(_) => array.as_list_view::<i32>().value(i),
        DataType::LargeListView(_) => array.as_list_view::<i64>().value(i),
        DataType::FixedSizeList(_, _) => array.as_fixed_size_list().value(i),
        _ => std::sync::Arc::new(array.as_map().value(i)),
    };
    each(array, |i| format!("[{}]", of(&element(i)).join(",")))
}

fn bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("{text:?}"),
        Err(_) => format!("x\"{}\"", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}

fn number(array: &ArrayRef) -> Vec<String> {
    match array.data_type() {
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => integers::<UInt8Type>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => integers::<UInt64Type>(array),
        DataType::Float16 => primitive::<Float16Type>(array, |v| float(v.to_f64())),
        DataType::Float32 => primitive::<Float32Type>(array, |v| float(f64::from(v))),
        DataType::Float64 => primitive::<Float64Type>(array, float),
        DataType::Decimal32(_, scale) => primitive::<Decimal32Type>(array, |v| decimal(v, *scale)),
        DataType::Decimal64(_, scale) => primitive::<Decimal64Type>(array, |v| decimal(v, *scale)),
        DataType::Decimal128(_, scale) => primitive::<Decimal128Type>(array, |v| decimal(v, *scale)),
        DataType::Decimal256(_, scale) => primitive::<Decimal256Type>(array, |v| decimal(v, *scale)),
        DataType::Date32 => primitive::<Date32Type>(array, |v| format!("date:{v}")),
        DataType::Date64 => primitive::<Date64Type>(array, |v| format!("date:{}", v / 86_400_000)),
        DataType::Time32(TimeUnit::Second) => ticks::<Time32SecondType>(array, "time", TimeUnit::Second),
        DataType::Time32(_) => ticks::<Time32MillisecondType>(array, "time", TimeUnit::Millisecond),
        DataType::Time64(TimeUnit::Microsecond) => {
            ticks::<Time64MicrosecondType>(array, "time", TimeUnit::Microsecond)
        }
        DataType::Time64(_) => ticks::<Time64NanosecondType>(array, "time", TimeUnit::Nanosecond),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => ticks::<TimestampSecondType>(array, "ts", *unit),
            TimeUnit::Millisecond => ticks::<TimestampMillisecondType>(array, "ts", *unit),
            TimeUnit::Microsecond => ticks::<TimestampMicrosecondType>(array, "ts", *unit),
            TimeUnit::Nanosecond => ticks::<TimestampNanosecondType>(array, "ts", *unit),
        },
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => ticks::<DurationSecondType>(array, "dur", *unit),
            TimeUnit::Millisecond => ticks::<DurationMillisecondType>(array, "dur", *unit),
            TimeUnit::Microsecond => ticks::<DurationMicrosecondType>(array, "dur", *unit),
            TimeUnit::Nanosecond => ticks::<DurationNanosecondType>(array, "dur", *unit),
        },
        DataType::Interval(IntervalUnit::YearMonth) => {
            primitive::<IntervalYearMonthType>(array, |v| format!("interval:{v}m"))
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            primitive::<IntervalDayTimeType>(array, |v| format!("interval:{}d{}ms", v.days, v.milliseconds))
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            primitive::<IntervalMonthDayNanoType>(array, |v| interval(v.months, v.days, v.nanoseconds))
        }
        other => panic!("no text for {other}"),
    }
}

fn primitive<T: ArrowPrimitiveType>(array: &ArrayRef, text: impl Fn(T::Native) -> String) -> Vec<String> {
    let values = array.as_primitive::<T>();
    each(array, |i| text(values.value(i)))
}

fn integers<T: ArrowPrimitiveType>(array: &ArrayRef) -> Vec<String>
where
    T::Native: std::fmt::Display,
{
    primitive::<T>(array, |v| v.to_string())
}

/// Ticks of `unit` as nanoseconds.
fn ticks<T: ArrowPrimitiveType>(array: &ArrayRef, name: &str, unit: TimeUnit) -> Vec<String>
where
    T::Native: Into<i64>,
{
    let factor: i128 = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    primitive::<T>(array, |v| {
        let ticks: i64 = v.into();
        format!("{name}:{}", i128::from(ticks) * factor)
    })
}

fn float(value: f64) -> String {
    format!("{value:?}")
}

fn decimal(value: impl std::fmt::Display, scale: i8) -> String {
    let digits = value.to_string();
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits.to_owned()),
        None => ("", digits),
    };
    let Ok(scale @ 1..) = usize::try_from(scale) else {
        return format!("{sign}{digits}{}", "0".repeat(usize::from(scale.unsigned_abs())));
    };
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// The twelve bytes that Parquet has for it.
fn interval(months: i32, days: i32, nanoseconds: i64) -> String {
    let milliseconds = u32::try_from(nanoseconds / 1_000_000).unwrap();
    let parts = [months.to_le_bytes(), days.to_le_bytes(), milliseconds.to_le_bytes()];
    bytes(&parts.concat())
}

//! Hashes of rows: the same for the same values, however they are stored.
//!
//! Integers of any width are hashed by their value, timestamps as instants in nanoseconds, floats as doubles, strings by their bytes.
//! All NaN are the same, both zeros are not. Null, an empty list and a list of a null are three things.

use crate::word_hash::spread;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{ArrowNativeType, NullBuffer, ToByteSlice};
use arrow_schema::{DataType, TimeUnit};
use std::collections::HashMap;
use twox_hash::XxHash64;

/// Returns hashes of the values of an array, one for each row.
pub(crate) fn hashes(array: &dyn Array) -> Vec<u64> {
    let mut out = values(array);
    if let Some(nulls) = array.nulls() {
        mark_nulls(nulls, &mut out);
    }
    out
}

/// Adds the values of another column to the hashes of rows.
pub(crate) fn add_column(rows: &mut [u64], array: &dyn Array) {
    match array.data_type() {
        // PERF: the most common types, which need no array of hashes in between.
        DataType::Int64 if array.null_count() == 0 => {
            let values = array.as_primitive::<Int64Type>().values();
            rows.iter_mut().zip(values).for_each(|(row, value)| *row = mix(*row, spread(*value as u64)));
        }
        DataType::Float64 if array.null_count() == 0 => {
            let values = array.as_primitive::<Float64Type>().values();
            rows.iter_mut().zip(values).for_each(|(row, value)| *row = mix(*row, float(*value)));
        }
        _ => combine(rows, &hashes(array)),
    }
}

fn combine(rows: &mut [u64], column: &[u64]) {
    for (row, value) in rows.iter_mut().zip(column) {
        *row = mix(*row, *value);
    }
}

/// Whether values of both types can be compared by their hashes.
pub(crate) fn are_comparable(a: &DataType, b: &DataType) -> bool {
    use DataType::*;
    match (a, b) {
        (Dictionary(_, a), b) | (b, Dictionary(_, a)) => are_comparable(a, b),
        (RunEndEncoded(_, a), b) | (b, RunEndEncoded(_, a)) => are_comparable(a.data_type(), b),
        (Utf8 | LargeUtf8 | Utf8View, Utf8 | LargeUtf8 | Utf8View) => true,
        (
            Binary | LargeBinary | BinaryView | FixedSizeBinary(_),
            Binary | LargeBinary | BinaryView | FixedSizeBinary(_),
        ) => true,
        (Timestamp(_, a), Timestamp(_, b)) => a.is_some() == b.is_some(),
        (Time32(_) | Time64(_), Time32(_) | Time64(_)) | (Duration(_), Duration(_)) => true,
        (Date32 | Date64, Date32 | Date64) => a == b,
        (Decimal32(_, a) | Decimal64(_, a) | Decimal128(_, a) | Decimal256(_, a), _) => match b {
            Decimal32(_, b) | Decimal64(_, b) | Decimal128(_, b) | Decimal256(_, b) => a == b,
            _ => false,
        },
        (Struct(a), Struct(b)) => {
            let same = |(a, b): (&arrow_schema::FieldRef, &arrow_schema::FieldRef)| {
                a.name() == b.name() && are_comparable(a.data_type(), b.data_type())
            };
            a.len() == b.len() && a.iter().zip(b).all(same)
        }
        (Map(a, _), Map(b, _)) => are_comparable(a.data_type(), b.data_type()),
        _ => match (element(a), element(b)) {
            (Some(a), Some(b)) => are_comparable(a, b),
            (None, None) => {
                (a.is_integer() && b.is_integer()) || (a.is_floating() && b.is_floating()) || a == b
            }
            _ => false,
        },
    }
}

/// Returns the type of a list's elements.
fn element(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _) => Some(element.data_type()),
        _ => None,
    }
}

fn mark_nulls(nulls: &NullBuffer, hashes: &mut [u64]) {
    if nulls.null_count() > 0 {
        for (i, hash) in hashes.iter_mut().enumerate() {
            if nulls.is_null(i) {
                *hash = NULL;
            }
        }
    }
}

fn values(array: &dyn Array) -> Vec<u64> {
    // Types that Parquet does not have count as null.
    numbers(array)
        .or_else(|| strings(array))
        .or_else(|| nested(array))
        .unwrap_or_else(|| vec![NULL; array.len()])
}

/// Returns the hashes of booleans, numbers and times.
fn numbers(array: &dyn Array) -> Option<Vec<u64>> {
    use DataType::*;
    Some(match array.data_type() {
        Boolean => array.as_boolean().values().iter().map(|value| spread(u64::from(value))).collect(),
        Int8 => integers::<Int8Type>(array),
        Int16 => integers::<Int16Type>(array),
        Int32 | Date32 | Decimal32(..) | Interval(arrow_schema::IntervalUnit::YearMonth) | Time32(_) => {
            let factor = match array.data_type() {
                Time32(unit) => nanoseconds(*unit),
                _ => 1,
            };
            words::<i32>(array).iter().map(|value| scaled((*value).into(), factor)).collect()
        }
        Int64 | Date64 | Decimal64(..) | Timestamp(..) | Time64(_) | Duration(_) => {
            let factor = match array.data_type() {
                Timestamp(unit, _) | Time64(unit) | Duration(unit) => nanoseconds(*unit),
                _ => 1,
            };
            words::<i64>(array).iter().map(|value| scaled(*value, factor)).collect()
        }
        UInt8 => {
            array.as_primitive::<UInt8Type>().values().iter().map(|value| spread(u64::from(*value))).collect()
        }
        UInt16 => array
            .as_primitive::<UInt16Type>()
            .values()
            .iter()
            .map(|value| spread(u64::from(*value)))
            .collect(),
        UInt32 => array
            .as_primitive::<UInt32Type>()
            .values()
            .iter()
            .map(|value| spread(u64::from(*value)))
            .collect(),
        // Its largest values do not have the hash of a negative number.
        UInt64 => {
            array.as_primitive::<UInt64Type>().values().iter().map(|value| wide((*value).into())).collect()
        }
        Float16 => {
            array.as_primitive::<Float16Type>().values().iter().map(|value| float(value.to_f64())).collect()
        }
        Float32 => array
            .as_primitive::<Float32Type>()
            .values()
            .iter()
            .map(|value| float(f64::from(*value)))
            .collect(),
        Float64 => array.as_primitive::<Float64Type>().values().iter().map(|value| float(*value)).collect(),
        // A number that fits fewer bits has the same hash as with fewer bits.
        Decimal128(..) => {
            array.as_primitive::<Decimal128Type>().values().iter().map(|value| wide(*value)).collect()
        }
        Decimal256(..) => {
            let value = |value: &arrow_buffer::i256| match value.to_i128() {
                Some(value) => wide(value),
                None => XxHash64::oneshot(0, &value.to_le_bytes()),
            };
            array.as_primitive::<Decimal256Type>().values().iter().map(value).collect()
        }
        Interval(arrow_schema::IntervalUnit::MonthDayNano) => {
            let values = array.as_primitive::<IntervalMonthDayNanoType>().values();
            values.iter().map(|value| bytes(value.to_byte_slice())).collect()
        }
        Interval(arrow_schema::IntervalUnit::DayTime) => {
            let values = array.as_primitive::<IntervalDayTimeType>().values();
            values.iter().map(|value| bytes(value.to_byte_slice())).collect()
        }
        _ => return None,
    })
}

/// Returns the hashes of text and bytes.
fn strings(array: &dyn Array) -> Option<Vec<u64>> {
    use DataType::*;
    let len = array.len();
    Some(match array.data_type() {
        Utf8 => (0..len).map(|i| bytes(array.as_string::<i32>().value(i).as_bytes())).collect(),
        LargeUtf8 => (0..len).map(|i| bytes(array.as_string::<i64>().value(i).as_bytes())).collect(),
        Utf8View => {
            let strings = array.as_string_view();
            views(strings.views(), |i| strings.value(i).as_bytes())
        }
        Binary => (0..len).map(|i| bytes(array.as_binary::<i32>().value(i))).collect(),
        LargeBinary => (0..len).map(|i| bytes(array.as_binary::<i64>().value(i))).collect(),
        BinaryView => {
            let strings = array.as_binary_view();
            views(strings.views(), |i| strings.value(i))
        }
        FixedSizeBinary(_) => (0..len).map(|i| bytes(array.as_fixed_size_binary().value(i))).collect(),
        _ => return None,
    })
}

/// Returns the hashes of values that consist of others.
fn nested(array: &dyn Array) -> Option<Vec<u64>> {
    use DataType::*;
    let len = array.len();
    Some(match array.data_type() {
        Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let entries = hashes(dictionary.values());
            // Arrow has no keys for a dictionary without entries: all rows are null.
            if entries.is_empty() {
                return Some(vec![NULL; len]);
            }
            let keys = dictionary.normalized_keys();
            keys.iter().map(|key| entries.get(*key).copied().unwrap_or(NULL)).collect()
        }
        RunEndEncoded(ends, _) => match ends.data_type() {
            Int16 => runs::<Int16Type>(array),
            Int32 => runs::<Int32Type>(array),
            _ => runs::<Int64Type>(array),
        },
        Struct(_) => {
            let mut rows = vec![STRUCT; len];
            array.as_struct().columns().iter().for_each(|field| combine(&mut rows, &hashes(field)));
            rows
        }
        List(_) => {
            let list = array.as_list::<i32>();
            lists(list.values(), len, |i| range(list.value_offsets(), i))
        }
        LargeList(_) => {
            let list = array.as_list::<i64>();
            lists(list.values(), len, |i| range(list.value_offsets(), i))
        }
        ListView(_) => {
            let list = array.as_list_view::<i32>();
            lists(list.values(), len, |i| sized(list.offsets()[i] as usize, list.sizes()[i] as usize))
        }
        LargeListView(_) => {
            let list = array.as_list_view::<i64>();
            lists(list.values(), len, |i| sized(list.offsets()[i] as usize, list.sizes()[i] as usize))
        }
        FixedSizeList(_, size) => {
            let (list, size) = (array.as_fixed_size_list(), *size as usize);
            lists(list.values(), len, |i| sized(i * size, size))
        }
        Map(..) => {
            let map = array.as_map();
            let entries: ArrayRef = std::sync::Arc::new(map.entries().clone());
            lists(&entries, len, |i| range(map.value_offsets(), i))
        }
        _ => return None,
    })
}

fn integers<P: ArrowPrimitiveType>(array: &dyn Array) -> Vec<u64>
where
    P::Native: Into<i64>,
{
    array.as_primitive::<P>().values().iter().map(|value| spread((*value).into() as u64)).collect()
}

/// Returns the hash of `factor` times `value`. A product beyond 64 bits keeps all of its bits: cut off, it would be
/// another number.
fn scaled(value: i64, factor: i64) -> u64 {
    match value.checked_mul(factor) {
        Some(product) => spread(product as u64),
        None => wide(i128::from(value) * i128::from(factor)),
    }
}

fn runs<R: RunEndIndexType>(array: &dyn Array) -> Vec<u64> {
    let Some(runs) = array.as_run_opt::<R>() else { return vec![NULL; array.len()] };
    let (entries, ends) = (hashes(runs.values()), runs.run_ends());
    let mut run = if runs.is_empty() { 0 } else { runs.get_physical_index(0) };
    let of_row = |row: usize| {
        if ends.values()[run].as_usize() <= ends.offset() + row {
            run += 1;
        }
        entries[run]
    };
    (0..runs.len()).map(of_row).collect()
}

/// Returns the numbers of an array of any type with this number of bits.
fn words<N: ArrowNativeType>(array: &dyn Array) -> Vec<N> {
    let data = array.to_data();
    data.buffer::<N>(0)[..data.len()].to_vec()
}

/// PERF: many views may refer to one entry of a dictionary. A long entry is hashed once.
fn views<'a>(views: &[u128], value: impl Fn(usize) -> &'a [u8]) -> Vec<u64> {
    let mut long = HashMap::new();
    let hash = |(i, view): (usize, &u128)| match value(i) {
        value if value.len() < LONG => bytes(value),
        value => *long.entry(*view).or_insert_with(|| bytes(value)),
    };
    views.iter().enumerate().map(hash).collect()
}

fn lists(elements: &ArrayRef, len: usize, range: impl Fn(usize) -> std::ops::Range<usize>) -> Vec<u64> {
    let elements = hashes(elements);
    let list = |i: usize| {
        let elements = &elements[range(i)];
        // With its length, so that no list continues in the next one.
        elements.iter().fold(mix(LIST, elements.len() as u64), |list, element| mix(list, *element))
    };
    (0..len).map(list).collect()
}

fn range<O: Copy + TryInto<usize>>(offsets: &[O], i: usize) -> std::ops::Range<usize> {
    let at = |i: usize| offsets[i].try_into().unwrap_or(0);
    at(i)..at(i + 1)
}

fn sized(start: usize, len: usize) -> std::ops::Range<usize> {
    start..start + len
}

/// Returns the number of nanoseconds in a unit.
pub(super) fn nanoseconds(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

fn float(value: f64) -> u64 {
    let value = if value.is_nan() { f64::NAN } else { value };
    spread(value.to_bits() ^ FLOAT)
}

fn wide(value: i128) -> u64 {
    match i64::try_from(value) {
        Ok(value) => spread(value as u64),
        Err(_) => mix(value as u64, (value >> 64) as u64),
    }
}

fn bytes(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

/// Combines two hashes into one that depends on their order.
fn mix(a: u64, b: u64) -> u64 {
    spread(a.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b)
}

/// Length in bytes from which on the hash of a value is cached.
const LONG: usize = 4096;
/// Hashes that no value has: any words will do.
const NULL: u64 = 0x6e75_6c6c_0f1e_2d3c;
const STRUCT: u64 = 0x7374_7275_6374_a5b6;
const LIST: u64 = 0x6c69_7374_9788_6756;
const FLOAT: u64 = 0x666c_6f61_745a_4b3c;

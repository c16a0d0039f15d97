//! Shredded primitive values: the variant values of an Arrow array.
//!
//! Spec: VariantShredding.md, "Shredded Value Types".

use super::bytes::{Bytes, bytes_of};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, LargeStringArray, StringArray, StringViewArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use marquetry_base::{Error, Result};
use marquetry_variant::{Decimal, Value};

/// An array of primitive values, read by row.
#[derive(Debug)]
pub(super) struct Primitive<'a> {
    len: usize,
    nulls: Option<&'a NullBuffer>,
    values: Values<'a>,
}

#[derive(Debug)]
enum Values<'a> {
    Boolean(&'a BooleanArray),
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Float(&'a [f32]),
    Double(&'a [f64]),
    Decimal32(&'a [i32], u8),
    Decimal64(&'a [i64], u8),
    /// Values, precision, scale.
    Decimal128(&'a [i128], u8, u8),
    Date(&'a [i32]),
    Time(&'a [i64]),
    TimestampMicros(&'a [i64]),
    LocalTimestampMicros(&'a [i64]),
    TimestampNanos(&'a [i64]),
    LocalTimestampNanos(&'a [i64]),
    Binary(Bytes<'a>),
    String(&'a StringArray),
    LargeString(&'a LargeStringArray),
    StringView(&'a StringViewArray),
    Uuid(&'a FixedSizeBinaryArray),
}

impl<'a> Primitive<'a> {
    pub(super) fn new(array: &'a ArrayRef) -> Result<Self> {
        Ok(Primitive { len: array.len(), nulls: array.nulls(), values: Values::new(array)? })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    /// Returns a value that is not null.
    pub(super) fn value(&self, row: usize) -> Result<Value<'a>> {
        Ok(match &self.values {
            Values::Boolean(values) => Value::Boolean(values.value(row)),
            Values::Int8(values) => Value::Int8(values[row]),
            Values::Int16(values) => Value::Int16(values[row]),
            Values::Int32(values) => Value::Int32(values[row]),
            Values::Int64(values) => Value::Int64(values[row]),
            Values::Float(values) => Value::Float(values[row]),
            Values::Double(values) => Value::Double(values[row]),
            Values::Decimal32(values, scale) => Value::Decimal4(decimal(values[row].into(), *scale)),
            Values::Decimal64(values, scale) => Value::Decimal8(decimal(values[row].into(), *scale)),
            Values::Decimal128(values, precision, scale) => {
                let number = decimal(values[row], *scale);
                match precision {
                    0..=9 => Value::Decimal4(number),
                    10..=18 => Value::Decimal8(number),
                    _ => Value::Decimal16(number),
                }
            }
            Values::Date(values) => Value::Date(values[row]),
            Values::Time(values) => Value::Time(values[row]),
            Values::TimestampMicros(values) => Value::TimestampMicros(values[row]),
            Values::LocalTimestampMicros(values) => Value::LocalTimestampMicros(values[row]),
            Values::TimestampNanos(values) => Value::TimestampNanos(values[row]),
            Values::LocalTimestampNanos(values) => Value::LocalTimestampNanos(values[row]),
            Values::Binary(values) => Value::Binary(values.value(row)),
            Values::String(values) => Value::String(values.value(row)),
            Values::LargeString(values) => Value::String(values.value(row)),
            Values::StringView(values) => Value::String(values.value(row)),
            Values::Uuid(values) => {
                let bytes = values.value(row).first_chunk();
                Value::Uuid(bytes.ok_or_else(|| Error::corrupt("a UUID of fewer than 16 bytes"))?)
            }
        })
    }
}

impl<'a> Values<'a> {
    fn new(array: &'a ArrayRef) -> Result<Self> {
        let scale_of = |scale: i8| u8::try_from(scale).map_err(|_| unfit(array.data_type()));
        Ok(match array.data_type() {
            DataType::Boolean => Values::Boolean(array.as_boolean()),
            DataType::Int8 => Values::Int8(array.as_primitive::<Int8Type>().values()),
            DataType::Int16 => Values::Int16(array.as_primitive::<Int16Type>().values()),
            DataType::Int32 => Values::Int32(array.as_primitive::<Int32Type>().values()),
            DataType::Int64 => Values::Int64(array.as_primitive::<Int64Type>().values()),
            DataType::Float32 => Values::Float(array.as_primitive::<Float32Type>().values()),
            DataType::Float64 => Values::Double(array.as_primitive::<Float64Type>().values()),
            DataType::Decimal32(_, scale) => {
                Values::Decimal32(array.as_primitive::<Decimal32Type>().values(), scale_of(*scale)?)
            }
            DataType::Decimal64(_, scale) => {
                Values::Decimal64(array.as_primitive::<Decimal64Type>().values(), scale_of(*scale)?)
            }
            DataType::Decimal128(precision, scale) => {
                let values = array.as_primitive::<Decimal128Type>().values();
                Values::Decimal128(values, *precision, scale_of(*scale)?)
            }
            DataType::Date32 => Values::Date(array.as_primitive::<Date32Type>().values()),
            DataType::Time64(TimeUnit::Microsecond) => {
                Values::Time(array.as_primitive::<Time64MicrosecondType>().values())
            }
            DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                let ticks = array.as_primitive::<TimestampMicrosecondType>().values();
                if zone.is_some() {
                    Values::TimestampMicros(ticks)
                } else {
                    Values::LocalTimestampMicros(ticks)
                }
            }
            DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
                let ticks = array.as_primitive::<TimestampNanosecondType>().values();
                if zone.is_some() {
                    Values::TimestampNanos(ticks)
                } else {
                    Values::LocalTimestampNanos(ticks)
                }
            }
            DataType::Utf8 => Values::String(array.as_string()),
            DataType::LargeUtf8 => Values::LargeString(array.as_string()),
            DataType::Utf8View => Values::StringView(array.as_string_view()),
            DataType::FixedSizeBinary(16) => Values::Uuid(array.as_fixed_size_binary()),
            other => Values::Binary(bytes_of(array).ok_or_else(|| unfit(other))?),
        })
    }
}

#[cold]
fn unfit(data_type: &DataType) -> Error {
    Error::unsupported(format!("a VARIANT is shredded as {data_type}, which no value of it can be"))
}

fn decimal(unscaled: i128, scale: u8) -> Decimal {
    Decimal { unscaled, scale }
}

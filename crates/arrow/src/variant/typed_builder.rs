//! Builds arrays of shredded primitive values of one type, and decides which values fit it.
//!
//! A value fits if it is read back as it was: the same number, with as many digits after the point.

use arrow_array::builder::*;
use arrow_array::types::*;
use arrow_array::{ArrayRef, ArrowPrimitiveType};
use marquetry_base::Result;
use marquetry_variant::{Decimal, PrimitiveType, Value};
use std::sync::Arc;

/// Builds an array of values at ascending positions, with nulls between them.
#[derive(Debug)]
pub(super) struct TypedBuilder {
    builder: Builder,
    /// Whether integers and decimals of another binary width do not fit.
    exact_widths: bool,
}

#[derive(Debug)]
enum Builder {
    Boolean(BooleanBuilder),
    Int8(PrimitiveBuilder<Int8Type>),
    Int16(PrimitiveBuilder<Int16Type>),
    Int32(PrimitiveBuilder<Int32Type>),
    Int64(PrimitiveBuilder<Int64Type>),
    Float(PrimitiveBuilder<Float32Type>),
    Double(PrimitiveBuilder<Float64Type>),
    /// Values, precision, scale.
    Decimal(PrimitiveBuilder<Decimal128Type>, u8, u8),
    Date(PrimitiveBuilder<Date32Type>),
    Time(PrimitiveBuilder<Time64MicrosecondType>),
    TimestampMicros(PrimitiveBuilder<TimestampMicrosecondType>),
    LocalTimestampMicros(PrimitiveBuilder<TimestampMicrosecondType>),
    TimestampNanos(PrimitiveBuilder<TimestampNanosecondType>),
    LocalTimestampNanos(PrimitiveBuilder<TimestampNanosecondType>),
    Binary(BinaryViewBuilder),
    String(StringViewBuilder),
    Uuid(FixedSizeBinaryBuilder),
}

impl TypedBuilder {
    pub(super) fn new(kind: PrimitiveType, exact_widths: bool) -> Self {
        let builder = match kind {
            PrimitiveType::Boolean => Builder::Boolean(BooleanBuilder::new()),
            PrimitiveType::Int8 => Builder::Int8(PrimitiveBuilder::new()),
            PrimitiveType::Int16 => Builder::Int16(PrimitiveBuilder::new()),
            PrimitiveType::Int32 => Builder::Int32(PrimitiveBuilder::new()),
            PrimitiveType::Int64 => Builder::Int64(PrimitiveBuilder::new()),
            PrimitiveType::Float => Builder::Float(PrimitiveBuilder::new()),
            PrimitiveType::Double => Builder::Double(PrimitiveBuilder::new()),
            PrimitiveType::Decimal { precision, scale } => {
                let data_type = arrow_schema::DataType::Decimal128(precision, scale as i8);
                Builder::Decimal(PrimitiveBuilder::new().with_data_type(data_type), precision, scale)
            }
            PrimitiveType::Date => Builder::Date(PrimitiveBuilder::new()),
            PrimitiveType::Time => Builder::Time(PrimitiveBuilder::new()),
            PrimitiveType::TimestampMicros => {
                Builder::TimestampMicros(PrimitiveBuilder::new().with_timezone("UTC"))
            }
            PrimitiveType::LocalTimestampMicros => Builder::LocalTimestampMicros(PrimitiveBuilder::new()),
            PrimitiveType::TimestampNanos => {
                Builder::TimestampNanos(PrimitiveBuilder::new().with_timezone("UTC"))
            }
            PrimitiveType::LocalTimestampNanos => Builder::LocalTimestampNanos(PrimitiveBuilder::new()),
            PrimitiveType::Binary => Builder::Binary(BinaryViewBuilder::new()),
            PrimitiveType::String => Builder::String(StringViewBuilder::new()),
            PrimitiveType::Uuid => Builder::Uuid(FixedSizeBinaryBuilder::new(16)),
        };
        TypedBuilder { builder, exact_widths }
    }

    /// Appends a value at position `at`. Returns whether it fits; otherwise nothing is appended.
    pub(super) fn push(&mut self, at: usize, value: &Value<'_>) -> Result<bool> {
        let exact = self.exact_widths;
        match (&mut self.builder, value) {
            (Builder::Boolean(builder), Value::Boolean(value)) => {
                builder.append_nulls(at - builder.len());
                builder.append_value(*value);
            }
            (Builder::Int8(builder), value) => return Ok(integer(builder, at, value, exact)),
            (Builder::Int16(builder), value) => return Ok(integer(builder, at, value, exact)),
            (Builder::Int32(builder), value) => return Ok(integer(builder, at, value, exact)),
            (Builder::Int64(builder), value) => return Ok(integer(builder, at, value, exact)),
            (Builder::Float(builder), Value::Float(value)) => push(builder, at, *value),
            (Builder::Double(builder), Value::Double(value)) => push(builder, at, *value),
            (Builder::Decimal(builder, precision, scale), value) => {
                let Some(number) = decimal(value, *precision, *scale, exact) else { return Ok(false) };
                push(builder, at, number);
            }
            (Builder::Date(builder), Value::Date(days)) => push(builder, at, *days),
            (Builder::Time(builder), Value::Time(micros)) => push(builder, at, *micros),
            (Builder::TimestampMicros(builder), Value::TimestampMicros(ticks))
            | (Builder::LocalTimestampMicros(builder), Value::LocalTimestampMicros(ticks)) => {
                push(builder, at, *ticks)
            }
            (Builder::TimestampNanos(builder), Value::TimestampNanos(ticks))
            | (Builder::LocalTimestampNanos(builder), Value::LocalTimestampNanos(ticks)) => {
                push(builder, at, *ticks)
            }
            (Builder::Binary(builder), Value::Binary(bytes)) => {
                (builder.len()..at).for_each(|_| builder.append_null());
                builder.try_append_value(bytes).map_err(crate::arrow_error)?;
            }
            (Builder::String(builder), Value::String(text)) => {
                (builder.len()..at).for_each(|_| builder.append_null());
                builder.try_append_value(text).map_err(crate::arrow_error)?;
            }
            (Builder::Uuid(builder), Value::Uuid(bytes)) => {
                builder.append_nulls(at - builder.len());
                builder.append_value(bytes).map_err(crate::arrow_error)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the array, of length `len`.
    pub(super) fn finish(self, len: usize) -> ArrayRef {
        match self.builder {
            Builder::Boolean(mut builder) => {
                builder.append_nulls(len - builder.len());
                Arc::new(builder.finish())
            }
            Builder::Int8(builder) => finish(builder, len),
            Builder::Int16(builder) => finish(builder, len),
            Builder::Int32(builder) => finish(builder, len),
            Builder::Int64(builder) => finish(builder, len),
            Builder::Float(builder) => finish(builder, len),
            Builder::Double(builder) => finish(builder, len),
            Builder::Decimal(builder, ..) => finish(builder, len),
            Builder::Date(builder) => finish(builder, len),
            Builder::Time(builder) => finish(builder, len),
            Builder::TimestampMicros(builder) | Builder::LocalTimestampMicros(builder) => {
                finish(builder, len)
            }
            Builder::TimestampNanos(builder) | Builder::LocalTimestampNanos(builder) => finish(builder, len),
            Builder::Binary(mut builder) => {
                (builder.len()..len).for_each(|_| builder.append_null());
                Arc::new(builder.finish())
            }
            Builder::String(mut builder) => {
                (builder.len()..len).for_each(|_| builder.append_null());
                Arc::new(builder.finish())
            }
            Builder::Uuid(mut builder) => {
                builder.append_nulls(len - builder.len());
                Arc::new(builder.finish())
            }
        }
    }
}

#[inline]
fn push<T: ArrowPrimitiveType>(builder: &mut PrimitiveBuilder<T>, at: usize, value: T::Native) {
    // PERF: mostly there are no nulls.
    if at > builder.len() {
        builder.append_nulls(at - builder.len());
    }
    builder.append_value(value);
}

fn finish<T: ArrowPrimitiveType>(mut builder: PrimitiveBuilder<T>, len: usize) -> ArrayRef {
    builder.append_nulls(len - builder.len());
    Arc::new(builder.finish())
}

/// Appends an integer, if it is in the type's range. Returns whether it is.
fn integer<T: ArrowPrimitiveType>(
    builder: &mut PrimitiveBuilder<T>,
    at: usize,
    value: &Value<'_>,
    exact_widths: bool,
) -> bool
where
    T::Native: TryFrom<i64>,
{
    let (number, width) = match value {
        Value::Int8(number) => (i64::from(*number), 1),
        Value::Int16(number) => (i64::from(*number), 2),
        Value::Int32(number) => (i64::from(*number), 4),
        Value::Int64(number) => (*number, 8),
        _ => return false,
    };
    let Ok(number) = T::Native::try_from(number) else { return false };
    if exact_widths && size_of::<T::Native>() != width {
        return false;
    }
    push(builder, at, number);
    true
}

/// Returns the unscaled number of a decimal, if it has this scale and no more digits than this precision.
fn decimal(value: &Value<'_>, precision: u8, scale: u8, exact_widths: bool) -> Option<i128> {
    let (Decimal { unscaled, scale: its_scale }, digits) = match value {
        Value::Decimal4(number) => (*number, 1..=9),
        Value::Decimal8(number) => (*number, 10..=18),
        Value::Decimal16(number) => (*number, 19..=38),
        _ => return None,
    };
    let fits = its_scale == scale && unscaled.unsigned_abs() < 10_u128.pow(precision.into());
    let is_of_width = !exact_widths || digits.contains(&precision);
    (fits && is_of_width).then_some(unscaled)
}

//! The table: physical and logical type to Arrow type, where nothing else is said.
//!
//! Spec: LogicalTypes.md. Each logical type has a row in [`by_logical`]; a column without one, or with one that Arrow
//! cannot represent, is what [`by_physical`] says.

use super::TypeOptions;
use arrow_schema::{DataType, IntervalUnit, TimeUnit as ArrowUnit};
use marquetry_core::logical::{Logical, TimeUnit};
use marquetry_core::schema::{Leaf, Repetition};
use marquetry_encoding::Physical;

/// The Arrow type of a leaf.
pub(super) fn data_type(leaf: &Leaf, options: &TypeOptions) -> DataType {
    by_logical(leaf, options).unwrap_or_else(|| by_physical(leaf.physical(), options))
}

fn by_logical(leaf: &Leaf, options: &TypeOptions) -> Option<DataType> {
    Some(match leaf.logical()? {
        Logical::String | Logical::Enum | Logical::Json => options.text.unwrap_or_default().text(),
        Logical::Bson | Logical::Geometry { .. } | Logical::Geography { .. } => {
            options.text.unwrap_or_default().binary()
        }
        Logical::Integer { bits, signed } => integer(*bits, *signed)?,
        Logical::Decimal { precision, scale } => decimal(*precision, *scale)?,
        Logical::Float16 => DataType::Float16,
        Logical::Date => DataType::Date32,
        Logical::Time { unit: TimeUnit::Millis, .. } => DataType::Time32(ArrowUnit::Millisecond),
        Logical::Time { unit, .. } => DataType::Time64(time_unit(*unit)),
        Logical::Timestamp { utc, unit } => DataType::Timestamp(time_unit(*unit), utc.then(|| "UTC".into())),
        Logical::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
        Logical::Uuid => DataType::FixedSizeBinary(16),
        // QUIRK: "nothing but nulls" on a required column contradicts itself: its values are what they are stored as.
        Logical::Null if leaf.repetition() == Repetition::Required => return None,
        Logical::Null => DataType::Null,
        _ => return None,
    })
}

fn by_physical(physical: Physical, options: &TypeOptions) -> DataType {
    match physical {
        Physical::Boolean => DataType::Boolean,
        Physical::Int32 => DataType::Int32,
        Physical::Int64 => DataType::Int64,
        Physical::Int96 => DataType::Timestamp(options.int96_unit.unwrap_or(ArrowUnit::Nanosecond), None),
        Physical::Float => DataType::Float32,
        Physical::Double => DataType::Float64,
        Physical::ByteArray => options.text.unwrap_or_default().binary(),
        Physical::FixedLenByteArray(width) => fixed(width),
    }
}

/// The type of integers of so many bits.
pub(crate) fn integer(bits: u8, signed: bool) -> Option<DataType> {
    Some(match (bits, signed) {
        (8, true) => DataType::Int8,
        (8, false) => DataType::UInt8,
        (16, true) => DataType::Int16,
        (16, false) => DataType::UInt16,
        (32, true) => DataType::Int32,
        (32, false) => DataType::UInt32,
        (64, true) => DataType::Int64,
        (64, false) => DataType::UInt64,
        _ => return None,
    })
}

/// 128 bits where they are enough for all values of the precision, else 256.
fn decimal(precision: u32, scale: i32) -> Option<DataType> {
    let (precision, scale) = (u8::try_from(precision).ok()?, i8::try_from(scale).ok()?);
    Some(match precision {
        1..=38 => DataType::Decimal128(precision, scale),
        39..=76 => DataType::Decimal256(precision, scale),
        _ => return None,
    })
}

/// The type of so many bytes.
pub(crate) fn fixed(width: usize) -> DataType {
    // A width comes from an i32 of the schema.
    DataType::FixedSizeBinary(i32::try_from(width).unwrap_or(i32::MAX))
}

/// Arrow's name of a Parquet time unit.
pub(crate) fn time_unit(unit: TimeUnit) -> ArrowUnit {
    match unit {
        TimeUnit::Millis => ArrowUnit::Millisecond,
        TimeUnit::Micros => ArrowUnit::Microsecond,
        TimeUnit::Nanos => ArrowUnit::Nanosecond,
    }
}

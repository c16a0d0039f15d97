//! The default Arrow type of each Parquet type: the table of physical and logical types.
//!
//! Spec: LogicalTypes.md. Each logical type has a row in [`by_logical`]. A column without a logical type, or with one
//! that Arrow cannot represent, has the type of [`by_physical`].

use super::type_options::TypeOptions;
use arrow_schema::{DataType, IntervalUnit, TimeUnit as ArrowUnit};
use marquetry_core::logical_type::{LogicalType, TimeUnit};
use marquetry_core::schema::{Leaf, Repetition};
use marquetry_encoding::PhysicalType;

/// Returns the Arrow type of a leaf.
pub(super) fn data_type(leaf: &Leaf, options: &TypeOptions) -> DataType {
    by_logical(leaf, options).unwrap_or_else(|| by_physical(leaf, options))
}

fn by_logical(leaf: &Leaf, options: &TypeOptions) -> Option<DataType> {
    Some(match leaf.logical()? {
        LogicalType::String | LogicalType::Enum | LogicalType::Json => {
            options.text.unwrap_or_default().text()
        }
        LogicalType::Bson | LogicalType::Geometry { .. } | LogicalType::Geography { .. } => {
            options.text.unwrap_or_default().binary()
        }
        LogicalType::Integer { bits, signed } => integer(*bits, *signed)?,
        LogicalType::Decimal { precision, scale } => decimal(*precision, *scale)?,
        LogicalType::Float16 => DataType::Float16,
        LogicalType::Date => DataType::Date32,
        LogicalType::Time { unit: TimeUnit::Millis, .. } => DataType::Time32(ArrowUnit::Millisecond),
        LogicalType::Time { unit, .. } => DataType::Time64(time_unit(*unit)),
        LogicalType::Timestamp { utc, unit } => {
            DataType::Timestamp(time_unit(*unit), utc.then(|| "UTC".into()))
        }
        LogicalType::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
        LogicalType::Uuid => DataType::FixedSizeBinary(16),
        // QUIRK: "nothing but nulls" on a required column contradicts itself, so its values have their physical type.
        LogicalType::Null if leaf.repetition() == Repetition::Required => return None,
        LogicalType::Null => DataType::Null,
        _ => return None,
    })
}

fn by_physical(leaf: &Leaf, options: &TypeOptions) -> DataType {
    match leaf.physical() {
        PhysicalType::Boolean => DataType::Boolean,
        PhysicalType::Int32 => DataType::Int32,
        PhysicalType::Int64 => DataType::Int64,
        PhysicalType::Int96 => {
            DataType::Timestamp(options.int96_unit_of(leaf).unwrap_or(ArrowUnit::Nanosecond), None)
        }
        PhysicalType::Float => DataType::Float32,
        PhysicalType::Double => DataType::Float64,
        PhysicalType::ByteArray => options.text.unwrap_or_default().binary(),
        PhysicalType::FixedLenByteArray(width) => fixed(width),
    }
}

/// Returns the type of integers with this many bits.
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

/// Returns a decimal of 128 bits if they hold all values of the precision, else of 256.
fn decimal(precision: u32, scale: i32) -> Option<DataType> {
    let (precision, scale) = (u8::try_from(precision).ok()?, i8::try_from(scale).ok()?);
    Some(match precision {
        1..=38 => DataType::Decimal128(precision, scale),
        39..=76 => DataType::Decimal256(precision, scale),
        _ => return None,
    })
}

/// Returns the type of byte strings of this width.
pub(crate) fn fixed(width: usize) -> DataType {
    // The width comes from an i32 in the schema.
    DataType::FixedSizeBinary(i32::try_from(width).unwrap_or(i32::MAX))
}

/// Returns Arrow's name of a Parquet time unit.
pub(crate) fn time_unit(unit: TimeUnit) -> ArrowUnit {
    match unit {
        TimeUnit::Millis => ArrowUnit::Millisecond,
        TimeUnit::Micros => ArrowUnit::Microsecond,
        TimeUnit::Nanos => ArrowUnit::Nanosecond,
    }
}

//! Which Arrow types the values of a leaf can become.

use super::default_types;
use arrow_schema::{DataType, TimeUnit};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::schema::Leaf;
use marquetry_encoding::PhysicalType;

/// Returns whether `leaf` can become an array of type `to`. For some types, success depends on the values.
pub(crate) fn fits(leaf: &Leaf, to: &DataType) -> bool {
    let is_stored = as_stored(leaf.physical(), to) && is_what_is_stored(leaf);
    // The bytes of a timestamp, whatever day it denotes.
    let are_bytes = leaf.physical() == PhysicalType::Int96 && *to == default_types::fixed(12);
    fits_as_meant(leaf, to) || is_stored || are_bytes
}

/// Returns whether the stored numbers or bytes are the column's values, so that they may be read as such. Decimals have
/// a scale, and large unsigned integers would become negative.
fn is_what_is_stored(leaf: &Leaf) -> bool {
    let integer = leaf.physical() == PhysicalType::Int32 || leaf.physical() == PhysicalType::Int64;
    match leaf.logical() {
        Some(LogicalType::Decimal { .. }) => !integer,
        Some(LogicalType::Integer { bits: 32 | 64, signed }) => *signed,
        _ => true,
    }
}

/// Returns whether `leaf` can become an array of type `to` with the same meaning.
pub(crate) fn fits_as_meant(leaf: &Leaf, to: &DataType) -> bool {
    use DataType::*;
    match to {
        Dictionary(keys, values) => {
            let nested = matches!(**values, Dictionary(..) | RunEndEncoded(..) | Null);
            keys.is_dictionary_key_type() && !nested && fits_as_meant(leaf, values)
        }
        RunEndEncoded(ends, values) => {
            let nested = matches!(values.data_type(), RunEndEncoded(..) | Null);
            ends.data_type().is_run_ends_type() && !nested && fits_as_meant(leaf, values.data_type())
        }
        _ => as_meant(leaf.physical(), leaf.logical(), to),
    }
}

fn as_meant(physical: PhysicalType, logical: Option<&LogicalType>, to: &DataType) -> bool {
    use DataType::*;
    let Some(logical) = logical else {
        return as_stored(physical, to) || as_bits(physical, to);
    };
    match (logical, to) {
        (LogicalType::Null, _) => *to == Null,
        (LogicalType::Integer { bits, signed }, _) => {
            default_types::integer(*bits, *signed).as_ref() == Some(to)
        }
        (LogicalType::Date, _) => matches!(to, Date32 | Date64),
        (LogicalType::Time { .. }, Time32(_)) => physical == PhysicalType::Int32,
        (LogicalType::Time { .. }, Time64(_)) => physical == PhysicalType::Int64,
        (LogicalType::Timestamp { .. }, Timestamp(..)) => true,
        (
            LogicalType::Decimal { precision, scale },
            Decimal32(p, s) | Decimal64(p, s) | Decimal128(p, s) | Decimal256(p, s),
        ) => u32::from(*p) >= *precision && i32::from(*s) == *scale && is_valid_decimal(to),
        (LogicalType::Interval, _) => matches!(to, Interval(_)),
        (LogicalType::Float16, _) => *to == Float16,
        (LogicalType::Time { .. } | LogicalType::Timestamp { .. } | LogicalType::Decimal { .. }, _) => false,
        // Text, documents, geometries and UUIDs are bytes.
        _ => as_stored(physical, to),
    }
}

/// Returns whether arrays of this type hold exactly what is stored.
fn as_stored(physical: PhysicalType, to: &DataType) -> bool {
    use DataType::*;
    match physical {
        PhysicalType::Boolean => *to == Boolean,
        PhysicalType::Int32 => *to == Int32,
        PhysicalType::Int64 => *to == Int64,
        PhysicalType::Float => *to == Float32,
        PhysicalType::Double => *to == Float64,
        PhysicalType::Int96 => matches!(to, Timestamp(..)),
        PhysicalType::ByteArray => {
            matches!(to, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
        }
        PhysicalType::FixedLenByteArray(width) => *to == default_types::fixed(width),
    }
}

/// Returns whether writers store this type as bare integers, because Parquet has no annotation for it, such as seconds.
pub(super) fn as_bits(physical: PhysicalType, to: &DataType) -> bool {
    use DataType::*;
    match physical {
        PhysicalType::Int32 => {
            matches!(to, Date32 | Time32(TimeUnit::Second | TimeUnit::Millisecond))
        }
        PhysicalType::Int64 => matches!(
            to,
            Date64 | Timestamp(..) | Duration(_) | Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond)
        ),
        _ => false,
    }
}

/// Returns whether the type allows its precision.
fn is_valid_decimal(to: &DataType) -> bool {
    match to {
        DataType::Decimal32(precision, _) => *precision <= 9,
        DataType::Decimal64(precision, _) => *precision <= 18,
        DataType::Decimal128(precision, _) => *precision <= 38,
        DataType::Decimal256(precision, _) => *precision <= 76,
        _ => false,
    }
}

/// Returns the column's types, for messages.
pub(crate) fn describe(leaf: &Leaf) -> String {
    match leaf.logical() {
        Some(logical) => format!("{} ({logical:?})", leaf.physical()),
        None => leaf.physical().to_string(),
    }
}

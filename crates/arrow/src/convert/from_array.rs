//! Converts Arrow arrays to stored values, by the Arrow type and the column.

use super::conversion_error::{ConversionError, unsupported};
use super::non_null::NonNullSlots;
use super::{bytes, decimal, fixed, int96, interval, primitive, temporal};
use crate::schema::default_types;
use arrow_array::Array;
use arrow_schema::{DataType, TimeUnit};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::schema::Leaf;
use marquetry_encoding::{PhysicalType, Values};

/// Appends the picked values of a plain array, without dictionary or runs, to `out`, which has the shape of `leaf`.
/// After an error, the appended values are unspecified.
pub(crate) fn from_array(
    array: &dyn Array,
    picks: &NonNullSlots<'_>,
    leaf: &Leaf,
    out: &mut Values,
) -> Result<(), ConversionError> {
    use DataType::*;
    let data_type = array.data_type();
    match (data_type, leaf.physical(), out) {
        (Null, _, _) if picks.len() == 0 => Ok(()),
        (Boolean, PhysicalType::Boolean, Values::Bit(out)) => primitive::bits_from(array, picks, out),
        (Int8 | Int16 | UInt8 | UInt16, PhysicalType::Int32, Values::W32(out)) => {
            primitive::widened(array, picks, out)
        }
        (Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..), _, out) => {
            decimal::from_array(array, picks, leaf, out)
        }
        (Date64, PhysicalType::Int32, Values::W32(out)) => temporal::days_from(array, picks, out),
        (Time32(unit), PhysicalType::Int32, Values::W32(out)) if is_unit(leaf, *unit) => {
            let start = out.len();
            primitive::copied_w32(array, picks, out);
            temporal::time_to_stored(&mut out[start..], *unit, leaf.logical())
        }
        (Time64(unit) | Timestamp(unit, _), PhysicalType::Int64, Values::W64(out))
            if is_unit(leaf, *unit) =>
        {
            let start = out.len();
            primitive::copied_w64(array, picks, out);
            temporal::to_stored(&mut out[start..], *unit, leaf.logical())
        }
        (Timestamp(unit, _), PhysicalType::Int96, Values::Fixed(out)) => {
            int96::from_array(array, picks, *unit, out)
        }
        (Time32(_) | Time64(_) | Timestamp(..), _, _) => Err(unsupported(data_type, leaf)),
        (Int32 | UInt32 | Date32, PhysicalType::Int32, Values::W32(out))
        | (Float32, PhysicalType::Float, Values::W32(out)) => {
            primitive::copied_w32(array, picks, out);
            Ok(())
        }
        (Int64 | UInt64 | Date64 | Duration(_), PhysicalType::Int64, Values::W64(out))
        | (Float64, PhysicalType::Double, Values::W64(out)) => {
            primitive::copied_w64(array, picks, out);
            Ok(())
        }
        (Interval(_), PhysicalType::FixedLenByteArray(12), Values::Fixed(out)) => {
            interval::from_array(array, picks, out)
        }
        (Float16, PhysicalType::FixedLenByteArray(2), Values::Fixed(out)) => {
            fixed::from_half_floats(array, picks, out);
            Ok(())
        }
        (FixedSizeBinary(width), PhysicalType::FixedLenByteArray(stored), Values::Fixed(out))
            if usize::try_from(*width) == Ok(stored) =>
        {
            fixed::from_array(array, picks, out)
        }
        (
            Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView,
            PhysicalType::ByteArray,
            Values::Bytes(out),
        ) => bytes::from_array(array, picks, out),
        _ => Err(unsupported(data_type, leaf)),
    }
}

/// Returns whether the column counts in `unit`, or in milliseconds if that is seconds, or has no annotation.
fn is_unit(leaf: &Leaf, unit: TimeUnit) -> bool {
    match leaf.logical() {
        Some(LogicalType::Time { unit: stored, .. } | LogicalType::Timestamp { unit: stored, .. }) => {
            let stored = default_types::time_unit(*stored);
            stored == unit || (stored, unit) == (TimeUnit::Millisecond, TimeUnit::Second)
        }
        Some(_) => false,
        None => true,
    }
}

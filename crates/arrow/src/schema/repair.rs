//! The types and read targets of columns whose values may not fit the column's type: text that is not UTF-8, and
//! decimals that are too large.

use super::type_options::{DecimalOverflow, InvalidUtf8, TypeOptions};
use arrow_schema::{DataType, Field as ArrowField};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::predicate::BoundPredicate;
use marquetry_core::read::{ReadTarget, ValueLayout, ValueRepair};
use marquetry_core::schema::{Leaf, Schema};
use marquetry_encoding::PhysicalType;
use std::sync::Arc;

/// Returns the type that the options make of `data_type`, which `leaf` would become.
pub(super) fn adapted(leaf: &Leaf, data_type: DataType, options: &TypeOptions) -> DataType {
    use DataType::*;
    match data_type {
        Dictionary(keys, values) => Dictionary(keys, Box::new(adapted(leaf, *values, options))),
        RunEndEncoded(ends, values) => {
            let adapted = adapted(leaf, values.data_type().clone(), options);
            RunEndEncoded(ends, Arc::new(ArrowField::clone(&values).with_data_type(adapted)))
        }
        Utf8 | LargeUtf8 | Utf8View if options.invalid_utf8 == InvalidUtf8::Binary && leaf.is_text() => {
            match data_type {
                Utf8 => Binary,
                LargeUtf8 => LargeBinary,
                _ => BinaryView,
            }
        }
        Decimal32(_, scale) | Decimal64(_, scale) | Decimal128(_, scale) | Decimal256(_, scale)
            if options.decimal_overflow == DecimalOverflow::Widen && may_overflow(leaf, &data_type) =>
        {
            Decimal256(digits(leaf.physical()).max(scale.unsigned_abs().min(76)), scale)
        }
        data_type => data_type,
    }
}

/// Returns whether a leaf must be nullable, because some of its values may become NULL.
pub(super) fn may_null(leaf: &Leaf, data_type: &DataType, options: &TypeOptions) -> bool {
    options.decimal_overflow == DecimalOverflow::Null && may_overflow(leaf, data_type)
}

/// Sets how `target` treats such values of `leaf`, which becomes an array of `data_type`.
pub(crate) fn repaired(
    target: ReadTarget,
    leaf: &Leaf,
    data_type: Option<&DataType>,
    options: &TypeOptions,
) -> ReadTarget {
    let Some(data_type) = data_type.map(plain_values) else { return target };
    let is_binary = matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    if target.is_text && is_binary {
        return ReadTarget { is_text: false, ..target };
    }
    if target.is_text && options.invalid_utf8 == InvalidUtf8::Replace {
        let layout = match target.layout {
            ValueLayout::Offsets => ValueLayout::Native,
            layout => layout,
        };
        return ReadTarget { repair: ValueRepair::ReplaceInvalidUtf8, layout, ..target };
    }
    match bytes_of(data_type) {
        Some(bytes) if may_null(leaf, data_type, options) => {
            ReadTarget { repair: ValueRepair::NullDecimalsOver(bytes), layout: ValueLayout::Native, ..target }
        }
        _ => target,
    }
}

/// Returns whether `predicate` may see other values than those that statistics and indexes describe.
pub(crate) fn hides_stored_values(
    predicate: &BoundPredicate,
    schema: &Schema,
    options: &TypeOptions,
) -> bool {
    predicate.leaves().iter().any(|&leaf| may_change_values(schema.column(leaf), options))
}

/// Returns whether values of `leaf` may be read as other values than the stored ones, or as NULL.
pub(crate) fn may_change_values(leaf: &Leaf, options: &TypeOptions) -> bool {
    leaf.is_text() && options.invalid_utf8 == InvalidUtf8::Replace
        // For any Arrow type that it may become.
        || options.decimal_overflow == DecimalOverflow::Null && may_overflow(leaf, &DataType::Decimal32(9, 0))
}

/// Returns the type of the values, without dictionaries and runs.
fn plain_values(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain_values(values),
        DataType::RunEndEncoded(_, values) => plain_values(values.data_type()),
        data_type => data_type,
    }
}

/// Returns whether `leaf` can store a decimal that an array of `data_type` cannot hold. INT32 and INT64 cannot by
/// default, and a reader that requests fewer bits than they have gets an error.
fn may_overflow(leaf: &Leaf, data_type: &DataType) -> bool {
    let is_decimal = matches!(leaf.logical(), Some(LogicalType::Decimal { .. }));
    is_decimal
        && bytes_of(plain_values(data_type)).is_some_and(|bytes| match leaf.physical() {
            PhysicalType::FixedLenByteArray(width) => width > bytes,
            PhysicalType::ByteArray => true,
            _ => false,
        })
}

/// Returns the size of a decimal of this type, in bytes.
fn bytes_of(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::Decimal32(..) => Some(4),
        DataType::Decimal64(..) => Some(8),
        DataType::Decimal128(..) => Some(16),
        DataType::Decimal256(..) => Some(32),
        _ => None,
    }
}

/// Returns the number of digits of the largest decimal that `physical` can store, at most 76.
fn digits(physical: PhysicalType) -> u8 {
    match physical {
        PhysicalType::FixedLenByteArray(width) if width < 32 => {
            let bits = 8 * width.max(1) - 1;
            (bits as f64 * std::f64::consts::LOG10_2) as u8 + 1
        }
        _ => 76,
    }
}

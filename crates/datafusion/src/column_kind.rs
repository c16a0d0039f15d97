//! Whether comparing stored values gives the same answer as comparing the values that are read.

use arrow_schema::{DataType, TimeUnit as ArrowUnit};
use marquetry_core::logical_type::{LogicalType, TimeUnit};
use marquetry_core::schema::{Leaf, Schema};

/// How values of a column compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// In files as in DataFusion.
    Same,
    /// In DataFusion by total order, with NaN at both ends and two zeros; in files by IEEE 754.
    Float,
}

/// How values of this type compare; `None` for types that are not compared in files.
pub(crate) fn kind_of(data_type: &DataType) -> Option<Kind> {
    use DataType::*;
    match value_type(data_type) {
        Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => Some(Kind::Same),
        Date32 | Timestamp(..) | Decimal32(..) | Decimal64(..) | Decimal128(..) => Some(Kind::Same),
        other if other.is_string() || is_binary(other) => Some(Kind::Same),
        Float32 | Float64 => Some(Kind::Float),
        _ => None,
    }
}

/// Whether a leaf column stores the values of this type, one to one and in the same order. Other leaf columns can be
/// converted to the type, too, but their values are only known after reading.
pub(crate) fn stores(leaf: &Leaf, data_type: &DataType) -> bool {
    use marquetry_encoding::PhysicalType as P;
    let integer = |bits: u8, signed: bool| leaf.logical() == Some(&LogicalType::Integer { bits, signed });
    let plain = leaf.logical().is_none();
    if leaf.max_rep() > 0 || leaf.is_misunderstood() {
        return false;
    }
    match (value_type(data_type), leaf.physical()) {
        (DataType::Boolean, P::Boolean) => plain,
        (DataType::Int8, P::Int32) => integer(8, true),
        (DataType::Int16, P::Int32) => integer(16, true),
        (DataType::Int32, P::Int32) => plain || integer(32, true),
        (DataType::Int64, P::Int64) => plain || integer(64, true),
        (DataType::UInt8, P::Int32) => integer(8, false),
        (DataType::UInt16, P::Int32) => integer(16, false),
        (DataType::UInt32, P::Int32) => integer(32, false),
        (DataType::UInt64, P::Int64) => integer(64, false),
        (DataType::Float32, P::Float) | (DataType::Float64, P::Double) => plain,
        (DataType::Date32, P::Int32) => leaf.logical() == Some(&LogicalType::Date),
        (DataType::Timestamp(unit, _), P::Int64) => match leaf.logical() {
            Some(LogicalType::Timestamp { unit: stored, .. }) => same_unit(*unit, *stored),
            _ => false,
        },
        (decimal, P::Int32 | P::Int64 | P::ByteArray | P::FixedLenByteArray(_)) if decimal.is_decimal() => {
            match (decimal_scale(decimal), leaf.logical()) {
                (Some(read), Some(LogicalType::Decimal { scale, .. })) => read == *scale,
                _ => false,
            }
        }
        (text, P::ByteArray) if text.is_string() => plain || leaf.logical() == Some(&LogicalType::String),
        (binary, P::ByteArray) if is_binary(binary) => plain,
        _ => false,
    }
}

/// The leaf column that is the root field of this name.
pub(crate) fn root_leaf<'a>(schema: &'a Schema, name: &str) -> Option<&'a Leaf> {
    let mut named =
        schema.columns().iter().filter(|leaf| leaf.path().first().is_some_and(|root| **root == *name));
    let leaf = named.next().filter(|leaf| leaf.path().len() == 1)?;
    // Two fields of one name are ambiguous.
    named.next().is_none().then_some(leaf)
}

/// The value type of a dictionary, or the type itself.
pub(crate) fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, value) => value,
        other => other,
    }
}

pub(crate) fn is_binary(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// Whether two types differ only in the layout of their bytes.
pub(crate) fn is_same_but_layout(a: &DataType, b: &DataType) -> bool {
    let (a, b) = (value_type(a), value_type(b));
    a == b || a.is_string() && b.is_string() || is_binary(a) && is_binary(b)
}

fn decimal_scale(data_type: &DataType) -> Option<i32> {
    match data_type {
        DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) | DataType::Decimal128(_, scale) => {
            Some((*scale).into())
        }
        _ => None,
    }
}

fn same_unit(read: ArrowUnit, stored: TimeUnit) -> bool {
    matches!(
        (read, stored),
        (ArrowUnit::Millisecond, TimeUnit::Millis)
            | (ArrowUnit::Microsecond, TimeUnit::Micros)
            | (ArrowUnit::Nanosecond, TimeUnit::Nanos)
    )
}

//! The position of a literal in the order of a column's values.

use crate::logical_type::LogicalType;
use crate::schema::Leaf;
use crate::sort_order::SortOrder;
use marquetry_encoding::PhysicalType;

/// A position among the values that a column can have. Values are PLAIN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::predicate) enum Position {
    /// No position, because the literal is NaN.
    Nan,
    /// Before all values.
    Before,
    /// At this value.
    At(Vec<u8>),
    /// After this value and before the next one.
    After(Vec<u8>),
    /// After all values, if there is no last one.
    Beyond,
}

/// Returns the order in which the values of a column compare with literals. Floats have total order, so that each value
/// has a place.
pub(in crate::predicate) fn order(leaf: &Leaf) -> SortOrder {
    match (SortOrder::of(leaf), leaf.physical()) {
        (SortOrder::Undefined, PhysicalType::Boolean) => SortOrder::Bool,
        (SortOrder::Undefined, PhysicalType::Int32) => SortOrder::Signed32,
        (SortOrder::Undefined, PhysicalType::Int64) => SortOrder::Signed64,
        (SortOrder::Undefined, PhysicalType::Int96) => SortOrder::Int96,
        (SortOrder::Undefined, PhysicalType::Float) => SortOrder::TotalFloat,
        (SortOrder::Undefined, PhysicalType::Double) => SortOrder::TotalDouble,
        (SortOrder::Undefined, PhysicalType::ByteArray) => SortOrder::Bytes,
        (SortOrder::Undefined, PhysicalType::FixedLenByteArray(_)) => SortOrder::FixedLenBytes,
        (order, _) => order.total(),
    }
}

/// Whether values of the column have an order, which intervals and geometries do not have.
pub(in crate::predicate) fn is_ordered(leaf: &Leaf) -> bool {
    !matches!(
        leaf.logical(),
        Some(LogicalType::Interval | LogicalType::Geometry { .. } | LogicalType::Geography { .. })
    )
}

/// The position of a literal, or a hint how literals of this type are written.
pub(super) type Found = Result<Position, &'static str>;

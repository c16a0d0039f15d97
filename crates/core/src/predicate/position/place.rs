//! A place in the order of a column's values.

use crate::logical_type::LogicalType;
use crate::schema::Leaf;
use crate::sort_order::SortOrder;
use marquetry_encoding::PhysicalType;

/// A place among the values that a column can have, which are PLAIN here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::predicate) enum Position {
    /// Nowhere: NaN.
    Nan,
    /// Before all values.
    Before,
    /// At this value.
    At(Vec<u8>),
    /// After this value and before the next.
    After(Vec<u8>),
    /// After all values, of which none is the last.
    Beyond,
}

/// The order in which values of a column are compared with literals. Floats are in total order, so that each value has
/// its place.
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

/// Whether there is a less and a greater among the values: not of intervals and geometries.
pub(in crate::predicate) fn is_ordered(leaf: &Leaf) -> bool {
    !matches!(
        leaf.logical(),
        Some(LogicalType::Interval | LogicalType::Geometry { .. } | LogicalType::Geography { .. })
    )
}

/// The place of a literal; or a hint how one of this type is written.
pub(super) type Found = Result<Position, &'static str>;

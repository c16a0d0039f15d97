//! Decides which statistics to trust: some writers, recognized by `created_by`, are known for wrong bounds.

use crate::logical_type::LogicalType;
use crate::page::is_before;
use crate::schema::Leaf;
use marquetry_encoding::PhysicalType;

/// Whether to trust the bounds in a column's statistics.
///
/// QUIRK: parquet-mr before 1.10 and parquet-cpp before 1.3 compared unsigned numbers and byte strings as if they were
/// signed. Readers ignore these bounds if `created_by` has one of those names.
pub fn bounds_are_believed(created_by: Option<&str>, leaf: &Leaf) -> bool {
    let is_unsigned = matches!(leaf.physical(), PhysicalType::ByteArray | PhysicalType::FixedLenByteArray(_))
        || matches!(leaf.logical(), Some(LogicalType::Integer { signed: false, .. }));
    !is_unsigned
        || !(is_before(created_by, "parquet-mr", (1, 10)) || is_before(created_by, "parquet-cpp", (1, 3)))
}
